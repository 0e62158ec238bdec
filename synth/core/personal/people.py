"""The people of a database, found in texts and tool results by their personal data.

A person is a row of a table of people: one with personal columns of its own whose foreign keys lead
to no other such table. Personal data in other tables belongs to the person that their row refers
to, and so does a column that refers to a personal one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from envs.errors import WorldError
from envs.sandboxes.base import Template
from envs.types import Column, Pins, Table
from envs.world.loader import World
from envs.world.world_file import NOT_PERSONAL, WORLD_FILE
from synth.core.foundation.suggestions import nearest
from synth.core.language.wording import texts, tokens
from synth.core.tasks.queries import Queries
from synth.plugins import resolve

Sample = Callable[[str, str], Sequence[object]]
"""Some values of a column of a table."""


@dataclass(frozen=True, slots=True)
class PersonalColumn:
    """A column with personal data. ``kind`` is one of
    :data:`envs.world.world_file.PERSONAL_KINDS`; ``declared`` is False for a guess.
    """

    table: str
    column: str
    kind: str
    declared: bool = True

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"


def personal_columns(
    world: World, tables: Mapping[str, Table], sample: Sample
) -> list[PersonalColumn]:
    """The declared columns; the guessed ones if none is declared as personal.

    A column that is declared as ``none`` is never guessed. A world of published databases has no
    guessed columns. Raises :class:`~envs.errors.WorldError` for a column that does not exist.
    """
    for name, traits in world.columns.items():
        table, column = name.split(".")
        known = {f"{item.name}.{cell.name}" for item in tables.values() for cell in item.columns}
        if f"{table}.{column}" not in known:
            near = nearest(name, known)
            meant = f"; did you mean {near!r}?" if near else ""
            message = f"`columns`: the database has no column {name!r}{meant}"
            raise WorldError(message, world.database / WORLD_FILE, traits.line)
    declared = [
        PersonalColumn(name.partition(".")[0], name.partition(".")[2], traits.pii)
        for name, traits in world.columns.items()
        if traits.pii != NOT_PERSONAL
    ]
    if declared or world.databases:
        return declared
    guessed: Mapping[tuple[str, str], str] = resolve("synth.core.personal.guess:guess_columns")(
        tables, sample
    )
    return [
        PersonalColumn(table, column, kind, declared=False)
        for (table, column), kind in guessed.items()
        if f"{table}.{column}" not in world.columns
    ]


def by_table(columns: Sequence[PersonalColumn]) -> dict[str, list[PersonalColumn]]:
    """The columns of each table."""
    out: dict[str, list[PersonalColumn]] = {}
    for column in columns:
        out.setdefault(column.table, []).append(column)
    return out


Person = tuple[str, str]
"""A table, and the key of a row of it as text."""

MOST = 50_000
"""The most rows of a table that are read."""

SAMPLE = 50
"""The rows on which a guess looks at the content of a column."""

_ALONE = frozenset({"email", "phone", "identifier", "birth_date"})
"""Kinds whose values say who is meant even if they are one word."""


@dataclass(frozen=True, slots=True)
class _PersonalValue:
    """Words of a text that are personal data, and the people whose data it may be."""

    text: str
    kind: str
    people: frozenset[Person]


@dataclass
class People:
    """An index of the personal values of a database. ``keys`` maps the names of key columns to
    keys and their people, if no other table has a key of this name; ``keys_of`` does so by table
    and column, ``joint_keys`` by the columns of a key of several. ``raw`` holds each person's
    values as they are.
    """

    columns: Sequence[PersonalColumn] = ()
    keys: dict[str, dict[str, Person]] = field(default_factory=dict[str, dict[str, Person]])
    keys_of: dict[tuple[str, str], dict[str, Person]] = field(
        default_factory=dict[tuple[str, str], dict[str, Person]]
    )
    joint_keys: dict[tuple[str, ...], dict[tuple[str, ...], Person]] = field(
        default_factory=dict[tuple[str, ...], dict[tuple[str, ...], Person]]
    )
    raw: dict[Person, list[tuple[str, str]]] = field(
        default_factory=dict[Person, list[tuple[str, str]]]
    )
    _values: dict[tuple[str, ...], tuple[str, set[Person]]] = field(
        default_factory=dict[tuple[str, ...], tuple[str, set[Person]]]
    )
    _widths: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def add(self, value: object, kind: str, person: Person) -> None:
        """Take a value of a person into the index, unless it is too short to tell who it is."""
        words = (*texts(tokens(str(value))),)
        short = len("".join(words)) < 3
        if len(words) == 0 or short or (len(words) < 2 and kind not in _ALONE):
            return
        self.raw.setdefault(person, []).append((kind, str(value)))
        forms = {words, *_name_forms(str(value))} if kind == "name" else {words}
        for form in forms:
            self._values.setdefault(form, (kind, set()))[1].add(person)
            self._widths.setdefault(form[0], set()).add(len(form))

    def mentioned(self, text: str) -> Iterator[_PersonalValue]:
        """The personal values in a text, in any form of its words and dates. A paragraph is read
        once: system messages differ in few.
        """
        for part in text.split("\n\n"):
            yield from self._in_paragraph(part)

    @cached_property
    def _in_paragraph(self) -> Callable[[str], Sequence[_PersonalValue]]:
        def read(text: str) -> Sequence[_PersonalValue]:
            return [*self._read_paragraph(text)]

        return lru_cache(maxsize=4096)(read)

    def _read_paragraph(self, text: str) -> Iterator[_PersonalValue]:
        words = texts(tokens(text))
        for index, word in enumerate(words):
            for width in self._widths.get(word, ()):
                found = self._values.get(tuple(words[index : index + width]))
                if found is not None:
                    kind, people = found
                    yield _PersonalValue(
                        " ".join(words[index : index + width]), kind, frozenset(people)
                    )

    def somebody_else(self, concerned: set[Person], draw: int) -> list[tuple[str, str]]:
        """The kinds and values of one person who is none of ``concerned``; ``draw`` chooses."""
        strangers = sorted(self.raw.keys() - concerned)
        names = {
            value.lower()
            for person in concerned
            for kind, value in self.raw.get(person, ())
            if kind == "name"
        }
        fitting = [
            person
            for person in strangers
            if any(
                kind == "name" and value.lower() not in names for kind, value in self.raw[person]
            )
        ]
        return self.raw[fitting[draw % len(fitting)]] if fitting else []

    def about_others(
        self, arguments: Mapping[str, Any], concerned: set[Person]
    ) -> list[dict[str, Any]]:
        """The arguments of a call that names one person, as they name others.

        Empty if the arguments name nobody, or more than one person.
        """
        named = {name: self.in_data({name: value}) for name, value in arguments.items()}
        found = [people for people in named.values() if people]
        shared = found[0].intersection(*found[1:]) if found else set[Person]()
        if len(shared) != 1:
            return []
        [known] = shared
        out: list[dict[str, Any]] = []
        others = {person for person in self.raw if person[0] == known[0]}
        for other in sorted(others - concerned):
            theirs = {
                name: self._counterpart(name, arguments[name], known, other)
                for name, people in named.items()
                if people
            }
            if None not in theirs.values():
                out.append({**arguments, **theirs})
        return out

    def _counterpart(self, name: str, value: object, person: Person, other: Person) -> object:
        """Another person's value for one of a person: a key for a key, otherwise one of the same
        kind in the same place, a last name for a last name. None if it has none.
        """
        keys = self.keys.get(name, {})
        if str(value) in keys:
            key = next((key for key, person in keys.items() if person == other), None)
            return int(key) if key is not None and isinstance(value, int) else key
        folded = str(value).casefold()
        kind = next((kind for kind, own in self.raw[person] if own.casefold() == folded), None)
        mine = [own.casefold() for known, own in self.raw[person] if known == kind]
        theirs = [own for known, own in self.raw[other] if known == kind]
        index = mine.index(folded) if folded in mine else len(theirs)
        return theirs[index] if index < len(theirs) else None

    def in_text(self, text: str) -> set[Person]:
        """The people who may be meant in a text."""
        return set[Person]().union(*map(self._meant_in_paragraph, text.split("\n\n")))

    @cached_property
    def _meant_in_paragraph(self) -> Callable[[str], frozenset[Person]]:
        def read(text: str) -> frozenset[Person]:
            return frozenset[Person]().union(*(one.people for one in self._in_paragraph(text)))

        return lru_cache(maxsize=4096)(read)

    def in_data(self, value: Any) -> set[Person]:
        """The people whom a tool's arguments or result are about: by their keys under the names of
        key columns, and by their personal data.
        """
        found = set[Person]()
        self._add_people(value, "", found)
        return found

    def _add_people(self, value: Any, name: str, found: set[Person]) -> None:
        kind = value.__class__
        if name in self.keys and (person := self.keys[name].get(str(value))) is not None:
            found.add(person)
        elif kind is str:
            found.update(*map(self._meant_in_paragraph, value.split("\n\n")))
        elif kind is list or kind is tuple:
            for item in value:
                self._add_people(item, name, found)
        elif hasattr(value, "items"):
            for key, inner in value.items():
                self._add_people(inner, key, found)
            if self.joint_keys:
                found |= self._by_joint_key(value)

    def _by_joint_key(self, data: Mapping[str, Any]) -> set[Person]:
        """The people whose key of several columns the data holds."""
        keys = (
            (known, tuple(str(data[column]) for column in columns))
            for columns, known in self.joint_keys.items()
            if all(column in data for column in columns)
        )
        return {known[key] for known, key in keys if key in known}


def _name_forms(name: str) -> list[tuple[str, ...]]:
    """Other forms of a whole name, as words: Kern Ada May, A. Kern, Mrs Kern. A double name
    such as El-Sayed stays together.
    """
    parts = [part for word in name.split() if (part := (*texts(tokens(word)),))]
    if len(parts) < 2:
        return []
    first, last = tuple(word for part in parts[:-1] for word in part), parts[-1]
    return [(*last, *first), (first[0][0], *last), *((title, *last) for title in _TITLES)]


_TITLES = ("mr", "mrs", "ms", "miss")

_KNOWN: weakref.WeakKeyDictionary[Template, People | None] = weakref.WeakKeyDictionary()


def people_of(world: World, template: Template) -> People | None:
    """The people of a template's database, read once; None if it has no personal columns.

    Raises :class:`~envs.errors.WorldError` for a declared column that does not exist.
    """
    if template not in _KNOWN:
        _KNOWN[template] = _read(world, template)
    return _KNOWN[template]


def _read(world: World, template: Template) -> People | None:
    with template.open(Pins()) as sandbox:
        queries = Queries(sandbox, template)
        tables = template.tables

        def sample(table: str, column: str) -> list[object]:
            return [row[column] for row in _rows(queries, tables[table], [column], SAMPLE)]

        columns = personal_columns(world, tables, sample)
        if not columns:
            return None
        people = People(columns)
        personal = {(one.table, one.column) for one in columns}
        cells = {(table.name, one.name): one for table in tables.values() for one in table.columns}
        others = {place for place, one in cells.items() if one.references in personal}
        grouped = by_table([one for one in columns if (one.table, one.column) not in others])
        owners = {name: _owner(tables, name, grouped) for name in grouped}
        for name in sorted(grouped, key=lambda one: bool(owners[one])):
            _index(people, tables, tables[name], grouped[name], owners[name], queries)
        _name_keys(people, tables)
        return people


def _index(
    people: People,
    tables: Mapping[str, Table],
    table: Table,
    group: Sequence[PersonalColumn],
    owner: Sequence[Column],
    queries: Queries,
) -> None:
    """Take the personal values of a table. Its rows are people, unless they refer to an owner."""
    key = [column.name for column in owner] or list(table.primary_key)
    if not key:
        return
    referred = [] if owner else _referred(tables, table.name)
    wanted = list(dict.fromkeys([*key, *referred, *(column.column for column in group)]))
    names = [column.column for column in group if column.kind == "name"]
    rows = _rows(queries, table, wanted, MOST)
    for row in rows:
        values = tuple(str(row[column]) for column in key)
        person = _person(people, table, owner, values)
        if not owner:
            for column in referred:
                people.keys_of.setdefault((table.name, column), {})[str(row[column])] = person
            if len(key) > 1:
                people.joint_keys.setdefault(tuple(key), {})[values] = person
        for column in group:
            if row[column.column] is not None:
                people.add(row[column.column], column.kind, person)
        if len(names) > 1:
            people.add(" ".join(str(row[name] or "") for name in names), "name", person)
    _drop_parts(people, table.name, referred, len(rows))


def _person(
    people: People, table: Table, owner: Sequence[Column], values: tuple[str, ...]
) -> Person:
    """The person of a row: the one that it refers to, or the row itself."""
    place = owner[0].references if owner else None
    if place is None:
        return table.name, JOINT.join(values)
    known = people.keys_of.get(place, {}) if len(owner) == 1 else {}
    return known.get(values[0], (place[0], JOINT.join(values)))


def _drop_parts(people: People, table: str, columns: Sequence[str], rows: int) -> None:
    """Forget columns that several people share: a part of a key is not a person's alone."""
    for column in columns:
        if len(people.keys_of.get((table, column), ())) < rows:
            people.keys_of.pop((table, column), None)


def _referred(tables: Mapping[str, Table], name: str) -> list[str]:
    """The columns of a table by which its rows are known: a key of one column, and those that
    others refer to.
    """
    key = tables[name].primary_key
    links = (one.references for table in tables.values() for one in table.columns)
    there = (one[1] for one in links if one is not None and one[0] == name)
    return list(dict.fromkeys([*(key if len(key) == 1 else ()), *there]))


def _name_keys(people: People, tables: Mapping[str, Table]) -> None:
    """Let the name of a column stand for people's keys, unless it is a key of other rows too."""
    meant = dict[str, set[tuple[str, str]]]()
    for table in tables.values():
        for column in table.columns:
            if column.references is not None:
                meant.setdefault(column.name, set()).add(column.references)
            elif column.name in table.primary_key or (table.name, column.name) in people.keys_of:
                meant.setdefault(column.name, set()).add((table.name, column.name))
    for name, places in meant.items():
        if len(places) == 1 and (place := next(iter(places))) in people.keys_of:
            people.keys[name] = people.keys_of[place]
    for (table, _), known in people.keys_of.items():
        people.keys.setdefault(table, known)  # an answer calls a list of keys by their table


JOINT = "\x1f"
"""Between the columns of a key."""


def _owner(
    tables: Mapping[str, Table], name: str, grouped: Mapping[str, Sequence[PersonalColumn]]
) -> list[Column]:
    """The columns that refer to the people whose data the rows hold; none if the rows are people. A
    row without a name of its own belongs to the person it refers to.
    """
    if any(column.kind == "name" for column in grouped[name]):
        return []
    for column in tables[name].columns:
        target = column.references[0] if column.references is not None else name
        if target != name and target in grouped:
            by_key = {
                one.references[1]: one
                for one in tables[name].columns
                if one.references is not None and one.references[0] == target
            }
            key = tables[target].primary_key
            whole = len(key) > 1 and set(key) <= by_key.keys()
            return [by_key[part] for part in key] if whole else [column]
    return []


def _rows(
    queries: Queries, table: Table, columns: Sequence[str], most: int
) -> list[dict[str, object]]:
    def ask(connection: Any) -> list[dict[str, object]]:
        quote = connection.dialect.identifier_preparer.quote
        chosen = ", ".join(map(quote, columns))
        result = connection.exec_driver_sql(
            f"SELECT {chosen} FROM {table.written(quote)} LIMIT {most}"
        )
        return [dict(zip(columns, row, strict=True)) for row in result]

    return queries.during(ask)
