"""Facts in each other's place: "a fee of 37 and a refund of 3" where it is the other way round,
"reservation M20IZO on 27 May" where that is another one's day.

The words before a fact are its role. Gold's own words show the roles of the facts that a proposal
has to restate; a text in which two of them have each other's roles says what is not so.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, permutations
from math import inf
from typing import Any, cast

from synth.core.language.values import StatedValue, values_in
from synth.core.language.wording import MONEY, fold, plain_number, spans, stem, texts, tokens
from synth.core.language.wording import words as listed
from synth.core.rewards.reply.facts import MISPLACED
from synth.core.rewards.reply.given import Material
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
    crossed = roles[one] & others and roles[other] & own
    return bool(crossed) and not (roles[one] & own or roles[other] & others)


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
    places = [(fact, *at) for fact, needle in facts.items() for at in spans(needle, words)]
    taken = {index for _, first, end in places for index in range(first, end)}
    roles: dict[str, set[str]] = {}
    for fact, first, end in places:
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


_PROPER = re.compile(r"#?\b(?:[A-Z]\w|\d\w{3})[\w-]*")
_TITLE = re.compile(r"(?=\b([A-Z][\w-]+ [A-Z][\w-]+)( [A-Z][\w-]+)?)")
_NAMES = re.compile(r"(?=\b([A-Z][a-z]+) ([A-Z][a-z]+)\b)")
_CODE = re.compile(r"\b[A-Z]{3,4}\b")
_DAY = re.compile(r"\d{4}(-\d\d-\d\d)(?![^T ])")
_DECIMAL = re.compile(r"\d+\.\d\d")
_GAPS = [re.compile(one) for one in (r"\n", r"[.;!?](?!\d)", r"[,|]|\band\b|\bbut\b")]
"""What divides two statements, from strong to weak."""
_Field = tuple[str, frozenset[str]]
"""The name of a field and, for an amount, the names of all fields of its object."""
_Fields = Mapping[_Field, set[str]]


@dataclass(frozen=True)
class SeenObjects:
    """The objects in the calls, results and changes of a rollout.

    A statement is about one that holds all of its values but one. It is false if the object has
    others in the field of the last one, and no object holds them all. Only the last may be an
    amount, or a code or name that nothing ``given`` has. An amount that stands alone must be one of
    the calls that wrote.
    """

    calls: Sequence[CallRecord]
    given: Material

    def contradictions(
        self, replies: Sequence[str], rules: str, free: Sequence[str]
    ) -> Iterator[ReplyFinding]:
        """Statements with a value that their object lacks. A value in ``free`` texts may be
        anybody's; one in the ``rules``, such as today, tells no object.
        """
        for reply in replies:
            plain = [one.raw for one in sentences(reply) if one.plain]
            for statement in dict.fromkeys(["\n".join(plain), *plain]):
                for value, other in self._odd(statement, rules).items():
                    told = ({*texts(tokens(one)), *map(str.lower, _said(one))} for one in free)
                    if not any(value.lower() in one for one in told):
                        why = f"{value!r}: it is {other!r}"
                        yield ReplyFinding(MISPLACED, statement[:200], why)

    def _odd(self, statement: str, rules: str) -> dict[str, str]:
        """The values that the object of a statement lacks, each with another of that field."""
        read = _said(statement) & self._fields.keys()
        amounts = {one for one in read if one[0] == "$"}
        said = read - amounts - (_said(rules) if len(read) > 1 else amounts)
        odd = dict(self._lacking(said, said, read)) if len(said) > 1 else {}
        for last in amounts | self._new(statement, said) if said and not odd else ():
            odd.update(self._lacking(said | {last}, {last}, read))
        for last in amounts - self._made.keys() if not said else ():
            names = {name for name, _ in self._fields[last] if name}
            own = [one for one, fields in self._made.items() if names & fields]
            odd.update({last: min(own)} if own else {})
        return odd

    def _new(self, text: str, said: frozenset[str]) -> set[str]:
        """Codes, and parts of a name of which another part is said, that nothing gave."""
        pairs = [pair for found in _NAMES.findall(text) for pair in (found, found[::-1])]
        found = {*_CODE.findall(text), *(new for known, new in pairs if known in said)}
        return {one for one in found if stem(one.lower()) not in self.given.stems}

    def _lacking(
        self, said: frozenset[str], last: AbstractSet[str], read: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """The one value, out of ``last``, that some object lacks, with another of that field. What
        else is ``read`` must not be of that field, but for the object's own values.
        """
        shared = [(one, held, said - held) for one, held in self._objects]
        fewest = min((len(lacking) for *_, lacking in shared), default=0)
        for own, held, lacking in shared if fewest == 1 else ():
            if len(lacking) == 1 and lacking <= last:
                (value,) = lacking
                beside = (self._fields[word] for word in read - held - lacking)
                fields = self._fields.get(value) or _alike(value, own)
                for field in sorted(fields.difference(*beside) & own.keys(), key=str):
                    yield from ((value, other) for other in sorted(own[field] - read)[:1])

    def exchanged(self, text: str) -> Iterator[tuple[str, str]]:
        """Two values of one field that stand beside each other's object: "LP-1: 20 EUR, LP-2: 10
        EUR" where it is the other way round. Values that the text repeats are skipped, as are keys
        of which an object holds several.
        """
        for (key, keys), (field, marks) in permutations(self._marks(text).items(), 2):
            run = sorted([*((*one, "") for one in keys), *((*one, "of") for one in marks)])
            pairs = [*_pairs(run, text)] if not key[1] else []
            once = Counter(value for *_, value, _ in run)
            owned = defaultdict[str, set[str]](set)
            for own, _ in self._objects if len(pairs) > 1 else ():
                if len(own.get(key, ())) == 1:
                    owned[min(own[key])] |= own.get(field, set())
            for (one, first), (other, second) in combinations(pairs, 2):
                crossed = second in owned[one] - owned[other] and first in owned[other] - owned[one]
                if crossed and all(once[value] == 1 for value in (one, other, first, second)):
                    yield first, second

    def _marks(self, text: str) -> Mapping[_Field, set[tuple[int, int, str]]]:
        """The places of a text's values by fields, of two and more values."""
        found = {*self._places(text)} if _said(text) else ()
        out = defaultdict[_Field, set[tuple[int, int, str]]](set)
        for mark in found:
            for field in self._fields.get(mark[2], ()):
                out[field].add(mark)
        return {field: of for field, of in out.items() if len({mark[2] for mark in of}) > 1}

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        folded = fold(text)
        for value in self._fields:
            if (word := fold(value)) in folded and len(word) > 2:
                found = re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", folded)
                yield from ((*match.span(), value) for match in found)
        for value in values_in(text):
            if value.kind != "number" or len(value.text) > 2:
                yield from ((value.start, value.end, part) for part in _parts(value))

    @cached_property
    def _objects(self) -> Sequence[tuple[_Fields, set[str]]]:
        """The objects, by field, with the values that they hold at any depth."""
        fields = map(_by_field, Material((), [*map(_root, self.calls)]).objects)
        return [(one, set[str]().union(*one.values())) for one in fields]

    @cached_property
    def _fields(self) -> Mapping[str, set[_Field]]:
        """The fields in which a value stands."""
        return _by_value(one for one, _ in self._objects)

    @cached_property
    def _made(self) -> Mapping[str, set[str]]:
        """The names of the fields of the amounts in calls that did something."""
        made = _by_value(_by_field(_root(one)) for one in self.calls if not one.read_only)
        return {one: {name for name, _ in of} for one, of in made.items() if one[0] == "$"}


def _root(call: CallRecord) -> Mapping[str, Any]:
    """The arguments, result and changes of a call that succeeded."""
    if call.result is None or not call.ok:
        return {}
    return {"": (call.arguments, call.result.payload(), [one.to_json() for one in call.changes])}


def _alike(word: str, fields: _Fields) -> set[_Field]:
    """The fields that have only codes as long as a new one, or only names."""
    form = re.compile(f"[A-Z]{{{len(word)}}}" if word.isupper() else "[A-Z][a-z]+")
    return {field for field, values in fields.items() if all(map(form.fullmatch, values))}


def _by_value(every: Iterable[_Fields]) -> Mapping[str, set[_Field]]:
    out = defaultdict[str, set[_Field]](set)
    for field, values in (item for fields in every for item in fields.items()):
        for value in values:
            out[value].add(field)
    return out


@lru_cache(maxsize=512)
def _said(text: str) -> frozenset[str]:
    """The days of a text without their years, its amounts, and words that may be ids or names."""
    read = {_word(word) for word in _PROPER.findall(text)}
    read |= {_word(pair + more * third) for pair, third in _TITLE.findall(text) for more in (0, 1)}
    for value in values_in(text):
        if value.kind == "date" or value.unit in MONEY.values():
            read |= _parts(value)
    return frozenset(read)


def _parts(value: StatedValue) -> set[str]:
    """A stated value as objects hold it: a day without its year, a number as an amount."""
    return {part[-6:] if value.kind == "date" else f"${part}" for part in value.parts}


def _pairs(run: Sequence[tuple[int, int, str, str]], text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a key and a value whose gap divides less than the gaps on either side of them."""
    folded = fold(text)
    gaps = [
        _divides(folded[one[1] : other[0]]) if one[3] != other[3] else inf
        for one, other in pairwise(run)
    ]
    for one, other, *beside in zip(
        run, run[1:], gaps, [inf, *gaps], [*gaps[1:], inf], strict=False
    ):
        if beside[0] < min(beside[1:]):
            yield (other[2], one[2]) if one[3] else (one[2], other[2])


def _divides(gap: str) -> int:
    """The strength with which the text between two values divides them."""
    return next((len(_GAPS) - n for n, sign in enumerate(_GAPS) if sign.search(gap)), 0)


def _by_field(one: Mapping[str, Any]) -> _Fields:
    """The values of an object at any depth, by field: days, ids and names as words state them."""
    out = defaultdict[_Field, set[str]](set)
    open_values: list[tuple[_Field, Any]] = [(("", frozenset()), one)]
    for field, value in open_values:
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            open_values += [((name, frozenset(inner)), part) for name, part in inner.items()]
        elif isinstance(value, (list, tuple)):
            open_values += [(field, part) for part in cast("Sequence[Any]", value)]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            out[field].add(f"${plain_number(abs(value))}")
        elif isinstance(value, str) and _DECIMAL.fullmatch(value):
            out[field].add(f"${plain_number(value)}")
        elif isinstance(value, str) and value:
            day = _DAY.match(value)
            out[field[0], frozenset()].add(day[1] if day else _word(value))
    return out


def _word(word: str) -> str:
    """A name as it is; an id in lower case."""
    return word if word.replace(" ", "").isalpha() else word.lower().lstrip("#")
