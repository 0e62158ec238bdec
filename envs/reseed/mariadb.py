"""A world inside a MariaDB or MySQL database. DDL commits there, so that order is what protects:
everything that can be refused is refused first, the other tables are locked, then what will be made
is marked as ours, and only then is anything replaced. A load that breaks half-way leaves marked
tables behind, which the next attempt replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from envs.errors import ScriptError
from envs.quoting import backticked
from envs.reseed.base import MARKER, ReseedRefused, ServerReseed, rows_of
from envs.reseed.objects import Touch, qualified_names, touches
from envs.world.world import check_server_keys

_EXISTING = """
SELECT CASE TABLE_TYPE WHEN 'VIEW' THEN 'VIEW'
  WHEN 'SEQUENCE' THEN 'SEQUENCE' ELSE 'TABLE' END, TABLE_NAME
FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME
  FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()
"""
_REFERENCES = """
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, REFERENCED_TABLE_NAME
FROM information_schema.REFERENTIAL_CONSTRAINTS
WHERE UNIQUE_CONSTRAINT_SCHEMA = DATABASE()
"""
_OUTWARD = """
SELECT TABLE_NAME,
  IF(UNIQUE_CONSTRAINT_SCHEMA = DATABASE(), '', CONCAT(UNIQUE_CONSTRAINT_SCHEMA, '.')),
  REFERENCED_TABLE_NAME
FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()
"""
_BEYOND = """
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES
WHERE TABLE_SCHEMA NOT IN (DATABASE(), 'information_schema', 'performance_schema')
  AND TABLE_TYPE <> 'VIEW' AND NOT (TABLE_SCHEMA = 'mysql'
  AND TABLE_NAME IN ('general_log', 'slow_log'))
"""
_DEFINITIONS = """
SELECT 'VIEW', TABLE_NAME, VIEW_DEFINITION
  FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME,
  CONCAT_WS(' ', CREATED, LAST_ALTERED, ROUTINE_DEFINITION)
FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
UNION ALL SELECT 'EVENT', EVENT_NAME, CONCAT_WS(' ', CREATED, LAST_ALTERED, EVENT_DEFINITION)
FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()
"""
_PATIENCE_S = 3
"""How long a script's statement waits for a lock, which on its own tables nobody holds."""
_LOCKING_S = 10
"""How long to wait for sessions that are writing to tables that are to be locked."""
_LOCK_WAIT_TIMEOUT = 1205
_RELATIONS = frozenset({"TABLE", "VIEW", "SEQUENCE"})

Key = tuple[str, str]
"""What shares one name space, and the name without case."""


class MySQLReseed(ServerReseed):
    """One reseed on an open PyMySQL connection."""

    dialect = "mysql"

    def run(self) -> tuple[int, dict[str, int]]:
        """Statements and rows per table. ReseedRefused: nothing done; ScriptError says what was."""
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
        planned = [
            touch for path in self._scripts.paths for touch in touches(path, "mysql", database)
        ]
        existing = self._existing()
        ours = {key for key in self._marked() if key in existing}
        created = {
            _key(item.kind, item.name): item.name for item in planned if item.action == "create"
        }
        doomed = self._refuse(planned, existing, ours, created, database)
        self.replaced = bool(doomed)
        others = {
            key: value
            for key, value in existing.items()
            if key not in doomed and key not in created
        }
        beyond, unborn = self._beyond(database)
        here = [
            (database, name, kind)
            for kind, name in others.values()
            if kind in {"TABLE", "SEQUENCE"}
        ]
        with _Guard(self._connect, [*here, *beyond]):
            definitions = self._definitions(others)
            self._mark({**{key: existing[key][1] for key in ours}, **created})
            try:
                statements = self._load(
                    database, [existing[key] for key in sorted(doomed)], set(created.values())
                )
                self._verify(definitions, created, unborn)
            finally:
                there = self._existing()
                made = {key: value for key, value in there.items() if key in created}
                self._mark({key: name for key, (_, name) in made.items()})
        tables = sorted(name for kind, name in made.values() if kind == "TABLE")
        return statements, {name: self._count_rows(backticked(name)) for name in tables}

    def _load(self, database: str, doomed: Sequence[tuple[str, str]], created: set[str]) -> int:
        note = (
            f" (the database commits each DDL statement, so part of the world is in {database} now;"
            " it is marked as synth's: mend the script and run the same command again)"
        )
        self._drop(doomed)
        before = self._rows("SELECT @@lock_wait_timeout")[0][0]
        self._rows("SET lock_wait_timeout = %s", _PATIENCE_S)
        self._connection.autocommit(False)
        try:
            text = database.replace("\\", "\\\\").replace("'", "''")
            size = (
                "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS SIGNED) FROM"
                f" information_schema.TABLES WHERE TABLE_SCHEMA = '{text}'"
            )
            statements = self._run_scripts(size, f"KILL QUERY {self._connection.thread_id()}")
            check_server_keys(self._connection, "mysql", self._scripts.paths[-1], created)
            self._connection.commit()
        except ScriptError as error:
            self._connection.rollback()
            if error.__cause__ is not None and error.__cause__.args[:1] == (_LOCK_WAIT_TIMEOUT,):
                raise ReseedRefused(
                    f"{error.file}:{error.line}: this writes to something that the world does not"
                    f" make, which is locked against it{note}"
                ) from error
            raise ScriptError(f"{error.message}{note}", error.file, error.line) from error
        finally:
            self._connection.autocommit(True)
            self._rows("SET lock_wait_timeout = %s", before)
        return statements

    def _beyond(self, database: str) -> tuple[list[tuple[str, str, str]], set[tuple[str, str]]]:
        """Tables of other databases that ``a.b`` may mean, and names that would be such tables."""
        named: set[tuple[str, str]] = set()
        for path in self._scripts.paths:
            named |= qualified_names(path, "mysql", database)
        databases = {str(row[0]).lower() for row in self._rows("SHOW DATABASES")} - {
            database.lower()
        }
        named = {item for item in named if item[0] in databases}
        whole = sorted(first for first, second in named if not second)
        if whole:
            raise ReseedRefused(
                f"the scripts create, alter or drop another database: {', '.join(whole)}"
            )
        if not named:
            return [], set()
        there = {
            (str(a).lower(), str(b).lower()): (str(a), str(b), str(kind))
            for a, b, kind in self._rows(_BEYOND)
        }
        return [there[item] for item in sorted(named & set(there))], named - set(there)

    def _verify(
        self, definitions: dict[Key, str], created: dict[Key, str], unborn: set[tuple[str, str]]
    ) -> None:
        """Find afterwards what no lock prevents; ReseedRefused names what has happened."""
        now = self._definitions(definitions)
        changed = sorted(
            name for (kind, name), words in definitions.items() if now.get((kind, name)) != words
        )
        if unborn:
            changed += sorted(
                f"{database}.{name}"
                for database, name, _ in self._rows(_BEYOND)
                if (str(database).lower(), str(name).lower()) in unborn
            )
        for table, beyond, referenced in self._rows(_OUTWARD):
            if _key("TABLE", table) in created and (
                beyond or _key("TABLE", referenced) not in created
            ):
                # Else rows of the other table could no longer be deleted.
                self._drop([("TABLE", table)])
                changed.append(
                    f"{beyond}{referenced} (a foreign key of {table}, which is dropped again)"
                )
        if changed:
            raise ReseedRefused(
                f"the scripts have changed what they did not make: {', '.join(sorted(changed))}"
            )

    def _existing(self) -> dict[Key, tuple[str, str]]:
        return {
            _key(kind, name): (kind, name) for kind, name in self._rows(_EXISTING) if name != MARKER
        }

    def _definitions(self, wanted: Iterable[Key]) -> dict[Key, str]:
        keys = set(wanted)
        found = {_key(kind, name): str(words) for kind, name, words in self._rows(_DEFINITIONS)}
        return {key: words for key, words in found.items() if key in keys}

    def _refuse(
        self,
        planned: Sequence[Touch],
        existing: dict[Key, tuple[str, str]],
        ours: set[Key],
        created: dict[Key, str],
        database: str,
    ) -> set[Key]:
        """Find what must be dropped before the creation; ReseedRefused if no reseed made it."""
        foreign = existing.keys() - ours
        for item in planned:
            key = _key(item.kind, item.name)
            if item.action == "change" and key in foreign - created.keys():
                self._refuse_change(item)
        self._check_force(existing[key][1] for key in foreign & created.keys())
        doomed = ours | (set(created) & set(existing))
        outside = sorted(
            f"{schema}.{table} (on {referenced})"
            for schema, table, referenced in self._rows(_REFERENCES)
            if _key("TABLE", referenced) in doomed
            and (schema != database or _key("TABLE", table) not in doomed)
        )
        if outside:
            raise ReseedRefused(
                "foreign keys of tables that synth did not make point at this world:"
                f" {', '.join(outside)}"
            )
        return doomed

    def _marked(self) -> set[Key]:
        if not self._rows("SHOW TABLES LIKE %s", MARKER.replace("_", r"\_")):
            return set()
        rows = self._rows(f"SELECT kind, name FROM {MARKER} WHERE world = %s", self._scripts.world)
        return {(str(kind), str(name).lower()) for kind, name in rows}

    def _mark(self, names: dict[Key, str]) -> None:
        self._rows(
            f"CREATE TABLE IF NOT EXISTS {MARKER} (world VARCHAR(255) NOT NULL, digest VARCHAR(64)"
            " NOT NULL, kind VARCHAR(32) NOT NULL, name VARCHAR(64) NOT NULL) CHARACTER SET utf8mb4"
            " COMMENT 'What synth reseed made here, and may replace'"
        )
        self._rows("START TRANSACTION")
        self._rows(f"DELETE FROM {MARKER} WHERE world = %s", self._scripts.world)
        for (kind, _), name in sorted(names.items()):
            self._rows(
                f"INSERT INTO {MARKER} VALUES (%s, %s, %s, %s)",
                self._scripts.world,
                self._digest,
                kind,
                name,
            )
        self._rows("COMMIT")

    def _drop(self, objects: Sequence[tuple[str, str]]) -> None:
        self._rows("SET @synth_checks = @@foreign_key_checks, foreign_key_checks = 0")
        for kind, name in objects:
            self._rows(f"DROP {kind} IF EXISTS {backticked(name)}")
        self._rows("SET foreign_key_checks = @synth_checks")


class _Guard:
    """Keeps a script's hands off the tables that it does not make, while the block runs.

    DDL commits, so that what a script has done cannot be taken back: it must be hindered. Reading
    the statements does not tell what a procedure, a prepared statement, a view or an update of
    several tables writes to. Hence a second session locks every table that is to stay as it is:
    others may read them, and the script's attempt to write waits until it fails. ``tables`` are
    (database, table, kind); without any nothing is opened.
    """

    def __init__(self, connect: Callable[[], Any], tables: Iterable[tuple[str, str, str]]) -> None:
        self._connect = connect
        # a sequence gives out numbers to whoever may read it
        self._wanted = [
            f"{backticked(database)}.{backticked(name)} {'WRITE' if kind == 'SEQUENCE' else 'READ'}"
            for database, name, kind in sorted(tables)
        ]
        self._pooled: Any = None

    def __enter__(self) -> Self:
        if self._wanted:
            self._pooled = self._connect()
            raw = self._pooled.driver_connection
            try:
                rows_of(raw, f"SET lock_wait_timeout = {_LOCKING_S}, wait_timeout = 86400")
                rows_of(raw, f"LOCK TABLES {', '.join(self._wanted)}")
            except raw.Error as error:
                self._pooled.close()
                raise ReseedRefused(
                    "the tables that synth did not make cannot be locked against the scripts while"
                    f" they run ({error.args[-1]}); use a database of its own"
                ) from error
            except BaseException:
                self._pooled.close()
                raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._pooled is None:
            return
        raw = self._pooled.driver_connection
        try:
            rows_of(raw, "UNLOCK TABLES")
        except raw.Error as error:
            if kind is None:
                raise ReseedRefused(
                    "the session that guarded other tables was lost while the scripts ran"
                    f" ({error.args[-1]})"
                ) from error
        finally:
            self._pooled.close()


def _key(kind: str, name: str) -> Key:
    """Tables, views and sequences share one name space; ignoring case can only refuse too much."""
    return ("TABLE" if kind in _RELATIONS else kind, name.lower())
