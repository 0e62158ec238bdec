"""Material that a rollout was given, and that it made: a reply is compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, cast

from synth.core.foundation.json_leaves import leaves, named_values
from synth.core.language.values import StatedValue, same_day, values_in
from synth.core.language.wording import MONEY, fold, plain_number, stem, stems
from synth.core.types.reply import GoldReply
from synth.evidence import CallRecord, Evidence
from synth.task import GoldEnd

LONGEST = 400_000
"""The most characters of a result that are read."""

NEAR = 12
"""Numbers up to this one need no source."""

_NO_AMOUNT = re.compile(r"(?:id|_at|_on|date|dob)$")
_CURRENCY = re.compile(
    r"([$\u20ac\u00a3])(?=\s?\d)|(?<![a-z])(usd|dollar|eur|euro|gbp|pound)(?:s?\b|_)"
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def gold_reply(end: GoldEnd | None) -> GoldReply:
    """The words and facts of gold; nothing if that is not known."""
    return GoldReply() if end is None or end.reply is None else GoldReply.from_json(end.reply)


def squeeze(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]+", "", fold(text))


class _Paragraph:
    """A paragraph, read once however many rollouts share it: most of the rules is constant."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def squeezed(self) -> str:
        return squeeze(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return _stems(self.folded)

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        return frozenset(map(Decimal, _parts(self.text, "number")))

    @cached_property
    def days(self) -> frozenset[str]:
        return frozenset(_parts(self.text, "date"))

    @cached_property
    def currencies(self) -> frozenset[str]:
        return _currencies(self.folded)


_paragraph = lru_cache(maxsize=1024)(_Paragraph)


def _parts(text: str, kind: str) -> Iterator[str]:
    """The parts of the readings of a kind of values in a text."""
    if any(map(str.isdigit, text)):
        yield from (part for one in values_in(text) if one.kind == kind for part in one.parts)


def _currencies(text: str) -> frozenset[str]:
    return frozenset(MONEY[found[1] or found[2]] for found in _CURRENCY.finditer(text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, set(_WORD.findall(text.replace("_", " ")))))


def _numbers_of(leaf: Any) -> frozenset[Decimal]:
    """The numbers in a value, without their signs."""
    if isinstance(leaf, (int, float, Decimal)) and not isinstance(leaf, bool):
        return frozenset([abs(Decimal(str(leaf)))])
    return frozenset(map(Decimal, _parts(leaf[:500], "number") if isinstance(leaf, str) else ()))


@dataclass(frozen=True)
class Material:
    """Texts and JSON values, searched for words, numbers and days."""

    texts: Sequence[str] = ()
    data: Sequence[Any] = ()

    @classmethod
    def given(cls, requests: Sequence[Evidence]) -> Material:
        """All that the assistant was told and has seen: rules, tools, user, results and gold."""
        texts: list[str] = []
        data: list[Any] = []
        for one in requests:
            task, gold = one.task, gold_reply(one.task.end)
            texts += [task.system, task.prompt, one.tools_json, *gold.said]
            texts += [turn.text for turn in one.turns]
            data += [task.oracle, task.slots, None if task.end is None else task.end.answer]
            data += [fact.forms for fact in gold.must]
            data += [_result(call) for call in one.calls if call.result is not None]
            data += [call.arguments for call in one.calls if call.ok]
            data += [change.to_json() for change in one.changes]
        return cls(list(dict.fromkeys(texts)), data)

    @classmethod
    def of_calls(cls, calls: Sequence[CallRecord]) -> Material:
        """The arguments, results and changes of some calls."""
        changes = [change.to_json() for call in calls for change in call.changes]
        results = [_result(call) for call in calls if call.result is not None]
        return cls(
            [call.name.replace("_", " ") for call in calls],
            [*(call.arguments for call in calls), *results, *changes],
        )

    @cached_property
    def _paragraphs(self) -> Sequence[_Paragraph]:
        return [_paragraph(part) for text in self.texts for part in text.split("\n\n")]

    @property
    def stated(self) -> Iterator[StatedValue]:
        """The values in its texts."""
        return (value for one in self._paragraphs for value in values_in(one.text))

    @cached_property
    def _written(self) -> str:
        # The text of a dict or list is made in C; only its quotes need no search.
        written = "\n".join(str(item)[:LONGEST] for item in self.data if item)
        return written.replace("\\'", "'").replace("\\n", "\n").lower()

    @cached_property
    def text(self) -> str:
        """All of it in lower case."""
        return "\n".join([*(one.folded for one in self._paragraphs), self._written])

    @cached_property
    def _squeezed(self) -> str:
        return re.sub(r"[\W_]+", "", self._written)

    def holds(self, words: str) -> bool:
        """Tell whether some words are there, in any spelling of case, spaces and signs."""
        return fold(words).strip() in self.text or self.holds_squeezed(squeeze(words))

    def holds_squeezed(self, text: str) -> bool:
        """Tell whether letters and digits are there in a row, whatever is between them."""
        return text in self._squeezed or any(text in one.squeezed for one in self._paragraphs)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return _stems(self._written).union(*(one.stems for one in self._paragraphs))

    def has_stem(self, stem: str) -> bool:
        """Tell whether a stem is in its text, also within a word."""
        parts = self._paragraphs
        return (
            stem in self._written
            or any(stem in one.stems for one in parts)
            or any(stem in one.folded for one in parts)
        )

    @cached_property
    def told(self) -> frozenset[str]:
        """The stems of the words in its values, without the names of fields."""
        return _stems(" ".join(value for value in self.values() if len(value) < 500).lower())

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Its numbers, without their signs."""
        own = frozenset(number for leaf in leaves(self.data) for number in _numbers_of(leaf))
        return own.union(*(one.numbers for one in self._paragraphs))

    @cached_property
    def amounts(self) -> frozenset[Decimal]:
        """Its numbers that are counts or measures: under no name of an id or day, in no text."""
        named = named_values(self.data)
        found = (leaf for name, leaf in named if not _NO_AMOUNT.search(name))
        read = (leaf for leaf in found if not isinstance(leaf, str) or leaf[:1].isdigit())
        return frozenset[Decimal]().union(*map(_numbers_of, read))

    def currencies(self, wanted: AbstractSet[str]) -> AbstractSet[str]:
        """The signs of the currencies that it names, or of enough to have the ``wanted`` ones."""
        found = set[str]()
        for one in self._paragraphs:
            found |= one.currencies
            if wanted <= found:
                return found
        return found | _currencies(self._written)

    def lacks(self, value: StatedValue) -> bool:
        """Tell whether a number is not there, nor its digits; short digits would stand alone."""
        edge = r"\b" if len(value.text) < 3 else ""
        return (
            max(value.numbers, default=0) > NEAR
            and re.search(f"{edge}{re.escape(value.text)}{edge}", self.text) is None
            and not any(map(self.holds_number, value.numbers))
        )

    def numbers_of(self, names: frozenset[str]) -> frozenset[Decimal]:
        """The numbers under names with one of some stems."""
        named = named_values(self.data)
        found = (leaf for name, leaf in named if names & stems(name.replace("_", " ").lower()))
        return frozenset[Decimal]().union(*map(_numbers_of, found))

    @cached_property
    def days(self) -> frozenset[str]:
        """Its days, as YYYY-MM-DD or --MM-DD."""
        texts = (leaf[:LONGEST] for leaf in leaves(self.data) if isinstance(leaf, str))
        own = frozenset(day for text in texts for day in _parts(text, "date"))
        return own.union(*(one.days for one in self._paragraphs))

    def has_day(self, value: StatedValue) -> bool:
        return any(same_day(part, day) for part in value.parts for day in self.days)

    def holds_number(self, number: Decimal | str) -> bool:
        """Tell whether a number is there, or its hundredfold."""
        wanted = abs(Decimal(number))
        return wanted in self.numbers or wanted * 100 in self.numbers

    @property
    def objects(self) -> Iterator[Mapping[str, Any]]:
        """The objects in its JSON values, at any depth."""
        open_values = [*self.data]
        for one in open_values:
            if isinstance(one, Mapping):
                yield cast("Mapping[str, Any]", one)
            if isinstance(one, (Mapping, list, tuple)):
                open_values += one.values() if isinstance(one, Mapping) else one

    def values(self) -> Iterator[str]:
        """Its single values, as texts: what a report may name."""
        for _, leaf in named_values(self.data):
            if leaf is not None and not isinstance(leaf, bool):
                yield leaf if isinstance(leaf, str) else plain_number(leaf)


def _result(call: CallRecord) -> Any:
    return None if call.result is None else call.result.payload()


def made_calls(requests: Sequence[Evidence], start: int = 0) -> list[CallRecord]:
    """The calls from ``start`` on that did something: they succeeded, their tool is no lookup."""
    every = (call for one in requests for call in one.calls[start:])
    return [call for call in every if call.ok and not call.read_only]
