"""A world inside a PostgreSQL database, in one transaction: either all of it, or nothing has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.reseed.base import MARKER, ReseedRefused, Scripts
from envs.reseed.objects import Touch, touches
from envs.sql_script import run_script

_LOCK = 0x53594E54
"""Key of the advisory lock that keeps two reseeds of one database apart."""

_OBJECTS = """
SELECT 'pg_class'::text, c.oid::int8,
       CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
                      WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END,
       format('%I.%I', n.nspname, c.relname), c.xmin::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
UNION ALL
SELECT 'pg_proc', p.oid::int8, 'ROUTINE',
       format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), p.xmin::text
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
UNION ALL
SELECT 'pg_type', t.oid::int8, CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END,
       format('%I.%I', n.nspname, t.typname), t.xmin::text
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_class c ON c.oid = t.typrelid
WHERE t.typtype IN ('e', 'd', 'r') OR (t.typtype = 'c' AND c.relkind = 'c')
UNION ALL
SELECT 'pg_namespace', n.oid::int8, 'SCHEMA', format('%I', n.nspname), n.xmin::text
FROM pg_namespace n
"""
_OURS_TO_SEE = f"""
SELECT o.* FROM ({_OBJECTS}) AS o(catalog, oid, kind, name, xmin)
WHERE o.name !~ '^(pg_|information_schema)'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d
                  WHERE d.classid = o.catalog::regclass AND d.objid = o.oid AND d.deptype = 'e')
"""
_WRITTEN = """
SELECT relid::int8 FROM pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0
"""

Found = dict[tuple[str, int], tuple[str, str, str]]
"""(catalog, oid) -> (kind, name, xmin)."""


class PostgresReseed:
    """One reseed on an open psycopg connection that is not in autocommit; the caller commits or rolls back."""

    def __init__(self, connection: Any, scripts: Scripts, digest: str, *, force: bool) -> None:
        self._connection = connection
        self._scripts = scripts
        self._digest = digest
        self._force = force
        self.replaced = False

    def run(self) -> tuple[int, dict[str, int]]:
        """Number of statements and rows per table. ReseedRefused, ScriptError: the transaction must be rolled back."""
        self._rows("SELECT pg_advisory_xact_lock(%s)", _LOCK)
        schema = self._rows("SELECT current_schema()")[0][0]
        if schema is None:
            raise ReseedRefused("this user's search_path names no schema that exists")
        ours = self._ours()
        self.replaced = bool(ours)
        self._drop(ours)
        planned = [each for path in self._scripts.paths for each in touches(path, "postgresql")]
        self._clear(planned, str(schema))
        before = self._objects()
        written = self._written()
        statements = sum(run_script(path, self._connection, "postgresql") for path in self._scripts.paths)
        after = self._objects()
        self._verify(before, after, written)
        made = {key: value for key, value in after.items() if key not in before}
        self._mark(made)
        tables = sorted(name for kind, name, _ in made.values() if kind == "TABLE")
        short = f"{schema}."
        return statements, {
            name.removeprefix(short): int(self._rows(f"SELECT count(*) FROM {name}")[0][0]) for name in tables
        }

    def _ours(self) -> Found:
        """What earlier reseeds of this world made and what is still the same object under the same name."""
        if self._rows("SELECT to_regclass(%s)", MARKER)[0][0] is None:
            self._rows(
                f"CREATE TABLE {MARKER} (world text NOT NULL, digest text NOT NULL, catalog text NOT NULL,"
                " oid int8 NOT NULL, name text NOT NULL)"
            )
            self._rows(f"COMMENT ON TABLE {MARKER} IS 'What synth reseed made here, and may replace'")
        objects = self._objects()
        marked = self._rows(f"SELECT catalog, oid, name FROM {MARKER} WHERE world = %s", self._scripts.world)
        return {
            (catalog, oid): objects[catalog, oid]
            for catalog, oid, name in marked
            if (catalog, oid) in objects and objects[catalog, oid][1] == name
        }

    def _clear(self, planned: Sequence[Touch], schema: str) -> None:
        """Refuse, or with force drop, what stands where the world's own is to be."""
        names = {
            name: (key, value)
            for key, value in self._objects().items()
            for name in [value[1].replace('"', "")]
            if value[0] != "ROUTINE"
        }
        created = {self._place(each, schema) for each in planned if each.action == "create"}
        for each in planned:
            if (
                each.action == "change"
                and self._place(each, schema) not in created
                and self._place(each, schema) in names
            ):
                raise ReseedRefused(
                    f"{each.file}:{each.line}: {each.shown} is there already and is not created by this world:"
                    " a reseed changes nothing that it does not make"
                )
        taken = dict(names[place] for place in sorted(created & set(names)))
        if taken and not self._force:
            shown = ", ".join(sorted(name for _, name, _ in taken.values()))
            raise ReseedRefused(f"synth did not make {shown}; use another database, or --force to replace")
        self.replaced = self.replaced or bool(taken)
        self._drop(taken)

    @staticmethod
    def _place(touch: Touch, schema: str) -> str:
        return f"{touch.schema or schema}.{touch.name}"

    def _drop(self, found: Found) -> None:
        """Drop objects without CASCADE: something else that depends on one of them stops it.

        They may depend on each other in any order (a view on a function, a function on a table's row type), so
        rounds are made until nothing is left or nothing moves.
        """
        left = dict(found)
        while left:
            before, words = len(left), ""
            for kind in (
                "VIEW",
                "MATERIALIZED VIEW",
                "FOREIGN TABLE",
                "TABLE",
                "ROUTINE",
                "SEQUENCE",
                "TYPE",
                "DOMAIN",
                "SCHEMA",
            ):
                keys = [key for key, value in left.items() if value[0] == kind]
                for group in [keys, *([key] for key in keys)]:
                    group_left = [key for key in group if key in left]
                    names = ", ".join(left[key][1] for key in group_left)
                    refusal = self._try(f"DROP {kind} IF EXISTS {names}") if names else None
                    if refusal is None:
                        for key in group_left:
                            del left[key]
                    else:
                        words = refusal
            if len(left) == before:
                raise ReseedRefused(f"something that this world did not make depends on it: {words}")

    def _try(self, statement: str) -> str | None:
        """Run a statement, undone if it fails: then the database's words."""
        self._rows("SAVEPOINT synth_drop")
        try:
            self._rows(statement)
        except self._connection.Error as error:
            self._rows("ROLLBACK TO SAVEPOINT synth_drop")
            parts = (error.diag.message_primary, error.diag.message_detail)
            return "; ".join(str(part) for part in parts if part)
        self._rows("RELEASE SAVEPOINT synth_drop")
        return None

    def _verify(self, before: Found, after: Found, written: set[int]) -> None:
        """Nothing that was there may be gone, altered or written to, whatever the scripts did to it."""
        changed = [value[1] for key, value in before.items() if key not in after or after[key][2] != value[2]]
        changed += [
            value[1]
            for (catalog, oid), value in before.items()
            if catalog == "pg_class" and oid in self._written() - written and value[1] not in changed
        ]
        if changed and not (self._force and all(after.get(key) for key in before)):
            raise ReseedRefused(f"the scripts change what they did not make: {', '.join(sorted(changed))}")

    def _mark(self, made: Found) -> None:
        self._rows(f"DELETE FROM {MARKER} WHERE world = %s", self._scripts.world)
        for (catalog, oid), (_, name, _) in sorted(made.items()):
            self._rows(
                f"INSERT INTO {MARKER} VALUES (%s, %s, %s, %s, %s)",
                self._scripts.world,
                self._digest,
                catalog,
                oid,
                name,
            )

    def _objects(self) -> Found:
        return {
            (catalog, oid): (kind, name, xmin)
            for catalog, oid, kind, name, xmin in self._rows(_OURS_TO_SEE)
            if not name.endswith(f".{MARKER}")
        }

    def _written(self) -> set[int]:
        return {row[0] for row in self._rows(_WRITTEN)}

    def _rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []
