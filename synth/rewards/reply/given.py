"""Material that a rollout was given, and that it made: a reply is compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from typing import Any, cast

from synth.foundation.json_leaves import leaves
from synth.language.values import plain_number, values_in
from synth.language.wording import fold, stem
from synth.rewards.base import CallRecord, Evidence
from synth.types import GoldEnd
from synth.types.reply import GoldReply

LONGEST = 400_000
"""The most characters of a result that are read."""

_WORD = re.compile(r"[^\W\d_]{2,}")


def gold_reply(end: GoldEnd | None) -> GoldReply:
    """The words and facts of gold; nothing if that is not known."""
    return GoldReply() if end is None or end.reply is None else GoldReply.from_json(end.reply)


def squeeze(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]+", "", fold(text))


_folded = lru_cache(maxsize=256)(fold)
"""Long texts that many rollouts share: rules, tools, requests."""

_squeezed = lru_cache(maxsize=256)(squeeze)


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[Decimal]:
    """The numbers in a text."""
    return frozenset(
        Decimal(part)
        for value in values_in(text)
        if value.kind == "number"
        for reading in value.readings
        for part in reading
    )


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
    def text(self) -> str:
        """All of it in lower case."""
        return "\n".join([*map(_folded, self.texts), self._written])

    @cached_property
    def _written(self) -> str:
        return "\n".join(
            " ".join(map(str, leaves(item)))[:LONGEST].lower() for item in self.data if item
        )

    @cached_property
    def squeezed(self) -> str:
        return "\n".join([*map(_squeezed, self.texts), re.sub(r"[\W_]+", "", self._written)])

    def holds(self, words: str) -> bool:
        """Tell whether some words are there, in any spelling of case, spaces and signs."""
        return fold(words).strip() in self.text or squeeze(words) in self.squeezed

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words."""
        return frozenset(_WORD.findall(self.text.replace("_", " ")))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(map(stem, self.words))

    @cached_property
    def told(self) -> frozenset[str]:
        """The stems of the words in its values, without the names of fields."""
        values = " ".join(value for value in self.values() if len(value) < 500)
        return frozenset(map(stem, _WORD.findall(values.lower().replace("_", " "))))

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Its numbers, without their signs."""
        out: set[Decimal] = set()
        for text in self.texts:
            out |= _numbers(text)
        for leaf in leaves(self.data):
            if isinstance(leaf, (int, float, Decimal)) and not isinstance(leaf, bool):
                out.add(abs(Decimal(str(leaf))))
            elif isinstance(leaf, str) and any(map(str.isdigit, leaf)):
                out |= _numbers(leaf[:500])
        return frozenset(out)

    @cached_property
    def days(self) -> frozenset[str]:
        """Its days, as YYYY-MM-DD or --MM-DD."""
        texts = [*self.texts, *(leaf for leaf in leaves(self.data) if isinstance(leaf, str))]
        return frozenset(
            day
            for text in texts
            if any(map(str.isdigit, text))
            for value in values_in(text[:LONGEST])
            if value.kind == "date"
            for reading in value.readings
            for day in reading
        )

    def holds_number(self, number: str) -> bool:
        """Tell whether a number is there, in hundredths too, or rounded."""
        try:
            wanted = abs(Decimal(number))
        except InvalidOperation:
            return False
        return wanted in self.numbers or wanted * 100 in self.numbers

    def values(self) -> Iterator[str]:
        """Its single values, as texts: what a report may name."""
        for leaf in _values_of(self.data):
            if isinstance(leaf, str):
                yield leaf
            elif leaf is not None and not isinstance(leaf, bool):
                yield plain_number(leaf)


def _values_of(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, Any]", value).values():
            yield from _values_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from _values_of(inner)
    else:
        yield value


def _result(call: CallRecord) -> Any:
    return None if call.result is None else call.result.payload()


def made_calls(requests: Sequence[Evidence]) -> list[CallRecord]:
    """The calls that did something: they succeeded, and their tool is no lookup."""
    return [call for one in requests for call in one.calls if call.ok and not call.read_only]
