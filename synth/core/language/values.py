"""The values that a text states: numbers, dates, times, e-mail addresses and links, in any form.

A value may have several readings: "1.250" is 1250 or 1.25, "03/05/2026" is in March or in May.
English month names; both decimal signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from synth.core.language.wording import MONEY, MONTH, clock_time, days, fold, plain_number, words

_VALUE = re.compile(
    rf"""
      (?P<link>\b(?:https?://|www\.)[^\s<>()"']+)
    | (?P<email>(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})+)
    | (?P<iso>(?<!\d)\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d))(?:t(?=\d))?
    | (?P<dmy>(?<![\d.])\d{{1,2}}(?:st|nd|rd|th|\.)?\s*[\s-](?:of\s+)?{MONTH}(?:[,\s-]\s*(?:\d{{4}}(?!\d)|'?\d\d(?![\d:.])))?)
    | (?P<mdy>\b{MONTH}\s*\d{{1,2}}(?:st|nd|rd|th)?\b(?!\d|[.,:]\d)(?:(?:,\s*|\s+)\d{{4}}(?!\d))?)
    | (?P<numeric>(?<![\d./-])\d{{1,2}}(?P<sep>[./-])\d{{1,2}}(?P=sep)(?:\d{{4}}|\d{{2}})(?!\d|[./-]\d))
    | (?P<time>(?<![\d:])(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s*[ap]\.?m\b\.?)?|\d{{1,2}}\s*[ap]\.?m\b\.?)(?![\d:]))
    | (?P<number>(?<![\d])(?:\d{{1,3}}(?:[ ']\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*))
    """,
    re.VERBOSE,
)
_COINS = re.compile(
    r"(?<![\d.,])(\d+) +(euro|dollar|pound)s? (?:and )?(\d\d) *(?:(?:cents|pence)\b|(?=[,;)]|\.?$))"
)
_ENDING = re.compile(r"(?:st|nd|rd|th)\b")
_COUNTS = re.compile(r"\s*(?:[a-z%$€£]|[.:]\d)")
_NEXT_DAY = re.compile(
    r"\s*(?:,|,?\s*(?:and|or|to|through|until)\b|-|\u2013|&)\s*(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?"
)
_UNIT = re.compile(r"\s*(?:us (?=dollar))?(?P<unit>[^\W\d_]+|[%$€£]|°\s*[cf]?)")
_SIGN = re.compile(r"(?P<sign>[$€£]|\b(?:usd|eur|gbp))\s*$")

_SIGNS = frozenset(MONEY.values())

MEASURES = _SIGNS | words("% cents mg mcg g kg ml l bpm mmhg °c °f c mmol iu")
"""Units of measured values and of money, as :attr:`StatedValue.unit` gives them."""

_SMALL = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten"
    " eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_SCALES = {"hundred", "thousand"}
_ONE = "|".join(sorted({*_SMALL, *_TENS}, key=len, reverse=True))
_SPELLED = re.compile(
    rf"\b(?:{_ONE})(?:(?:\s+and)?[\s-]+(?:{_ONE}|hundred|thousand))*\b"
    r"(?![\s-]+(?:first|second|third|[a-z]+th|moment|sec|minute)\b)"
)
_NOTHING = re.compile(r"\b(?:no|none|nothing|nobody|not any|sold out|out of stock|empty)\b")


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value in a text.

    ``kind``: number, date, time, email or link. ``readings`` are what it may stand for; each is one
    number or several ("12,15" is 12.15 or 12 and 15), a day as YYYY-MM-DD or --MM-DD, a time as
    HH:MM. ``unit`` is the word beside a number, a currency by its sign, ``start`` its place in the
    folded text.
    """

    kind: str
    readings: tuple[tuple[str, ...], ...]
    text: str
    start: int
    end: int
    unit: str = ""

    @property
    def parts(self) -> Sequence[str]:
        return [part for reading in self.readings for part in reading]

    @property
    def numbers(self) -> set[Decimal]:
        """The single numbers that it may stand for."""
        single = (one[0] for one in self.readings if len(one) == 1)
        return set(map(Decimal, single)) if self.kind == "number" else set()


@lru_cache(maxsize=4096)
def values_in(text: str) -> Sequence[StatedValue]:
    """The values of a text, in order."""
    return tuple(_values(_COINS.sub(_joined, fold(text))))


def _joined(found: re.Match[str]) -> str:
    """An amount in two units in one, as long as it was."""
    return f"{found[1]}.{found[3]} {found[2]}".ljust(len(found[0]))


def _values(folded: str) -> Iterator[StatedValue]:
    month, after = "", 0
    for found in _VALUE.finditer(folded):
        kind, raw = str(found.lastgroup), found.group()
        if found["numeric"]:
            kind = "numeric"
        start, end = found.span()
        if kind in {"mdy", "dmy"}:
            month, after = raw, end
        elif kind == "number" and month and _is_next_day(folded, after, end):
            after = _ordinal(folded, end)  # "May 19th and 20th": the month belongs to both
            if read := _day_of(month, raw):
                yield StatedValue("date", read, raw, start, after)
                continue
        if kind == "number":
            unit = _unit(folded, start, end)
            readings = [item for item in _numbers(raw) if len(item) == 1 or unit not in _SIGNS]
            yield StatedValue(kind, tuple(readings), raw, start, end, unit)
        elif kind == "time":
            yield StatedValue(kind, ((clock_time(raw)[:5],),), raw, start, end)
        elif kind in {"link", "email"}:
            yield StatedValue(kind, ((raw.rstrip(".,;:!?"),),), raw, start, end)
        else:
            read = tuple((day,) for day in days(kind, raw))
            parts = tuple(str(int(part)) for part in re.findall(r"\d+", raw))
            yield StatedValue("date" if read else "number", read or (parts,), raw, start, end)


def _day_of(month: str, number: str) -> tuple[tuple[str, ...], ...]:
    """The readings of a day by its number, in the month of a day such as "May 19th"."""
    day = re.sub(r"(?<!\d)\d{1,2}(?!\d)", number, month, count=1)
    return tuple((item,) for item in days("mdy", day))


def _is_next_day(folded: str, after: int, end: int) -> bool:
    """True for a number behind a day, which ends at ``after``, that is a day of the same month."""
    stop = _ordinal(folded, end)
    counts = stop == end and _COUNTS.match(folded, end) is not None
    return not counts and _NEXT_DAY.fullmatch(folded, after, stop) is not None


def _ordinal(folded: str, end: int) -> int:
    """The end of the ending of an ordinal number that ends here: "20th"."""
    found = _ENDING.match(folded, end)
    return end if found is None else found.end()


def _unit(folded: str, start: int, end: int) -> str:
    before = _SIGN.search(folded[max(0, start - 6) : start])
    if before is not None:
        return MONEY.get(before["sign"], before["sign"])
    after = _UNIT.match(folded, end)
    unit = "" if after is None else after["unit"].replace(" ", "")
    return MONEY.get(unit.removesuffix("s"), unit)


def _numbers(raw: str) -> Iterator[tuple[str, ...]]:
    """The readings of a number: with a decimal sign, with signs of thousands, as a list."""
    plain = raw.replace(" ", "").replace("'", "")
    signs = re.findall(r"[.,]", plain)
    if not signs:
        yield (plain_number(plain),)
        if plain != raw:
            yield tuple(plain_number(part) for part in re.split(r"[ ']", raw))
        return
    last = plain.rfind(signs[-1])
    whole, rest = re.sub(r"[.,]", "", plain[:last]), plain[last + 1 :]
    if len(signs) == 1 or (len(set(signs)) == 2 and signs.count(signs[-1]) == 1):
        yield (plain_number(f"{whole}.{rest}"),)
    if all(len(part) == 3 for part in re.split(r"[.,]", plain)[1:]):
        yield (plain_number(whole + rest),)
    if set(signs) == {","}:
        yield tuple(plain_number(part) for part in plain.split(","))


def says_nothing(text: str) -> bool:
    """True for words that stand for the number 0: "none", "sold out"."""
    return _NOTHING.search(fold(text)) is not None


def spelled_numbers(text: str) -> Iterator[StatedValue]:
    """The numbers that a text spells out, such as "nine hundred and eighty-seven euros"; years in
    two parts and ordinals are none.
    """
    folded = fold(text)
    if (written := _SPELLED.sub(_in_digits, folded)) != folded:
        own = values_in(text)
        yield from (value for value in values_in(written) if value not in own)


def _in_digits(found: re.Match[str]) -> str:
    """A spelled number in digits, as long as it was."""
    number = _spelled(re.findall(r"[a-z]+", found.group()))
    return found.group() if number is None else str(number).ljust(len(found.group()))


def _spelled(words: Sequence[str]) -> int | None:
    """The number of its words; None if they are not a single number."""
    whole, part, room = 0, 0, 1000
    for word in words:
        if word == "and":
            continue
        if word in _SCALES and not part:
            return None
        if word == "hundred":
            part, room = part * 100, 100
            continue
        if word == "thousand":
            whole, part, room = (whole + part) * 1000, 0, 1000
            continue
        tens = word in _TENS and word not in _SMALL
        value = 20 + 10 * _TENS.index(word) if word in _TENS else _SMALL.index(word)
        if value >= room:
            return None
        part, room = part + value, 10 if tens or value == 20 else 1
    return whole + part


def same_day(one: str, other: str) -> bool:
    """Compare two days, of which either may lack its year."""
    return one == other or ("--" in {one[:2], other[:2]} and one[-6:] == other[-6:])
