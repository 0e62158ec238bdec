"""Classification of the sentences in an agent's turn: they ask for information, for agreement, or
for nothing.

English is understood; in other languages question marks, the words of topics and restated facts
are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from synth.language.wording import fold
from synth.users.scripted import phrases

_ITEM = re.compile("\\s*(?:[-\u2022+\u2013]|\\(?(?:\\d{1,2}|[a-z])[.)])\\s+")
_END = re.compile(r"(?<=[.?!])[\"')\]]*\s+")
_TITLE = re.compile(r"\b(dr|mr|mrs|ms|prof|e\.g|i\.e|vs|approx|incl|excl)\.")
_MARK = re.compile(r"\?(?![\w/=&])")
_CLAUSE = re.compile("[,;:\u2013\u2014]\\s+|\\s-\\s")


@dataclass(frozen=True)
class Sentence:
    """One sentence of the agent in folded text, with the items of a list that belongs to it."""

    parts: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(self.parts)

    @cached_property
    def _own(self) -> str:
        """Its text without preambles ("before I proceed")."""
        return phrases.PREAMBLE.sub(lambda found: found["word"] or " ", self.text)

    @cached_property
    def marked(self) -> bool:
        """It holds a question mark (not one inside an address)."""
        return bool(_MARK.search(self.text))

    @cached_property
    def led(self) -> bool:
        """A question word leads it."""
        return any(_MARK.search(part) and _leads(part) for part in self.parts)

    @cached_property
    def closing(self) -> bool:
        """Closing politeness: it asks for nothing."""
        return bool(phrases.CLOSING.search(self.text)) and not phrases.NOT_CLOSING.search(self.text)

    @cached_property
    def for_information(self) -> bool:
        """It asks to be told something."""
        return self.led or any(
            pattern.search(part)
            for part in self.parts
            for pattern in (phrases.INFORMATION, phrases.INDIRECT)
        )

    @cached_property
    def generic(self) -> bool:
        """It asks for whatever the user can add, and names nothing."""
        return bool(phrases.GENERIC.search(self.text))

    @cached_property
    def for_confirmation(self) -> bool:
        """It asks to confirm something: a fact, or what is going to be done."""
        return bool(phrases.CONFIRMATION.search(self._own))

    @cached_property
    def confirms_act(self) -> bool:
        """It asks to confirm what is going to be done, or a list: "please confirm that I should
        ...".
        """
        return self.for_confirmation and bool(phrases.CONFIRM_ACT.search(self._own))

    @cached_property
    def for_agreement(self) -> bool:
        """It asks whether to go on or whether something is right, and not what or which."""
        asks = self.marked or self.for_information or self.for_confirmation
        asks = asks or bool(phrases.ASKS.search(self._own) or phrases.AWAITED.search(self._own))
        asked_which = self.led or self.open or bool(phrases.INDIRECT.search(self.text))
        return asks and bool(phrases.AGREEMENT.search(self._own)) and not asked_which

    @cached_property
    def open(self) -> bool:
        """It leaves to the user what to do about what was said before: "How would you like to
        proceed?".
        """
        asks = self.marked or any(phrases.INFORMATION.search(part) for part in self.parts)
        return (asks or bool(phrases.INDIRECT.search(self.text))) and bool(
            phrases.OPEN.search(self.text)
        )

    @cached_property
    def lacks(self) -> bool:
        """It says that something has not been told, and asks for it in so far."""
        return bool(phrases.LACK.search(self.text))

    @cached_property
    def put_off(self) -> bool:
        """A request for another time or place: "If you find it, let me know."."""
        return not self.marked and not self.again and bool(phrases.LATER.search(self.text))

    @cached_property
    def checks(self) -> bool:
        """Bids the user look at something: "Please check your mail."."""
        strong = self.led or self.marked or phrases.STRONG_CONFIRMATION.search(self._own)
        return (
            self.for_confirmation
            and not strong
            and not any(phrases.INFORMATION.search(part) for part in self.parts)
        )

    @cached_property
    def again(self) -> bool:
        return bool(phrases.AGAIN.search(self.text))

    @cached_property
    def acts(self) -> bool:
        """It asks whether to do something, not only whether something is so."""
        return bool(phrases.ACTION.search(self._own))

    @cached_property
    def of_fact(self) -> bool:
        """It asks whether something is so or would suit, not whether to do it."""
        return not self.acts or bool(phrases.PREFERENCE.search(self._own))

    @cached_property
    def bare(self) -> bool:
        """A question without question word or verb in front: "Aspirin 5 mg for Ada?"."""
        ends = (clause for part in self.parts for clause in (_clauses(part)[0], _clauses(part)[-1]))
        return (
            self.marked
            and not self.for_information
            and not any(phrases.AUXILIARY.search(clause) for clause in ends)
        )

    @cached_property
    def points_back(self) -> bool:
        """A bare question about what was said before it: "Stop it all the same?"."""
        return self.bare and bool(phrases.BACKWARDS.search(self.text))

    @cached_property
    def asks(self) -> bool:
        return self.marked or self.for_information or self.for_confirmation or self.for_agreement

    @cached_property
    def weighs(self) -> bool:
        """It asks for one or the other: "Shall I keep it or close it?"."""
        return self.asks and bool(phrases.ALTERNATIVES.search(self.text))

    @cached_property
    def offers_choice(self) -> bool:
        """It asks for one of several, or says that it will be one of several, so that no yes could
        be an answer.
        """
        chosen = phrases.CHOICE.search(self.text) or phrases.OTHER_THING.search(self.text)
        return (self.asks and bool(chosen)) or bool(phrases.ONE_OF.search(self.text))


def spoken(text: str) -> str:
    """Return a text without a model's reasoning between its tags."""
    return phrases.THOUGHT.sub("", text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a turn in order, closing words left out; items of a list belong to
    the sentence before them.
    """
    out: list[list[str]] = []
    for line in fold(text).splitlines():
        found = [
            part.strip(" >|") for part in _END.split(_TITLE.sub(r"\1", line)) if part.strip(" >|")
        ]
        if _ITEM.match(line) and out:
            out[-1] += found
        else:
            out += [[part] for item in found for part in _questions(item)]
    return [
        sentence for sentence in (Sentence(tuple(parts)) for parts in out) if not sentence.closing
    ]


def _questions(sentence: str) -> list[str]:
    """Return a sentence, or its two questions: "May I go ahead, and what is your name?"."""
    if found := phrases.TWO_QUESTIONS.search(sentence):
        first = sentence[: found.start()]
        if any(
            pattern.search(first)
            for pattern in (phrases.AGREEMENT, phrases.AUXILIARY, phrases.LEAD)
        ):
            return [f"{first}?", sentence[found.end() :]]
    return [sentence]


def _clauses(part: str) -> list[str]:
    plain = (
        _ITEM.sub("", phrases.TAIL.sub("", part), count=1)
        if _ITEM.match(part)
        else phrases.TAIL.sub("", part)
    )
    return [clause.strip() for clause in _CLAUSE.split(plain) if clause.strip()] or [plain]


def _leads(part: str) -> bool:
    """Tell whether a question word begins or ends the last clause, or begins the first one if the
    last asks nothing else.
    """
    clauses = _clauses(part)
    if phrases.LEAD.search(clauses[-1]) or phrases.TRAIL.search(clauses[-1]):
        return True
    return bool(phrases.LEAD.search(clauses[0])) and not phrases.AGREEMENT.search(clauses[-1])
