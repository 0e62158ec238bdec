"""Objects of a PostgreSQL database, and those that the running transaction has touched.

Two witnesses, neither of which a script can silence. The server's lock table: whoever writes to a
relation, advances a sequence or alters a table holds a lock on it until the transaction ends,
whether a statement, a function or a DO block did it. And each object's catalog row, whose ``xmin``
changes with its definition, for what is not locked that way (types, routines, grants, databases).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envs.reseed.base import MARKER

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

Ask = Callable[..., list[tuple[Any, ...]]]


def objects(ask: Ask) -> Found:
    """All that is not the server's own or an extension's, without the marker table."""
    return {
        (catalog, oid): (kind, name, version)
        for catalog, oid, kind, name, version in ask(_OBJECTS)
        if not name.endswith(f".{MARKER}")
    }


def last_values(ask: Ask) -> dict[int, int]:
    """Last values by oid, of sequences that were drawn from; reading takes drawing's lock."""
    return {oid: value for oid, value, _ in ask(_SEQUENCES)}


@dataclass(frozen=True, slots=True)
class Before:
    """A database as a script finds it."""

    objects: Found
    databases: dict[int, tuple[str, str]]
    relations: dict[int, tuple[int, str]]
    """oid -> (oid of the table where it is an index, else its own; name)."""
    locks: frozenset[tuple[int, str]]
    sequences: dict[int, int]

    @classmethod
    def of(cls, ask: Ask, sequences: dict[int, int]) -> Before:
        """``sequences`` is what :func:`last_values` gave in an earlier transaction."""
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
