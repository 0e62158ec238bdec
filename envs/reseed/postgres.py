"""A world in a PostgreSQL database, in one transaction: all of it, or nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from envs.errors import ScriptError
from envs.reseed.base import MARKER, ReseedRefused, ServerReseed
from envs.reseed.objects import Touch, touches
from envs.world.world import check_server_keys

_FIRST_OF_USERS = 16_384
"""FirstNormalObjectId of the server's sources: what initdb made has a smaller oid."""

_CATALOGS = {
    "pg_class": "o.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')",
    "pg_proc": "true",
    "pg_type": "(o.typtype IN ('e', 'd', 'r') OR o.typtype = 'b' AND o.typcategory <> 'A'"
    " OR o.typtype = 'c' AND EXISTS (SELECT FROM pg_class c WHERE c.oid = o.typrelid AND c.relkind"
    " = 'c'))",
    "pg_namespace": "true",
    "pg_collation": "true",
    "pg_operator": "true",
    "pg_cast": "true",
    "pg_ts_config": "true",
    "pg_ts_dict": "true",
    "pg_extension": "true",
    "pg_event_trigger": "true",
}
_VERSION = {
    "pg_type": "concat_ws(',', o.xmin,"
    " (SELECT string_agg(e.xmin::text, ' ' ORDER BY e.oid) FROM pg_enum e WHERE e.enumtypid ="
    " o.oid),"
    " (SELECT string_agg(c.xmin::text, ' ' ORDER BY c.oid) FROM pg_constraint c WHERE c.contypid ="
    " o.oid))"
}
_OBJECTS = " UNION ALL ".join(
    f"SELECT '{catalog}'::text, o.oid::int8, upper(i.type), i.identity,"
    f" {_VERSION.get(catalog, 'o.xmin::text')}"
    f" FROM {catalog} o, pg_identify_object('{catalog}'::regclass, o.oid, 0) i"
    " WHERE (o.oid >="
    f" {_FIRST_OF_USERS}{' OR i.identity = $$public$$' if catalog == 'pg_namespace' else ''})"
    f" AND {wanted} AND i.identity !~ '^pg_(toast|temp)'"
    " AND NOT EXISTS (SELECT FROM pg_depend d"
    f" WHERE d.classid = '{catalog}'::regclass AND d.objid = o.oid AND d.deptype = 'e')"
    for catalog, wanted in _CATALOGS.items()
)
_DATABASES = """
SELECT d.oid::int8, format('database %I', d.datname), concat_ws(',', d.xmin,
       (SELECT string_agg(s.xmin::text, ' ' ORDER BY s.setrole)
          FROM pg_db_role_setting s WHERE s.setdatabase = d.oid))
FROM pg_database d
"""
_RELATIONS = f"""
SELECT c.oid::int8, coalesce(x.indrelid, c.oid)::int8, c.relname::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_index x ON x.indexrelid = c.oid
WHERE c.oid >= {_FIRST_OF_USERS} AND n.nspname !~ '^pg_(toast|temp)'
"""
_LOCKS = """
SELECT relation::int8, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'relation' AND granted
  AND mode NOT IN ('AccessShareLock', 'RowShareLock')
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_SEQUENCES = """
SELECT format('%I.%I', schemaname, sequencename)::regclass::oid::int8,
  last_value, sign(increment_by)::int
FROM pg_sequences WHERE last_value IS NOT NULL
"""

Found = dict[tuple[str, int], tuple[str, str, str]]
"""(catalog, oid) -> (kind as DROP names it, quoted name, version)."""

Ask = Callable[..., Sequence[tuple[Any, ...]]]


def objects(ask: Ask) -> Found:
    """All that is not the server's own or an extension's, without the marker table."""
    return {
        (catalog, oid): (kind, name, version)
        for catalog, oid, kind, name, version in ask(_OBJECTS)
        if not name.endswith(f".{MARKER}")
    }


def _last_values(ask: Ask) -> dict[int, int]:
    """Last values by oid, of sequences that were drawn from; reading takes drawing's lock."""
    return {oid: value for oid, value, _ in ask(_SEQUENCES)}


@dataclass(frozen=True, slots=True)
class Before:
    """A database as a script finds it.

    Two witnesses tell what a script touched, and it can silence neither. The server's lock table:
    whoever writes to a relation, advances a sequence or alters a table holds a lock on it until the
    transaction ends, whether a statement, a function or a DO block did it. And each object's
    catalog row, whose ``xmin`` changes with its definition, for what is not locked that way (types,
    routines, grants, databases).
    """

    objects: Found
    databases: dict[int, tuple[str, str]]
    relations: dict[int, tuple[int, str]]
    """oid -> (oid of the table where it is an index, else its own; name)."""
    locks: frozenset[tuple[int, str]]
    sequences: dict[int, int]

    @classmethod
    def of(cls, ask: Ask, sequences: dict[int, int]) -> Before:
        """``sequences`` is what :func:`_last_values` gave in an earlier transaction."""
        return cls(
            objects(ask),
            {oid: (name, version) for oid, name, version in ask(_DATABASES)},
            {oid: (table, name) for oid, table, name in ask(_RELATIONS)},
            _locks(ask),
            sequences,
        )

    def touched(self, ask: Ask, after: Found) -> dict[str, str]:
        """Objects that were there and that the transaction has touched since: name and kind."""
        found = {
            value[1]: value[0]
            for key, value in self.objects.items()
            if key not in after or after[key][2] != value[2] or after[key][1] != value[1]
        }
        now = {oid: version for oid, _, version in ask(_DATABASES)}
        found |= {
            name: "DATABASE"
            for oid, (name, version) in self.databases.items()
            if now.get(oid) != version
        }
        for oid, _ in _locks(ask) - self.locks:
            if oid in self.relations:
                table, short = self.relations[oid]
                kind, name, _ = self.objects.get(("pg_class", table), ("TABLE", short, ""))
                found.setdefault(name, kind)
        return found

    def put_back_sequences(self, ask: Ask) -> None:
        """Undo what a rollback does not: a sequence that this transaction has set back would give
        out numbers again.

        One that has run ahead stays where it is, since others may have drawn from it: a gap harms
        nobody.
        """
        ours = {oid for oid, _ in _locks(ask) - self.locks}
        for oid, value, direction in ask(_SEQUENCES):
            if (
                oid in ours
                and oid in self.sequences
                and (self.sequences[oid] - value) * direction > 0
            ):
                ask("SELECT setval(%s::oid::regclass, %s)", oid, self.sequences[oid])


def _locks(ask: Ask) -> frozenset[tuple[int, str]]:
    return frozenset((oid, mode) for oid, mode in ask(_LOCKS))


_LOCK = 0x53594E54
"""Key of the session's advisory lock that keeps two reseeds of one database apart."""


class PostgresReseed(ServerReseed):
    """One reseed on an open psycopg connection without autocommit; the caller ends it."""

    dialect = "postgresql"

    def run(self) -> tuple[int, dict[str, int]]:
        """Number of statements and rows per table. ReseedRefused, ScriptError: the transaction must
        be rolled back.

        The transaction sees nothing of what other sessions do meanwhile, so that their work is
        neither taken for the scripts' nor marked as made here. It begins behind the lock, which the
        session holds until it is closed.
        """
        self._rows("SELECT pg_advisory_lock(%s)", _LOCK)
        sequences = _last_values(self._rows)
        self._connection.commit()
        self._rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        schema = self._rows("SELECT current_schema()")[0][0]
        if schema is None:
            raise ReseedRefused("this user's search_path names no schema that exists")
        ours = self._ours()
        self.replaced = bool(ours)
        self._drop(ours)
        planned = [touch for path in self._scripts.paths for touch in touches(path, "postgresql")]
        created = {self._place(item, schema) for item in planned if item.action == "create"}
        self._clear(planned, created, str(schema))
        before = Before.of(self._rows, sequences)
        self._rows("SAVEPOINT synth_load")
        try:
            cancel = f"SELECT pg_cancel_backend({self._connection.info.backend_pid})"
            statements = self._run_scripts("SELECT pg_database_size(current_database())", cancel)
            after = objects(self._rows)
            touched = before.touched(self._rows, after)
            replaced = self._replaced_routines(touched, created)
            if len(touched) > len(replaced):
                shown = ", ".join(sorted(set(touched) - replaced))
                raise ReseedRefused(f"the scripts change what they did not make: {shown}")
        except (ReseedRefused, ScriptError):
            self._rows("ROLLBACK TO SAVEPOINT synth_load")
            before.put_back_sequences(self._rows)
            raise
        made = {
            key: value
            for key, value in after.items()
            if key not in before.objects or value[1] in replaced
        }
        self._mark(made)
        tables = sorted(name for kind, name, _ in made.values() if kind == "TABLE")
        check_server_keys(self._connection, "postgresql", self._scripts.paths[-1], tables)
        short = f"{schema}."
        return statements, {name.removeprefix(short): self._count_rows(name) for name in tables}

    def _ours(self) -> Found:
        """Objects that earlier reseeds of this world made, still the same under the same name."""
        if self._rows("SELECT to_regclass(%s)", MARKER)[0][0] is None:
            self._rows(
                f"CREATE TABLE {MARKER} (world text NOT NULL, digest text NOT NULL, catalog text"
                " NOT NULL, oid int8 NOT NULL, name text NOT NULL)"
            )
            self._rows(
                f"COMMENT ON TABLE {MARKER} IS 'What synth reseed made here, and may replace'"
            )
        there = objects(self._rows)
        marked = self._rows(
            f"SELECT catalog, oid, name FROM {MARKER} WHERE world = %s", self._scripts.world
        )
        return {
            (catalog, oid): there[catalog, oid]
            for catalog, oid, name in marked
            if (catalog, oid) in there and there[catalog, oid][1] == name
        }

    def _clear(self, planned: Sequence[Touch], created: set[str], schema: str) -> None:
        """Refuse, or with force drop, what stands where the world's own is to be."""
        names = {
            value[1].replace('"', ""): (key, value) for key, value in objects(self._rows).items()
        }
        for item in planned:
            place = self._place(item, schema)
            if item.action == "change" and place not in created and place in names:
                self._refuse_change(item)
        taken = dict(names[place] for place in sorted(created & set(names)))
        self._check_force(name for _, name, _ in taken.values())
        self.replaced = self.replaced or bool(taken)
        self._drop(taken)

    def _replaced_routines(self, touched: dict[str, str], created: set[str]) -> set[str]:
        """Routines of a name that the schema creates, which force lets CREATE OR REPLACE replace.

        They cannot be dropped beforehand as tables are: which of several of one name is meant, only
        the server can say.
        """
        if not self._force:
            return set()
        routines = {"FUNCTION", "PROCEDURE", "AGGREGATE"}
        return {
            name
            for name, kind in touched.items()
            if kind in routines and name.split("(", 1)[0].replace('"', "") in created
        }

    @staticmethod
    def _place(touch: Touch, schema: str) -> str:
        return f"{touch.schema or schema}.{touch.name}"

    def _drop(self, found: Found) -> None:
        """Drop objects without CASCADE: something else that depends on one of them stops it.

        They may depend on each other in any order (a view on a function, a function on a table's
        row type), so rounds are made until nothing is left or nothing moves.
        """
        left = dict(found)
        while left:
            before, words = len(left), ""
            for kind in sorted({value[0] for value in left.values()}, key=_drop_order):
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
                raise ReseedRefused(
                    f"something that this world did not make depends on it: {words}"
                )

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


def _drop_order(kind: str) -> tuple[bool, bool, str]:
    """Mostly the order in which things stop being needed: it saves rounds, and is not relied on."""
    return (kind in {"SCHEMA", "EXTENSION"}, "VIEW" not in kind, kind)
