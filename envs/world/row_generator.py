"""Rows made up from the shape of other rows: the words in which `synth new` writes a seed.py.

A :class:`MadeTable` says how many rows there are, how each column is drawn, which columns vary
together (:class:`Mix`), and how many rows refer to one parent (:class:`Link`). Rows that break a
unique constraint or a rule are drawn again; a row that cannot be drawn is left out.
"""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from random import Random
from typing import Any, Protocol, TypeVar

Row = dict[str, Any]
T = TypeVar("T")

TRIES = 200
"""The number of times that a row is drawn before it is left out."""


class Undrawable(ValueError):
    """A table whose rows cannot be drawn, and why."""

    def __init__(self, table: str, why: str) -> None:
        super().__init__(f"{table}: {why}")
        self.table = table
        self.why = why


GIVEN = "..."
"""In a :class:`Mix`: the column has a value, which its own maker draws."""


@dataclass
class Draw:
    """The state in which a column is drawn: the row so far, the rows of its table, and those that
    the row refers to, by the first column of the reference.
    """

    random: Random
    universe: int
    row: Row
    rows: Sequence[Row]
    parents: dict[str, Row] = field(default_factory=dict[str, Row])

    def at(self, path: str) -> Any:
        """The value of a column of the row, or ``link.column`` of one that it refers to; None for
        one that it does not have.
        """
        link, _, column = path.rpartition(".")
        return self.row[path] if path in self.row else self.parents.get(link, {}).get(column)


class Maker(Protocol):
    """The values of one column."""

    def draw(self, draw: Draw) -> Any:
        """One value for ``draw.row``."""
        ...


@dataclass(frozen=True)
class Serial:
    """Whole numbers that go on: ``start + span * universe + 1``, ``+ 2``, ..."""

    span: int
    start: int = 0

    def draw(self, draw: Draw) -> int:
        return self.start + self.span * draw.universe + len(draw.rows) + 1


@dataclass(frozen=True)
class Within:
    """1, 2, 3, ... among the rows that have the same values in ``columns``."""

    columns: Sequence[str]

    def draw(self, draw: Draw) -> int:
        same = [all(row[c] == draw.row[c] for c in self.columns) for row in draw.rows]
        return sum(same) + 1


@dataclass(frozen=True)
class Choice:
    """One of a few values, as often as its weight says."""

    weights: Mapping[Any, int]

    def draw(self, draw: Draw) -> Any:
        return _weighted(self.weights, draw.random)


@dataclass(frozen=True)
class Number:
    """Numbers whose quantiles are ``marks``, rounded to ``decimals`` (None: whole numbers)."""

    marks: Sequence[float]
    decimals: int | None = None

    def draw(self, draw: Draw) -> float:
        return round(_between(self.marks, draw.random), self.decimals)


@dataclass(frozen=True)
class When:
    """Days or moments with quantiles ``marks``, in steps of so many seconds, in a strftime form,
    or as a number of which ``unit`` are a second since 1970.
    """

    marks: Sequence[str | int]
    form: str = "%Y-%m-%d"
    step: int = 86400
    unit: int | None = None

    def draw(self, draw: Draw) -> str | int:
        return _written(_between([self.seconds(one) for one in self.marks], draw.random), self)

    @staticmethod
    def seconds(value: str | float) -> float:
        """The seconds since 1970 of a day, a moment, or a number of seconds. A number beyond the
        year 9999 is of milliseconds, microseconds or nanoseconds.
        """
        if isinstance(value, str):
            return (dt.datetime.fromisoformat(value) - _EPOCH).total_seconds()
        return When.seconds(value / 1000) if value > _LAST else value


@dataclass(frozen=True)
class After:
    """A day or moment so many seconds after the last of others, which are columns of the row or
    ``link.column`` of those that it refers to. ``otherwise`` is for a row without any. Gaps shrink
    where they would lead beyond its last mark.
    """

    columns: Sequence[str]
    gaps: Sequence[float]
    otherwise: When

    def draw(self, draw: Draw) -> str | int:
        found = [value for path in self.columns if (value := draw.at(path)) is not None]
        if not found:
            return self.otherwise.draw(draw)
        base = max(map(When.seconds, found))
        room = max(0, When.seconds(self.otherwise.marks[-1]) - base)
        share = min(1, room / max(1, self.gaps[-1]))
        return _written(base + share * _between(self.gaps, draw.random), self.otherwise)


@dataclass(frozen=True)
class Copy:
    """What a column of the row holds, or ``link.column`` of one that it refers to. ``otherwise`` is
    for a row without one.
    """

    path: str
    otherwise: Maker

    def draw(self, draw: Draw) -> Any:
        value = draw.at(self.path)
        return self.otherwise.draw(draw) if value is None else value


@dataclass(frozen=True)
class Form:
    """Codes of a form: ``#`` is any digit, ``@`` any capital, ``%`` any small letter."""

    weights: Mapping[str, int]

    def draw(self, draw: Draw) -> str:
        form = _weighted(self.weights, draw.random)
        letters = {
            "#": "0123456789",
            "@": "ABCDEFGHJKLMNPQRSTUVWXYZ",
            "%": "abcdefghijkmnpqrstuvwxyz",
        }
        return "".join(draw.random.choice(letters[c]) if c in letters else c for c in form)


@dataclass(frozen=True)
class Blend:
    """Texts whose beginning is of one value and whose end is of another.

    ``heads[i] + tails[i]`` are values that there are already: none of them is made. A text has at
    most ``longest`` characters, if that is given.
    """

    heads: Sequence[str]
    tails: Sequence[str]
    longest: int | None = None

    @cached_property
    def known(self) -> frozenset[str]:
        """The values that there are already, without regard to case."""
        pairs = zip(self.heads, self.tails, strict=True)
        return frozenset((head + tail).casefold() for head, tail in pairs)

    @property
    def room(self) -> int:
        """How many other texts there are."""
        return len({*self.heads}) * len({*self.tails}) - len(self.known)

    def draw(self, draw: Draw) -> str:
        text, longest = "", self.longest or 10**6
        for _ in range(TRIES):
            text = draw.random.choice(self.heads) + draw.random.choice(self.tails)
            fits = len(text) <= longest and not _TWICE.search(text)
            if fits and text.casefold() not in self.known:
                return text
        number = f" {draw.random.randrange(2, 100)}"
        return text[: longest - len(number)] + number


@dataclass(frozen=True)
class Texts:
    """One of these made-up texts; columns of texts in a row are joined if there are ``more``."""

    texts: Sequence[str]
    more: Sequence[str] = ()

    def draw(self, draw: Draw) -> str:
        first = draw.random.choice(self.texts)
        return f"{first} {draw.random.choice(self.more)}" if self.more else first


@dataclass(frozen=True)
class Email:
    """Addresses made of the texts of other columns of the row, or of a pool."""

    columns: Sequence[str]
    texts: Sequence[str] = ()

    def draw(self, draw: Draw) -> str:
        texts = [str(draw.row.get(column) or "") for column in self.columns]
        words = re.findall(r"[a-z]+", " ".join(texts or [draw.random.choice(self.texts)]).lower())
        number = "" if self.columns else str(draw.random.randrange(2, 1000))
        return f"{'.'.join(words) or 'someone'}{number}@example.org"


@dataclass(frozen=True)
class Maybe:
    """Null in a share of the rows, else what another maker draws."""

    nulls: float
    maker: Maker

    def draw(self, draw: Draw) -> Any:
        return None if draw.random.random() < self.nulls else self.maker.draw(draw)


@dataclass(frozen=True)
class Mix:
    """Columns that vary together: rows of values with their weights.

    Null stays null, and GIVEN leaves the value to the column's own maker.
    """

    columns: Sequence[str]
    weights: Mapping[tuple[Any, ...], int]


@dataclass(frozen=True)
class Link:
    """A foreign key from ``columns`` to ``parent_columns`` of ``table``. ``fan_out`` maps a number
    of rows to the number of parents that have so many; ``nulls`` is the share of rows without a
    parent. A table that refers to itself refers to rows before it, its first row to itself where
    null is not allowed. One that refers to a later table gets its parents once all are made.
    """

    columns: Sequence[str]
    table: str
    parent_columns: Sequence[str]
    fan_out: Mapping[int, int]
    nulls: float = 0.0


@dataclass(frozen=True)
class Lookup:
    """A small table that is the same in every universe."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class MadeTable:
    """A table of ``count`` rows. ``rules`` are conditions in SQLite's SQL that each row meets,
    ``partial`` columns that are unique among the rows that meet a condition.
    """

    name: str
    count: int
    columns: Mapping[str, Maker]
    links: Sequence[Link] = ()
    mix: Mix | None = None
    unique: Sequence[Sequence[str]] = ()
    rules: Sequence[str] = ()
    partial: Sequence[tuple[Sequence[str], str]] = ()


def made_rows(
    tables: Sequence[Lookup | MadeTable], universe: int, random: Random
) -> Iterator[tuple[str, Row]]:
    """The rows of one universe, for a seed.py to yield, in the order of the tables. Of a table that
    is named again there are more rows.

    Raises Undrawable for a table whose rows cannot be drawn, or not even half of them.
    """
    made: dict[str, list[Row]] = {}
    out: list[tuple[str, Row]] = []
    later: list[tuple[Link, Sequence[Row]]] = []
    with closing(sqlite3.connect(":memory:")) as checker:
        for table in tables:
            if isinstance(table, Lookup):
                rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
            else:
                known = {*made, table.name}
                links = [link for link in table.links if link.table not in known]
                try:
                    rows = _TableMaker(table, universe, random, made, checker).rows()
                except (sqlite3.Error, ArithmeticError, ValueError) as error:
                    raise Undrawable(table.name, str(error)) from error
                later += [(link, rows) for link in links]
            made[table.name] = [*made.get(table.name, []), *rows]
            out += [(table.name, row) for row in rows]
    for link, rows in later:
        _refer_later(link, rows, made.get(link.table, []), random)
    yield from out


def _refer_later(link: Link, rows: Sequence[Row], parents: Sequence[Row], random: Random) -> None:
    """Set the columns of a link whose parents were not made before the rows. A column that another
    link has set stays as it is. All parents get a row before one gets a second, if they fit.
    """
    pairs = list(zip(link.columns, link.parent_columns, strict=True))
    left: list[Row] = []
    for row in rows:
        left = left or random.sample(parents, len(parents))
        known = {there: row[column] for column, there in pairs if row[column] is not None}
        parent = next((one for one in chain(left, parents) if known.items() <= one.items()), None)
        if parent is not None and random.random() >= link.nulls:
            row.update((column, parent[there]) for column, there in pairs)
            left = [one for one in left if one is not parent]


@dataclass
class _TableMaker:
    """The rows of one table in the making."""

    table: MadeTable
    universe: int
    random: Random
    made: Mapping[str, list[Row]]
    checker: sqlite3.Connection
    pools: list[list[Row]] = field(default_factory=list[list[Row]])
    taken: list[set[tuple[Any, ...]]] = field(default_factory=list[set[tuple[Any, ...]]])

    def rows(self) -> list[Row]:
        old = self.made.get(self.table.name, [])
        out = [*old]
        self.pools = [self._parents(link) for link in self.table.links]
        self.taken = [set() for _ in [*self.table.unique, *self.table.partial]]
        for row in old:
            self._take(row, [])
        for _ in range(self.table.count):
            row = next(filter(None, (self._row(out) for _ in range(TRIES))), None)
            if row is not None:
                out.append(row)
        new = out[len(old) :]
        if 2 * len(new) < self.table.count:
            why = f"only {len(new)} of {self.table.count} rows meet its rules"
            raise ValueError(f"{why}: {', '.join(self.table.rules) or 'they must differ'}"[:200])
        return new

    def _parents(self, link: Link) -> list[Row]:
        """Each parent as often as it shall have rows, in any order."""
        parents = self.made.get(link.table, [])
        counts = [number for number, many in link.fan_out.items() for _ in range(many)]
        if len(counts) != len(parents):
            counts = self.random.choices(counts, k=len(parents)) if counts else []
        self.random.shuffle(counts)
        pool = [row for row, count in zip(parents, counts, strict=True) for _ in range(count)]
        self.random.shuffle(pool)
        return pool or list(parents)

    def _row(self, rows: list[Row]) -> Row | None:
        """A row; None if it breaks a rule."""
        mixed, chosen = self._mixed(), list[tuple[int, int]]()
        given = {column for column, value in mixed.items() if value == GIVEN}
        row = {column: value for column, value in mixed.items() if column not in given}
        draw = Draw(self.random, self.universe, row, rows)
        for number, link in enumerate(self.table.links):
            place = self._refer(link, self.pools[number], given, draw)
            if place is None:
                return None
            chosen.append((number, place))
        for column, maker in self.table.columns.items():
            if column not in row:
                inner = maker.maker if isinstance(maker, Maybe) and column in given else maker
                row[column] = inner.draw(draw)
        self._refer_to_itself(row)
        if not self._mended(row) or not self._is_new(row):
            return None
        self._take(row, chosen)
        return dict(sorted(row.items()))

    def _mended(self, row: Row) -> bool:
        """True if the row meets the rules, if need be with columns of a broken rule emptied."""
        if self._meets(row, self.table.rules):
            return True
        about = " ".join(rule for rule in self.table.rules if not self._meets(row, [rule]))
        named = [one for one in row if re.search(rf"\b{re.escape(one)}\b", about)]
        makers = self.table.columns
        linked = {column: link for link in self.table.links for column in link.columns}
        for column in self.random.sample(named, len(named)):
            link = linked.get(column)
            if link.nulls if link else isinstance(makers.get(column), Maybe):
                row[column] = None
            elif isinstance(makers.get(column), Number):
                row[column] = 0
            if self._meets(row, self.table.rules):
                return True
        return False

    def _keys(self, row: Row) -> list[tuple[Any, ...]]:
        """The row's values of each unique constraint."""
        sets = [*self.table.unique]
        sets += [
            columns if self._meets(row, [rule]) else () for columns, rule in self.table.partial
        ]
        return [tuple(_folded(row[c]) for c in columns) or (None,) for columns in sets]

    def _is_new(self, row: Row) -> bool:
        keys = zip(self._keys(row), self.taken, strict=True)
        return not any(key in taken and None not in key for key, taken in keys)

    def _take(self, row: Row, chosen: Sequence[tuple[int, int]]) -> None:
        """Keep what the row has used up: its keys, and its parents."""
        for key, taken in zip(self._keys(row), self.taken, strict=True):
            taken.add(key)
        for number, place in chosen:
            if place >= 0:
                self.pools[number].pop(place)
                self.pools[number] = self.pools[number] or self._parents(self.table.links[number])

    def _mixed(self) -> Row:
        mix = self.table.mix
        if mix is None:
            return {}
        return dict(zip(mix.columns, _weighted(mix.weights, self.random), strict=True))

    def _refer(self, link: Link, pool: list[Row], given: set[str], draw: Draw) -> int | None:
        """Set the columns of a link; returns the place of the parent in the pool, -1 for none of
        the pool, None if no parent fits.
        """
        row, own = draw.row, link.table == self.table.name
        parents = draw.rows if own else self.made.get(link.table, [])
        pairs = list(zip(link.columns, link.parent_columns, strict=True))
        fixed = {there: row[column] for column, there in pairs if column in row}
        waits = own or link.table not in self.made
        chosen = self._chosen([] if own else pool, fixed)
        parent = pool[chosen] if chosen is not None else None
        if parent is None and (place := self._chosen(parents, fixed)) is not None:
            parent = parents[place]
        if self._is_none(link, given, row) or (waits and parent is None):
            row.update(dict.fromkeys(link.columns, None) | row)
            return -1
        if parent is None:
            return None
        row.update((column, parent[there]) for column, there in pairs)
        draw.parents[link.columns[0]] = parent
        return -1 if chosen is None else chosen

    def _refer_to_itself(self, row: Row) -> None:
        """Set what no row before could give, and null may not stand for."""
        for link in self.table.links:
            if link.table == self.table.name and not link.nulls:
                pairs = zip(link.columns, link.parent_columns, strict=True)
                row.update({one: row[there] for one, there in pairs if row[one] is None})

    def _chosen(self, rows: Sequence[Row], fixed: Mapping[str, Any]) -> int | None:
        """The place of one of the rows that have these values, drawn; None if none has them."""
        places = range(len(rows))
        if fixed:
            places = [place for place in places if fixed.items() <= rows[place].items()]
        return self.random.choice(places) if places else None

    def _is_none(self, link: Link, given: set[str], row: Row) -> bool:
        """True if the row shall have no parent."""
        first = link.columns[0]
        if first in row or first in given:
            return first in row and row[first] is None
        return bool(link.nulls) and self.random.random() < link.nulls

    def _meets(self, row: Row, rules: Sequence[str]) -> bool:
        """True if the row meets the rules; what is unknown is not a breach, as in SQL."""
        if not rules:
            return True
        names = ", ".join(f'? AS "{column.replace(chr(34), chr(34) * 2)}"' for column in row)
        conditions = ", ".join(f"COALESCE(({rule}), 1)" for rule in rules)
        found = self.checker.execute(f"SELECT {conditions} FROM (SELECT {names})", [*row.values()])
        return all(found.fetchone())


def _weighted(weights: Mapping[T, int], random: Random) -> T:
    return random.choices([*weights], [*weights.values()])[0]


def _between(marks: Sequence[float], random: Random) -> float:
    """A value between two neighbouring quantiles."""
    place = random.random() * (len(marks) - 1)
    low = int(place)
    high = min(low + 1, len(marks) - 1)
    gap = marks[high] - marks[low]
    more = gap * (place - low)
    return marks[low] + (min(round(more), gap) if isinstance(gap, int) else more)


_TWICE = re.compile(r"\b(\w+)[ -]\1\b", re.IGNORECASE)
"""A word that stands twice."""

_EPOCH = dt.datetime.fromisoformat("1970-01-01")
_FIRST = (dt.datetime(2, 1, 1) - _EPOCH).total_seconds()  # noqa: DTZ001 - no zone in a database
_LAST = (dt.datetime(9999, 12, 31) - _EPOCH).total_seconds()  # noqa: DTZ001


def _written(seconds: float, when: When) -> str | int:
    inside = min(max(seconds, _FIRST), _LAST)
    if when.unit is not None:
        return round(inside) * when.unit
    moment = _EPOCH + dt.timedelta(seconds=inside // when.step * when.step)
    return moment.strftime(when.form.replace("%Y", f"{moment.year:04}"))


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
