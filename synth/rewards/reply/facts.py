"""Facts in an assistant's words: held in any form, contradicted, exchanged for one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from synth.language.values import (
    MEASURES,
    StatedValue,
    number_words,
    plain_number,
    same_day,
    values_in,
)
from synth.language.wording import fold, spans, stem, texts, tokens
from synth.rewards.reply.sentences import is_past
from synth.types.reply import Fact

MOST_ITEMS = 20
"""Lists up to this length have to be told in full."""

_DAY = re.compile(
    r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$"
)


@dataclass(frozen=True)
class Spoken:
    """All that an assistant said, to be searched for facts."""

    text: str

    @cached_property
    def values(self) -> Sequence[StatedValue]:
        return values_in(self.text)

    @cached_property
    def numbers(self) -> set[str]:
        spelled = {number for number, _ in number_words(self.text)}
        given = {
            part
            for value in self.values
            if value.kind == "number"
            for reading in value.readings
            for part in reading
        }
        return spelled | given

    @cached_property
    def words(self) -> list[str]:
        return texts(tokens(self.text))

    @cached_property
    def stems(self) -> list[str]:
        return [stem(word) for word in self.words]

    @cached_property
    def squeezed(self) -> str:
        return squeeze(self.text)

    def holds(self, value: Any) -> bool:
        """Tell whether a JSON value is there, in any form. What says nothing is always there."""
        if value is None or isinstance(value, bool) or value == "":
            return True
        if isinstance(value, (list, tuple)):
            items = cast("Sequence[Any]", value)
            return len(items) > MOST_ITEMS or all(self.holds(item) for item in items)
        if isinstance(value, dict):
            return all(self.holds(item) for item in cast("dict[str, Any]", value).values())
        if isinstance(value, (int, float)):
            return self._number(value)
        return self._text(str(value))

    def has_words(self, words: str) -> bool:
        """Tell whether these very words are there, side by side."""
        return bool(spans(texts(tokens(words.replace("_", " "))), self.words))

    def _number(self, value: float) -> bool:
        wanted = Decimal(str(value))
        if plain_number(abs(wanted)) in self.numbers:
            return True
        places = [
            (Decimal(number), max(0, -cast("int", Decimal(number).as_tuple().exponent)))
            for number in self.numbers
        ]
        fraction = wanted != wanted.to_integral_value()
        return fraction and any(round(abs(wanted), digits) == number for number, digits in places)

    def _text(self, value: str) -> bool:
        day = _DAY.match(value)
        if day is not None:
            return any(
                same_day(part, day[1])
                for item in self.values
                if item.kind == "date"
                for reading in item.readings
                for part in reading
            )
        if re.fullmatch(r"\d{1,15}(?:\.\d+)?", value) and not value.startswith("0"):
            return self._number(float(value) if "." in value else int(value))
        plain = value.replace("_", " ")
        words = texts(tokens(plain))
        if spans(words, self.words) or spans([stem(word) for word in words], self.stems):
            return True
        flat = squeeze(plain)
        return len(flat) >= 4 and flat in self.squeezed


def squeeze(text: str) -> str:
    """A text's letters and digits only."""
    return re.sub(r"[\W_]+", "", fold(text))


def missing(
    spoken: Spoken, facts: Sequence[Fact], own: dict[tuple[str, str], list[Any]]
) -> list[Fact]:
    """The facts that are not there. ``own`` holds the keys that this rollout's work made, by table
    and column.
    """
    return [fact for fact in facts if not any(map(spoken.holds, _forms(fact, own)))]


def _forms(fact: Fact, own: dict[tuple[str, str], list[Any]]) -> Sequence[Any]:
    if fact.generated is not None and fact.generated in own:
        return own[fact.generated]
    return fact.forms


def rivals(
    spoken: Spoken, gold: Sequence[str], request: str, beside: Sequence[str] = ()
) -> Iterator[str]:
    """Values that stand where gold has others: of a day, or of a unit of which gold names values,
    none that gold or the request names. Those of the texts ``beside`` belong to other requests.
    """
    right = Spoken("\n".join([*gold, request]))
    others = Spoken("\n".join(beside)).values
    named = {_form(value) for value in Spoken("\n".join(gold)).values}
    for form in sorted(named - {None}, key=str):
        mine = [
            value
            for value in spoken.values
            if _form(value) == form and not any(_equal(value, other) for other in others)
        ]
        theirs = [value for value in right.values if _form(value) == form]
        if mine and not any(_equal(one, other) for one in mine for other in theirs):
            yield mine[0].text


def _form(value: StatedValue) -> str | None:
    if value.kind == "date":
        return "date"
    return value.unit if value.kind == "number" and value.unit in MEASURES else None


def _equal(one: StatedValue, other: StatedValue) -> bool:
    return any(
        left == right or (one.kind == "date" and (same_day(left, right) or same_day(right, left)))
        for mine in one.readings
        for theirs in other.readings
        for left, right in zip(mine, theirs, strict=False)
    )


def exchanged(texts_: Sequence[str], facts: Sequence[Fact]) -> Iterator[str]:
    """Clauses that give one fact under the name of another: "a fee of 37, a refund of 3"."""
    single = [fact for fact in facts if fact.words and _plain(fact)]
    for one, other in ((one, other) for one in single for other in single if one is not other):
        if set(one.words) & set(other.words) or _alike(one, other):
            continue
        for text in texts_:
            for clause in _clauses(text):
                if _swapped(clause, one, other):
                    yield clause.strip()[:120]


def _clauses(text: str) -> list[str]:
    return re.split(r"(?<=[.!?;])\s+|\n+|,\s+|\band\b|\bbut\b|\s\|\s|;", text)


def _swapped(clause: str, one: Fact, other: Fact) -> bool:
    spoken = Spoken(clause)
    stems = set(spoken.stems)
    return (
        bool(stems & set(one.words))
        and not stems & set(other.words)
        and any(map(spoken.holds, other.forms))
        and not any(map(spoken.holds, one.forms))
    )


def _plain(fact: Fact) -> bool:
    return bool(fact.forms) and all(
        isinstance(form, (int, float, str)) and not isinstance(form, bool) for form in fact.forms
    )


def _alike(one: Fact, other: Fact) -> bool:
    return any(form in one.forms for form in other.forms) or _kind(one) != _kind(other)


def _kind(fact: Fact) -> str:
    form = fact.forms[0]
    if isinstance(form, (int, float)) or re.fullmatch(r"-?[\d.,]+", str(form)):
        return "number"
    return "date" if _DAY.match(str(form)) else "text"


_NAME = re.compile(
    r"\b[A-Z][\w'\u2019-]+(?:\s+(?:(?:of|the|and|de|van|von|la)\s+)*[A-Z][\w'\u2019-]+)+"
)
COURTESY = frozenset(
    [
        "dear",
        "best",
        "kind",
        "warm",
        "regards",
        "sincerely",
        "thanks",
        "thank",
        "you",
        "hello",
        "hi",
        "good",
        "morning",
        "afternoon",
        "evening",
        "day",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "i",
        "we",
        "your",
        "our",
        "the",
        "service",
        "support",
        "team",
        "customer",
        "desk",
        "summary",
        "next",
        "steps",
        "step",
        "order",
        "details",
        "status",
        "update",
        "note",
        "please",
        "done",
        "yes",
        "no",
        "ok",
        "okay",
        "result",
        "results",
        "total",
        "all",
        "set",
    ]
)
"""Words with a capital that name nobody."""


def unknown_names(text: str, known: set[str]) -> Iterator[str]:
    """Names of several capitalised words in the middle of a sentence of which no word is known."""
    for line in text.splitlines():
        if "|" in line or line.lstrip().startswith("#"):
            continue
        for found in _NAME.finditer(line):
            before, after = line[: found.start()].rstrip(), line[found.end() :]
            if (
                not before
                or before[-1] in ".!?:*>-\u2013\u2014\"'"
                or after.lstrip(" *").startswith(":")
            ):
                continue
            words = [word for word in texts(tokens(found.group())) if word.isalpha()]
            if words and not any(stem(word) in known or word in COURTESY for word in words):
                yield found.group()


def other_words(spoken: Spoken, right: str, domain: Sequence[Any]) -> Iterator[str]:
    """Other outcomes of a domain ("refused") that are stated while the right one is not."""
    if spoken.holds(right):
        return
    for word in domain:
        if isinstance(word, str) and word != right and is_past(word) and spoken.has_words(word):
            yield word
