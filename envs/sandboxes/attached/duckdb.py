"""DuckDB files: opened read-only, without any other file, under a configuration that is locked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy

from envs.sandboxes.attached.access import ONLY_READS, Access, Places, existing_file

MEMORY = "512MB"
"""Memory that DuckDB counts for itself; the process has a limit of its own above it."""

_CONFIG = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": MEMORY,
    "threads": "1",
    "temp_directory": "",
}


_SCHEMAS = """
SELECT schema_name FROM information_schema.schemata
WHERE catalog_name = current_database()
  AND schema_name NOT IN ('information_schema', 'pg_catalog')
ORDER BY schema_name
"""


class DuckDBAccess(Access):
    """Reading a DuckDB file. DuckDB itself says of which kind a statement is."""

    def reading_url(self) -> sqlalchemy.URL:
        return sqlalchemy.URL.create("duckdb", database=existing_file(self.url, "DuckDB"))

    def engine_options(self) -> Mapping[str, Any]:
        return {"connect_args": {"read_only": True, "config": dict(_CONFIG)}}

    def places(self, connection: sqlalchemy.Connection) -> Places:
        """The schemas of the database's file; `main` is the default one."""
        rows = connection.exec_driver_sql(_SCHEMAS).fetchall()
        known = [name for (name,) in rows if not self.schemas or name in self.schemas]
        near = [None] if "main" in known else []
        return Places(near, [name for name in known if name != "main"])

    def prepare(self, raw: Any) -> None:
        raw.cursor().execute("SET lock_configuration = true")

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        raw.begin()

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        kinds = [statement.type.name for statement in raw.extract_statements(sql)]
        if kinds == ["SELECT"]:
            return None
        return ONLY_READS if len(kinds) == 1 else f"{ONLY_READS}; these are {len(kinds)} statements"
