"""The scripted user: answers by rule, without a model.

It reads the agent's words, or its acts stated as data (:class:`synth.core.types.reply.Act`). The
first rule that fits answers:

0. It does what it is asked to do with its own tools (:mod:`.instructions`).
1. It agrees to a proposal that states every mention of a consent cleanly (:mod:`.proposal`), names
   its act and adds neither things nor terms, or declines it. A yes goes to all conditions that the
   proposal meets. Topics asked in the same turn are told first.
2. It tells the topics that the turn asks for. A fact that is only restated is not asked for.
3. It corrects a proposal that lacks a mention. Without a condition it agrees to any proposal that
   contradicts nothing that it said.
4. It says that it has nothing to add if it does not know what is asked, and ends after
   ``PATIENCE`` such turns.
5. It ends after a report or a refusal (:mod:`.hearing`) if no part of the request is open.

A follow-up (``then``) comes in the place of a yes, of the end, or after a refusal. The user reads
neither a model's reasoning nor a turn of more than ``LONGEST`` characters. Everything is a function
of the role, the seed and the agent's turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from envs.types import ToolResult
from synth.core.foundation.hashing import derive_seed
from synth.core.rewards.reply.sentences import visible
from synth.core.types.reply import Act
from synth.core.users.scripted.conditions import lacking, unclear
from synth.core.users.scripted.hearing import (
    Statement,
    offers_help,
    offers_other,
    refuses,
    sentences,
    statement,
    wants_other,
)
from synth.core.users.scripted.proposal import Turn, contradicted
from synth.core.users.scripted.talk import Talk
from synth.model import Model
from synth.plugins import NoOptions, extension, resolve
from synth.user import Consent, User, UserConversation, UserRole, UserTurn

if TYPE_CHECKING:
    from synth.core.users.scripted.instructions import UserTools
    from synth.core.users.scripted.reading import Reading

NOTHING_TO_ADD = (
    "That is all I know.",
    "I have nothing to add to what I said.",
    "I can't tell you more than I already have.",
    "Sorry, I don't know anything about that.",
)
SAY_WHAT = (
    "Please tell me exactly what you are going to do first.",
    "Before I agree, spell out exactly what you will do.",
    "I need to hear precisely what will be done before I say yes.",
)
NOT_QUITE = (
    "Not quite. I said: {}.",
    "That is not right. To be clear: {}.",
    "No, please go by what I told you: {}.",
)
TOO_LONG = ("That is far too long for me to read. Please put it in a few sentences.",)
AS_ASKED = (
    "Just do what I asked for, please.",
    "Whatever fits what I asked for.",
    "Please go by my request.",
)
GO_AHEAD = ("Yes, please go ahead.", "Yes, please do.", "Yes, that is fine. Please go ahead.")
THAT_IS_RIGHT = ("Yes, that's right.", "Yes, that is correct.", "Yes, exactly.")
NO_THANKS = (
    "No, thank you.",
    "No, thanks, I only want what I asked for.",
    "No, nothing else, thank you.",
)
THE_REST = (
    "Thank you. And the rest of what I asked for?",
    "All right. There is still more that I asked for.",
    "Okay. That was not all that I wanted, please go on with the rest.",
)
GO_ON = ("Okay, thank you.", "All right.", "Okay, thanks.")


LONGEST = 12_000
"""Longest turn, in characters, that the user reads: in a longer one it could overlook an
objection.
"""

PATIENCE = 6
"""Number of consecutive turns that may bring the agent nothing."""

LONG_PATIENCE = 24
"""Number of consecutive turns that may only announce work, or ask for a yes without need."""

_Lacking = Callable[[Turn, Consent, Talk], Sequence[str]]
"""The facts of a condition that a proposal does not state."""


class ScriptedUser(User):
    """Plays any role by the rules of this module."""

    name = "scripted"

    def start(self, role: UserRole, seed: int) -> ScriptedConversation:
        """Open a rollout's conversation."""
        return ScriptedConversation(role, seed)


class ScriptedConversation(UserConversation):
    """One rollout's user."""

    def __init__(self, role: UserRole, seed: int) -> None:
        self._talk = Talk(role, [role.opening])
        self._seed = seed
        self._fruitless = self._idle = 0
        self._later = 0

    @property
    def role(self) -> UserRole:
        """What the user knows and agrees to by now."""
        return self._talk.role

    async def reply(self, text: str) -> UserTurn:
        """Answer one turn of the agent."""
        return await self.answer(text, ())

    async def answer(self, text: str, acts: Sequence[Act]) -> UserTurn:
        turn = self.decide(text, acts)
        return turn if turn.calls else self.remember(turn)

    async def observe(self, results: Sequence[ToolResult]) -> UserTurn:
        return self.remember(self.observed(results))

    def observed(self, results: Sequence[ToolResult]) -> UserTurn:
        """Return what the user says by the rules about what its calls came to."""
        return UserTurn(self._tools().report(results))

    def _tools(self) -> UserTools:
        return resolve("synth.core.users.scripted.instructions:UserTools")(self.role)

    def _use_tools(self, text: str, acts: Sequence[Act]) -> UserTurn | None:
        """Do what the agent asks the user to do with its own tools, or ask back."""
        if not self.role.tools or len(text) > LONGEST:
            return None
        turn = self._tools().asked(text, acts, len(self._talk.heard))
        if turn is None or turn.calls:
            return turn and self._be_patient(turn)
        return self._bring_nothing(turn.text)

    def decide(self, text: str, acts: Sequence[Act] = (), *, heard: bool = False) -> UserTurn:
        """Return the user's turn by the rules; call it once for each turn of the agent.

        ``acts`` are what the turn does, stated by the agent or ``heard`` by a model; without any,
        the text is heard by the rules.
        """
        aloud = visible(text).strip()
        if (used := self._use_tools(aloud, acts)) is not None:
            turn = used
        elif acts and not heard:
            turn = self._answer_acts(aloud, acts, lacking)
        elif len(aloud) > LONGEST:
            return self._bring_nothing(self._draw(TOO_LONG))
        elif acts:
            turn = self._answer_acts(aloud, acts, unclear)
        else:
            turn = self._answer(aloud)
        self._talk.heard.append(aloud)
        return turn

    def recall(self, text: str, reply: str, settled: Iterable[Consent] = ()) -> None:
        """Take an earlier turn of the agent and the user's answer to it as they were;
        the acts of the conditions ``settled`` are done.
        """
        self._talk.heard.append(visible(text))
        self._talk.said.append(reply)
        self._talk.settled += settled

    def remember(self, turn: UserTurn) -> UserTurn:
        """Record a turn that was sent, in the rules' words or in others; returns it."""
        self._talk.said.append(turn.text)
        self._talk.answered.update(turn.told)
        return turn

    def _answer(self, text: str) -> UserTurn:
        found = sentences(text)
        consents = self._talk.open_consents(text) or (None,)
        read: type[Reading] = resolve("synth.core.users.scripted.reading:Reading")
        readings = [read(self._talk, text, found, consent) for consent in consents]
        if not any(reading.asking for reading in readings):
            return self._go_on(text)
        reading, agreed = _weigh(readings)
        if agreed:
            return self._follow_up("proposed") or self._consent(agreed, reading.beside)
        if reading.refused and not reading.topics[0]:
            return self._follow_up("refused") or self._inform(reading)
        return self._inform(reading)

    def _answer_acts(self, text: str, acts: Sequence[Act], lacking: _Lacking) -> UserTurn:
        """Answer a turn by its acts; of its text, only the facts of a proposal count."""
        kinds = {act.kind for act in acts}
        topics = self._talk.ordered(name for act in acts for name in act.topics)
        if "propose" in kinds:
            tools = {tool for act in acts for tool in act.tools}
            return self._answer_proposal(Turn(text, self._talk.own_words), tools, topics, lacking)
        if topics:
            return self._tell(topics, "")
        if not kinds.isdisjoint({"ask", "instruct"}):
            return self._bring_nothing(self._draw(NOTHING_TO_ADD))
        if "check" in kinds:
            return self._be_patient(UserTurn(self._draw(THAT_IS_RIGHT)))
        if "work" in kinds:
            return self._be_patient(UserTurn(self._draw(GO_ON)))
        return self._leave(text, refused="refuse" in kinds, reminds=lacking == unclear)

    def _answer_proposal(
        self, words: Turn, tools: AbstractSet[str], topics: Sequence[str], lacking: _Lacking
    ) -> UserTurn:
        about = [
            (consent, lacking(words, consent, self._talk))
            for consent in self.role.consents
            if not (tools and consent.covers) or not tools.isdisjoint(consent.covers)
        ]
        agreed = [consent for consent, open_facts in about if not open_facts]
        if agreed:
            return self._follow_up("proposed") or self._consent(agreed, topics)
        if not self.role.consents:
            yes = UserTurn(self._draw(GO_AHEAD), consents=True)
            return self._follow_up("proposed") or self._be_patient(yes)
        nearest, lacks = min(about, key=lambda one: len(one[1]), default=(None, ()))
        return self._tell(topics, self._objection(words, nearest, lacks), corrects=True)

    def _tell(self, topics: Sequence[str], more: str, *, corrects: bool = False) -> UserTurn:
        """Tell topics, and more; a turn that tells nothing tries the user's patience."""
        if not topics:
            return replace(self._bring_nothing(more), corrects=corrects)
        self._fruitless = self._idle = 0
        return UserTurn(self._talk.telling(topics, more), told=topics, corrects=corrects)

    def _objection(self, words: Turn, consent: Consent | None, lacking: Sequence[str]) -> str:
        """The answer to a proposal that lacks facts of a condition, by what was said already."""
        if consent is None or not words.touches(consent.mentions):
            return self._draw(SAY_WHAT)
        earlier = Turn(self._talk.own_words)
        known = [fact for fact in lacking if earlier.holds(fact)]
        parts = [self._draw(NOT_QUITE).format(", ".join(known))] if known else []
        if len(known) < len(lacking) or not known:
            parts.append(self._draw(SAY_WHAT))
        return " ".join(parts)

    def _consent(self, agreed: Sequence[Consent], topics: Sequence[str]) -> UserTurn:
        """Agree to a clean proposal that meets some conditions, or decline it; topics asked beside
        it are told first.
        """
        declined = next((one.declines for one in agreed if one.declines is not None), None)
        self._talk.settled += agreed
        self._fruitless = self._idle = 0
        text = self._talk.telling(topics, agreed[0].says if declined is None else declined)
        if declined is not None:
            return UserTurn(text, told=topics, declines=True)
        bound = all(one.covers for one in agreed)
        covers = tuple(tool for one in agreed for tool in one.covers if bound)
        return UserTurn(text, told=topics, consents=True, covers=covers)

    def _inform(self, turn: Reading) -> UserTurn:
        """Tell the topics asked for, and correct a proposal that cannot be agreed to."""
        topics, proposed = turn.topics
        if proposed and not any(sentence.for_information for sentence in turn.asking):
            topics = tuple(name for name in topics if name not in self._talk.answered)
        if proposed and turn.consent is None and not (topics or turn.choice):
            return self._say_yes(turn)
        if proposed or topics:
            correction = self._correction(turn) if proposed else ""
            return self._tell(topics, correction, corrects=bool(correction and turn.unclear))
        marked = any(sentence.marked for sentence in turn.asking)
        if not marked and self._statement(turn.text) == "work":
            return self._be_patient(UserTurn(self._draw(GO_ON)))
        return self._bring_nothing(self._draw(NOTHING_TO_ADD))

    def _correction(self, turn: Reading) -> str:
        if turn.consent is None:
            return self._draw(AS_ASKED)
        return self._objection(turn.words, turn.consent, turn.unclear)

    def _go_on(self, text: str) -> UserTurn:
        """Answer a turn that asks nothing: end the conversation, or let the agent go on."""
        match self._statement(text):
            case "report":
                return self._leave(text, refused=refuses(text))
            case "work":
                return self._be_patient(UserTurn(self._draw(GO_ON)))
            case "polite":
                return self._bring_nothing(self._draw(AS_ASKED if offers_help(text) else GO_ON))

    def _leave(self, text: str, *, refused: bool, reminds: bool = True) -> UserTurn:
        """Answer a report or a refusal: by a follow-up, by the rest of the request, or the end."""
        follow_up = self._follow_up("refused") if refused else None
        remind = follow_up or (self._remind(text, refused=refused) if reminds else None)
        return remind or self._follow_up("done") or UserTurn(ends=True)

    def _remind(self, text: str, *, refused: bool) -> UserTurn | None:
        """Come back, once, to the parts of the request of which the agent has said nothing."""
        words, talk = Turn(text), self._talk
        unsettled = talk.unsettled
        elsewhere = [one for one in unsettled if words.names_another(one.act)]
        if refused:
            only = len(unsettled) == 1
            about = [one for one in unsettled if one not in elsewhere]
            talk.settled += [one for one in about if only or _concerns(words, one)]
        elif not (talk.role.others or elsewhere):
            return None
        if not talk.unsettled or talk.said[-1] in THE_REST:
            return None
        return UserTurn(self._draw(THE_REST))

    def _follow_up(self, when: str) -> UserTurn | None:
        """Bring the next of the user's follow-ups if its time has come. One for a refusal is
        passed over when there was none.
        """
        index, role = self._later, self.role
        while when == "done" and self._awaits(index, "refused"):
            index += 1
        if not self._awaits(index, when):
            return None
        sequel = role.then[index]
        if sequel.fresh:
            consents, knows = sequel.consents, sequel.knows
            self._talk = Talk(role, [])
        else:
            consents = sequel.consents or role.consents
            knows = {**role.knows, **sequel.knows}
        first = next(iter(consents), None)
        self._talk.role = replace(role, knows=knows, consent=first, others=consents[1:])
        self._later = index + 1
        self._fruitless = self._idle = 0
        return UserTurn(sequel.says, then=index)

    def _awaits(self, index: int, when: str) -> bool:
        then = self.role.then
        return index < len(then) and then[index].when == when

    def _say_yes(self, turn: Reading) -> UserTurn:
        """Agree to a proposal that no condition binds, unless it contradicts the user's words."""
        if wrong := contradicted(turn.text, self._talk.own_words):
            correction = self._draw(NOT_QUITE).format(", ".join(wrong))
            return replace(self._bring_nothing(correction), corrects=True)
        if follow_up := self._follow_up("proposed"):
            return follow_up
        if offers_other(turn.text) and not wants_other(self.role.opening):
            return self._bring_nothing(self._draw(NO_THANKS))
        words = GO_AHEAD if turn.acts else THAT_IS_RIGHT
        return self._be_patient(UserTurn(self._draw(words), consents=True))

    def _be_patient(self, turn: UserTurn) -> UserTurn:
        self._idle += 1
        return UserTurn(ends=True) if self._idle > LONG_PATIENCE else turn

    def _bring_nothing(self, text: str) -> UserTurn:
        """Answer without bringing the agent anything; the last such answer ends the
        conversation.
        """
        self._fruitless += 1
        return UserTurn(ends=True) if self._fruitless > PATIENCE else UserTurn(text)

    def _statement(self, text: str) -> Statement:
        return statement(text, first=len(self._talk.said) == 1)

    def _draw(self, texts: Sequence[str]) -> str:
        return texts[derive_seed(self._seed, len(self._talk.said)) % len(texts)]


def _weigh(readings: Sequence[Reading]) -> tuple[Reading, list[Consent]]:
    """Return the reading to answer, and the conditions that a yes goes to: those that the turn
    meets, if no part of it is wrong.
    """
    met = [reading for reading in readings if reading.is_proposal]
    agreed = [reading.consent for reading in met if reading.consent is not None]
    if wrong := [reading for reading in readings if reading.wrong_beside(agreed)]:
        return wrong[0], []
    return (met or [min(readings, key=lambda one: one.distance)])[0], agreed


def _concerns(words: Turn, consent: Consent) -> bool:
    facts = (*consent.mentions, *consent.if_named)
    return words.names_act(consent.act, denied=True) or any(
        words.holds_any(fact, consent) for fact in facts if not fact.isalpha()
    )


@extension(NoOptions, asks_model=False)
def make(options: NoOptions, model: Model | None = None) -> ScriptedUser:
    """Build the user that ``users=scripted`` names."""
    return ScriptedUser()
