"""The scripted user: tells what it is asked, agrees to what is restated rightly, without a model.

It hears the agent's words and knows its role, nothing else. The rules, in order, for one turn of the agent:

1. Closing words ("Is there anything else?") are no question. A turn that asks nothing ends the conversation. What is
   said to be missing ("The dose is missing.") is asked for as long as it was not told; a request that is put off or leads
   elsewhere ("If you find it, let me know.", "Please check with the desk.") asks for nothing that was told.
2. A sentence that asks for information, or a plain question, is about each topic of which it holds a word, else of whose
   answer it holds the kind of value (a date, an address, a code): the user tells them all, those that were told before
   too. A fact that the sentence only restates is not asked for, unless it is the question ("Is that 3 May 1980?"). Where
   no asking sentence names a topic, the others' words count ("Which one is it? A birth date would help.").
3. A question that proposes ("Shall I ...?", "Aspirin 5 mg for Ada?", "I'll order it unless you object"; it need not ask for a
   topic whose word it holds, unless it says "or", or the user has no condition of consent), in a turn that restates every
   mention of the consent cleanly (see :mod:`synth.users.restated`) and proposes no other act than its ``act``, is agreed to, or
   declined in a task whose user declines. So is "How would you like to proceed?" behind such words. Topics asked in the same turn are told first. Facts in the
   proposal are not asked for, and a choice ("which one?", "Monday or Tuesday?") is no proposal.
4. A proposal that lacks a mention is corrected: with the facts that the user has said already, else by asking to be
   told exactly what will be done. Where it only asks whether something is so or would suit, the user tells what it
   knows of it instead. A user without a condition says that what was asked for is to be done.
5. A question about nothing that the user knows is answered so; a turn of more than ``LONGEST`` characters is not read. After
   three turns in a row that brought the agent neither a topic nor consent, the next such turn ends the conversation.

What a model thinks aloud between its tags is not heard.
The user never ends in a turn that tells or consents. Everything is a function of the role, the seed and the words heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synth.canonical import derive_seed
from synth.models.base import Model
from synth.types import UserRole, UserTurn
from synth.users.base import User, UserConversation
from synth.users.hearing import Sentence, sentences, spoken
from synth.users.restated import Turn
from synth.users.topics import about, about_by_value, compares, restates

LONGEST = 12_000
"""Characters of a turn that the user reads; of a longer one it could overlook what speaks against it."""

PATIENCE = 3
"""Turns in a row that may bring the agent nothing."""

NOTHING_TO_ADD = (
    "I have nothing to add to what I said.",
    "I can't tell you more than I already have.",
    "Sorry, I don't know anything about that.",
)
SAY_WHAT = (
    "Please tell me exactly what you are going to do first.",
    "Before I agree, spell out exactly what you will do.",
    "I need to hear precisely what will be done before I say yes.",
)
NOT_QUITE = ("Not quite. I said: {}.", "That is not right. To be clear: {}.", "No, please go by what I told you: {}.")
TOO_LONG = ("That is far too long for me to read. Please put it in a few sentences.",)
AS_ASKED = (
    "Just do what I asked for, please.",
    "If that is what I asked for, then yes.",
    "Please go by my request.",
)


class ScriptedUser(User):
    """Plays any role by the rules of this module."""

    name = "scripted"

    def start(self, role: UserRole, seed: int) -> ScriptedConversation:
        return ScriptedConversation(role, seed)


class ScriptedConversation(UserConversation):
    """One rollout's user."""

    def __init__(self, role: UserRole, seed: int) -> None:
        self._role = role
        self._seed = seed
        self._said = [role.opening]
        self._told: set[str] = set()
        self._fruitless = 0

    async def reply(self, text: str) -> UserTurn:
        turn = self.decide(text)
        self.remember(turn)
        return turn

    def decide(self, text: str) -> UserTurn:
        """What the rules have the user do; asked once for each turn of the agent."""
        aloud = spoken(text).strip()
        return self._answer(aloud) if len(aloud) <= LONGEST else self._bring_nothing(self._draw(TOO_LONG))

    def remember(self, turn: UserTurn) -> None:
        """What the user has said, be it in the rules' words or in others."""
        self._said.append(turn.text)
        self._told.update(turn.told)

    def _answer(self, text: str) -> UserTurn:
        heard = sentences(text)
        asking = [each for each in heard if self._asks(each)]
        if not asking:
            return UserTurn(ends=True)
        consent = self._role.consent
        turn = Turn(text, "\n".join(self._said))
        unclear = [] if consent is None else turn.unclear(consent.mentions)
        choice = any(each.offers_choice for each in heard)
        clean = consent is not None and not unclear and not choice and not turn.another_act(consent.act)
        proposed = any(self._proposes(each) or (clean and (each.points_back or each.open)) for each in asking)
        if consent is not None and clean and proposed:
            told = self._ordered(name for each in asking for name in self._asked_beside(each))
            self._fruitless = 0
            words = self._telling(told, consent.says if consent.declines is None else consent.declines)
            declines = consent.declines is not None
            return UserTurn(words, told=told, consents=not declines, declines=declines)
        asked = [(each, self._asked(each)) for each in asking]
        told = self._ordered(name for _, names in asked for name in names)
        open_proposal = any(self._proposes(each) and (each.acts or not names) for each, names in asked)
        if not told:
            told = self._ordered(self._meant(heard, asking, proposed))
            open_proposal &= not told or any(each.acts for each in asking)
        if not told and consent is not None and turn.touches(consent.mentions):
            open_proposal |= choice or any(each.open for each in asking)
        correction = self._correction(turn, unclear) if open_proposal else ""
        if correction and not any(each.for_information for each in asking):
            told = tuple(name for name in told if name not in self._told)
        if told:
            self._fruitless = 0
            return UserTurn(self._telling(told, correction), told=told)
        return self._bring_nothing(correction or self._draw(NOTHING_TO_ADD))

    def _bring_nothing(self, text: str) -> UserTurn:
        """An answer that brings the agent nothing; the last of them ends the conversation."""
        self._fruitless += 1
        return UserTurn(ends=True) if self._fruitless > PATIENCE else UserTurn(text)

    def _asks(self, sentence: Sentence) -> bool:
        """It wants an answer. What is put off to another time or place, or only missed, counts as long as it was not told."""
        named = about(sentence.text, self._role.knows)
        if sentence.lacks and any(name not in self._told for name in self._unanswered(sentence)):
            return True
        agreement = sentence.for_agreement and (sentence.acts or self._names_fact(sentence))
        if sentence.put_off and not agreement and not sentence.confirms_act:
            return sentence.asks and any(name not in self._told for name in named)
        return sentence.asks and not (sentence.checks and not named and not self._names_fact(sentence))

    def _meant(self, heard: Sequence[Sentence], asking: Sequence[Sentence], proposed: bool) -> Iterable[str]:
        """The topics that the turn is about where no question names one: those of its other sentences, or of its values.

        A question whether to do something is about nothing else, unless the user has no condition of consent.
        """
        knows, acts = self._role.knows, any(each.acts for each in asking)
        if any(each.weighs or each.offers_choice for each in asking):
            yield from about_by_value("\n".join(each.text for each in heard), knows, at_least=2)
        if not (proposed and acts and self._role.consent is not None):
            for name in (name for each in heard for name in self._unanswered(each)):
                if not proposed or name not in self._told or not (acts or self._role.consent is not None):
                    yield name

    def _names_fact(self, sentence: Sentence) -> bool:
        consent, turn = self._role.consent, Turn(sentence.text)
        return consent is not None and any(turn.holds(each) for each in consent.mentions)

    def _proposes(self, sentence: Sentence) -> bool:
        """It asks for agreement to something, or names a fact of the consent with a question mark behind."""
        if sentence.for_agreement or sentence.confirms_act:
            return True
        if sentence.for_confirmation:
            return self._names_fact(sentence) or not self._unanswered(sentence)
        return sentence.bare and self._names_fact(sentence)

    def _asked(self, sentence: Sentence) -> list[str]:
        """The topics that a sentence asks for, in a turn without agreement."""
        named = about(sentence.text, self._role.knows)
        if sentence.for_information or sentence.for_confirmation:
            return self._unanswered(sentence) or ([] if sentence.led else named)
        if sentence.for_agreement and (self._role.consent is None or sentence.weighs):
            return self._unanswered(sentence)
        if sentence.for_agreement:
            compared = [name for name in named if compares(sentence.text, self._role.knows[name])]
            untold = [name for name in self._unanswered(sentence) if sentence.of_fact and name not in self._told]
            return untold + [
                name for name in compared if not (sentence.acts and restates(sentence.text, self._role.knows[name]))
            ]
        if self._proposes(sentence) or not sentence.asks:
            return self._unanswered(sentence)
        return named or about_by_value(sentence.text, self._role.knows)

    def _asked_beside(self, sentence: Sentence) -> list[str]:
        """The topics that a sentence asks for, in a turn that gets agreement."""
        if not self._proposes(sentence):
            return self._asked(sentence)
        if sentence.for_information:
            return self._unanswered(sentence)
        if sentence.for_confirmation and not sentence.confirms_act:
            return [name for name in self._unanswered(sentence) if name not in self._told]
        return []

    def _unanswered(self, sentence: Sentence) -> list[str]:
        """The topics that a sentence names without saying what the user knows of them; "A or B?" says neither."""
        knows = self._role.knows
        named = about(sentence.text, knows, asked=sentence.asks or sentence.lacks)
        return [name for name in named if sentence.weighs or not restates(sentence.text, knows[name])]

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        found = set(names)
        return tuple(name for name in self._role.knows if name in found)

    def _telling(self, topics: Sequence[str], more: str) -> str:
        return " ".join(part for part in (*(self._role.knows[name].says for name in topics), more) if part)

    def _correction(self, turn: Turn, unclear: Sequence[str]) -> str:
        """What the user says to a proposal that it cannot agree to; nothing that has not been said before."""
        if self._role.consent is None:
            return self._draw(AS_ASKED)
        said = Turn("\n".join(self._said))
        known = [each for each in unclear if said.holds(each)] if turn.touches(self._role.consent.mentions) else []
        parts = [self._draw(NOT_QUITE).format(", ".join(known))] if known else []
        if len(known) < len(unclear) or not known:
            parts.append(self._draw(SAY_WHAT))
        return " ".join(parts)

    def _draw(self, texts: Sequence[str]) -> str:
        return texts[derive_seed(self._seed, len(self._said)) % len(texts)]


def make(options: Mapping[str, Any], model: Model | None = None) -> ScriptedUser:
    """The factory that ``users=scripted`` names."""
    return ScriptedUser()
