"""Normalisation of text for comparison: words, numbers, dates and amounts in any notation.

It removes differences of case, accents, markdown, typographic signs, spacing ("5mg" is "5 mg"),
forms of numbers ("5.0" is 5, "1,200" is 1200), dates ("May 3rd, 1980" is 1980-05-03), times ("2:30
pm" is 14:30), money ("$5" is "5 USD") and names of units ("milligrams" is "mg"). A date such as
03/05/1980, which has two readings, is not read as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_EMAIL = r"(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+)"
_TOKEN = re.compile(
    rf"""
      (?P<iso>(?<!\d)\d{{4}}-\d{{2}}-\d{{2}}(?!\d))(?:t(?=\d))?
    | (?P<dmy>(?<![\d.])\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH},?\s+\d{{4}}(?!\d))
    | (?P<mdy>{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}(?!\d))
    | (?P<numeric>(?<![\d./])\d{{1,2}}(?P<sep>[./])\d{{1,2}}(?P=sep)\d{{4}}(?!\d))
    | (?P<time>(?<![\d:])(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s*[ap]\.?m\b\.?)?|\d{{1,2}}\s*[ap]\.?m\b\.?)(?![\d:]))
    | (?P<number>\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)
    | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)*|[%$€£])
    | (?P<stop>[.,;:?!()\[\]|\u2013\u2014/\n])
    """,
    re.VERBOSE,
)
_TOKEN_OR_EMAIL = re.compile(f"{_EMAIL}|{_TOKEN.pattern}", re.VERBOSE)
_PLAIN = str.maketrans("\u2019\u2018\u201c\u201d\u2011\u2212", "''\"\"--", "\u00ad\u200b")
MONEY = {
    word: sign
    for sign, *others in (("$", "usd", "dollar"), ("€", "eur", "euro"), ("£", "gbp", "pound"))
    for word in (sign, *others)
}
"""Words and signs of currencies, with their codes."""

_COUNTED = "minute hour day week month year tablet capsule unit item piece"
_SHORT = (
    "milligram mg, milligrams mg, mgs mg, microgram mcg, micrograms mcg, µg mcg, μg mcg, ug mcg,"
    " gram g, grams g, kilogram kg, kilograms kg, kgs kg, milliliter ml, milliliters ml,"
    " millilitre ml, millilitres ml, percent %, pct %, dollars $, euros €, pounds £"
)
_UNITS = {
    **MONEY,
    **dict(re.findall(r"(\w+) ([^\s,]+)", _SHORT)),
    **{f"{unit}s": unit for unit in _COUNTED.split()},
}


class Token(NamedTuple):
    """One word or value. ``kind``: word, number, date, time or email; ``clause`` counts the clauses
    of the text.
    """

    text: str
    kind: str
    clause: int
    start: int
    end: int


_BULLET = re.compile(r"^([^\S\n]*)\*(?=\s)", re.MULTILINE)
_EMPHASIS = re.compile(r"[*`]|(?<!\w)_+|_+(?!\w)|^#+ ", re.MULTILINE)


_LONG = 4_000
"""Texts of more characters are not kept by :func:`fold`."""


def fold(text: str) -> str:
    """Return the text in lower case without accents, emphasis and typographic signs; lines are
    kept.
    """
    return _folded(text) if len(text) > _LONG else _kept(text)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN).lower()
    if not plain.isascii():
        apart = unicodedata.normalize("NFD", plain)
        marks = {ord(sign): None for sign in set(apart) if unicodedata.category(sign) == "Mn"}
        plain = unicodedata.normalize("NFC", apart.translate(marks))
    return _EMPHASIS.sub("", _BULLET.sub(r"\1-", plain))


_kept = lru_cache(maxsize=2048)(_folded)


@lru_cache(maxsize=4096)
def tokens(text: str) -> Sequence[Token]:
    """Return the tokens of a text, in order."""
    folded = fold(text)
    out: list[Token] = []
    clause, currency = 0, ""
    pattern = _TOKEN_OR_EMAIL if "@" in folded else _TOKEN
    for found in pattern.finditer(folded):
        kind, raw = str(found.lastgroup), found.group()
        start, end = found.span()
        if kind == "stop":
            clause += 1
        elif kind == "number":
            number = plain_number(raw.replace(",", ""))
            out.append(Token(number, kind, clause, start, end))
            if currency:
                out.append(Token(currency, "word", clause, end, end))
        elif kind == "word":
            after_number = bool(out) and out[-1].kind == "number"
            beside = after_number and not folded[out[-1].end : start].strip()
            if raw in MONEY and not beside and re.match(r"\s*\d", folded[end:]):
                currency = MONEY[raw]
                continue
            word = raw.removesuffix("'s")
            word = _UNITS.get(word, word) if after_number else word
            out.append(Token(word, kind, clause, start, end))
            clause += word in {"but", "and", "since", "because", "so"}
        else:
            out += [Token(text, group, clause, start, end) for text, group in _values(kind, raw)]
        currency = ""
    return tuple(out)


def plain_number(raw: object) -> str:
    """A number in one form: "5.0" is 5."""
    value = Decimal(str(raw))
    return format(value.normalize(), "f") if value else "0"


def _values(kind: str, raw: str) -> list[tuple[str, str]]:
    """Return a date, time or address in one form, with its kind; one without a single reading
    becomes bare numbers.
    """
    if kind == "email":
        return [(raw, "email")]
    if kind == "time":
        return [(clock_time(raw), "time")]
    found = days(kind, raw)
    if found and not ("/" in raw and len(found) > 1):
        return [(found[-1], "date")]
    return [(str(int(part)), "number") for part in re.findall(r"\d+", raw)]


def days(kind: str, raw: str) -> list[str]:
    """The days that a date may stand for, as YYYY-MM-DD; --MM-DD without a year.

    ``kind``: iso, numeric, or any other with the name of the month.
    """
    numbers = [int(part) for part in re.findall(r"\d+", raw)]
    if kind == "iso":
        return _real([tuple(numbers)])
    year = numbers[-1]
    year += 0 if year >= 100 else 2000 if year < 70 else 1900
    if kind == "numeric":
        first, second = numbers[:2]
        return _real([(year, first, second), (year, second, first)])
    name = re.search(MONTH, raw)
    assert name is not None
    month = MONTHS.index(name.group()[:3]) + 1
    if len(numbers) == 1:
        return [f"--{month:02}-{numbers[0]:02}"] if 1 <= numbers[0] <= 31 else []
    return _real([(year, month, numbers[0])])


def _real(found: Sequence[tuple[int, ...]]) -> list[str]:
    out: list[str] = []
    for year, month, day in found:
        try:
            out.append(date(year, month, day).isoformat())
        except ValueError:
            continue
    return list(dict.fromkeys(out))


def clock_time(raw: str) -> str:
    """The time of a day, as HH:MM or HH:MM:SS."""
    hour, minute, second = (*[int(digits) for digits in re.findall(r"\d+", raw)], 0, 0)[:3]
    if half := re.search(r"[ap]", raw):
        hour = hour % 12 + (12 if half.group() == "p" else 0)
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


def spans(needle: Sequence[str], haystack: Sequence[str]) -> list[tuple[int, int]]:
    """Return the occurrences of the needle's words next to each other in the haystack: ``(first,
    past the last)``.
    """
    width, wanted = len(needle), list(needle)
    if not width or (first := wanted[0]) not in haystack:
        return []
    return [
        (index, index + width)
        for index in range(len(haystack) - width + 1)
        if haystack[index] == first and list(haystack[index : index + width]) == wanted
    ]


def texts(found: Sequence[Token]) -> list[str]:
    return [item.text for item in found]


def words(text: str) -> frozenset[str]:
    """The words of a list, which are separated by spaces."""
    return frozenset(text.split())


def stems(words: str) -> frozenset[str]:
    """The stems of some words."""
    return frozenset(map(stem, words.split()))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without its ending: "orders" and "ordered" give the same."""
    for ending in ("ing", "ed", "es", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word.removesuffix(ending)
            return stem[:-1] if ending in {"ing", "ed"} and stem[-1] == stem[-2] else stem
    return word
