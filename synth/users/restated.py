"""Whether an agent's turn says a fact, and says it so that it can mean one thing only.

A value is no clean restatement where the turn holds a rival to it: another value of the same unit ("5 mg ... 10 mg"),
another date, time or sum in the same role ("born 1980-05-03 or 1981-05-03"; an order's date and a delivery's date
have different roles), or an "or" right beside it. Values that the user said, that belong to another fact, or that are
called a total or a limit, are no rivals. Neither is it clean where each place that holds it is negated ("I will not give 5 mg").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synth.users.wording import MONEY, Token, fold, spans, texts, tokens

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
_ANOTHER_ROLE = frozenset({"total", "altogether", "most", "least", "max", "maximum", "min", "minimum", "limit"})
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


class Turn:
    """One turn of the agent, to be searched for facts. ``said`` is all that the user has said so far."""

    def __init__(self, text: str, said: str = "") -> None:
        self._folded = fold(text)
        self._tokens = tokens(text)
        self._words = texts(self._tokens)
        self._values = values(self._tokens)
        self._roles = self._roles_of(self._values)
        self._said = {(each.form, each.text) for each in values(tokens(said))}

    def holds(self, fact: str) -> bool:
        """The fact's words stand in the turn, next to each other."""
        return bool(spans(texts(tokens(fact)), self._words))

    def touches(self, facts: Sequence[str]) -> bool:
        """The turn holds a word of one of the facts: it speaks of the matter, rightly or not."""
        words = set(self._words)
        return any(each not in _SMALL and each in words for fact in facts for each in texts(tokens(fact)))

    def unclear(self, facts: Sequence[str]) -> list[str]:
        """Those of the facts that the turn does not restate cleanly; each fact may rely on the others' values."""
        known = self._said | {(each.form, each.text) for fact in facts for each in values(tokens(fact))}
        return [fact for fact in facts if not self._clean(fact, known)]

    def _clean(self, fact: str, known: set[tuple[str, str]]) -> bool:
        needle = tokens(fact)
        places = [place for place in spans(texts(needle), self._words) if not self._negated(place[0])]
        if not places or any(self._alternative(*place) for place in places):
            return False
        own = values(needle)
        for start, _ in places:
            for value in own:
                mine = Value(value.form, value.text, start + value.at)
                for other in self._values:
                    same = other.form == mine.form and other.text != mine.text
                    if same and (other.form, other.text) not in known and self._rivals(mine, other):
                        return False
        return True

    def _negated(self, at: int) -> bool:
        clause = self._tokens[at].clause
        before = [each.text for each in self._tokens[:at] if each.clause == clause]
        return any(each in _NEGATIONS or each.endswith("n't") for each in before)

    def _alternative(self, start: int, end: int) -> bool:
        """An "or" beside it, that does not begin another clause ("..., or would you like to wait?")."""
        after = self._words[end : end + 2]
        return (start > 0 and self._words[start - 1] == "or") or (
            len(after) == 2 and after[0] == "or" and after[1] not in _NEW_CLAUSE
        )

    def _rivals(self, mine: Value, other: Value) -> bool:
        around = {*self._words[max(other.at - 2, 0) : other.at], *self._words[other.at + 2 : other.at + 5]}
        if around & _ANOTHER_ROLE:
            return False
        if mine.form not in {"date", "time", *MONEY.values()}:
            return True
        role = self._roles.get(mine.at)
        return role is not None and role == self._roles.get(other.at)

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
