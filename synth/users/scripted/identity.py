"""The values that name single things: ids, last digits of cards, sums; and those that stand for
another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from synth.language.wording import fold
from synth.types import Consent

_ID = re.compile(r"(?<![\w$.,-])#?(?:(?=[A-Za-z_]*\d)[A-Za-z0-9_]{5,}|[A-Z]{5,})(?![\w-])")
_NUMBERED = re.compile(r"([a-z_]*?)_?(\d+)")
_ENDING = re.compile(r"\bend(?:s|ing)(?: in| with)? ?\D{0,3}(\d{4})\b")
_SUM = re.compile(r"[$\u20ac\u00a3] ?(\d[\d,]*(?:\.\d+)?)")
_AND = re.compile(r"[\s,;&+*]*(?:and|or)?[\s*]*")

Named = tuple[str, str]
"""A form of values (a prefix and a length) and the value."""


@lru_cache(maxsize=1024)
def named_in(text: str) -> frozenset[Named]:
    """Return the values of a text that name single things."""
    return frozenset(_named(text))


def _named(text: str) -> Iterator[Named]:
    for found in _ID.finditer(text):
        yield _id(found.group())
    folded = fold(text)
    for found in _ENDING.finditer(folded):
        yield "ending", found[1]
    for found in _SUM.finditer(folded):
        yield "sum", f"{float(found[1].replace(',', '')):g}"


def _id(raw: str) -> Named:
    value = raw.removeprefix("#").casefold()
    numbered = _NUMBERED.fullmatch(value)
    return f"{numbered[1]} {len(numbered[2])}" if numbered else str(len(value)), value


def strays(text: str, consent: Consent) -> list[str]:
    """Return the facts of a condition in whose place a text names other values."""
    held = named_in(text)
    named = {value for _, value in held}
    facts = {fact: _forms(fact, consent) for fact in (*consent.mentions, *consent.if_named)}
    own = frozenset[Named]().union(*facts.values())
    foreign = {form for form, _ in held - own}
    return [
        fact
        for fact, values in facts.items()
        for form, value in values
        if value not in named and not foreign.isdisjoint({form, str(len(value))})
    ]


def joined(text: str, consents: Sequence[Consent]) -> bool:
    """Tell whether a text lists a value of the conditions with another one that none holds: "cancel
    A and B".
    """
    known = {
        value
        for one in consents
        for fact in (*one.mentions, *one.if_named)
        for _, value in _forms(fact, one)
    }
    found = list(_ID.finditer(text))
    pairs = [
        (_id(left.group()), _id(right.group()), left.end(), right.start())
        for left, right in pairwise(found)
    ]
    return any(
        left[0] == right[0]
        and (left[1] in known) != (right[1] in known)
        and _AND.fullmatch(text[end:start]) is not None
        for left, right, end, start in pairs
    )


def _forms(fact: str, consent: Consent) -> frozenset[Named]:
    forms: Sequence[str] = (fact, *consent.forms.get(fact, ()))
    return frozenset[Named]().union(*map(named_in, forms))
