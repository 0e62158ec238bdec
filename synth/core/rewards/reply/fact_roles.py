"""Facts in each other's place: "a fee of 37 and a refund of 3" where it is the other way round,
"reservation M20IZO on 27 May" where that is another one's day.

The words before a fact are its role. Gold's own words show the roles of the facts that a proposal
has to restate; a text in which two of them have each other's roles says what is not so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, cast

from synth.core.foundation.json_leaves import named_values
from synth.core.language.values import values_in
from synth.core.language.wording import MONEY, fold, spans, stem, texts, tokens
from synth.core.language.wording import words as listed
from synth.core.rewards.reply.facts import MISPLACED
from synth.core.rewards.reply.identifiers import is_id
from synth.core.rewards.reply.sentences import ReplyFinding, sentences
from synth.evidence import CallRecord

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


_DEEPEST = 20
"""The most levels of a result that are read."""
_PROPER = re.compile(r"#?\b(?:[A-Z]\w|\d\w{3})[\w-]*")
_DAY = re.compile(r"\d{4}(-\d\d-\d\d)(?![^T ])")
_NOTHING: Mapping[str, set[str]] = {}
_Object = Mapping[str, Any]
_Row = tuple[_Object, set[str]]


@dataclass(frozen=True)
class SeenObjects:
    """The objects in the calls, results and changes of a rollout.

    A statement is about one that holds all of its values but one. It is false if the object has
    others in the field of the last one, and no object holds them all.
    """

    calls: Sequence[CallRecord]

    @cached_property
    def _seen(self) -> Sequence[_Object]:
        """One object for each call that succeeded."""
        return [
            {"": (call.arguments, call.result.payload(), [one.to_json() for one in call.changes])}
            for call in self.calls
            if call.result is not None and call.ok
        ]

    def contradictions(
        self, replies: Sequence[str], rules: str, free: Sequence[str]
    ) -> Iterator[ReplyFinding]:
        """Statements with a value that their object lacks. A value in ``free`` texts may be
        anybody's; one in the ``rules``, such as today, tells no object.
        """
        for reply in replies:
            plain = [one.raw for one in sentences(reply) if one.plain]
            for statement in dict.fromkeys(["\n".join(plain), *plain]):
                said = _said(statement)
                said = (said & self._fields.keys()) - _said(rules) if len(said) > 1 else said
                for value, other in dict(self._odd(said)).items() if len(said) > 1 else ():
                    if not any(value in {*_said(one), *texts(tokens(one))} for one in free):
                        why = f"{value!r}: it is {other!r}"
                        yield ReplyFinding(MISPLACED, statement[:200], why)

    def _odd(self, said: frozenset[str]) -> Iterator[tuple[str, str]]:
        """The one value that some object lacks, with another that it has in that field."""
        shared = [(one, said - held) for one, held in self._objects]
        fewest = min((len(lacking) for _, lacking in shared), default=0)
        for one, lacking in shared if fewest == 1 else ():
            fields, value = _by_field(one) if len(lacking) == 1 else _NOTHING, min(lacking)
            for field in sorted(self._fields[value] & fields.keys()):
                if others := fields[field] - said:
                    yield value, min(others)

    @cached_property
    def _objects(self) -> Sequence[_Row]:
        """The objects with the values that they hold at any depth."""
        out: list[_Row] = []

        def held(value: Any, depth: int) -> set[str]:
            if depth == _DEEPEST:
                return set()
            if isinstance(value, Mapping):
                one = cast("_Object", value)
                out.append((one, inner := held([*one.values()], depth + 1)))
                return inner
            if isinstance(value, (list, tuple)):
                items = cast("Sequence[Any]", value)
                return set[str]().union(*(held(item, depth + 1) for item in items))
            return _values(cast("object", value))

        held(self._seen, 0)
        return out

    @cached_property
    def _fields(self) -> Mapping[str, set[str]]:
        """The fields in which a value stands."""
        out = defaultdict[str, set[str]](set)
        for one in self._seen:
            for field, values in _by_field(one).items():
                for value in values:
                    out[value].add(field)
        return out


@lru_cache(maxsize=512)
def _said(text: str) -> frozenset[str]:
    """The days of a text without their years, and its words that may be ids or names."""
    days = (value for value in values_in(text) if value.kind == "date")
    read = {part[-6:] for value in days for reading in value.readings for part in reading}
    return frozenset(read.union(word.lower().lstrip("#") for word in _PROPER.findall(text)))


def _by_field(one: _Object) -> Mapping[str, set[str]]:
    """The values of an object at any depth, by field."""
    out = defaultdict[str, set[str]](set)
    for field, value in named_values(one):
        out[field] |= _values(value)
    return out


def _values(value: object) -> set[str]:
    """A day, id or name as words state it; nothing for other values."""
    if not isinstance(value, str) or (value.islower() and not is_id(value)):
        return set()
    day = _DAY.match(value)
    return {day[1] if day else value.lower().lstrip("#")} - {""}
