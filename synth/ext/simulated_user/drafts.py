"""Rule-based checks of a model's draft against the user's turn by the rules, so that the result
can be repeated.

A draft has to hold the facts that are asked for, clearly and undenied. It may hold no fact that
nobody asked for (a *leak*), no value that nobody has said (*invented*), no yes or no but the one
that is due, and nothing that a person in this place would not write. Values (numbers, dates, times,
sums, addresses) are recognised in any form; in a fact without values all informative words count,
so that such facts are told word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from synth.core.language.wording import fold, texts, tokens
from synth.core.users.scripted.proposal import Turn
from synth.core.users.scripted.topics import facts_of, plain_name
from synth.core.users.scripted.yes_no_words import agrees, could_agree, declines, denials
from synth.user import Topic, UserRole, UserTurn

LONGEST = 800
"""Maximum length of a user's message, in characters."""

Kind = Literal[
    "refusal",
    "empty",
    "cut_off",
    "form",
    "role",
    "too_long",
    "missing",
    "leak",
    "invented",
    "answer",
    "unheard",
]

_VALUES = {"number", "date", "time", "email"}
_ROLE = re.compile(
    r"""
      \bas\ an?\ (?:ai|a\.i\.|llm|large\ language|language\ model|assistant|chatbot|bot)\b | \blanguage\ model\b
    | \bi(?:'m|\ am)\ (?:just\ |only\ |actually\ |really\ )?(?:an?\ |the\ )?(?:ai|a\.i\.|llm|chatbot|bot|virtual|simulat\w+|digital\ assistant|computer)\b
    | \b(?:simulated|simulation|role-?play\w*|system\ prompt|my\ (?:instructions|prompt|guidelines)|openai|anthropic|chatgpt)\b
    | \bi(?:'m|\ am)\ (?:playing|pretending|supposed\ to\ (?:play|act|say)|told\ to\ say|instructed)\b
    | \bi\ (?:can't|cannot|can\ not|am\ unable\ to|won't)\ (?:assist|help|comply|fulfill?)\b
    | \b(?:how|what)\ (?:can|may|could)\ i\ (?:help|assist|do\ for)\ you\b | \banything\ else\ i\ can\b
    | \btool[_\ ]call
    """,
    re.VERBOSE,
)
_LABEL = re.compile(
    r"^\s*(?:user|customer|client|caller|human|me|you|person|assistant|agent|reply|message)\s*:|^\s*[({\[]|```|<\w+>"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Reason for not sending a draft; ``why`` is given to the model that wrote it."""

    kind: Kind
    why: str


@dataclass
class Ledger:
    """All messages of one conversation, and the topics that the user has told."""

    role: UserRole
    said: list[str] = field(default_factory=list[str])
    heard: list[str] = field(default_factory=list[str])
    told: set[str] = field(default_factory=set[str])

    def beside_topics(self, due: UserTurn) -> str:
        """Return the words of a turn beside its topics."""
        topics = " ".join(self.role.knows[name].says for name in due.told)
        return due.text.removeprefix(topics).strip()

    def problems(self, text: str, due: UserTurn) -> list[Problem]:
        """Return every reason for not sending a text as the turn that is due."""
        if not text:
            return [Problem("empty", "There was no message.")]
        answer = _of_answer(text, due, may_agree=bool(self.role.every_consent))
        return [*_of_form(text), *self._of_facts(text, due), *answer]

    def _of_facts(self, text: str, due: UserTurn) -> Iterator[Problem]:
        own = "\n".join([*self.said, *(self.role.knows[name].says for name in self.told), due.text])
        known = _words(own) | _words("\n".join(self.heard))
        found = [*self._missing(text, due, own), *self._leaked_topics(text, known)]
        yield from found
        allowed = _words(own) if due.told else known
        if not found and (strange := ", ".join(sorted({*_values(text)} - allowed))):
            yield Problem("invented", f"It names {strange}: this person says nothing of the kind.")

    def _missing(self, text: str, due: UserTurn, own: str) -> Iterator[Problem]:
        """Yield the problems of facts that are due and not said, or denied."""
        topics = [self.role.knows[name] for name in due.told]
        if blurred := " ".join(one.says for one in topics if not self._tells(text, one, own)):
            yield Problem("missing", f'It does not say clearly: "{blurred}"')
        if lost := ", ".join(sorted({*_values(self.beside_topics(due))} - _words(text))):
            yield Problem("missing", f"It leaves out {lost}.")
        if topics and denials(text) > denials(due.text):
            yield Problem("missing", "It denies something: say what is so, and not what is not.")

    def _leaked_topics(self, text: str, known: set[str]) -> Iterator[Problem]:
        """Yield a problem for each topic that the text tells although it was not asked for."""
        words, values = _words(text), set(_values(text))
        for name, topic in self.role.knows.items():
            new = _carriers(topic) - known
            if new and (new <= words or new & values):
                plain = plain_name(name)
                yield Problem("leak", f"It tells the {plain}, which nobody has asked for.")

    @staticmethod
    def _tells(text: str, topic: Topic, own: str) -> bool:
        facts = facts_of(topic)
        if facts and facts[0].kind in _VALUES:
            return not Turn(text, own).unclear([fact.text for fact in facts])
        return _carriers(topic) <= _words(text)


def _words(text: str) -> set[str]:
    return set(texts(tokens(text)))


def _values(text: str) -> list[str]:
    return [token.text for token in tokens(text) if token.kind in _VALUES]


def _carriers(topic: Topic) -> set[str]:
    return {fact.text for fact in facts_of(topic)}


def _of_form(text: str) -> Iterator[Problem]:
    if len(text) > LONGEST:
        yield Problem("too_long", "It is far too long: one to three short sentences.")
    folded = fold(text)
    if _ROLE.search(folded):
        why = "No such person would write that: write as the person, to the assistant."
        yield Problem("role", why)
    if _LABEL.search(folded):
        why = "Write the bare message: no name before it, no brackets, no markup."
        yield Problem("form", why)


def _of_answer(text: str, due: UserTurn, *, may_agree: bool) -> Iterator[Problem]:
    if due.consents:
        if not agrees(text):
            why = "It has to say yes plainly, without a condition and without a question."
            yield Problem("answer", why)
    elif due.declines:
        if not declines(text):
            yield Problem("answer", "It has to say no plainly.")
    elif may_agree and could_agree(text, polite=bool(due.told)):
        yield Problem("answer", "It sounds like a yes, and there is nothing to agree to now.")
