"""Facts in an assistant's words: held in any form, beside what they belong to, lists complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import permutations
from typing import Any, cast

from synth.core.language.values import (
    MEASURES,
    StatedValue,
    same_day,
    says_nothing,
    spelled_numbers,
    values_in,
)
from synth.core.language.wording import MONEY, fold, plain_number, spans, stem, texts, tokens
from synth.core.rewards.reply.given import Material, squeeze
from synth.core.rewards.reply.sentences import AgentSentence, ReplyFinding, base_form
from synth.core.types.reply import Fact

MISSING = "output not said"
MISPLACED = "value in the wrong place"

MOST_ITEMS = 20
"""Lists up to this length have to be told in full."""

_DAY = re.compile(
    r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$"
)
_NUMBER = re.compile(r"[-$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-$€£]?\d{1,15}(?:\.\d+)?")
_ITEM = re.compile(r"\n|;|,|\band\b|\bor\b|\||\u2022")


@dataclass(frozen=True)
class Spoken:
    """All that an assistant said, to be searched for facts."""

    text: str

    @cached_property
    def values(self) -> Sequence[StatedValue]:
        return [*values_in(self.text), *spelled_numbers(self.text)]

    @cached_property
    def levels(self) -> Sequence[StatedValue]:
        """The values that are no differences ("+2 mg/dL")."""
        return [value for value in self.values if self.text[value.start - 1 :][:1] != "+"]

    @cached_property
    def numbers(self) -> set[str]:
        said = {"0"} if says_nothing(self.text) else set[str]()
        said |= {"1"} if re.search(r"\bsingle\b", fold(self.text)) else set[str]()
        return said.union(*(value.parts for value in self.values if value.kind == "number"))

    @cached_property
    def words(self) -> list[str]:
        return texts(tokens(self.text))

    @cached_property
    def stems(self) -> list[str]:
        return _stems(self.words)

    @cached_property
    def squeezed(self) -> str:
        return squeeze(self.text)

    def holds(self, value: Any) -> bool:
        """Tell whether a JSON value is there, in any form. What says nothing is always there.

        >>> Spoken("The amount is 93.05 EUR.").holds("EUR")
        True
        """
        if value is None or isinstance(value, bool) or value == "":
            return True
        if isinstance(value, (list, tuple)):
            items = cast("Sequence[Any]", value)
            return len(items) > MOST_ITEMS or all(self.holds(item) for item in items)
        if isinstance(value, dict):
            return all(self.holds(item) for item in cast("dict[str, Any]", value).values())
        if isinstance(value, (int, float, Decimal)):
            return self._number(value)
        return self._text(str(value))

    def names(self, name: str) -> bool:
        """Tell whether a name is there; a single word is one of its own, not a part of another.

        >>> Spoken("63.00 EUR for the cardigan").names("card")
        False
        """
        return self.holds(name) and (not name.isalpha() or fold(name) in self.words)

    def _number(self, value: float | Decimal) -> bool:
        wanted = Decimal(str(value))
        if plain_number(abs(wanted)) in self.numbers:
            return True
        fraction = wanted != wanted.to_integral_value()
        return fraction and any(
            round(abs(wanted), max(0, -cast("int", number.as_tuple().exponent))) == number
            for number in map(Decimal, self.numbers)
        )

    def _text(self, value: str) -> bool:
        if day := _DAY.match(value):
            days = (item.parts for item in self.values if item.kind == "date")
            return any(same_day(part, day[1]) for parts in days for part in parts)
        if _NUMBER.fullmatch(value) and not value.startswith("0"):
            return self._number(Decimal(re.sub(r"[,$€£]", "", value)))
        plain = value.replace("_", " ")
        flat, code = squeeze(plain), fold(value).strip() or value
        if not flat:  # signs alone: "🔥"; three stars are not in four
            return code in re.findall(f"[{re.escape(code)}]+", f"{self.text}\n{fold(self.text)}")
        if self._has_another_sign(code):
            return False
        if len(flat) >= 4 and flat in self.squeezed:
            return True
        words = texts(tokens(plain))
        return bool(spans(words, self.words) or spans(_stems(words), self.stems))

    def _has_another_sign(self, code: str) -> bool:
        """Tell whether only other signs stand behind a short value's letters: "O-" for "O+", "C#"
        for "C".
        """
        head = code.rstrip("-+#")
        if head == code and len(code) > 2:
            return False
        behind = re.findall(rf"(?<!\w){re.escape(head)}([-+#]*)(?!\w)", fold(self.text))
        return any(behind) and code[len(head) :] not in behind


def _stems(found: Sequence[str]) -> list[str]:
    """The stems of words; a currency has its sign, as behind an amount."""
    return [MONEY.get(word) or stem(word) for word in found]


def missing(
    spoken: Spoken, facts: Sequence[Fact], own: Mapping[tuple[str, str], list[Any]]
) -> Iterator[ReplyFinding]:
    """The facts that are not there. ``own`` holds the keys that this rollout's work made, by table
    and column.
    """
    for fact in facts:
        if not any(map(spoken.holds, _forms(fact, own))):
            shown = " or ".join(f"{form!r:.60}" for form in fact.forms[:2])
            yield ReplyFinding(MISSING, "", f"{fact.name}: {shown or 'a key that the work made'}")


def _forms(fact: Fact, own: Mapping[tuple[str, str], list[Any]]) -> Sequence[Any]:
    if fact.generated is not None and fact.generated in own:
        return own[fact.generated]
    return fact.forms


def wrong_units(
    spoken: Spoken, gold: Sequence[str], given: Material, facts: Sequence[Fact]
) -> Iterator[ReplyFinding]:
    """Numbers of gold's words in another unit that nothing gave, and ``facts`` in hundredths."""
    right = Spoken("\n".join(gold)).values
    for value in spoken.values:
        group = value.kind == "number" and _group(value.unit)
        numbers = (one for one in right if group and one.kind == "number" and _equal(one, value))
        same = [one for one in numbers if _group(one.unit) == group]
        if not same or any(one.unit == value.unit for one in same):
            continue
        if not any(value.unit == one.unit and _equal(one, value) for one in given.stated):
            why = f"{same[0].text} is in {same[0].unit}"
            yield ReplyFinding(MISPLACED, _around(spoken.text, value), why)
    yield from _hundredfold(spoken, facts)


def unknown_currency(spoken: Spoken, given: Callable[[], Material]) -> Iterator[ReplyFinding]:
    """Amounts in another currency than all that was ``given``, or than others in the same words."""
    signs = dict[str, StatedValue]()
    for value in spoken.values:
        if value.unit in MONEY.values():
            signs.setdefault(value.unit, value)
    known = (given().currencies(signs.keys()) if signs else None) or {*list(signs)[:1]}
    for sign in sorted(signs.keys() - known):
        around = _around(spoken.text, signs[sign])
        yield ReplyFinding(MISPLACED, around, f"amounts are in {', '.join(sorted(known))}")


def _hundredfold(spoken: Spoken, facts: Sequence[Fact]) -> Iterator[ReplyFinding]:
    """Amounts in hundredths of a currency that are told as amounts of the currency."""
    for fact in facts:
        forms = {Decimal(str(form)) for form in fact.forms if _NUMBER.fullmatch(str(form))}
        for value in spoken.values:
            told = (one for one in value.numbers if one and {one, one / 100} <= forms)
            if value.unit in MONEY.values() and any(told):
                around = _around(spoken.text, value)
                yield ReplyFinding(MISPLACED, around, f"{fact.name}: hundredths")


def _group(unit: str) -> str | None:
    if unit in MONEY.values():
        return "money"
    return "measure" if unit in MEASURES else None


def _around(text: str, value: StatedValue) -> str:
    return text[max(0, value.start - 60) : value.end + 30].strip().replace("\n", " ")


def rivals(
    spoken: Spoken, gold: Sequence[str], given: Material, *, reports: bool = False
) -> Iterator[ReplyFinding]:
    """Values that stand where gold has others: of a day, or of a unit of which gold names values.
    One that anything ``given`` has is not a rival, but in a text that ``reports`` a day alone.
    """
    right = Spoken("\n".join(gold)).values if spoken.values else ()
    for form in sorted({_form(value) for value in right} - {None}, key=str):
        mine, theirs = ([v for v in text if _form(v) == form] for text in (spoken.levels, right))
        if any(
            _equal(one, other) for one in (*mine, *_sum(mine)) for other in (*theirs, *_sum(theirs))
        ):
            continue
        sure = reports and form != "date"
        unknown = [value for value in mine if sure or not _is_given(value, given)]
        for value in unknown[:1]:
            yield ReplyFinding(MISPLACED, _around(spoken.text, value), f"it is {theirs[0].text}")


def _sum(values: Sequence[StatedValue]) -> Iterator[StatedValue]:
    """The sum of amounts of one currency."""
    if values and values[0].unit in MONEY.values():
        total = sum(Decimal(one.readings[0][0]) for one in values)
        yield replace(values[0], readings=((plain_number(total),),))


def _is_given(value: StatedValue, given: Material) -> bool:
    parts = value.parts
    if value.kind == "date":
        return given.has_day(value)
    if value.unit in MONEY.values():
        return any(Decimal(part) * cents in given.amounts for part in parts for cents in (1, 100))
    named = given.numbers_of(frozenset({stem(value.unit)}))
    return any(Decimal(part) in named for part in parts) or any(
        one.unit == value.unit and _equal(one, value) for one in given.stated
    )


def _form(value: StatedValue) -> str | None:
    if value.kind == "date":
        return "date"
    return value.unit if value.kind == "number" and value.unit in MEASURES else None


def _equal(one: StatedValue, other: StatedValue) -> bool:
    return any(
        left == right or (one.kind == "date" and same_day(left, right))
        for mine in one.readings
        for theirs in other.readings
        for left, right in zip(mine, theirs, strict=False)
    )


def exchanged(texts_: Sequence[str], facts: Sequence[Fact]) -> Iterator[ReplyFinding]:
    """Clauses that give one fact under the name of another: "a fee of 37, a refund of 3"."""
    single = [
        fact
        for fact in facts
        if fact.words and _plain(fact) and not any(spelled_numbers(" ".join(fact.words)))
    ]
    times = Counter(word for fact in facts for word in {*fact.words})
    clauses = [part for text in texts_ for part in _CLAUSE.split(text) if part.strip()]
    for one, other in permutations(single, 2):
        if {*one.words} & {*other.words} or {*map(str, one.forms)} & {*map(str, other.forms)}:
            continue
        for clause in clauses:
            if _swapped(Spoken(clause), one, other, times):
                why = f"that is {other.name}, not {one.name}"
                yield ReplyFinding(MISPLACED, clause.strip()[:200], why)


_CLAUSE = re.compile(r"(?<=[.!?;])\s+|\n+|,\s+|\band\b|\bbut\b|\s\|\s|;")


def _swapped(spoken: Spoken, one: Fact, other: Fact, times: Mapping[str, int]) -> bool:
    """True if a clause has the name of one fact, in words of its own, and the other's value."""
    stems, own = set(spoken.stems), {word for word in one.words if times[word] == 1}
    return (
        bool(stems & {*own, *map(base_form, own)})
        and not stems & set(other.words)
        and any(map(spoken.holds, other.forms))
        and not any(map(spoken.holds, one.forms))
    )


def _plain(fact: Fact) -> bool:
    """True for a fact of one value of a kind that may be mistaken for another's."""
    kinds = {bool(_NUMBER.fullmatch(str(form))) for form in fact.forms}
    return kinds == {True} or all(isinstance(form, str) and _DAY.match(form) for form in fact.forms)


def not_closed(
    spoken: Spoken, facts: Sequence[Fact], results: Sequence[Any]
) -> Iterator[ReplyFinding]:
    """Items of the kind of a due list by the results, which neither it nor a longer one has."""
    lists = [
        (fact, {*map(str, cast("Sequence[Any]", form))})
        for fact in facts
        for form in fact.forms
        if isinstance(form, (list, tuple))
    ]
    for fact, right in lists:
        if 0 < len(right) <= MOST_ITEMS:
            longer = set[str]().union(*(other for _, other in lists if right < other))
            others = [one for one in _others(right, results) if one not in longer]
            yield from _extra(spoken, fact, right, others)


def _extra(
    spoken: Spoken, fact: Fact, right: set[str], others: Sequence[str]
) -> Iterator[ReplyFinding]:
    for line in re.split(r"\n|(?<=[.!?])\s+", spoken.text):
        parts = [Spoken(part) for part in _ITEM.split(line) if part.strip()]
        wrong = [part for part in parts if not any(map(part.holds, right))]
        sentence = AgentSentence(line)
        if (
            sentence.denies
            or sentence.sets_apart
            or (len(wrong) == len(parts) and not _BULLET.match(line))
        ):
            continue
        value = next((other for part in wrong for other in others if part.holds(other)), None)
        if value is not None:
            why = f"{value!r} is not among {fact.name}"
            yield ReplyFinding(MISPLACED, line.strip()[:200], why)


def _others(right: set[str], results: Sequence[Any]) -> list[str]:
    """The values of the same columns as the right ones, and no part of one of them."""
    like = [column - right for column in columns(results) if right & column]
    longer = [item.lower() for item in right]
    every = sorted(set[str]().union(*like))
    new = (value for value in every if not any(value.lower() in item for item in longer))
    return [value for value in new if len(value) > 2]


_BULLET = re.compile(r"\s*(?:[-*\u2022|]|\d+[.)]\s)")


def columns(results: Sequence[Any]) -> Iterator[set[str]]:
    """The texts and keys under each name of the rows of lists in results."""
    for result in results:
        if isinstance(result, Mapping):
            yield from columns(list(cast("Mapping[str, Any]", result).values()))
        elif isinstance(result, (list, tuple)):
            rows = cast("Sequence[Any]", result)
            maps = [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]
            yield from _names_by_column(maps)
            yield {item for item in rows if isinstance(item, str)}
            yield from columns([value for row in maps for value in row.values()])
            yield from columns([row for row in rows if not isinstance(row, Mapping)])


def _names_by_column(rows: Sequence[Mapping[str, Any]]) -> Iterator[set[str]]:
    for name in dict.fromkeys(name for row in rows for name in row):
        yield {str(row[name]) for row in rows if name in row and _is_name(name, row[name])}


def _is_name(column: str, value: object) -> bool:
    """True for a cell that says which thing a row is about."""
    key = column == "id" or column.endswith("_id")
    return isinstance(value, str) or (key and isinstance(value, int))
