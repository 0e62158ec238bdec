"""A world inside a MariaDB or MySQL database. DDL commits there, so that order is what protects: everything that can be
refused is refused first, then what will be made is marked as ours, and only then is anything replaced. A load that breaks
half-way leaves marked tables behind, which the next attempt replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.errors import ScriptError
from envs.reseed.base import MARKER, ReseedRefused, Scripts
from envs.reseed.objects import Touch, touches
from envs.sql_script import run_script

_EXISTING = """
SELECT CASE TABLE_TYPE WHEN 'VIEW' THEN 'VIEW' WHEN 'SEQUENCE' THEN 'SEQUENCE' ELSE 'TABLE' END, TABLE_NAME
FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()
"""
_REFERENCES = """
SELECT TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA = DATABASE() AND UNIQUE_CONSTRAINT_SCHEMA = DATABASE()
"""
_RELATIONS = frozenset({"TABLE", "VIEW", "SEQUENCE"})

Key = tuple[str, str]
"""What shares one name space, and the name without case."""


class MySQLReseed:
    """One reseed on an open PyMySQL connection."""

    def __init__(self, connection: Any, scripts: Scripts, digest: str, *, force: bool) -> None:
        self._connection = connection
        self._scripts = scripts
        self._digest = digest
        self._force = force
        self.replaced = False

    def run(self) -> tuple[int, dict[str, int]]:
        """Number of statements and rows per table. ReseedRefused before anything changed; ScriptError says what did."""
        database = self._rows("SELECT DATABASE()")[0][0]
        if database is None:
            raise ReseedRefused("the URL names no database; write mysql://user@host:3306/database")
        lock = f"synth reseed {database}"[:64]
        if self._rows("SELECT GET_LOCK(%s, 60)", lock)[0][0] != 1:
            raise ReseedRefused(f"another reseed of {database} is going on")
        try:
            return self._locked(str(database))
        finally:
            self._rows("SELECT RELEASE_LOCK(%s)", lock)

    def _locked(self, database: str) -> tuple[int, dict[str, int]]:
        planned = [each for path in self._scripts.paths for each in touches(path, "mysql", database)]
        existing = {_key(kind, name): (kind, name) for kind, name in self._rows(_EXISTING) if name != MARKER}
        ours = {key for key in self._marked() if key in existing}
        created = {_key(each.kind, each.name): each.name for each in planned if each.action == "create"}
        doomed = self._refuse(planned, existing, ours, created)
        self.replaced = bool(doomed)
        self._mark({**{key: existing[key][1] for key in ours}, **created})
        self._connection.autocommit(False)
        try:
            self._drop([existing[key] for key in sorted(doomed)])
            statements = sum(run_script(path, self._connection, "mysql") for path in self._scripts.paths)
            self._connection.commit()
        except ScriptError as error:
            self._connection.rollback()
            raise ScriptError(
                f"{error.message} (the database commits each DDL statement, so part of the world is in {database} now;"
                " it is marked as synth's: mend the script and run the same command again)",
                error.file,
                error.line,
            ) from error
        finally:
            self._connection.autocommit(True)
        there = {_key(kind, name): (kind, name) for kind, name in self._rows(_EXISTING) if name != MARKER}
        made = {key: value for key, value in there.items() if key in created}
        self._mark({key: name for key, (_, name) in made.items()})
        tables = sorted(name for kind, name in made.values() if kind == "TABLE")
        return statements, {name: int(self._rows(f"SELECT count(*) FROM {_quoted(name)}")[0][0]) for name in tables}

    def _refuse(
        self, planned: Sequence[Touch], existing: dict[Key, tuple[str, str]], ours: set[Key], created: dict[Key, str]
    ) -> set[Key]:
        """What has to go before the world can be made; ReseedRefused where it is not ours to touch."""
        for each in planned:
            key = _key(each.kind, each.name)
            if each.action == "change" and key in existing and key not in created and key not in ours:
                raise ReseedRefused(
                    f"{each.file}:{each.line}: {each.shown} is there already and is not created by this world:"
                    " a reseed changes nothing that it does not make"
                )
        taken = sorted(existing[key][1] for key in created if key in existing and key not in ours)
        if taken and not self._force:
            raise ReseedRefused(f"synth did not make {', '.join(taken)}; use another database, or --force to replace")
        doomed = ours | (set(created) & set(existing))
        outside = sorted(
            f"{table} (on {referenced})"
            for table, referenced in self._rows(_REFERENCES)
            if _key("TABLE", referenced) in doomed and _key("TABLE", table) not in doomed
        )
        if outside and not self._force:
            raise ReseedRefused(
                f"foreign keys of tables that synth did not make point at this world: {', '.join(outside)}"
            )
        return doomed

    def _marked(self) -> set[Key]:
        if not self._rows("SHOW TABLES LIKE %s", MARKER.replace("_", r"\_")):
            return set()
        rows = self._rows(f"SELECT kind, name FROM {MARKER} WHERE world = %s", self._scripts.world)
        return {(str(kind), str(name).lower()) for kind, name in rows}

    def _mark(self, names: dict[Key, str]) -> None:
        self._rows(
            f"CREATE TABLE IF NOT EXISTS {MARKER} (world VARCHAR(255) NOT NULL, digest VARCHAR(64) NOT NULL,"
            " kind VARCHAR(32) NOT NULL, name VARCHAR(64) NOT NULL)"
            " CHARACTER SET utf8mb4 COMMENT 'What synth reseed made here, and may replace'"
        )
        self._rows("START TRANSACTION")
        self._rows(f"DELETE FROM {MARKER} WHERE world = %s", self._scripts.world)
        for (kind, _), name in sorted(names.items()):
            self._rows(f"INSERT INTO {MARKER} VALUES (%s, %s, %s, %s)", self._scripts.world, self._digest, kind, name)
        self._rows("COMMIT")

    def _drop(self, objects: Sequence[tuple[str, str]]) -> None:
        self._rows("SET @synth_checks = @@foreign_key_checks, foreign_key_checks = 0")
        for kind, name in objects:
            self._rows(f"DROP {kind} IF EXISTS {_quoted(name)}")
        self._rows("SET foreign_key_checks = @synth_checks")

    def _rows(self, statement: str, *parameters: Any) -> Sequence[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return cursor.fetchall()


def _key(kind: str, name: str) -> Key:
    """Tables, views and sequences share one name space; case is ignored, which can only refuse too much."""
    return ("TABLE" if kind in _RELATIONS else kind, name.lower())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
