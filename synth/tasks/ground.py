"""Grounding: rows that tasks are about, values that vary, and the order in which a plan takes them.

Everything is a function of an index, so that a plan of ten million tasks is no list in memory.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import sqlalchemy
from sqlalchemy import text

from synth.canonical import canonical, derive_seed

Json = Any


class Domain(ABC):
    """A finite, ordered set of values that a slot takes."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, at: int) -> Json: ...


@dataclass(frozen=True)
class Range(Domain):
    """Numbers from ``low`` by ``step``; whole steps of decimals give floats without rounding noise."""

    low: Decimal
    step: Decimal
    count: int
    whole: bool

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> Json:
        value = self.low + self.step * at
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Choice(Domain):
    values: tuple[Json, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: int) -> Json:
        return self.values[at]


@dataclass(frozen=True)
class Dates(Domain):
    """Days as ISO text, both ends included."""

    first: dt.date
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> Json:
        return (self.first + dt.timedelta(days=at)).isoformat()


def parse_domain(raw: Json) -> Domain:
    """A ``vary`` entry: {int: [low, high]}, {float: [low, high, step]}, {choice: [...]} or {date: [first, last]}.

    Raises ValueError with what is wrong.
    """
    kinds = "int, float, choice or date"
    if not isinstance(raw, Mapping) or len(cast("Mapping[str, Json]", raw)) != 1:
        raise ValueError(f"write one of {kinds}, for example {{int: [55, 110]}}")
    kind, spec = next(iter(cast("Mapping[str, Json]", raw).items()))
    if not isinstance(spec, list) or not spec:
        raise ValueError(f"{kind} takes a list")
    values = cast("list[Json]", spec)
    if kind == "choice":
        if any("$" in key[:1] for each in values for key in _keys(each)):
            raise ValueError("a key in a choice must not begin with $")
        if len({canonical(each) for each in values}) != len(values):
            raise ValueError("a choice stands there twice")
        return Choice(tuple(values))
    if kind == "date":
        try:
            first, last = (dt.date.fromisoformat(str(each)) for each in values)
        except ValueError:
            raise ValueError("date takes two ISO dates, first and last") from None
        if last < first:
            raise ValueError("the last date is before the first")
        return Dates(first, (last - first).days + 1)
    if kind not in {"int", "float"}:
        raise ValueError(f"unknown kind {kind!r}; take one of {kinds}")
    if any(isinstance(each, bool) or not isinstance(each, (int, float)) for each in values):
        raise ValueError(f"{kind} takes numbers")
    sizes = {"int": (2, 3), "float": (3,)}[kind]
    if len(values) not in sizes:
        raise ValueError(f"{kind} takes [low, high, step]" + (" or [low, high]" if kind == "int" else ""))
    if kind == "int" and any(isinstance(each, float) for each in values):
        raise ValueError("int takes whole numbers")
    low, high, step = (Decimal(str(each)) for each in (*values, 1)[:3])
    if not all(each.is_finite() for each in (low, high, step)):
        raise ValueError(f"{kind} takes finite numbers")
    if high < low or step <= 0:
        raise ValueError("the range is empty")
    count = int((high - low) / step) + 1
    if count > sys.maxsize:
        raise ValueError("the range has too many values")
    domain = Range(low, step, count, kind == "int")
    if count > 1 and (domain[0] == domain[1] or domain[count - 2] == domain[count - 1]):
        raise ValueError("the step is too small: two values would be the same number")
    return domain


def _keys(value: Json) -> list[str]:
    """The keys of all mappings in a value."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value)
        return [*items, *(key for each in items.values() for key in _keys(each))]
    return [key for each in cast("list[Json]", value) for key in _keys(each)] if isinstance(value, list) else []


_PLAIN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|::|:([A-Za-z_]\w*)|:", re.DOTALL)


def bound(sql: str, values: Mapping[str, Json]) -> sqlalchemy.TextClause:
    """The query with ``:name`` bound, never pasted; colons inside literals and comments stay what they are.

    Raises KeyError with a name that has no value.
    """
    used: dict[str, Json] = {}

    def replace(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            return found.group(0).replace(":", r"\:")
        used[name] = values[name]
        return found.group(0)

    clause = text(_PLAIN.sub(replace, sql))
    return clause.bindparams(**used)


def select(
    connection: sqlalchemy.Connection, sql: str, values: Mapping[str, Json] | None = None
) -> list[dict[str, Json]]:
    """The rows of a query as dicts of JSON values, in the database's order.

    Raises ValueError for two columns of one name, of which a dict could hold one only, and for bytes.
    """
    rows = connection.execute(bound(sql, values or {}))
    names = list(rows.keys())
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two columns are named {twice[0]!r}; give one another name with AS")
    return [{key: _plain(value) for key, value in row.items()} for row in rows.mappings()]


def _plain(value: Any) -> Json:
    """A value as every engine would give it: SQLite has no truth values and no decimals, and 20.0 is 20."""
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, bytes):
        raise ValueError("a grounding cannot hold bytes")  # noqa: TRY004 - the value is at fault, not our caller
    return value


def distinct_sorted(rows: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Rows without repetition in an order that no engine decides: by their canonical JSON."""
    unique = {canonical(row): row for row in rows}
    return [unique[each] for each in sorted(unique)]


def permuted(index: int, size: int, key: str) -> int:
    """The place of ``index`` in a pseudo-random permutation of range(size) that ``key`` chooses.

    A four-round Feistel network over the next even number of bits, walked until it lands inside
    (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
    """
    half = max(1, (max(1, size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(4):
            left, right = right, left ^ (derive_seed(key, turn, right) & mask)
        index = (left << half) | right
        if index < size:
            return index


def combination(index: int, domains: Mapping[str, Domain]) -> dict[str, Json]:
    """The ``index``-th combination of the domains' values, the last domain turning fastest."""
    out: dict[str, Json] = {}
    for name in reversed(list(domains)):
        index, at = divmod(index, len(domains[name]))
        out[name] = domains[name][at]
    return {name: out[name] for name in domains}
