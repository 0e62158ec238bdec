"""Foreign keys that nobody declared: found by names and by the values that columns hold."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    String,
    cast,
    exists,
    func,
    select,
)

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import bare_columns, bare_names, noun_of, spelled
from synth.ext.authoring.roles import is_plumbing, with_roles
from synth.ext.authoring.shape import ColumnShape, Kind, Role, TableShape
from synth.ext.authoring.snapshot import LiveColumn, LiveTable
from synth.ext.authoring.stored import Hexadecimal

_AROUND = re.compile(r"^(?:fk|id)_|_(?:id|guid|uuid|fk|key|code|no|nr)$|(?<=[a-z])id$")
"""The parts of a column's name that say that it refers to something."""


_PERSON = re.compile(
    r"(?:^|_)(?:creator|author|editor|owner|assignee|reporter|reviewer|approver|manager)$"
)
"""Names of references to the only table of people."""

SEVERAL = 4
"""The fewest different texts that say by themselves to what they refer."""

ALIKE = 2
"""The fewest tables whose columns of one name say to what others of this name refer."""

MOST = 10_000
"""The most different texts of a column that are compared."""


@dataclass(frozen=True, slots=True)
class InferredKey:
    """A foreign key that nobody declared. ``values`` counts the different values of the columns,
    all of which the key holds; ``named`` tells that a column's name says what it refers to.
    """

    table: str
    columns: tuple[str, ...]
    target: str
    keys: tuple[str, ...]
    values: int
    named: bool = True

    @property
    def line(self) -> str:
        """The key with its evidence: ``orders.customer_id -> customers.id: name, 100 percent of 412
        values``.
        """
        held = f"100 percent of {self.values:,} values" if self.values else "no values to compare"
        name = "name, " if self.named else ""
        own, there = ", ".join(self.columns), ", ".join(self.keys)
        return f"{self.table}.{own} -> {self.target}.{there}: {name}{held}"


def infer_keys(engine: Engine, tables: Sequence[LiveTable]) -> list[InferredKey]:
    """The foreign keys that names and values suggest, beside those declared.

    Without a name the values must be texts, several, and all of them in one key only. What only a
    noun names refers to no part of its own row.
    """
    with engine.connect() as db:
        out = [one for one in _suggested(db, tables) if not is_plumbing(one.target)]
        out += _alike(db, tables, out)
        joint = [*_of_several(db, tables)]
    sure = {(one.table, one.target) for one in out if one.values or _ends(one.columns[0])}
    sure |= {(table.name, target) for table in tables for _, target, _ in table.links}
    return joint + [
        one for one in out if (one.table, one.target) in sure or (one.target, one.table) not in sure
    ]


def _of_several(db: Connection, tables: Sequence[LiveTable]) -> Iterator[InferredKey]:
    """The references to keys of several columns: each is called as in the key, or after the noun
    of what it refers to, and one of them names that noun: (host, username) of a roster are a
    user's, (room, host) are the (name, host) of a room.
    """
    bare = bare_names({table.name: [c.name for c in table.columns] for table in tables})
    keyed = [table for table in tables if len(table.key) > 1]
    for target, table in product(keyed, tables):
        columns = _named_jointly(table, target, noun_of(bare[target.name]).one)
        place = tuple(one.name for one in columns)
        free = target is not table and place not in [link for link, _, _ in table.links]
        if columns and free and (found := _all_held(db, table, columns, target, target.key)):
            yield found


def _named_jointly(table: LiveTable, target: LiveTable, noun: str) -> list[LiveColumn]:
    """A column for each one in a target's key; none unless a name says the target's noun."""
    own = {spelled(one.name): one for one in table.columns}
    names = [(f"{noun}_{spelled(one)}", spelled(one), noun) for one in target.key]
    found = [own[one] for of in names for one in [one for one in of if one in own][:1]]
    says = any(f"_{noun}" in f"_{spelled(one.name)}" for one in found)
    return found if says and len({one.name for one in found}) == len(target.key) else []


def _all_held(
    db: Connection,
    table: LiveTable,
    columns: Sequence[LiveColumn],
    target: LiveTable,
    keys: Sequence[str],
) -> InferredKey | None:
    """The key, if the columns are of its types and it holds all their values."""
    known = {one.name: one for one in target.columns}
    pairs = [(one, known[key]) for one, key in zip(columns, keys, strict=True)]
    if not all(_types(table, a) & _types(target, b) for a, b in pairs):
        return None
    own, there = [_comparable(table, one) for one in columns], target.source.alias()
    held = exists().where(
        *(a == _comparable(target, b, there) for a, (_, b) in zip(own, pairs, strict=True))
    )
    given = select(*own).where(*(one.is_not(None) for one in own)).distinct()
    values, missing = (
        int(db.execute(select(func.count()).select_from(rows.subquery())).scalar_one())
        for rows in (given, given.where(~held))
    )
    names = tuple(one.name for one in columns)
    return None if missing else InferredKey(table.name, names, target.name, (*keys,), values)


def _types(table: LiveTable, column: LiveColumn) -> set[str]:
    """The types that a column may be compared as: bytes are no text, though both are written so."""
    if isinstance(table.source.c[column.name].type, Hexadecimal):
        return {"bytes"}
    return {"INTEGER", "NUMERIC"} if column.type in {"INTEGER", "NUMERIC"} else {column.type}


def _suggested(db: Connection, tables: Sequence[LiveTable]) -> Iterator[InferredKey]:
    nouns, texts = _nouns(tables), _Texts(tables)
    for table in tables:
        own = table.key if len(table.key) == 1 else ()
        for column in _free(table):
            if column.name in table.key and (owner := _whole_of(table, column, nouns)):
                target, whole = owner, True
            elif column.name in own:
                target, whole = _general(table, column, nouns), True
            else:
                target, whole = _named(_bare(table, column), table, nouns)
            if target is not None:
                found = _held(db, table, column, target, whole=whole)
            else:
                found = texts.held(db, table, column) if column.name not in own else None
            if found and (whole or found.values):
                yield found


def _bare(table: LiveTable, column: LiveColumn) -> str:
    """The name of a column without the word that all columns of its table begin with."""
    return bare_columns([one.name for one in table.columns])[column.name]


def _ends(column: str) -> bool:
    """True for a name that says that the column refers to something."""
    return _AROUND.search(spelled(column)) is not None


def _free(table: LiveTable, found: Collection[InferredKey] = ()) -> list[LiveColumn]:
    """The columns that refer to nothing yet."""
    also = {column for one in found if one.table == table.name for column in one.columns}
    return [column for column in table.columns if column.name not in table.bound | also]


def _general(
    table: LiveTable, column: LiveColumn, nouns: Mapping[str, LiveTable]
) -> LiveTable | None:
    """The table of the more general thing, to which a key refers that is called after neither: a
    tool alert is an alert, ``message_ident`` refers to its ``ident``.
    """
    words, name = spelled(table.name).split("_"), spelled(column.name)
    if f"_{noun_of(table.name).one}".endswith(f"_{_AROUND.sub('', name)}"):
        return None  # the key is called after its own table
    for start in range(1, len(words)):
        target = nouns.get("_".join(words[start:]))
        if target is not None and target is not table:
            head, ends, _ = name.rpartition(f"_{spelled(target.key[0])}")
            return target if ends and head not in words else None
    return None


def _whole_of(
    table: LiveTable, column: LiveColumn, nouns: Mapping[str, LiveTable]
) -> LiveTable | None:
    """The table whose parts a table holds, by its name and by the name of its key:
    (id, position) of an ``outbox_part`` is a part of the outbox with this id.
    """
    for target in nouns.values() if len(table.key) > 1 else ():
        begins = spelled(table.name).startswith(f"{spelled(target.name)}_")
        if begins and spelled(target.key[0]) == spelled(column.name):
            return target
    return None


def _alike(
    db: Connection, tables: Sequence[LiveTable], found: Sequence[InferredKey]
) -> Iterator[InferredKey]:
    """The keys of columns whose names columns of several tables have, all of which refer to one
    place; not where a type in the key says to what the row refers.
    """
    places = _places(tables, found)
    for table in tables:
        typed = any(spelled(one).rpartition("_")[2] == "type" for one in table.key)
        own = {columns[0] for columns in (table.key, *table.uniques) if len(columns) == 1}
        for column in [] if typed else _free(table, found):
            target, name = places.get(column.name, (table, ""))
            key = _held(db, table, column, target, whole=True) if target is not table else None
            sure = column.name not in own or _ends(column.name) or (key and key.values)
            if key and key.keys == (name,) and sure:
                yield key


def _places(
    tables: Sequence[LiveTable], found: Sequence[InferredKey]
) -> dict[str, tuple[LiveTable, str]]:
    """The place to which all columns of a name refer, by names that several tables have."""
    places = defaultdict[str, list[tuple[str, str]]](list)
    for table in tables:
        for columns, target, there in table.links:
            if len(columns) == 1 and target != table.name:
                places[columns[0]].append((target, there[0]))
    for one in found:
        places[one.columns[0]].append((one.target, one.keys[0]))
    named = {table.name: table for table in tables}
    return {
        column: (named[known[0][0]], known[0][1])
        for column, known in places.items()
        if len(known) >= ALIKE and len({*known}) == 1
    }


def _named(
    column: str, table: LiveTable, nouns: Mapping[str, LiveTable]
) -> tuple[LiveTable | None, bool]:
    """The table that a column names, and whether it does with its whole name: a billing address is
    an address, a parent a row of the same table.
    """
    bare = _AROUND.sub("", spelled(column))
    for noun, target in nouns.items():
        if spelled(column) == f"{noun}_{spelled(target.key[0])}":  # user_name, for users.name
            bare = noun
    words = bare.split("_")
    for start in range(len(words)):
        target = nouns.get("_".join(words[start:]))
        if target is not None and (target is not table or start):  # a label's code is its own
            named = f"_{spelled(column)}".endswith(f"_{words[-1]}_{spelled(target.key[0])}")
            return target, start == 0 or named
    people = {t.name: t for one, t in nouns.items() if "_" not in one and is_of_people(one)}
    if _PERSON.search(bare) and len(people) == 1:
        return next(iter(people.values())), True
    return (table if words[0] == "parent" and len(table.key) == 1 else None), False


def _nouns(tables: Sequence[LiveTable]) -> dict[str, LiveTable]:
    """Tables with a key of one column, by the names by which columns refer to them: their nouns,
    and the key's name where it begins like a word of the table.
    """
    bare = bare_names({table.name: [c.name for c in table.columns] for table in tables})
    keyed = [table for table in tables if len(table.key) == 1]
    out = dict[str, LiveTable]()
    for table in keyed:
        out.setdefault(noun_of(bare[table.name]).one, table)
        out.setdefault(bare[table.name], table)
    for table in keyed:
        key = spelled(table.key[0])
        if len(key) > 3 and key[:3] in spelled(table.name) and _refers(table, key):
            out.setdefault(key, table)
    return out


def _held(
    db: Connection, table: LiveTable, column: LiveColumn, target: LiveTable, *, whole: bool
) -> InferredKey | None:
    """The key, or what else tells the target's rows apart, if both columns are of one type and it
    holds each value. Without values a text must have the target's length. A column whose ``whole``
    name is the target's noun has no amount either, and the key is not called after it: ``action``
    is none of ``actionid``, though ``rev_page`` is one of ``page_id`` where all columns begin with
    ``rev``.
    """
    name = _bare(table, column)
    ends = _ends(name) or f"_{name}".endswith(f"_{spelled(target.key[0])}")
    if not (ends or (whole and _says_whole(table, column, target, name))):
        return None
    for key in _keys(target)[: None if ends else 1]:
        same_length = key.length == column.length
        if (target is table and key is column) or not (ends or same_length):
            continue
        found = _all_held(db, table, [column], target, [key.name])
        if found and (found.values or column.type != "TEXT" or same_length):
            return found
    return None


def _says_whole(table: LiveTable, column: LiveColumn, target: LiveTable, name: str) -> bool:
    """True for a ``name`` without an ending that says what the column refers to."""
    apart = name not in spelled(target.key[0]) or name != spelled(column.name)
    tied = target is not table and f"_{spelled(target.name)}_" in f"_{spelled(table.name)}_"
    own = re.search(r"mail$|phone$", name)  # an email is itself, and none of the emails
    role = _role_of(name, "text" if column.type == "TEXT" else "integer")
    no_amount = not own and role in {"code", "category", "text", "name", "identifier"}
    return (column.type == "TEXT" or apart) and (tied or no_amount)


def _refers(table: LiveTable, key: str) -> bool:
    """True for a key that others may refer to by its mere name: a number, no ``description``."""
    text = next(one for one in table.columns if one.name == table.key[0]).type == "TEXT"
    return not text or _role_of(key, "text") not in {"text", "name"}


def _role_of(name: str, kind: Kind) -> Role:
    return with_roles(TableShape("", (ColumnShape(name, kind),))).columns[0].role


def _comparable(
    table: LiveTable, column: LiveColumn, source: FromClause | None = None
) -> ColumnElement[Any]:
    """A column as it is compared. A UUID, an array or a document is a text in SQLite only; its
    server compares it with no text, and some with nothing.
    """
    values = (table.source if source is None else source).c[column.name]
    return cast(values, String) if column.type == "TEXT" else values


@dataclass
class _Texts:
    """The values of the keys that are texts."""

    tables: Sequence[LiveTable]
    known: dict[tuple[str, str], set[object]] = field(
        default_factory=dict[tuple[str, str], set[object]]
    )

    def held(self, db: Connection, table: LiveTable, column: LiveColumn) -> InferredKey | None:
        """The only key that holds all values of a column."""
        values = self._values(db, table, column)
        if not SEVERAL <= len(values) <= MOST:
            return None
        found = [
            (target.name, (key.name,))
            for target in self.tables
            if target is not table and len(target.key) == 1
            for key in _keys(target)
            if values <= self._values(db, target, key)
        ]
        if len(found) != 1:
            return None
        return InferredKey(table.name, (column.name,), *found[0], len(values), named=False)

    def _values(self, db: Connection, table: LiveTable, column: LiveColumn) -> set[object]:
        place = (table.name, column.name)
        if column.type != "TEXT":
            return set()
        if place not in self.known:
            one = _comparable(table, column)
            rows = db.execute(select(one).distinct().where(one.is_not(None)).limit(MOST + 1))
            self.known[place] = set(rows.scalars())
        return self.known[place]


def _keys(table: LiveTable) -> list[LiveColumn]:
    """The columns that tell rows apart alone and are never null, the key first."""
    columns = {column.name: column for column in table.columns}
    others = [columns[one[0]] for one in table.uniques if len(one) == 1 and one[0] in columns]
    return [columns[table.key[0]], *(one for one in others if not one.nullable)]


def with_inferred(tables: Sequence[LiveTable], found: Sequence[InferredKey]) -> list[LiveTable]:
    """The tables with these foreign keys; a comment at the column says where each is from."""
    out = list[LiveTable]()
    declared = {(target, there) for table in tables for _, target, there in table.links}
    meant = {(one.target, one.keys) for one in found} | declared
    for table in tables:
        keys = [one for one in found if one.table == table.name]
        own = {one.columns[-1]: one for one in keys}
        links = [(one.columns, one.target, one.keys) for one in keys]
        columns = tuple(
            replace(
                c, comment=". ".join(filter(None, [c.comment, f"Inferred: {own[c.name].line}"]))
            )
            if c.name in own
            else c
            for c in table.columns
        )
        linked = replace(table, columns=columns, links=(*table.links, *links))
        out.append(_keyed(linked, {key for target, key in meant if target == table.name}))
    return out


def _keyed(table: LiveTable, meant: Collection[tuple[str, ...]]) -> LiveTable:
    """The table with the key that references mean, if none means its own."""
    key = next((one for one in table.uniques if one in meant), None)
    if key is None or table.key in meant:
        return table
    uniques = (table.key, *(one for one in table.uniques if one != key))
    return replace(table, key=key, uniques=uniques)
