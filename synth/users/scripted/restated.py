"""Detection of facts in an agent's turn that are restated without ambiguity.

A value is no clean restatement if the turn holds a rival to it: another value of the same unit ("5
mg ... 10 mg"), another date, time or sum in the same role ("born 1980-05-03 or 1981-05-03"; an
order's date and a delivery's date have different roles), an "or" right beside it, or a number that
makes a range of it ("5 to 10 mg"). Values that the user said, that belong to another fact, or that
are called a total or a limit, are no rivals. Nor is it clean if each occurrence is negated ("I will
not give 5 mg", but not "... until you agree"). A turn is also wrong if it names another number of
times a day than the user did.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from synth.language.acts import ACTS, says_act
from synth.language.wording import MONEY, Token, fold, spans, stem, texts, tokens
from synth.types import Consent

_NEGATIONS = frozenset({"not", "never", "cannot", "without", "refuse", "decline", "unable"})
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "the a an on of is was are at for to in by from my your her his their it be as and or",
    )
)
_NEW_CLAUSE = frozenset(
    re.findall(
        r"\w+",
        "would do does should shall is are did if not can could cancel leave have want may just"
        " something anything",
    )
)
"""Words after an "or" that offers another act, and no other value."""
_ANOTHER_ROLE = frozenset(
    re.findall(
        r"\w+",
        "total altogether most least max maximum min minimum limit limits allowed allows formulary"
        " ceiling cap",
    )
)
_STRONG = frozenset(map(stem, ["cancel", "exchange", "return", "transfer", "book"]))
"""Acts of which none is a way of doing another."""
_NOUNS = re.compile(
    r"\b(?:return (?:flight|trip|date|leg|label|window)s?|(?:this|that|the|your|my|current|original) booking|non-?stop|one-?stop|stop-?overs?|a stop)\b"
)
"""Nouns that name things, no acts."""
_NO_NOUN = frozenset({"reserv", "place", "order"})
_LOOSE = frozenset({"date", "time", "day", "week", "month", "year", *MONEY.values()})
"""Kinds of values of which a proposal may name others than the user did."""
_PUT_OFF = frozenset({"until", "unless", "before"})
_TIMES = {
    "once": "1",
    "one": "1",
    "twice": "2",
    "two": "2",
    "thrice": "3",
    "three": "3",
    "four": "4",
}
_RATE = re.compile(
    rf"(?<![\d.,])(?P<times>\d{{1,2}}|{'|'.join(_TIMES)})(?:\s*(?:x|\u00d7|times?|doses?(?!\s*of))|(?=\s*(?:daily|/|a\b|per\b|each\b|every\b)))"
    r"\s*(?:/|a\b|per\b|each\b|every\b)?\s*(?P<period>d\b|dai?ly?\b|day\b|week\w*|month\w*)|\b(?P<word>once|twice)\s+(?P<of>daily|weekly|monthly)"
)
_LOW = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?:-|\u2013|/|\bto\b)\s*[$€£]?\s*$")
_HIGH = re.compile(r"\s*(?:-|\u2013|/|\bto\b)\s*[$€£]?\s*(?P<number>\d+(?:\.\d+)?)")
_ADVERBS = (
    r"(?:now |then |also |just |please |still |rather |instead |first |only |simply |go"
    r" ahead and |[a-z]+ly )*"
)
_PROPOSED = re.compile(
    r"\b(?:(?:shall|should|may|can|could|would|will|do|if) i|i(?:'d| would) (?:like|love|prefer) to"
    r"|i(?:'ll| will| shall| would|'d|(?:'m| am) (?:going|about|ready) to)|let me|me to|i"
    r" (?:want|plan|intend|propose|mean) to|(?:ok|okay|fine|right|alright) to)\s+"
    rf"{_ADVERBS}(?P<act>[a-z]+)"
)
_MENTIONED = re.compile(rf"\b(?:and|to|i(?:'m| am))\s+{_ADVERBS}(?P<act>[a-z]+)")
_ANY_ACT = frozenset(
    map(
        stem,
        re.findall(
            r"\w+",
            "do go have be not proceed continue make take put get set confirm submit process apply"
            " finalize finalise complete carry"
            " perform execute implement handle arrange issue enter place send record log file"
            " register write save move change"
            " update adjust modify check look ask need like want know understand see note let"
            " assume use give help try wait tell"
            " show say read recap restate repeat verify review run walk ensure explain clarify"
            " list share find summarise summarize"
            " suggest recommend propose advise appreciate love hope think prefer offer",
        ),
    )
)
"""Verbs that leave the act open: a proposal by one of them takes its act from the words around it.
"""
_REQUESTED = re.compile(
    r"(?:^|[.?!:;,]\s+|\b(?:please|to|you|and|just|me|we|i)\s+)(?P<act>[a-z]{3,})"
)
_FREE = re.compile(
    r"\b(?:free of charge|for free|on the house|at no (?:extra |additional |further )?(?:cost|charge)"
    r"|without (?:any )?(?:cost|charge))\b"
)
_ASSURED = re.compile(
    r"\b(?:half (?:of )?(?:the |its )?price|discount(?:ed)?|guaranteed?"
    r"|(?:checked|approved|reviewed|verified|signed off|authori[sz]ed|recommended|cleared)"
    r" by (?!you\b))"
)
"""Terms and assurances that decide whether somebody agrees."""
_ARROW = re.compile("\\s*(?:\u2192|\u27a1|[-=]{1,2}>)\ufe0f?\\s*")
_NOTHING_NOW = re.compile(
    r"\b(?:i|we)\b(?: \w+){0,2}(?: (?:not|never)|n't|'t)\b(?! (?:yet )?(?:have|been))(?:(?!\b(?:until|unless|before|without)\b)"
    r"[^.?!;:\n])*\b(?:anything|yet|now|any)\b(?![^.?!;:\n]*\b(?:until|unless|before)\b)"
    r"|\b(?:change|do|make|cancel|touch)s? nothing\b|\bonly read\b"
)
"""Sentences by which a turn says that it proposes nothing."""
_LINKED = re.compile(r"[\s,/]*(?:\bor\b|\band\b)?[\s,/]*")


def _forms_at(act: Sequence[str], stems: Sequence[str]) -> list[int]:
    """The places of an act's words, of a verb's noun too: "cancel" in "cancellation"."""
    if len(act) == 1 and len(act[0]) > 4 and act[0] not in _NO_NOUN:
        start = act[0].removesuffix("y")
        return [index for index, word in enumerate(stems) if word.startswith(start)]
    return [first for first, _ in spans(act, stems)]


NO_FORMS: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text: ``form`` is the kind of value it may be compared with (a unit, date,
    time), ``index`` the position of its first token.
    """

    form: str
    text: str
    index: int


def values(found: Sequence[Token]) -> list[Value]:
    """Return dates, times, and numbers that have a unit."""
    out: list[Value] = []
    for index, token in enumerate(found):
        if token.kind in {"date", "time"}:
            out.append(Value(token.kind, token.text, index))
        elif token.kind == "number" and index + 1 < len(found) and found[index + 1].kind == "word":
            out.append(Value(found[index + 1].text, token.text, index))
    return out


def rates(text: str) -> dict[tuple[str, str], str]:
    """Return the frequencies per day, week or month in a text, with their words: "twice daily", "2
    x a day", "2/d".
    """
    return {
        (
            _TIMES.get(rate["times"] or rate["word"], rate["times"]),
            (rate["period"] or rate["of"])[0],
        ): rate.group()
        for rate in _RATE.finditer(fold(text))
    }


def _is_sum(fact: str) -> bool:
    """True for a sum of money other than nothing."""
    found = tokens(fact)
    numbers = [token.text for token in found if token.kind == "number"]
    money = any(token.text in MONEY.values() for token in found) or "." in "".join(numbers)
    return money and any(float(number) for number in numbers)


def contradicted(text: str, said: str) -> list[str]:
    """Return the values with a unit that a text replaces by another one of the same unit, as they
    were said: "80 bpm" where "72 bpm" was said.
    """
    given, named = values(tokens(said)), values(tokens(text))
    out: list[str] = []
    for value in given:
        same = {other.text for other in named if other.form == value.form}
        known = {other.text for other in given if other.form == value.form}
        if value.form not in _LOOSE and same and same.isdisjoint(known):
            out.append(f"{value.text} {value.form}")
    return list(dict.fromkeys(out))


class Turn:
    """One turn of the agent, to be searched for facts. ``said`` holds all of the user's words so
    far.
    """

    def __init__(self, text: str, earlier: str = "") -> None:
        text = _ARROW.sub(" to ", text)
        self.text = text
        self._folded = fold(text)
        self._tokens = tokens(text)
        self._words = texts(self._tokens)
        self._values = values(self._tokens)
        self._roles = self._roles_of(self._values)
        self._heard, self._numbers = earlier, set[str]()
        self._earlier = {(token.form, token.text) for token in values(tokens(earlier))}
        self._rates = rates(text)
        self._rates_said = rates(earlier)

    def holds(self, fact: str) -> bool:
        """Tell whether the fact's words appear in the turn, next to each other."""
        return bool(spans(texts(tokens(fact)), self._words))

    def lacking(self, consent: Consent) -> list[str]:
        """Return the facts of a condition that the turn does not hold; also each that it must not
        hold, and does.
        """
        return [
            *(fact for fact in consent.mentions if not self.holds_any(fact, consent)),
            *(fact for fact in consent.never if self.affirms(fact)),
        ]

    def holds_any(self, fact: str, consent: Consent) -> bool:
        """Tell whether the turn holds a fact in one of its forms."""
        return any(self.holds(form) for form in (fact, *consent.forms.get(fact, ())))

    def affirms(self, fact: str) -> bool:
        """Tell whether the fact's words appear in the turn, and not only denied."""
        places = spans(texts(tokens(fact)), self._words)
        return any(not self._negated(first) for first, _ in places)

    def touches(self, facts: Sequence[str]) -> bool:
        """Tell whether the turn holds a word of one of the facts: it concerns the matter, rightly
        or not.
        """
        words = set(self._words)
        return any(
            word not in _SMALL and word in words for fact in facts for word in texts(tokens(fact))
        )

    def another_act(self, words: Sequence[str]) -> bool:
        """Tell whether the turn proposes an act ("I will cancel ...") without any form of the words
        for the wanted one.
        """
        stems = [stem(word) for word in self._words]
        places = [
            position
            for item in words
            for position, _ in spans([stem(word) for word in texts(tokens(item))], stems)
        ]
        if not words or any(not self._negated(index) for index in places):
            return False
        proposed = {stem(found["act"]) for found in _PROPOSED.finditer(self._folded)}
        mentioned = {stem(found["act"]) for found in _MENTIONED.finditer(self._folded)}
        return bool(proposed - _ANY_ACT or mentioned & ACTS)

    def names_act(self, words: Sequence[str], *, denied: bool = False) -> bool:
        """Tell whether the turn holds a form of one of the words for an act, and not only denied
        unless ``denied`` counts too.
        """
        stems = [stem(word) for word in self._words]
        return any(
            denied or not self._negated(first)
            for item in words
            for first in _forms_at([stem(word) for word in texts(tokens(item))], stems)
        )

    def says_act(self, words: Sequence[str], facts: Sequence[str]) -> bool:
        """Tell whether the turn says what would be done, and does not only string facts together.

        ``words`` are the author's for the act. A verb of the user's requests counts as well.
        """
        if words and self.names_act(words):
            return True
        rest = list(self._words)
        for fact in facts:
            for first, end in reversed(spans(texts(tokens(fact)), rest)):
                del rest[first:end]
        asked = {stem(found["act"]) for found in _REQUESTED.finditer(fold(self._heard))}
        pairs = itertools.pairwise(self._heard.split())
        names = {stem(fold(one)) for one, two in pairs if one.istitle() and two.istitle()}
        return says_act(" ".join(rest), asked - names)

    def foreign_acts(self, words: Sequence[str]) -> bool:
        """Tell whether the turn names an act of which no other is a way, and that is none of these
        words.
        """
        text = _NOUNS.sub(" ", self._folded)
        stems = [stem(word) for word in texts(tokens(text))]
        own = {stem(word) for word in words}
        return any(_forms_at([act], stems) for act in _STRONG - own)

    @property
    def proposes_nothing(self) -> bool:
        """True if the turn says that nothing will be done."""
        return _NOTHING_NOW.search(self._folded) is not None

    def assures(self, said: str, mentions: Sequence[str]) -> bool:
        """Tell whether the turn promises terms that neither the user nor a mention holds: "at half
        the price", "checked by a doctor"; "free of charge" where a mention is a sum.
        """
        known = fold("\n".join([said, *mentions]))
        patterns = [_ASSURED, _FREE] if any(map(_is_sum, mentions)) else [_ASSURED]
        return any(
            found.group() not in known
            for pattern in patterns
            for found in pattern.finditer(self._folded)
        )

    def unclear(
        self, facts: Sequence[str], forms: Mapping[str, Sequence[str]] = NO_FORMS
    ) -> list[str]:
        """Return the facts that the turn does not restate cleanly; each fact may rely on the
        others' values.

        The user's frequency is added if the turn states another.
        """
        known = self._earlier | {
            (token.form, token.text) for fact in facts for token in values(tokens(fact))
        }
        self._numbers = {
            token.text
            for fact in [self._heard, *facts]
            for token in tokens(fact)
            if token.kind == "number"
        }
        periods = {period for _, period in self._rates_said} & {period for _, period in self._rates}
        wrong = periods and not self._rates_said.keys() & self._rates.keys()
        often = [
            words for (_, period), words in self._rates_said.items() if wrong and period in periods
        ]
        return [
            fact
            for fact in facts
            if not any(self._clean(form, known) for form in (fact, *forms.get(fact, ())))
        ] + often

    def _clean(self, fact: str, known: set[tuple[str, str]]) -> bool:
        needle = tokens(fact)
        places = [
            place for place in spans(texts(needle), self._words) if not self._negated(place[0])
        ]
        if not places or any(self._alternative(*place) or self._ranged(*place) for place in places):
            return False
        own = values(needle)
        for start, _ in places:
            for value in own or self._sum_at(start, needle):
                mine = Value(value.form, value.text, start + value.index)
                for other in self._values:
                    same = other.form == mine.form and other.text != mine.text
                    if same and (other.form, other.text) not in known and self._rivals(mine, other):
                        return False
        return True

    def _sum_at(self, start: int, needle: Sequence[Token]) -> list[Value]:
        """Tell whether a bare number is called money in the turn."""
        unit = "".join(self._words[start + 1 : start + 2])
        bare = [word.kind for word in needle] == ["number"]
        return [Value(unit, needle[0].text, 0)] if bare and unit in MONEY.values() else []

    def _negated(self, index: int) -> bool:
        clause = self._tokens[index].clause
        before = [
            token.text
            for token in self._tokens[max(index - 40, 0) : index]
            if token.clause == clause
        ]
        after = {token.text for token in self._tokens[index : index + 20]}
        return not after & _PUT_OFF and any(
            token in _NEGATIONS or token.endswith("n't") for token in before
        )

    def _alternative(self, start: int, end: int) -> bool:
        """Tell whether an "or" is beside the value or its unit without beginning another clause
        ("..., or would you like to wait?").
        """
        if self._tokens[end - 1].kind == "number" and self._words[end : end + 1] != ["or"]:
            end += 1
        after = self._words[end : end + 2]
        return (start > 0 and self._words[start - 1] == "or") or (
            len(after) == 2 and after[0] == "or" and after[1] not in _NEW_CLAUSE
        )

    def _ranged(self, start: int, end: int) -> bool:
        """Tell whether the value forms a range with a number that was not told ("5-10 mg", "5 to 10
        mg").
        """
        first, last = self._tokens[start], self._tokens[end - 1]
        if last.start == last.end and end - 1 > start:  # a sign that stands before its number
            last = self._tokens[end - 2]
        low = _LOW.search(self._folded[: first.start]) if first.kind == "number" else None
        high = _HIGH.match(self._folded, last.end) if last.kind == "number" else None
        return any(
            found is not None and not self._numbers.issuperset(texts(tokens(found["number"])))
            for found in (low, high)
        )

    def _rivals(self, mine: Value, other: Value) -> bool:
        clause = self._tokens[other.index].clause
        before = {
            token.text
            for token in self._tokens[max(other.index - 5, 0) : other.index]
            if token.clause == clause
        }
        if {*before, *self._words[other.index + 2 : other.index + 5]} & _ANOTHER_ROLE:
            return False
        if self._daily(other.index) and not self._daily(mine.index):
            return False
        if mine.form not in {"date", "time", *MONEY.values()}:
            return True
        role = self._roles.get(mine.index)
        return role is not None and role == self._roles.get(other.index)

    def _daily(self, index: int) -> bool:
        """Tell whether the value is a sum over the day: "2000 mg/day"."""
        after = self._words[index + 2 : index + 4]
        return after[:1] in (["daily"], ["day"]) or after in (["a", "day"], ["per", "day"])

    def _roles_of(self, found: Sequence[Value]) -> dict[int, str | None]:
        """Return the word before each value, which names its role; of two values linked by a comma
        or "or", the first one's.
        """
        roles: dict[int, str | None] = {}
        before: Value | None = None
        for value in found:
            index = value.index - 1
            while index >= 0 and self._words[index] in _SMALL:
                index -= 1
            last = (
                -1
                if before is None
                else before.index + (self._tokens[before.index].kind == "number")
            )
            if index < 0 or index != last or before is None or before.form != value.form:
                roles[value.index] = self._words[index] if index >= 0 else None
            else:
                between = self._folded[
                    self._tokens[last].end : self._tokens[value.index].start
                ].strip(" $€£")
                roles[value.index] = roles[before.index] if _LINKED.fullmatch(between) else None
            before = value
        return roles
