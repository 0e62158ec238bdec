"""The values of `vary`: finite, ordered sets, each a function of the place in it."""

from __future__ import annotations

import datetime as dt
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, cast

from envs.plugins import resolve
from synth.core.foundation.hashing import canonical

KINDS = ("int", "float", "choice", "date", "sql", "fake")
FAKE_COUNT = 100
"""Values of a `fake` domain that does not say how many."""

FAKE_MOST = 10_000


class Domain(ABC):
    """A finite, ordered set of values that a slot takes."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> object: ...


@dataclass(frozen=True)
class Range(Domain):
    """Numbers from ``low`` by ``step``; whole steps of decimals give floats without rounding
    noise.
    """

    low: Decimal
    step: Decimal
    count: int
    whole: bool

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> object:
        value = self.low + self.step * index
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Choice(Domain):
    values: tuple[object, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> object:
        return self.values[index]


@dataclass(frozen=True)
class Dates(Domain):
    """Days as ISO text, both ends included."""

    first: dt.date
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> object:
        return (self.first + dt.timedelta(days=index)).isoformat()


def parse_domain(
    entry: Mapping[str, Any], ask: Callable[[str], Sequence[object]], seed: int
) -> Domain:
    """A ``vary`` entry: {int: [low, high]}, {float: [low, high, step]}, {choice: [...]}, {date:
    [first, last]}, {sql: query} with one column, or {fake: provider, count: n, locale: name}, of
    the form that :mod:`synth.core.tasks.yaml.models` gives.

    ``ask`` gives the values of a query's column, ``seed`` decides what a faker makes up. Raises
    ValueError with what is wrong.
    """
    if "fake" in entry:
        return _fake(entry, seed)
    kind, spec = next(iter(entry.items()))
    if kind == "sql":
        values = tuple(_distinct(ask(spec.strip().rstrip(";"))))
        if not values:
            raise ValueError("the query gives no value")
        return Choice(values)
    return {"choice": _choice, "date": _dates}.get(kind, partial(_range, kind))(spec)


def _choice(values: list[object]) -> Choice:
    if any("$" in key[:1] for value in values for key in keys_in(value)):
        raise ValueError("a key in a choice must not begin with $")
    if len({canonical(value) for value in values}) != len(values):
        raise ValueError("a choice stands there twice")
    return Choice(tuple(values))


def _dates(values: list[object]) -> Dates:
    try:
        first, last = (dt.date.fromisoformat(str(value)) for value in values)
    except ValueError:
        raise ValueError("date takes two ISO dates, first and last") from None
    if last < first:
        raise ValueError("the last date is before the first")
    return Dates(first, (last - first).days + 1)


def _range(kind: str, values: list[object]) -> Range:
    low, high, step = (Decimal(str(value)) for value in (*values, 1)[:3])
    if step <= 0:
        raise ValueError("the step must be above 0")
    if high < low:
        raise ValueError("the range is empty: its end is below its start")
    count = int((high - low) / step) + 1
    if count > sys.maxsize:
        raise ValueError("the range has too many values")
    domain = Range(low, step, count, kind == "int")
    if count > 1 and (domain[0] == domain[1] or domain[count - 2] == domain[count - 1]):
        raise ValueError("the step is too small: two values would be the same number")
    return domain


def _fake(entry: Mapping[str, Any], seed: int) -> Choice:
    count, locale = entry.get("count") or FAKE_COUNT, entry.get("locale") or "en_US"
    fake_values = resolve("synth.core.tasks.fake:fake_values")
    return Choice(tuple(fake_values(entry["fake"], count, locale, seed)))


def _distinct(values: Sequence[object]) -> list[object]:
    """Each value once, in an order that no engine decides."""
    unique = {canonical(value): value for value in values}
    return [unique[item] for item in sorted(unique)]


def keys_in(value: object) -> list[str]:
    """The keys of all mappings in a value."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        return [*items, *(key for item in items.values() for key in keys_in(item))]
    return (
        [key for item in cast("list[object]", value) for key in keys_in(item)]
        if isinstance(value, list)
        else []
    )
