"""What an assistant may know: all that it was told, what its work did, and what follows from it."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, cast

from synth.language.values import (
    MEASURES,
    StatedValue,
    plain_number,
    same_day,
    spelled_numbers,
    values_in,
)
from synth.language.wording import MONEY, fold, stem, texts, tokens
from synth.rewards.base import Evidence
from synth.types import GoldEnd
from synth.types.reply import GoldReply

FREE = 12
"""Whole numbers up to this one need no source, unless they measure something."""

_OF_MONEY = frozenset(
    stem(word) for word in ("cents", "euros", "dollars", "price", "fee", "cost", "refund", "money")
)
"""Words of which a world with money has at least one, unless it has an amount with its currency."""
_ALWAYS = ("24/7", "100%", "100 %")
_SHORT = 300
_MOST = 400_000
"""The most characters of a result that are read."""


def gold_reply(end: GoldEnd | None) -> GoldReply:
    """What gold says; nothing if that is not known."""
    return GoldReply() if end is None or end.reply is None else GoldReply.from_json(end.reply)


def leaves(value: Any) -> list[Any]:
    """The scalars in a JSON value, and the keys of its objects, in order."""
    found: list[Any] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[Any]) -> None:
    if isinstance(value, (str, int, float)) or value is None:
        found.append(value)
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            found.append(key)
            _gather(inner, found)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            _gather(inner, found)
    else:
        found.append(value)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What is known from one text, which is folded."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[str]
    times: frozenset[str]
    money: bool


@lru_cache(maxsize=64)
def _heard(text: str) -> _Heard:
    readings: dict[str, set[str]] = {"number": set(), "date": set(), "time": set()}
    for value in values_in(text):
        for reading in value.readings:
            readings.get(value.kind, set[str]()).update(reading)
    readings["number"] |= {value.readings[0][0] for value in spelled_numbers(text)}
    years = {day[:4] for day in readings["date"] if day[:4].isdigit()}
    return _Heard(
        fold(text),
        frozenset(stem(word) for word in texts(tokens(text))),
        frozenset(readings["number"] | years),
        frozenset(readings["date"]),
        frozenset(readings["time"]),
        any(value.unit in MONEY.values() for value in values_in(text)),
    )


_heard_often = lru_cache(maxsize=20_000)(_heard.__wrapped__)
"""The same for short texts, most of which are cells that many results hold."""


@dataclass
class KnownValues:
    """Numbers, days, times and words that are known. ``texts`` holds folded texts, in order."""

    numbers: set[str] = field(default_factory=set[str])
    days: set[str] = field(default_factory=set[str])
    times: set[str] = field(default_factory=set[str])
    words: set[str] = field(default_factory=set[str])
    texts: dict[str, None] = field(default_factory=dict[str, None])
    spans: set[int] = field(default_factory=set[int])
    """Numbers of days in rules and requests, by which a day may be computed from another."""

    today: str = ""
    money: bool = False

    @classmethod
    def of(cls, evidence: Evidence) -> KnownValues:
        """All that the assistant of a rollout may know."""
        task, known = evidence.task, cls()  # those of a request before come last
        for text in (task.system, task.prompt, *(turn.text for turn in evidence.turns)):
            known.hear(text)
        known.spans = {int(item) for item in known.numbers if item.isdigit() and int(item) <= 3660}
        known.add(known_of_tools(evidence.tools_json))
        for text in gold_reply(task.end).said:
            known.hear(text)
        known.read(dict(task.oracle))
        known.read(None if task.end is None else task.end.answer)
        known.read(evidence.submitted)
        known.read_calls(evidence)
        for change in evidence.changes:
            known.read(change.to_json())
        today = dt.datetime.fromisoformat(task.now).date()
        known.today = today.isoformat()
        for day in (today, today + dt.timedelta(1), today - dt.timedelta(1)):
            known.days.add(day.isoformat())
        for other in evidence.so_far[:-1]:
            known.add(cls.of(replace(other, before=None)))
        return known

    def read_calls(self, evidence: Evidence) -> None:
        """Take the results of calls, and the arguments of those that changed rows."""
        for call in evidence.calls:
            if call.result is not None:
                self.read(call.result.payload())
            if call.changes:
                self.read(call.arguments)

    def add(self, other: KnownValues) -> None:
        """Take all that is known elsewhere."""
        self.numbers |= other.numbers
        self.days |= other.days
        self.times |= other.times
        self.words |= other.words
        self.texts |= other.texts
        self.spans |= other.spans
        self.money = self.money or other.money

    def hear(self, text: str) -> None:
        """Take a text."""
        if len(text) <= _SHORT:
            heard = _heard_often(text)
        else:
            heard = _heard(text[:_MOST])
        if heard.text in self.texts:
            return
        self.texts[heard.text] = None
        self.words |= heard.words
        self.numbers |= heard.numbers
        self.days |= heard.days
        self.times |= heard.times
        self.money = self.money or heard.money

    def read(self, data: Any) -> None:
        """Take JSON data, with the lengths of its lists, sums of their numbers and counts of equal
        cells.
        """
        for leaf in leaves(data):
            if isinstance(leaf, (int, float, Decimal)):
                self._count(leaf)
            elif leaf is not None:
                self.hear(str(leaf).replace("_", " ") if len(str(leaf)) < 60 else str(leaf))
        for items in _lists(data):
            self._count(len(items))
            rows = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]
            for key in {key for row in rows for key in row}:
                self._summarise([row[key] for row in rows if key in row])

    def _summarise(self, cells: Sequence[Any]) -> None:
        """Take the sum of a column and the counts of its words."""
        figures = [cell for cell in cells if _is_number(cell)]
        if len(figures) > 1:
            self._count(sum(Decimal(str(cell)) for cell in figures))
        counts = Counter(cell for cell in cells if isinstance(cell, str))
        self.numbers.update(str(count) for count in counts.values())

    def _count(self, number: object) -> None:
        if isinstance(number, bool):
            return
        try:
            self.numbers.add(plain_number(number).removeprefix("-"))
        except InvalidOperation:  # a float that is not finite
            return

    def holds_text(self, text: str) -> bool:
        """Tell whether a text stands in something that is known."""
        wanted = fold(text)
        return any(wanted in known for known in self.texts)

    def holds_words(self, words: str) -> bool:
        """Tell whether words stand, as whole ones, in something that is known."""
        pattern = re.compile(rf"\b{re.escape(words)}\b")
        return any(pattern.search(known) for known in self.texts)


@lru_cache(maxsize=64)
def known_of_tools(tools: str) -> KnownValues:
    """The values in the schemas of tools, given as JSON."""
    known = KnownValues()
    for leaf in leaves(json.loads(tools)):
        known.hear(str(leaf).replace("_", " "))
    return known


def unknown_values(text: str, known: KnownValues) -> list[StatedValue]:
    """The values of a text that nobody gave and that do not follow from given ones."""
    if not known.texts:
        return []
    values = [*values_in(text), *(value for value in spelled_numbers(text) if _is_figure(value))]
    stated = [value for value in values if _given(value, text, known)]
    return [value for value in values if value not in stated and not _follows(value, stated, known)]


def _is_figure(value: StatedValue) -> bool:
    """True for a spelled number that means a quantity: not "one of them", "a hundred percent"."""
    number = int(value.readings[0][0])
    return number > FREE and number != 100


def _given(value: StatedValue, text: str, known: KnownValues) -> bool:
    if value.kind in {"link", "email"}:
        return known.holds_text(value.readings[0][0].rstrip("/"))
    return any(
        all(_known_part(part, value, text, known) for part in reading) for reading in value.readings
    )


def _known_part(part: str, value: StatedValue, text: str, known: KnownValues) -> bool:
    if value.kind == "date":
        return any(same_day(part, day) or same_day(day, part) for day in known.days)
    if value.kind == "time":
        return any(time[:5] == part for time in known.times)
    if value.unit in MONEY.values() and not (known.money or known.words & _OF_MONEY):
        return False
    if part in known.numbers or _enumerates(value, text) or _always(value, text):
        return True
    return _known_number(part, value.unit, known)


def _known_number(part: str, unit: str, known: KnownValues) -> bool:
    """True for a small number, and for a known one in another unit or rounded."""
    if part.isdigit() and int(part) <= FREE and unit not in MEASURES:
        return True
    number = Decimal(part)
    if plain_number(number * 100) in known.numbers and unit in MONEY.values():
        return True
    if unit == "%" and plain_number(number / 100) in known.numbers:
        return True
    places = max(0, -cast("int", number.as_tuple().exponent))
    return any(
        _rounds(other, places) == number
        for other in known.numbers
        if "." in other and len(other) < 25
    )


def _rounds(number: str, places: int) -> Decimal:
    return round(Decimal(number), places)


def _enumerates(value: StatedValue, text: str) -> bool:
    """True for the number of an item in a list: "2. ..."."""
    folded = fold(text)
    before = folded[: value.start].rpartition("\n")[2].strip(" >-#(|")
    return not before and folded[value.end : value.end + 1] in {".", ")", ":"}


def _always(value: StatedValue, text: str) -> bool:
    around = fold(text)[max(0, value.start - 3) : value.end + 3]
    return any(words in around for words in _ALWAYS)


def _follows(value: StatedValue, stated: Sequence[StatedValue], known: KnownValues) -> bool:
    """True for a value that follows from those beside it: a sum, a difference, a product, a day
    some days away.
    """
    if value.kind == "date":
        days = [part for other in stated if other.kind == "date" for part in other.readings[0]]
        return any(_days_away(part, days, known) for reading in value.readings for part in reading)
    if value.kind != "number":
        return False
    numbers = [number for other in stated for number in _readings(other)[:1]]
    wanted = set(_readings(value))
    pairs = [(one, other) for index, one in enumerate(numbers) for other in numbers[:index]]
    made = {sum(numbers, Decimal(0))}
    for one, other in pairs:
        made |= {one + other, abs(one - other), one * other}
    return bool(wanted & made) and len(numbers) > 1


def _readings(value: StatedValue) -> list[Decimal]:
    """The single numbers that a value may stand for."""
    if value.kind != "number":
        return []
    return [Decimal(reading[0]) for reading in value.readings if len(reading) == 1]


def _days_away(day: str, days: Sequence[str], known: KnownValues) -> bool:
    if day.startswith("--"):
        return False
    bases = [item for item in (*days, known.today) if item and not item.startswith("--")]
    target = dt.date.fromisoformat(day)
    return any(abs((target - dt.date.fromisoformat(base)).days) in known.spans for base in bases)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _lists(data: Any) -> Iterator[Sequence[Any]]:
    if isinstance(data, Mapping):
        for inner in cast("Mapping[str, Any]", data).values():
            yield from _lists(inner)
    elif isinstance(data, (list, tuple)):
        items = cast("Sequence[Any]", data)
        yield items
        for inner in items:
            yield from _lists(inner)
