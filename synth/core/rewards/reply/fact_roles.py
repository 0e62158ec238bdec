"""Facts in each other's place: "a fee of 37 and a refund of 3" where it is the other way round.

The words before a fact are its role. Gold's own words show the roles of the facts that a proposal
has to restate; a text in which two of them have each other's roles says what is not so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from synth.core.language.wording import MONEY, fold, spans, stem, texts, tokens
from synth.core.language.wording import words as listed

_SMALL = listed(
    "the a an is was are will would be at my your her his their our it its this that as and or i"
    " you we shall should eur usd gbp"
) | {*MONEY.values()}
BEFORE, BEHIND = 3, 2
"""The most words before and behind a fact that name its role."""
_BREAK = re.compile(r"[,.;?!()\n]")


def form(fact: str) -> str:
    """The kind of a fact: a date, a time, a number with its unit, or words."""
    found = tokens(fact)
    kinds = [token.kind for token in found]
    if "date" in kinds or "time" in kinds:
        return "date"
    if "number" in kinds and len(found) <= 2:
        units = [token.text for token in found if token.kind == "word"]
        return f"number {''.join(units)}".strip()
    return "words"


def exchanged_roles(
    said: Sequence[str], gold: Sequence[str], facts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of facts that have each other's roles in one of the texts that were ``said``.

    ``gold`` are gold's texts, which show the roles.
    """
    known = {fact: texts(tokens(fact)) for fact in facts if texts(tokens(fact))}
    if len(known) < 2:
        return
    right = [_roles(text, known) for text in {*gold, "\n".join(gold)}]
    for text in dict.fromkeys([*said, "\n".join(said)]):
        roles = _roles(text, known)
        for one, other in combinations(roles, 2):
            if form(one) == form(other) and any(
                _crossed(reference, roles, one, other) for reference in right
            ):
                yield one, other


def _crossed(
    right: Mapping[str, set[str]], roles: Mapping[str, set[str]], one: str, other: str
) -> bool:
    if one not in right or other not in right:
        return False
    own, others = right[one] - right[other], right[other] - right[one]
    if right[one] != right[other] and (roles[one], roles[other]) == (right[other], right[one]):
        return True
    return (
        bool(roles[one] & others)
        and bool(roles[other] & own)
        and not roles[one] & own
        and not roles[other] & others
    )


def _roles(text: str, facts: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """The stems of the words before each fact of a text, in its clause and back to the fact before
    it; where there are none, of the words behind it, in its clause or else beyond it.
    """
    folded, found = fold(text), tokens(text)
    words = texts(found)
    breaks = {
        index
        for index in range(1, len(found))
        if _BREAK.search(folded[found[index - 1].end : found[index].start])
    }
    places = {fact: spans(needle, words) for fact, needle in facts.items()}
    taken = {
        index for spans_ in places.values() for first, end in spans_ for index in range(first, end)
    }
    roles: dict[str, set[str]] = {}
    for fact, spans_ in places.items():
        for first, end in spans_:
            start = max((index for index in breaks if index <= first), default=0)
            stop = min((index for index in breaks if index >= end), default=len(words))
            before = _beside(words, range(first - 1, start - 1, -1), taken, BEFORE)
            behind = _beside(words, range(end, stop), taken, BEHIND)
            beyond = range(end, len(words))  # "Ada, born ...": the clause ends with the fact
            words_of_role = before or behind or _beside(words, beyond, taken, BEHIND)
            roles.setdefault(fact, set()).update(words_of_role)
    return roles


def _beside(words: Sequence[str], indices: range, taken: set[int], most: int) -> set[str]:
    out: set[str] = set()
    for index in indices:
        if index in taken or len(out) == most:
            break
        if words[index] not in _SMALL:
            out.add(stem(words[index]))
    return out
