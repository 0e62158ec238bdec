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
    Writer,
    first_word,
)
from envs.sandboxes.postgres import statement_guard
from envs.sandboxes.postgres.schema import UNREADABLE, shallow
from envs.types import Table

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
WITH RECURSIVE writer AS (
  SELECT * FROM pg_proc WHERE provolatile = 'v' AND proname <> ALL (%(harmless)s::text[])
    AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
), hiding AS (
  SELECT CASE s.typnamespace WHEN 'pg_catalog'::regnamespace THEN casttarget ELSE castsource END AS
  type FROM pg_cast JOIN writer ON writer.oid = castfunc JOIN pg_type s ON s.oid = castsource
  UNION SELECT contypid FROM pg_constraint,
    regexp_matches(conbin::text, ':(?:op)?funcid ([0-9]+)', 'g') AS called
  JOIN writer ON writer.oid = called[1]::oid WHERE contypid <> 0
), holding AS (
  SELECT 'pg_type'::regclass::oid AS kind, oid FROM pg_type JOIN hiding ON type = oid
  WHERE typnamespace <> 'pg_catalog'::regnamespace
  UNION SELECT classid, objid FROM pg_depend
  JOIN holding ON (refclassid, refobjid) = (holding.kind, holding.oid)
)
SELECT proname, CASE WHEN pronargs = 1 AND typtype IN ('c', 'p')
  AND pronamespace <> 'pg_catalog'::regnamespace THEN 'bare' ELSE 'called' END
FROM writer LEFT JOIN pg_type argument ON argument.oid = proargtypes[0]
UNION SELECT p.proname, 'called' FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid
  JOIN writer ON writer.oid IN (aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggmfinalfn)
  WHERE p.pronamespace <> 'pg_catalog'::regnamespace
UNION SELECT oprname, 'operator' FROM pg_operator JOIN writer ON writer.oid = oprcode
UNION SELECT proname, 'called' FROM pg_proc JOIN holding USING (oid)
  WHERE kind = 'pg_proc'::regclass
UNION SELECT oprname, 'operator' FROM pg_operator JOIN holding USING (oid)
  WHERE kind = 'pg_operator'::regclass AND oprname NOT IN (
    SELECT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace)
UNION SELECT typname, 'type' FROM pg_type JOIN holding USING (oid) WHERE kind = 'pg_type'::regclass
"""
"""Names that may write, and their kind: functions that are ``called`` or (``bare``) stand behind a
row, too, and each ``operator`` or ``type`` behind which such a function stands. No plan shows casts
and the checks of domains: what depends on their types is named, tables by the types of their rows.
"""

_SIGNS = r"+*/<>=~!@#%^&|`?-"
"""Characters of operators."""

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
        self._types: frozenset[str] = frozenset()
        self._named: re.Pattern[str] | None = None
        """The names of what may write, as a statement has them."""
        self._hidden = re.compile("(?!)")
        """Operators and types that may write, as a plan has them."""

    def writer(self, tables: Mapping[str, Table], idle_s: int) -> Writer:
        return _PostgresWriter(self.url, self.schemas, tables, idle_s)

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
        return self._calls_writer(raw, sql, [*_texts(self._plan(raw, sql, parameters))])

    def _plan(self, raw: Any, sql: str, parameters: Any) -> list[Any]:
        """The plan of a statement, as JSON."""
        explain = f"EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) {sql}"
        return [shown for (shown,) in self.rows(raw.cursor(), explain, parameters)]

    def _read_writers(self, raw: Any) -> re.Pattern[str]:
        names: dict[str, set[str]] = {}
        for name, kind in raw.execute(_WRITERS, {"harmless": list(_HARMLESS)}):
            names.setdefault(kind, set()).add(name)
        self._writers = frozenset(names["called"] | names.get("bare", set()))
        self._types = frozenset(names.get("type", ()))
        named = {
            kind: "|".join(map(re.escape, sorted(names.get(kind, ())))) or "(?!)"
            for kind in ("bare", "called", "operator", "type")
        }
        operator = f"(?<![{_SIGNS}])(?P<operator>{named['operator']})(?![{_SIGNS}])"
        self._hidden = re.compile(rf'{operator}|::(?:[^\s:]+\.)?"?(?P<type>{named["type"]})\b')
        return re.compile(
            rf"""(?<![\w$])(?:(?:(?P<type>{named["type"]})|(?P<bare>{named["bare"]}))"""
            rf"""(?![\w$])|(?P<called>{named["called"]})"?\s*(?:\(|/\*|--))|{operator}""",
            re.IGNORECASE,
        )

    def _calls_writer(self, raw: Any, sql: str, shown: Sequence[str]) -> str | None:
        """The refusal of what may write, by the texts of a plan and the statement."""
        if self._named is None:
            self._named = self._read_writers(raw)
        if _ESCAPED.search(sql) is not None:
            return "permission denied for a name in escapes (U&): write the name as it is"
        for kind, name in self._found(sql, shown, self._named):
            return (
                f"permission denied for {kind} {name}: it is declared VOLATILE, or calls what is,"
                " so it may do what no rollback undoes"
            )
        return None

    def _found(
        self, sql: str, shown: Sequence[str], named: re.Pattern[str]
    ) -> Iterator[tuple[str, str]]:
        """Kind and name of what may write."""
        called = {name for text in shown for name in _called(text)}
        yield from (("function", name) for name in sorted(called & self._writers))
        yield from (("type", text) for text in shown if text in self._types)
        text = sql if _HIDING.search(sql) is not None else _TEXT.sub("''", sql)
        searches = [*((self._hidden, _TEXT.sub("''", part)) for part in shown), (named, text)]
        for pattern, place in searches:
            if (found := pattern.search(place)) is not None and found.lastgroup is not None:
                kind = found.lastgroup if found.lastgroup in {"operator", "type"} else "function"
                yield kind, found[found.lastgroup].lower()

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        """Rows one by one. The protocol takes one statement at a time."""
        yield from cursor.stream(sql, parameters)
        if cursor.description is None:  # there was no row to tell the columns by
            cursor.execute(sql, parameters, prepare=True)

    def end(self, raw: Any, dialect: sqlalchemy.Dialect) -> None:
        if raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raw.execute("ROLLBACK")


_KINDS = """
WITH RECURSIVE named AS (
  SELECT to_regclass(name) AS oid, name FROM unnest(%(names)s::text[]) AS name
), part AS (
  SELECT oid, name FROM named
  UNION SELECT inhrelid, name FROM pg_inherits JOIN part ON inhparent = oid
)
SELECT part.oid::bigint, name, relkind::text, nspname, relname
FROM part JOIN pg_class c ON c.oid = part.oid JOIN pg_namespace n ON n.oid = relnamespace
"""
"""The tables of some names with all their partitions."""

_BUILT_IN_CASTS = """
SELECT s.typname, t.typname, f.oid::regprocedure::text
FROM pg_cast JOIN pg_proc f ON f.oid = castfunc AND provolatile = 'v'
JOIN pg_type s ON s.oid = castsource JOIN pg_type t ON t.oid = casttarget
WHERE (s.typnamespace, t.typnamespace) = ('pg_catalog'::regnamespace, 'pg_catalog'::regnamespace)
"""

_STRAYED = """
SELECT oid::regclass::text, count FROM pg_class, LATERAL (
  SELECT pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid)
    + pg_stat_get_xact_tuples_deleted(oid)
) AS changed(count)
WHERE relkind = 'r' AND oid <> ALL (%(known)s::bigint[]::oid[]) AND count > 0
"""
"""Changes of other tables in the transaction, also those that were undone."""

_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


class _PostgresWriter(Writer, PostgresAccess):
    """Writing to tables on a server of PostgreSQL. Its plan says which a statement changes, its
    counters say which its triggers changed.
    """

    isolation = "REPEATABLE READ"
    conflicts = frozenset({"55P03", "40P01", "40001"})

    def __init__(
        self, url: sqlalchemy.URL, schemas: Sequence[str], tables: Mapping[str, Table], idle_s: int
    ) -> None:
        super().__init__(url, schemas, tables, idle_s)
        self._known: Sequence[tuple[int, str, str, str, str]] = ()
        self._changes = False
        self._undone: dict[str, int] = {}

    def _named_tables(self) -> dict[str, list[str]]:
        return {"names": [table.written(quoted) for table in self.tables.values()]}

    def problem(self, connection: sqlalchemy.Connection) -> str | None:
        if connection.exec_driver_sql("SHOW track_counts").scalar() != "on":
            return "track_counts of the server is off, by which it says which tables were changed"
        for source, target, name in connection.exec_driver_sql(_BUILT_IN_CASTS).all():
            return (
                f"the cast from {source} to {target} calls {name}, which is VOLATILE, and no"
                f" statement shows it; ALTER FUNCTION {name} STABLE, or drop the cast"
            )
        for _, name, kind, _, part in connection.exec_driver_sql(_KINDS, self._named_tables()):
            if kind not in {"r", "p"}:
                return f"{name} keeps rows in {part}, and the server does not undo it there"
        return None

    def prepare(self, raw: Any) -> None:
        super().prepare(raw)
        raw.execute("SET default_transaction_read_only = off")

    def start(self, raw: Any, timeout_ms: int) -> None:
        raw.execute(f"SET idle_in_transaction_session_timeout = {self.idle_s * 1000}")
        raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
        self._known = raw.execute(_KINDS, self._named_tables()).fetchall()

    def limit(self, raw: Any, timeout_ms: int | None) -> None:
        raw.execute(
            f"SET LOCAL statement_timeout = {timeout_ms or 0};"
            f" SET LOCAL lock_timeout = {self.wait_ms(timeout_ms)}"
        )

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if (denied := statement_guard.refusal(sql)) is not None:
            raise denied
        if first_word(sql) not in QUERIES | _CHANGES:
            return self.only_these()
        plan = self._plan(raw, sql, parameters)
        locked, changed = set(_places(plan, "LockRows")), set(_places(plan, "ModifyTable"))
        known = {(schema, part) for _, _, _, schema, part in self._known}
        if self.only_reads and changed:
            return ONLY_READS
        if strange := sorted((changed | locked) - known):
            return f"permission denied for table {strange[0][1]}: {self.only_these()}"
        self.keeps = not self.only_reads and bool(changed or locked)
        if not self.keeps:
            raw.execute("SET LOCAL transaction_read_only = on")  # until the savepoint is undone
        shown = [*_texts(plan)]
        if changed and self._calls_writer(raw, sql, shown) is not None:
            defaults = self._defaults(raw, changed)
            shown = [text for text in shown if text not in defaults]
        self._changes = bool(changed)
        return self._calls_writer(raw, sql, shown)

    def _defaults(self, raw: Any, tables: set[tuple[str, str]]) -> set[str]:
        """The texts of a plan for the defaults of columns, which are their owner's."""
        rows = [f"INSERT INTO {quoted(s)}.{quoted(name)} DEFAULT VALUES" for s, name in tables]
        return {text for row in rows for text in _texts(self._plan(raw, row, None))}

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        if not self._changes:
            yield from super().rows(cursor, sql, parameters)
            return
        self._changes = False
        cursor.execute(sql, parameters, prepare=True)  # once, and by the protocol of one statement
        if cursor.description is not None:
            yield from cursor

    def strayed(self, raw: Any) -> str | None:
        known = [oid for oid, *_ in self._known]
        found = dict(raw.execute(_STRAYED, {"known": known}).fetchall())
        undone, self._undone = self._undone, found
        return next((name for name, count in found.items() if count != undone.get(name)), None)

    def settle(self, raw: Any) -> None:
        raw.execute("SET CONSTRAINTS ALL IMMEDIATE")
        raw.execute("SET CONSTRAINTS ALL DEFERRED")


def _places(plan: Any, kind: str, inside: bool = False) -> Iterator[tuple[str, str]]:
    """Schema and name of the tables that a plan changes (the targets of ``ModifyTable``), or locks
    (all that is read below ``LockRows``).
    """
    if isinstance(plan, dict):
        node = cast("dict[str, Any]", plan)
        here = node.get("Node Type") == kind
        if inside or here:
            for part in (node, *node.get("Target Tables", ())):
                if "Relation Name" in part:
                    yield part.get("Schema", ""), part["Relation Name"]
        inside = (inside or here) and kind == "LockRows"
        plan = list(node.values())
    if isinstance(plan, list):
        for part in cast("list[Any]", plan):
            yield from _places(part, kind, inside)


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
