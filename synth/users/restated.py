"""Whether an agent's turn says a fact, and says it so that it can mean one thing only.

A value is no clean restatement where the turn holds a rival to it: another value of the same unit ("5 mg ... 10 mg"),
another date, time or sum in the same role ("born 1980-05-03 or 1981-05-03"; an order's date and a delivery's date
have different roles), an "or" right beside it, or a number that makes a range of it ("5 to 10 mg"). Values that the user
said, that belong to another fact, or that are called a total or a limit, are no rivals. Neither is it clean where each place
that holds it is negated ("I will not give 5 mg", but not "... until you agree"). And a turn is wrong that names another
number of times a day than the user has said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synth.users.wording import MONEY, Token, fold, spans, stem, texts, tokens

_NEGATIONS = frozenset({"not", "never", "cannot", "without", "refuse", "decline", "unable"})
_SMALL = frozenset(
    re.findall(r"\w+", "the a an on of is was are at for to in by from my your her his their it be as and or")
)
_NEW_CLAUSE = frozenset(
    re.findall(
        r"\w+",
        "would do does should shall is are did if not can could cancel leave have want may just something anything",
    )
)
"""What follows an "or" that offers something else to do, and no other value."""
_ANOTHER_ROLE = frozenset(
    re.findall(
        r"\w+",
        "total altogether most least max maximum min minimum limit limits allowed allows formulary ceiling cap",
    )
)
_PUT_OFF = frozenset({"until", "unless", "before"})
_TIMES = {"once": "1", "one": "1", "twice": "2", "two": "2", "thrice": "3", "three": "3", "four": "4"}
_RATE = re.compile(
    rf"(?<![\d.,])(?P<times>\d{{1,2}}|{'|'.join(_TIMES)})(?:\s*(?:x|\u00d7|times?|doses?(?!\s*of))|(?=\s*(?:daily|/|a\b|per\b|each\b|every\b)))"
    r"\s*(?:/|a\b|per\b|each\b|every\b)?\s*(?P<period>d\b|dai?ly?\b|day\b|week\w*|month\w*)|\b(?P<word>once|twice)\s+(?P<of>daily|weekly|monthly)"
)
_LOW = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?:-|\u2013|/|\bto\b)\s*[$€£]?\s*$")
_HIGH = re.compile(r"\s*(?:-|\u2013|/|\bto\b)\s*[$€£]?\s*(?P<number>\d+(?:\.\d+)?)")
_ADVERBS = r"(?:now |then |also |just |please |still |rather |instead |first |only |simply |go ahead and |[a-z]+ly )*"
_PROPOSED = re.compile(
    r"\b(?:(?:shall|should|may|can|could|would|will|do|if) i|i(?:'d| would) (?:like|love|prefer) to"
    r"|i(?:'ll| will| shall| would|'d|(?:'m| am) (?:going|about|ready) to)|let me|me to|i (?:want|plan|intend|propose|mean) to|(?:ok|okay|fine|right|alright) to)\s+"
    rf"{_ADVERBS}(?P<act>[a-z]+)"
)
_MENTIONED = re.compile(rf"\b(?:and|to|i(?:'m| am))\s+{_ADVERBS}(?P<act>[a-z]+)")
_ACTS = frozenset(
    map(
        stem,
        re.findall(
            r"\w+",
            "cancel stop discontinue end delete remove drop close void refund return exchange swap replace start begin prescribe"
            " order book schedule charge credit escalate transfer pay double increase reduce raise lower hold reject decline",
        ),
    )
)
"""Acts of which none is a way of doing another; entering, placing or sending may belong to any."""
_ANY_ACT = frozenset(
    map(
        stem,
        re.findall(
            r"\w+",
            "do go have be not proceed continue make take put get set confirm submit process apply finalize finalise complete carry"
            " perform execute implement handle arrange issue enter place send record log file register write save move change"
            " update adjust modify check look ask need like want know understand see note let assume use give help try wait tell"
            " show say read recap restate repeat verify review run walk ensure explain clarify list share find summarise summarize"
            " suggest recommend propose advise appreciate love hope think prefer offer",
        ),
    )
)
"""Verbs that leave open what is done: a proposal by one of them is of what stands around it, by any other verb of that."""
_LINKED = re.compile(r"[\s,/]*(?:\bor\b|\band\b)?[\s,/]*")


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text: ``form`` says what it may be compared with (a unit, date, time), ``at`` is its first token."""

    form: str
    text: str
    at: int


def values(found: Sequence[Token]) -> list[Value]:
    """Dates, times, and numbers that have a unit."""
    out: list[Value] = []
    for at, token in enumerate(found):
        if token.kind in {"date", "time"}:
            out.append(Value(token.kind, token.text, at))
        elif token.kind == "number" and at + 1 < len(found) and found[at + 1].kind == "word":
            out.append(Value(found[at + 1].text, token.text, at))
    return out


def rates(text: str) -> dict[tuple[str, str], str]:
    """How many times a day, week or month things are said to happen, and in which words: "twice daily", "2 x a day", "2/d"."""
    return {
        (_TIMES.get(each["times"] or each["word"], each["times"]), (each["period"] or each["of"])[0]): each.group()
        for each in _RATE.finditer(fold(text))
    }


class Turn:
    """One turn of the agent, to be searched for facts. ``said`` is all that the user has said so far."""

    def __init__(self, text: str, said: str = "") -> None:
        self._folded = fold(text)
        self._tokens = tokens(text)
        self._words = texts(self._tokens)
        self._values = values(self._tokens)
        self._roles = self._roles_of(self._values)
        self._heard, self._numbers = said, set[str]()
        self._said = {(each.form, each.text) for each in values(tokens(said))}
        self._rates = rates(text)
        self._rates_said = rates(said)

    def holds(self, fact: str) -> bool:
        """The fact's words stand in the turn, next to each other."""
        return bool(spans(texts(tokens(fact)), self._words))

    def touches(self, facts: Sequence[str]) -> bool:
        """The turn holds a word of one of the facts: it speaks of the matter, rightly or not."""
        words = set(self._words)
        return any(each not in _SMALL and each in words for fact in facts for each in texts(tokens(fact)))

    def another_act(self, words: Sequence[str]) -> bool:
        """The turn proposes an act ("I will cancel ..."), and says none of the words that name the wanted one, in any form."""
        stems = [stem(each) for each in self._words]
        places = [at for each in words for at, _ in spans([stem(word) for word in texts(tokens(each))], stems)]
        if not words or any(not self._negated(at) for at in places):
            return False
        proposed = {stem(found["act"]) for found in _PROPOSED.finditer(self._folded)}
        mentioned = {stem(found["act"]) for found in _MENTIONED.finditer(self._folded)}
        return bool(proposed - _ANY_ACT or mentioned & _ACTS)

    def unclear(self, facts: Sequence[str]) -> list[str]:
        """Those of the facts that the turn does not restate cleanly; each fact may rely on the others' values.

        Added to them is how often the user said, where the turn says otherwise.
        """
        known = self._said | {(each.form, each.text) for fact in facts for each in values(tokens(fact))}
        self._numbers = {each.text for fact in [self._heard, *facts] for each in tokens(fact) if each.kind == "number"}
        periods = {period for _, period in self._rates_said} & {period for _, period in self._rates}
        wrong = periods and not self._rates_said.keys() & self._rates.keys()
        often = [words for (_, period), words in self._rates_said.items() if wrong and period in periods]
        return [fact for fact in facts if not self._clean(fact, known)] + often

    def _clean(self, fact: str, known: set[tuple[str, str]]) -> bool:
        needle = tokens(fact)
        places = [place for place in spans(texts(needle), self._words) if not self._negated(place[0])]
        if not places or any(self._alternative(*place) or self._ranged(*place) for place in places):
            return False
        own = values(needle)
        for start, _ in places:
            for value in own or self._sum_at(start, needle):
                mine = Value(value.form, value.text, start + value.at)
                for other in self._values:
                    same = other.form == mine.form and other.text != mine.text
                    if same and (other.form, other.text) not in known and self._rivals(mine, other):
                        return False
        return True

    def _sum_at(self, start: int, needle: Sequence[Token]) -> list[Value]:
        """A fact that is a bare number, where the turn says that it is money."""
        unit = "".join(self._words[start + 1 : start + 2])
        bare = [each.kind for each in needle] == ["number"]
        return [Value(unit, needle[0].text, 0)] if bare and unit in MONEY.values() else []

    def _negated(self, at: int) -> bool:
        clause = self._tokens[at].clause
        before = [each.text for each in self._tokens[max(at - 40, 0) : at] if each.clause == clause]
        after = {each.text for each in self._tokens[at : at + 20]}
        return not after & _PUT_OFF and any(each in _NEGATIONS or each.endswith("n't") for each in before)

    def _alternative(self, start: int, end: int) -> bool:
        """An "or" beside it or beside its unit, that does not begin another clause ("..., or would you like to wait?")."""
        if self._tokens[end - 1].kind == "number" and self._words[end : end + 1] != ["or"]:
            end += 1
        after = self._words[end : end + 2]
        return (start > 0 and self._words[start - 1] == "or") or (
            len(after) == 2 and after[0] == "or" and after[1] not in _NEW_CLAUSE
        )

    def _ranged(self, start: int, end: int) -> bool:
        """The number that it begins or ends with makes a range with one that was not told ("5-10 mg", "5 to 10 mg")."""
        first, last = self._tokens[start], self._tokens[end - 1]
        if last.start == last.end and end - 1 > start:  # a sign that stands before its number
            last = self._tokens[end - 2]
        low = _LOW.search(self._folded[: first.start]) if first.kind == "number" else None
        high = _HIGH.match(self._folded, last.end) if last.kind == "number" else None
        return any(
            found is not None and not self._numbers.issuperset(texts(tokens(found["number"]))) for found in (low, high)
        )

    def _rivals(self, mine: Value, other: Value) -> bool:
        clause = self._tokens[other.at].clause
        before = {each.text for each in self._tokens[max(other.at - 5, 0) : other.at] if each.clause == clause}
        if {*before, *self._words[other.at + 2 : other.at + 5]} & _ANOTHER_ROLE:
            return False
        if self._daily(other.at) and not self._daily(mine.at):
            return False
        if mine.form not in {"date", "time", *MONEY.values()}:
            return True
        role = self._roles.get(mine.at)
        return role is not None and role == self._roles.get(other.at)

    def _daily(self, at: int) -> bool:
        """The value is a sum over the day: "2000 mg/day"."""
        after = self._words[at + 2 : at + 4]
        return after[:1] in (["daily"], ["day"]) or after in (["a", "day"], ["per", "day"])

    def _roles_of(self, found: Sequence[Value]) -> dict[int, str | None]:
        """The word before each value, which says what it is; of two values linked by a comma or "or", the first one's."""
        roles: dict[int, str | None] = {}
        before: Value | None = None
        for value in found:
            at = value.at - 1
            while at >= 0 and self._words[at] in _SMALL:
                at -= 1
            last = -1 if before is None else before.at + (self._tokens[before.at].kind == "number")
            if at < 0 or at != last or before is None or before.form != value.form:
                roles[value.at] = self._words[at] if at >= 0 else None
            else:
                between = self._folded[self._tokens[last].end : self._tokens[value.at].start].strip(" $€£")
                roles[value.at] = roles[before.at] if _LINKED.fullmatch(between) else None
            before = value
        return roles
