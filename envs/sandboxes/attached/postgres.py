"""PostgreSQL: READ ONLY transactions that are rolled back, and no function that may write.

A READ ONLY transaction refuses what changes rows, sequences and the schema. Functions can do more:
end sessions, take locks that outlive the transaction, write files, or speak to another server.
PostgreSQL itself says which may: they are VOLATILE. The plan of a statement shows what it calls,
whatever way the statement spells it, and planning calls none of it. It does not show the rows of
VALUES, LIMIT, ON CONFLICT and frames of windows: there the text of the statement is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import psycopg
import sqlalchemy
from psycopg.adapt import Loader
from sqlalchemy import event

from envs.quoting import quoted
from envs.sandboxes.attached.access import (
    CONNECT_S,
    ONLY_READS,
    QUERIES,
    Access,
    Places,
    first_word,
)
from envs.sandboxes.postgres import statement_guard
from envs.sandboxes.postgres.schema import UNREADABLE, shallow

_HARMLESS = frozenset(
    {"random", "random_normal", "gen_random_uuid", "clock_timestamp", "timeofday"}
)
"""VOLATILE functions that change nothing, as their values alone are new each time."""

_SCHEMAS = """
SELECT nspname FROM pg_namespace
WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND nspname <> ALL (%(path)s)
  AND has_schema_privilege(oid, 'USAGE')
ORDER BY nspname
"""

_WRITERS = """
SELECT proname,
  pronargs = 1 AND typtype IN ('c', 'p') AND pronamespace <> 'pg_catalog'::regnamespace
FROM pg_proc LEFT JOIN pg_type argument ON argument.oid = proargtypes[0]
WHERE provolatile = 'v' AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
"""
"""Functions that may write, and whether ``row.name`` calls them, too."""

_ESCAPED = re.compile(r"""\bU&\s*\"""", re.IGNORECASE)
"""A name in escapes, which no search of the text would find."""

_TEXT = re.compile(r"'(?:[^']|'')*'")
_HIDING = re.compile(r"""/\*|--|[$"\\]""")
"""What makes it hard to say where a text ends."""

_CALL = re.compile(r"""'(?:[^']|'')*'|(?P<name>"(?:[^"]|"")+"|[^\W\d][\w$]*)\(""")
"""A text, or the name of a function that is called, in an expression of a plan."""


class PostgresAccess(Access):
    """Reading a database on a server of PostgreSQL."""

    def __init__(self, url: sqlalchemy.URL, schemas: Sequence[str] = ()) -> None:
        super().__init__(url, schemas)
        self._writers: frozenset[str] = frozenset()
        self._named: re.Pattern[str] | None = None
        """The names of the functions that may write, as they stand before their arguments."""

    def reading_url(self) -> sqlalchemy.URL:
        return self.url.set(drivername="postgresql+psycopg")

    def engine_options(self) -> Mapping[str, Any]:
        own = {} if "connect_timeout" in self.url.query else {"connect_timeout": CONNECT_S}
        return {"connect_args": own}

    def engine(self) -> sqlalchemy.Engine:
        engine = super().engine()
        if self.schemas:
            event.listen(engine, "connect", self._search)
        return engine

    def _search(self, raw: Any, record: object) -> None:
        raw.execute(f"SET search_path = {', '.join(map(quoted, self.schemas))}")
        raw.commit()

    def places(self, connection: sqlalchemy.Connection) -> Places:
        """The schemas of the search path, and all others that the account may use."""
        (path,) = connection.exec_driver_sql("SELECT current_schemas(false)").one()
        if self.schemas:
            return Places(path, [])
        rows = connection.exec_driver_sql(_SCHEMAS, {"path": path}).fetchall()
        return Places(path, [name for (name,) in rows])

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        raw.execute("BEGIN READ ONLY")
        raw.execute(f"SET LOCAL statement_timeout = {timeout_ms or 0}")

    def prepare(self, raw: Any) -> None:
        raw.rollback()
        raw.autocommit = True
        raw.execute("SET default_transaction_read_only = on")
        for kind in ("date", "timestamp", "timestamptz", "interval", "json", "jsonb"):
            oid = psycopg.postgres.types[kind].oid
            own = raw.adapters.get_loader(oid, psycopg.pq.Format.TEXT)
            raw.adapters.register_loader(oid, type("OrText", (_OrText,), {"own": own}))

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if (denied := statement_guard.refusal(sql)) is not None:
            raise denied
        if first_word(sql) not in QUERIES:
            return ONLY_READS
        return self.calls_writer(raw, sql, self.plan(raw, sql, parameters))

    def plan(self, raw: Any, sql: str, parameters: Any) -> list[Any]:
        """The plan of a statement, as JSON."""
        explain = f"EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) {sql}"
        return [shown for (shown,) in self.rows(raw.cursor(), explain, parameters)]

    def calls_writer(
        self, raw: Any, sql: str, plan: Any, planned: frozenset[str] = frozenset()
    ) -> str | None:
        """Why a statement calls what it may not; ``planned`` functions may stand in its plan."""
        if self._named is None:
            found = dict(raw.execute(_WRITERS).fetchall())
            self._writers = frozenset(found) - _HARMLESS
            bare = [re.escape(name) for name in self._writers if found[name]]
            called = [re.escape(name) for name in self._writers if not found[name]]
            self._named = re.compile(
                rf"""(?<![\w$])(?:(?P<bare>{"|".join(bare) or "(?!)"})(?![\w$])"""
                rf"""|(?P<called>{"|".join(called)})"?\s*(?:\(|/\*|--))""",
                re.IGNORECASE,
            )
        if _ESCAPED.search(sql) is not None:
            return "permission denied for a name in escapes (U&): write the name as it is"
        shown = {name for text in _texts(plan) for name in _called(text)}
        names = sorted(shown & self._writers - planned)
        text = sql if _HIDING.search(sql) is not None else _TEXT.sub("''", sql)
        if not names and (named := self._named.search(text)) is not None:
            names = [(named["bare"] or named["called"]).lower()]
        if names:
            return (
                f"permission denied for function {names[0]}: it is declared VOLATILE, so it may"
                " write, and this database is read-only"
            )
        return None

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        """Rows one by one. The protocol takes one statement at a time."""
        yield from cursor.stream(sql, parameters)
        if cursor.description is None:  # there was no row to tell the columns by
            cursor.execute(sql, parameters, prepare=True)

    def end(self, raw: Any, dialect: sqlalchemy.Dialect) -> None:
        if raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raw.execute("ROLLBACK")


class _OrText(Loader):
    """Loads a value that Python cannot hold, such as infinity, as its text."""

    own: type[Loader]

    def __init__(self, oid: int, context: Any = None) -> None:
        super().__init__(oid, context)
        self._load = self.own(oid, context).load

    def load(self, data: Any) -> Any:
        try:
            return shallow(self._load(data))
        except UNREADABLE:
            return bytes(data).decode()


def _texts(plan: Any) -> Iterator[str]:
    if isinstance(plan, str):
        yield plan
    elif isinstance(plan, dict | list):
        inner = cast("dict[str, Any] | list[Any]", plan)
        for part in inner.values() if isinstance(inner, dict) else inner:
            yield from _texts(part)


def _called(text: str) -> Iterator[str]:
    for found in _CALL.finditer(text):
        name = found["name"]
        if name is not None:
            yield name[1:-1].replace('""', '"') if name[0] == '"' else name
