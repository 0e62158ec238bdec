"""The tables of a live database, read one by one: what cannot be read is left out by name."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Engine, inspect
from sqlalchemy.exc import DBAPIError, SAWarning, SQLAlchemyError

from envs.ledger import Ledger
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError
from synth.ext.authoring.catalog import Catalog, Relation, read_catalog, trigger_columns
from synth.ext.authoring.snapshot import ForeignKey, LiveTable
from synth.ext.authoring.table_reader import TableReader

_NO_TABLES = {
    "partition": "a part of {parent}, which is read with its rows",
    "virtual": "a virtual table: its module keeps the rows",
    "shadow": "a virtual table keeps its data in it",
    "extension": "it belongs to an extension",
}
"""The reasons for which relations that hold rows are not read as tables."""

_RULES = {
    "view": "a world has the tables only",
    "materialized view": "a world has the tables only",
    "trigger": "a world has the rows only",
    "sequence": "SQLite numbers new rows by itself",
    "row policy": "it may hide rows from this role, which nobody can count; another role sees them",
}


@dataclass(frozen=True, slots=True)
class LiveDatabase:
    """The tables that are read, parents first, and the account of all that there is."""

    tables: Sequence[LiveTable]
    ledger: Ledger


def live_tables(engine: Engine, wanted: Sequence[str] | None = None) -> Sequence[LiveTable]:
    """The tables of the connection's schema, parents first."""
    return read_database(engine, wanted).tables


def read_database(
    engine: Engine, wanted: Sequence[str] | None = None, schemata: Sequence[str] = ()
) -> LiveDatabase:
    """The tables of some schemata, with ``wanted`` only these and what they refer to.

    Raises OperatorError for a table or a schema that does not exist, or a database that cannot be
    read.
    """
    try:
        return _Reading(engine, read_catalog(engine, schemata)).database(wanted)
    except SQLAlchemyError as error:
        raise OperatorError(f"the database cannot be read: {_words(error)}") from None


class _Reading:
    """One reading of a database."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self.engine = engine
        self.catalog = catalog
        tables = [one for one in catalog.relations if one.kind == "table"]
        self.relations = {(one.schema, one.name): one for one in tables}
        self.names = _world_names(list(self.relations.values()))
        self.ledger = Ledger()

    def database(self, wanted: Sequence[str] | None) -> LiveDatabase:
        tables = self._read(self._wanted(wanted))
        self._account()
        kept = trigger_columns(self.engine)
        told = [
            replace(
                table,
                columns=tuple(
                    replace(one, maintained=kept.get(place, one.maintained))
                    for one in table.columns
                    for place in [(table.source.name.lower(), one.name.lower())]
                ),
            )
            for table in tables
        ]
        return LiveDatabase(parents_first(_linked(told)), self.ledger)

    def _wanted(self, wanted: Sequence[str] | None) -> list[Relation]:
        if wanted is None:
            return list(self.relations.values())
        known = dict[str, Relation]()
        for place, relation in self.relations.items():
            known |= dict.fromkeys([".".join(filter(None, place)), self.names[place]], relation)
        for name in wanted:
            if name not in known:
                raise OperatorError(f"unknown table {name!r}{hint(nearest(name, known))}")
        return [known[name] for name in wanted]

    def _read(self, queue: list[Relation]) -> list[LiveTable]:
        """The tables of the queue, and those to which they refer."""
        places = {name: place for place, name in self.names.items()}
        out, seen = list[LiveTable](), set[Relation]()
        while queue:
            relation = queue.pop()
            if relation in seen:
                continue
            seen.add(relation)
            table = self._table(relation)
            if table is not None:
                out.append(table)
                targets = [places[target] for _, target, _ in table.links if target in places]
                queue += [self.relations[place] for place in targets]
        for relation in self.relations.values():
            if relation not in seen:
                self.ledger.leave_out("table", relation.full, "--tables does not name it")
        return sorted(out, key=lambda table: table.name)

    def _table(self, relation: Relation) -> LiveTable | None:
        name = self.names[relation.schema, relation.name]
        why = "it has no column that can be read"
        try:
            with warnings.catch_warnings(), self.engine.connect() as db:
                warnings.simplefilter("ignore", SAWarning)  # unknown types are named by us
                table = TableReader(db, inspect(db), relation, name, self.names).table()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            table, why = None, _words(error)
        except (SQLAlchemyError, LookupError, TypeError, ValueError) as error:
            table, why = None, f"SQLAlchemy cannot reflect it: {_words(error)}"
        if table is None:
            self.ledger.leave_out("table", relation.full, why)
        elif name != relation.name:
            self.ledger.change("table", relation.full, f"{name} in the world")
        else:
            self.ledger.use("table")
        return table

    def _account(self) -> None:
        """Count what the catalog lists, and name what is not a table."""
        for one in self.catalog.relations:
            self.ledger.found("table" if one.kind in {"table", *_NO_TABLES} else one.kind)
            if one.kind in _NO_TABLES:
                why = _NO_TABLES[one.kind].format(parent=one.parent)
                self.ledger.leave_out("table", one.full, why)
            elif one.kind in _RULES:
                self.ledger.leave_out(one.kind, one.full, _RULES[one.kind])
        for schema, count in sorted(self.catalog.others.items()):
            self.ledger.found("schema")
            why = f"tables: {count}; --schema {shlex.quote(schema)} reads them"
            self.ledger.leave_out("schema", schema, why)


def _words(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _world_names(relations: Sequence[Relation]) -> dict[tuple[str | None, str], str]:
    """Distinct names for SQLite, which has one name for ``Users`` and ``users``."""
    out, taken = dict[tuple[str | None, str], str](), set[str]()
    several = [one.name.lower() for one in relations]
    for one in relations:
        name = one.name
        if several.count(name.lower()) > 1 and len({other.schema for other in relations}) > 1:
            name = f"{one.schema}_{name}"
        name = f"t_{name}" if name.lower().startswith("sqlite_") else name
        number, plain = 1, name
        while name.lower() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.lower())
        out[one.schema, one.name] = name
    return out


def _linked(tables: Sequence[LiveTable]) -> list[LiveTable]:
    """The tables with the foreign keys that the world can hold; others are named."""
    known = {table.name: table for table in tables}
    out = list[LiveTable]()
    for table in tables:
        kept = list[ForeignKey]()
        for link in table.links:
            why = _broken(link, table, known)
            if why is None:
                kept.append(link)
                table.ledger.use("foreign key")
            else:
                columns, target, _ = link
                name = f"{table.name} ({', '.join(columns)}) to {target}"
                table.ledger.leave_out("foreign key", name, why)
        out.append(replace(table, links=tuple(sorted(set(kept)))))
    return out


def _broken(link: ForeignKey, table: LiveTable, known: Mapping[str, LiveTable]) -> str | None:
    """The reason for which a world cannot hold a foreign key; None if it can."""
    columns, target, there = link
    if target not in known:
        return "its table is not read, or is a part of one that is"
    if len(set(columns)) < len(columns) or len(set(there)) < len(there):
        return "it names a column twice"
    other = known[target]
    if not (set(columns) <= set(table.names) and set(there) <= set(other.names)):
        return "a column of it is left out"
    if not any(set(there) == set(one) for one in (other.key, *other.uniques)):
        return "it refers to columns that are not unique"
    return None


def parents_first(tables: Sequence[LiveTable]) -> list[LiveTable]:
    """The tables, each behind those to which it refers. A circle is broken at the table with the
    fewest parents left, whatever order the tables are in.
    """
    out, placed, left = list[LiveTable](), set[str](), list(tables)
    while left:
        due = {t.name: {target for _, target, _ in t.links} - {*placed, t.name} for t in left}
        free = [table for table in left if not due[table.name]]
        chosen = free or [min(left, key=lambda table: (len(due[table.name]), table.name))]
        out += chosen
        placed |= {table.name for table in chosen}
        left = [table for table in left if table.name not in placed]
    return out
