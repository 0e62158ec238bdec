"""The learned shape of a database's rows: what a generated seed.py makes other rows from."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import filterfalse, pairwise, permutations
from random import Random
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from envs.world.row_generator import (
    GIVEN,
    After,
    Blend,
    Choice,
    Copy,
    Form,
    Link,
    Lookup,
    MadeTable,
    Maker,
    Maybe,
    Mix,
    Number,
    Serial,
    Undrawable,
    When,
    Within,
    made_rows,
)
from synth.errors import OperatorError
from synth.ext.authoring.learn_texts import holds_people, text_maker, with_room
from synth.ext.authoring.live_tables import live_tables
from synth.ext.authoring.names import quoted, snake
from synth.ext.authoring.roles import FEW
from synth.ext.authoring.sample import ALL_ROWS, sample
from synth.ext.authoring.shape import DATES, ColumnShape, Shape, TableShape
from synth.ext.authoring.snapshot import ForeignKey, LiveTable
from synth.ext.authoring.standards import mix_of_values

SMALL = 30
"""The most rows of a table that is the same in every universe."""

MARKS = 21
"""Quantiles by which a distribution is kept."""

TRIED = (1, 2)
"""The universes that are made before a seed.py is written."""

COMBINATIONS = 60
"""The most combinations of states and nulls that are learned together."""

LEAST_COPIES = 3
"""The fewest different values of a column that repeats one of a parent."""

NUMBERS = frozenset({"integer", "number"})
Personal = Mapping[tuple[str, str], str]
Rows = Sequence[Mapping[str, Any]]
Value = TypeVar("Value", float, str)


class Unlearnable(OperatorError):
    """A database of which no further universe can be made, and why."""


@dataclass
class Learned:
    """The tables of a database as their rows can be made up, parents first. ``kept`` are those that
    have their own rows in every universe, as no others can be made, with the reason.
    """

    tables: list[Lookup | MadeTable]
    kept: dict[str, str] = field(default_factory=dict[str, str])


def learn(engine: Engine, shape: Shape, personal: Personal, schema: str) -> Learned:
    """What is learned of a loaded SQLite database; its universes load into ``schema``.

    A table whose rows cannot be learned, drawn or loaded keeps its own, and so do the tables that
    it refers to. Raises Unlearnable if no table is left.
    """
    tables = live_tables(engine)
    checks = checks_of(engine, tables)
    rows = sample(engine, tables, ALL_ROWS).by_table
    out = Learned([])
    made = varying([replace(t, checks=checks[t.name]) for t in tables], shape, rows, personal, out)
    return _tried(out, made, tables, rows, schema)


def varying(
    tables: Sequence[LiveTable],
    shape: Shape,
    rows: Mapping[str, Rows],
    personal: Personal,
    out: Learned,
) -> dict[str, MadeTable]:
    """The tables with rows of which others can be made up, as learned; ``out`` keeps the others."""
    lookups, made = _lookups(tables, shape, personal), dict[str, MadeTable]()
    for table in (one for one in tables if one.name not in lookups and rows[one.name]):
        one = _Learner(table, shape.tables, rows, personal, lookups)
        try:
            made[table.name] = one.table()
        except (Unlearnable, ValueError, ArithmeticError) as error:
            _keep(table.name, str(error), tables, out.kept)
    return made


def _tried(
    out: Learned,
    made: Mapping[str, MadeTable],
    tables: Sequence[LiveTable],
    rows: Mapping[str, Rows],
    schema: str,
) -> Learned:
    """What is learned without the tables whose rows cannot be made or loaded."""
    while True:
        out.tables = [
            made[table.name]
            if table.name in made.keys() - out.kept.keys()
            else own_rows(table, rows[table.name])
            for table in tables
        ]
        found = next(filter(None, (fault_of(out.tables, schema, one) for one in TRIED)), None)
        if found is None and made.keys() - out.kept.keys():
            return out
        if found is None or found[0] in out.kept or found[0] not in made:
            same = "each table is small or empty, and the same in every universe"
            reasons = [
                *dict.fromkeys(out.kept.values()),
                *([f"{found[0]}: {found[1]}"] if found else []),
            ]
            raise Unlearnable("; ".join(reasons) or same)
        _keep(found[0], found[1], tables, out.kept)


def own_rows(table: LiveTable, rows: Rows) -> Lookup:
    """A table with the rows that it has."""
    names = written(table)
    return Lookup(table.name, names, [tuple(row[name] for name in names) for row in rows])


def _keep(name: str, why: str, tables: Sequence[LiveTable], kept: dict[str, str]) -> None:
    """Let a table, and all that it refers to, keep its own rows."""
    by_name = {table.name: table for table in tables}
    kept[name] = why
    queue = [name]
    while queue:
        for _, target, _ in by_name[queue.pop()].links:
            if target not in kept:
                kept[target] = f"{name} refers to it"
                queue.append(target)


def fault_of(
    tables: Sequence[Lookup | MadeTable], schema: str, universe: int
) -> tuple[str, str] | None:
    """The first table whose rows of a universe cannot be made or loaded, and why."""
    current = ""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema)
        try:
            for current, row in made_rows(tables, universe, Random(universe)):
                names = ", ".join(map(quoted, row))
                marks = ", ".join("?" * len(row))
                sql = f"INSERT INTO {quoted(current)} ({names}) VALUES ({marks})"
                db.execute(sql, [*row.values()])
            loose = db.execute("PRAGMA foreign_key_check").fetchone()
        except Undrawable as error:
            return error.table, error.why
        except (sqlite3.Error, OverflowError) as error:
            return current, str(error)
    return (str(loose[0]), "its rows refer to rows that are not there") if loose else None


def checks_of(engine: Engine, tables: Sequence[LiveTable]) -> dict[str, tuple[str, ...]]:
    """The checks of each table that are about the columns which its rows are given."""
    inspector, out = inspect(engine), dict[str, tuple[str, ...]]()
    with engine.connect() as db:
        for table in tables:
            nulls = ", ".join(f"NULL AS {quoted(name)}" for name in written(table))
            texts = [str(check["sqltext"]) for check in inspector.get_check_constraints(table.name)]
            out[table.name] = tuple(
                text for text in texts if _runs(db, f"SELECT {text} FROM (SELECT {nulls})")
            )
    return out


def _runs(db: Connection, sql: str) -> bool:
    try:
        db.execute(text(sql.replace(":", "\\:")))
    except SQLAlchemyError:
        return False
    return True


def written(table: LiveTable) -> list[str]:
    """The columns that a row is given; the database computes the others."""
    return [column.name for column in table.columns if column.computed is None]


def _lookups(tables: Sequence[LiveTable], shape: Shape, personal: Personal) -> set[str]:
    """Small tables of names and kinds that depend on no others, and hold no people."""
    found = set[str]()
    for table in tables:
        one = shape.tables[table.name]
        plain = all(
            column.role in _OF_KINDS
            and (column.kind not in DATES or column.role == "audit")
            and (table.name, column.name) not in personal
            and not holds_people(column.label, [str(value) for value in column.seen])
            for column in one.columns
        )
        inner = all(target in found for _, target, _ in table.links)
        if 0 < one.rows <= SMALL and plain and inner:
            found.add(table.name)
    return found


_OF_KINDS = {"key", "name", "status", "category", "identifier", "text", "link", "audit", "code"}


@dataclass
class _Learner:
    """One table and its rows; ``lookups`` are those that are the same in every universe."""

    live: LiveTable
    shapes: Mapping[str, TableShape]
    by_table: Mapping[str, Rows]
    kinds: Personal
    lookups: Container[str]

    def __post_init__(self) -> None:
        name = self.live.name
        self.shape, self.rows = self.shapes[name], self.by_table[name]
        self.personal = {c: kind for (t, c), kind in self.kinds.items() if t == name}
        self.shaped = {column.name: column for column in self.shape.columns}

    def table(self) -> MadeTable:
        """The table as its rows can be made up."""
        kept = [one for one in self.live.links if not self._is_kind(one)]
        linked = {column for columns, _, _ in kept for column in columns}
        mix = self._mix(linked)
        mixed = set(mix.columns) if mix else set[str]()
        free = [c for c in written(self.live) if c not in linked | _settled(mix)]
        ordered = [*filterfalse(self._is_date, free), *self._dates(free)]
        makers: dict[str, Maker] = {c: self._maker(c, mixed) for c in ordered}
        makers |= {
            columns[0]: Choice(dict(Counter(row[columns[0]] for row in self.rows)))
            for columns, _, _ in filter(self._is_kind, self.live.links)
        }
        links = [self._link(*link, mixed) for link in sorted(kept, key=lambda one: -len(one[0]))]
        unique = [one for one in [self.live.key, *self.shape.uniques] if one]
        return MadeTable(
            self.live.name,
            len(self.rows),
            makers,
            links,
            mix,
            list(dict.fromkeys(unique)),
            list(dict.fromkeys([*self.live.checks, *self._orders(free)])),
            [(list(columns), where) for columns, where in self.live.partials],
        )

    def _is_kind(self, link: ForeignKey) -> bool:
        """True for a reference to a word that means something; others lead to the same words."""
        apart = {name for columns in self.shape.distinct_sets for name in columns}
        return link[1] in self.lookups and len(link[0]) == 1 and apart.isdisjoint(link[0])

    def _is_date(self, column: str) -> bool:
        one = self.shaped.get(column)
        if one is None or not one.tells_time:
            return False
        return one.kind in DATES or all(isinstance(value, int) for value in self._values(column))

    def _dates(self, columns: Sequence[str]) -> list[str]:
        """The columns of dates, each after those that no row has later."""
        dates = {c: [row[c] for row in self.rows] for c in columns if self._is_date(c)}

        def rank(column: str) -> tuple[int, float]:
            seconds = [When.seconds(value) for value in self._values(column)]
            earlier = sum(_precede(other, dates[column]) for other in dates.values())
            return earlier, sum(seconds) / max(1, len(seconds))

        return sorted(dates, key=rank)

    def _values(self, column: str) -> list[Any]:
        found = [row[column] for row in self.rows if row[column] is not None]
        return [one for one in found if not isinstance(one, float) or math.isfinite(one)]

    def _mix(self, linked: set[str]) -> Mix | None:
        """The columns of currencies, languages or countries; without them, states and gaps."""
        texts = [c.name for c in self.live.columns if c.type == "TEXT" and c.name not in linked]
        found = mix_of_values({c: [row[c] for row in self.rows] for c in texts})
        return found or self._states(linked)

    def _states(self, linked: set[str]) -> Mix | None:
        """States, and what is null where others are not, as they occur together."""
        key = set(self.live.key)
        apart = key | linked | {*self.personal}
        states = [
            c.name
            for c in self.shape.columns
            if c.choices and c.name not in apart and not self._copied(c.name)
        ]
        gaps = [
            c.name
            for c in self.live.columns
            if c.name not in key and c.name not in states and c.name in written(self.live)
            if 0 < len(self._values(c.name)) < len(self.rows)
        ]
        columns = list[str]()
        found: Counter[tuple[Any, ...]] = Counter()
        for column in [*states, *gaps]:
            combined = Counter(
                tuple(self._mixed(row, c, states) for c in [*columns, column]) for row in self.rows
            )
            if len(combined) <= min(COMBINATIONS, max(4, len(self.rows) // 2)):
                columns, found = [*columns, column], combined
        return Mix(columns, dict(found.most_common())) if columns else None

    def _mixed(self, row: Mapping[str, Any], column: str, states: Sequence[str]) -> Any:
        value = row[column]
        return self._typed(column, value) if column in states or value is None else GIVEN

    def _typed(self, column: str, value: Any) -> Any:
        """A value in its type on every engine."""
        boolean = column in self.shaped and self.shaped[column].kind == "boolean"
        return bool(value) if boolean and value in (0, 1) else value

    def _maker(self, column: str, mixed: set[str]) -> Maker:
        values = self._values(column)
        maker = self._drawn(column, values) if values else Choice({None: 1})
        path = self._copied(column) if values and column not in self.personal else None
        maker = Copy(path, maker) if path else maker
        nulls = 1 - len(values) / max(1, len(self.rows))
        return Maybe(round(nulls, 3), maker) if values and nulls and column not in mixed else maker

    def _drawn(self, column: str, values: Sequence[Any]) -> Maker:
        kind = self.shaped[column].kind if column in self.shaped else "text"
        alone = column in self.live.key or (column,) in self.shape.uniques
        numbers = all(isinstance(value, int | float) for value in values)
        if numbers and self.live.key == (column,) and kind == "integer":
            return _serial(values)
        if self._counts_within(column):
            return Within([c for c in self.live.key if c != column])
        if self._is_date(column):
            return self._date(column, values)
        if not alone and column not in self.personal and _are_few(values):
            return self._choice(column, values)
        return _number(values) if numbers else self._text(column, values)

    def _copied(self, column: str) -> str | None:
        """The text of a parent that every row repeats: a line has the title of its product."""
        own = [row[column] for row in self.rows]
        found = {one for one in own if one is not None}
        if len(found) < LEAST_COPIES or any(column in one for one in self.shape.distinct_sets):
            return None
        texts = ((path, them) for path, one, them in self._of_parents() if one.kind == "text")
        same = (
            path
            for path, them in texts
            if all(a in {b, None} for a, b in zip(own, them, strict=True))
        )
        return next(same, None)

    def _text(self, column: str, values: Sequence[Any]) -> Maker:
        kind = self.personal.get(column)
        longest = next(one.length for one in self.live.columns if one.name == column)
        people = [c.name for c in self.shape.of_role("person", "name") if c.name != column]
        maker = text_maker(snake(column), kind, values, people, longest)
        if isinstance(maker, Form) and (column,) in {self.live.key, *self.shape.uniques}:
            return with_room(maker, len(values), longest)
        apart = any(column in columns for columns in [self.live.key, *self.shape.uniques])
        words = isinstance(maker, Blend) and len(values) <= SMALL and kind is None
        poor = isinstance(maker, Blend) and maker.room < 2 * len(values)
        return self._choice(column, values) if words and (poor or not apart) else maker

    def _choice(self, column: str, values: Sequence[Any]) -> Choice:
        return Choice({self._typed(column, value): n for value, n in Counter(values).most_common()})

    def _counts_within(self, column: str) -> bool:
        """True for a part of the key that counts rows from 1 within the other parts."""
        others = [c for c in self.live.key if c != column]
        if column not in self.live.key or not others or not set(others) <= self.live.bound:
            return False
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[c] for c in others), []).append(row[column])
        return all(
            sorted(map(str, g)) == sorted(map(str, range(1, len(g) + 1))) for g in groups.values()
        )

    def _date(self, column: str, values: Sequence[str]) -> Maker:
        when, own = _when(values), [row[column] for row in self.rows]
        found = {path: dates for path, dates in self._earlier(column) if _precede(dates, own)}
        gaps = [
            min(_gap(one, value) for one in earlier)
            for value, *dates in zip(own, *found.values(), strict=True)
            if value is not None and (earlier := [one for one in dates if one is not None])
        ]
        return After(list(found), _marks(gaps), when) if len(gaps) > 1 else when

    def _earlier(self, column: str) -> Iterator[tuple[str, list[Any]]]:
        """Dates that are drawn before a column, of the row and of those that it refers to."""
        dates = self._dates(self.live.names)
        for name in dates[: dates.index(column)]:
            yield name, [row[name] for row in self.rows]
        yield from ((path, dates) for path, one, dates in self._of_parents() if one.kind in DATES)

    def _of_parents(self) -> Iterator[tuple[str, ColumnShape, list[Any]]]:
        """The columns of other tables that the rows refer to, with the value for each row."""
        for columns, target, there in self.live.links:
            parents = {tuple(row[c] for c in there): row for row in self.by_table[target]}
            of_row = [parents.get(tuple(row[c] for c in columns), {}) for row in self.rows]
            for one in self.shapes[target].columns if target != self.live.name else ():
                yield f"{columns[0]}.{one.name}", one, [row.get(one.name) for row in of_row]

    def _link(
        self, columns: tuple[str, ...], target: str, there: tuple[str, ...], mixed: set[str]
    ) -> Link:
        found = Counter(
            tuple(row[c] for c in columns) for row in self.rows if row[columns[0]] is not None
        )
        parents = [tuple(row[c] for c in there) for row in self.by_table[target]]
        fan_out = Counter(found[parent] for parent in parents)
        nulls = 1 - sum(found.values()) / max(1, len(self.rows))
        own = target == self.live.name
        share = round(nulls, 3) if own or columns[0] not in mixed else 0.0
        return Link(columns, target, there, dict(sorted(fan_out.items())), share)

    def _orders(self, columns: Sequence[str]) -> list[str]:
        """The pairs of numbers whose names say that one is never greater, as the rows hold it."""
        numbers = [c for c in columns if c in self.shaped and self.shaped[c].kind in NUMBERS]
        return [
            f"{quoted(low)} <= {quoted(high)}"
            for low, high in permutations(numbers, 2)
            if _are_in_order(self.shaped[low].label, self.shaped[high].label)
            and all(r[low] <= r[high] for r in self.rows if None not in (r[low], r[high]))
        ]


def _serial(values: Sequence[int]) -> Serial:
    """Keys as long as these, and others in each universe; all of them fit into 64 bits."""
    digits = len(str(max(*values, 1)))
    return Serial(10 ** max(3, digits)) if digits < 10 else Serial(10**6, 10 ** (digits - 1))


def _are_in_order(low: str, high: str) -> bool:
    """True for two columns whose names say that the first is not greater: min_age and max_age."""
    words, others = low.split("_"), high.split("_")
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    return len(words) == len(others) and len(differing) == 1 and differing[0] in _ORDERED


_ORDERED = frozenset(
    {
        ("min", "max"),
        ("minimum", "maximum"),
        ("low", "high"),
        ("lower", "upper"),
        ("lowest", "highest"),
        ("from", "to"),
        ("start", "end"),
        ("first", "last"),
    }
)


def _settled(mix: Mix | None) -> set[str]:
    """The columns whose values a mix has all itself."""
    if mix is None:
        return set()
    places = range(len(mix.columns))
    return {mix.columns[i] for i in places if all(key[i] != GIVEN for key in mix.weights)}


def _are_few(values: Sequence[Any]) -> bool:
    distinct = len(set(values))
    return distinct <= FEW and (distinct == 1 or 2 * distinct <= len(values))


def _number(values: Sequence[float]) -> Number:
    places = [len(f"{value:.6f}".rstrip("0").partition(".")[2]) for value in values]
    whole = all(isinstance(value, int) for value in values)
    return Number(_marks(values), None if whole else max(1, *places) if places else 2)


def _marks(values: Sequence[Value]) -> list[Value]:
    """The quantiles of some values, the least and the greatest among them: at least two."""
    ordered = sorted(values)
    count = min(MARKS, len(ordered))
    places = [round(i * (len(ordered) - 1) / max(1, count - 1)) for i in range(count)]
    marks = [ordered[place] for place in places]
    return marks if len(marks) > 1 else [*marks, *marks]


def _precede(dates: Sequence[Any], others: Sequence[Any]) -> bool:
    """True for dates of which none is after its row's other one, and not all are long before."""
    pairs = [(a, b) for a, b in zip(dates, others, strict=True) if None not in (a, b)]
    gaps = [_gap(a, b) for a, b in pairs]
    seconds = [When.seconds(b) for _, b in pairs]
    return any(gaps) and 0 <= min(gaps) <= max(seconds) - min(seconds)


def _gap(early: str | float, late: str | float) -> float:
    """The seconds between two dates; whole days between a moment and a day."""
    is_day = isinstance(late, str) and len(late) == 10
    return When.seconds(late) - When.seconds(str(early)[:10] if is_day else early)


def _when(values: Sequence[Any]) -> When:
    marks: list[str | int] = _marks(values)
    if isinstance(last := max(values), int):
        return When(marks, unit=round(last / When.seconds(last)) if last else 1)
    if len(values[0]) == 10:
        return When(marks)
    seconds = [int(When.seconds(value)) for value in values]
    step = math.gcd(*(b - a for a, b in pairwise(sorted(seconds))), 86400, seconds[0]) or 1
    blank = "T" if "T" in values[0] else " "
    clock = "%H:%M" if re.fullmatch(r".{10}.\d\d:\d\d", values[0]) else "%H:%M:%S"
    return When(marks, f"%Y-%m-%d{blank}{clock}", step)
