"""The scripted user: answers by rule, without a model.

It knows its role and reads the agent's words, or the acts that the agent states as data or that a
model heard in them (:class:`synth.core.types.acts.Act`). Each turn is answered by the first rule
that fits:

1. A proposal that states every mention of a consent cleanly (see
   :mod:`synth.core.users.scripted.proposal`), names its act and adds neither things nor terms of
   its own is agreed to, or declined by a user who declines. A yes goes to all conditions that a
   proposal meets, and names the tools that they cover. Topics asked in the same turn are told
   first.
2. Topics that the turn asks for are told, those told before too. A sentence is about each topic of
   which it holds a word, or whose answer has the same kind of value. A fact that it only restates
   is not asked for, unless it is the question ("Is that 3 May 1980?").
3. A proposal that lacks a mention is corrected: with facts that the user has said already, or else
   by asking what exactly will be done. A user without a condition agrees to any proposal that
   contradicts nothing that it said.
4. A question about nothing that the user knows is answered so. After ``PATIENCE`` consecutive turns
   that brought the agent nothing, the next one ends the conversation; so does the turn after
   ``LONG_PATIENCE`` that only announced work or asked for a yes without need.
5. A turn that asks nothing (see :mod:`synth.core.users.scripted.hearing`) ends the conversation if
it
   reports or refuses and no part of the request is open; one that announces work does not.

A later wish (``then``) comes in the place of a yes, of the end, or once something is refused; a
fresh one begins the conversation anew. Text between a model's reasoning tags is not read, nor a
turn of more than ``LONGEST`` characters. The user never ends in a turn that tells or consents.
Everything is a function of the role, the seed and the agent's turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

from synth.core.foundation.hashing import derive_seed
from synth.core.types.acts import Act
from synth.core.users.scripted.hearing import (
    Sentence,
    offers_help,
    offers_other,
    refuses,
    sentences,
    spoken,
    statement,
    wants_other,
)
from synth.core.users.scripted.proposal import (
    Named,
    Turn,
    contradicted,
    joined,
    named_in,
    strays,
    values_of,
)
from synth.core.users.scripted.topics import about, about_by_value, compares, restates
from synth.model import Model
from synth.plugins import NoOptions, extension
from synth.user import Consent, User, UserConversation, UserRole, UserTurn

LONGEST = 12_000
"""Longest turn, in characters, that the user reads: in a longer one it could overlook an
objection.
"""

PATIENCE = 6
"""Number of consecutive turns that may bring the agent nothing."""

LONG_PATIENCE = 24
"""Number of consecutive turns that may only announce work, or ask for a yes without need."""

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
GO_AHEAD = (
    "Yes, please go ahead.",
    "Yes, please do.",
    "Yes, that is fine. Please go ahead.",
)
THAT_IS_RIGHT = (
    "Yes, that's right.",
    "Yes, that is correct.",
    "Yes, exactly.",
)
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
GO_ON = (
    "Okay, thank you.",
    "All right.",
    "Okay, thanks.",
)


_Lacking = Callable[[Turn, Consent], Sequence[str]]
"""The facts of a condition that a proposal does not state."""


class ScriptedUser(User):
    """Plays any role by the rules of this module."""

    name = "scripted"

    def start(self, role: UserRole, seed: int) -> ScriptedConversation:
        """Open a rollout's conversation."""
        return ScriptedConversation(role, seed)


@dataclass(frozen=True, slots=True)
class _AgentTurn:
    """One turn of the agent, as the rules read it.

    ``unclear`` lists the mentions of the consent that the turn does not restate, ``choice`` is True
    if it offers a choice, ``clean`` if a proposal in it may be agreed to, ``proposed`` if it holds
    a proposal.
    """

    text: str
    sentences: Sequence[Sentence]
    asking: Sequence[Sentence]
    words: Turn
    unclear: Sequence[str]
    choice: bool
    clean: bool
    proposed: bool

    @property
    def is_proposal(self) -> bool:
        """True for a clean proposal."""
        return self.clean and self.proposed


class ScriptedConversation(UserConversation):
    """One rollout's user."""

    def __init__(self, role: UserRole, seed: int) -> None:
        self._role = role
        self._seed = seed
        self._messages = [role.opening]
        self._heard: list[str] = []
        self._settled: list[Consent] = []
        self._answered: set[str] = set()
        self._fruitless = self._idle = 0
        self._later = 0
        self._focus = role.consent

    @property
    def role(self) -> UserRole:
        """What the user knows and agrees to by now."""
        return self._role

    async def reply(self, text: str) -> UserTurn:
        """Answer one turn of the agent."""
        return await self.answer(text, ())

    async def answer(self, text: str, acts: Sequence[Act]) -> UserTurn:
        turn = self.decide(text, acts)
        self.remember(turn)
        return turn

    def decide(self, text: str, acts: Sequence[Act] = (), *, heard: bool = False) -> UserTurn:
        """Return the user's turn by the rules; call it once for each turn of the agent.

        ``acts`` are what the turn does, stated by the agent or ``heard`` by a model; without any,
        the text is heard by the rules.
        """
        aloud = spoken(text).strip()
        if acts and not heard:
            turn = self._answer_acts(aloud, acts, self._lacking)
        elif len(aloud) > LONGEST:
            return self._bring_nothing(self._draw(TOO_LONG))
        elif acts:
            turn = self._answer_acts(aloud, acts, self._unclear)
        else:
            turn = self._answer(aloud)
        self._heard.append(aloud)
        return turn

    def recall(self, text: str, reply: str, settled: Iterable[Consent] = ()) -> None:
        """Take an earlier turn of the agent and the user's answer to it as they were;
        the acts of the conditions ``settled`` are done.
        """
        self._heard.append(spoken(text))
        self._messages.append(reply)
        self._settled += settled

    def remember(self, turn: UserTurn) -> None:
        """Record a turn that was sent, in the rules' words or in others."""
        self._messages.append(turn.text)
        self._answered.update(turn.told)

    def _answer(self, text: str) -> UserTurn:
        found = sentences(text)
        refused = refuses(text)
        asking = [sentence for sentence in found if self._asks(sentence, refused=refused)]
        if not asking:
            return self._go_on(text, refused=refused)
        turn, agreed = self._weigh(text, found, asking)
        if agreed:
            topics = self._ordered(name for one in turn.asking for name in self._asked_beside(one))
            return self._later_wish("proposed") or self._consent(agreed, topics)
        if refused and not self._topics(turn)[0]:
            return self._later_wish("refused") or self._inform(turn)
        return self._inform(turn)

    def _answer_acts(self, text: str, acts: Sequence[Act], lacking: _Lacking) -> UserTurn:
        """Answer a turn by its acts; of its text, only the facts of a proposal count."""
        kinds = {act.kind for act in acts}
        topics = self._ordered(name for act in acts for name in act.topics)
        if "propose" in kinds:
            tools = {tool for act in acts for tool in act.tools}
            return self._answer_proposal(Turn(text, self._said), tools, topics, lacking)
        if topics:
            return self._tell(topics, "")
        if "ask" in kinds:
            return self._bring_nothing(self._draw(NOTHING_TO_ADD))
        if "check" in kinds:
            return self._be_patient(UserTurn(self._draw(THAT_IS_RIGHT)))
        if "work" in kinds:
            return self._be_patient(UserTurn(self._draw(GO_ON)))
        return self._leave(text, refused="refuse" in kinds, reminds=lacking == self._unclear)

    def _leave(self, text: str, *, refused: bool, reminds: bool = True) -> UserTurn:
        """Answer a report or a refusal: by a later wish, by the rest of the request, or the end."""
        wish = self._later_wish("refused") if refused else None
        remind = wish or (self._remind(text, refused=refused) if reminds else None)
        return remind or self._later_wish("done") or UserTurn(ends=True)

    def _answer_proposal(
        self, words: Turn, tools: AbstractSet[str], topics: Sequence[str], lacking: _Lacking
    ) -> UserTurn:
        about = [
            (consent, lacking(words, consent))
            for consent in self._role.consents
            if not (tools and consent.covers) or not tools.isdisjoint(consent.covers)
        ]
        agreed = [consent for consent, open_facts in about if not open_facts]
        if agreed:
            return self._later_wish("proposed") or self._consent(agreed, topics)
        if not self._role.consents:
            yes = UserTurn(self._draw(GO_AHEAD), consents=True)
            return self._later_wish("proposed") or self._be_patient(yes)
        nearest, lacks = min(about, key=lambda one: len(one[1]), default=(None, ()))
        return self._tell(topics, self._objection(words, nearest, lacks), corrects=True)

    def _lacking(self, words: Turn, consent: Consent) -> Sequence[str]:
        """The facts that a proposal stated as data does not hold, or beside which it names others
        that nobody knows; all of them where its words name another act.
        """
        own = self._own_acts
        if consent.act and words.another_act(own, consent.act):
            return consent.mentions
        known = [
            form
            for one in self._role.consents
            for fact in (*one.mentions, *one.if_named)
            for form in (fact, *one.forms.get(fact, ()))
        ]
        return words.lacking(consent) or words.rivalled(consent, [self._said, *known])

    @property
    def _own_acts(self) -> Sequence[str]:
        """The words for the acts of all conditions."""
        return [word for one in self._role.consents for word in one.act]

    def _tell(self, topics: Sequence[str], more: str, *, corrects: bool = False) -> UserTurn:
        """Tell topics, and more; a turn that tells nothing tries the user's patience."""
        if not topics:
            return replace(self._bring_nothing(more), corrects=corrects)
        self._fruitless = self._idle = 0
        return UserTurn(self._telling(topics, more), told=topics, corrects=corrects)

    def _objection(self, words: Turn, consent: Consent | None, lacking: Sequence[str]) -> str:
        """The answer to a proposal that lacks facts of a condition, by what was said already."""
        if consent is None or not words.touches(consent.mentions):
            return self._draw(SAY_WHAT)
        earlier = Turn(self._said)
        known = [fact for fact in lacking if earlier.holds(fact)]
        parts = [self._draw(NOT_QUITE).format(", ".join(known))] if known else []
        if len(known) < len(lacking) or not known:
            parts.append(self._draw(SAY_WHAT))
        return " ".join(parts)

    @property
    def _said(self) -> str:
        """All that the user has said so far."""
        return "\n".join(self._messages)

    def _weigh(
        self, text: str, found: Sequence[Sentence], asking: Sequence[Sentence]
    ) -> tuple[_AgentTurn, list[Consent]]:
        """Read a turn under each condition of consent; return the reading under the nearest one,
        and the conditions that it meets.
        """
        readings: list[tuple[Consent | None, _AgentTurn]] = []
        for consent in self._open_consents(text) or (None,):
            self._focus = consent
            now = [one for one in found if self._asks(one, refused=refuses(text))] or asking
            readings.append((consent, self._read(text, found, now)))
        agreed = [(consent, turn) for consent, turn in readings if consent and turn.is_proposal]
        met = [consent for consent, _ in agreed]
        wrong = [reading for reading in readings if self._wrong_part(reading, met)]
        best = wrong or agreed or [min(readings, key=_distance)]
        self._focus, nearest = best[0]
        return nearest, [] if wrong else met

    def _wrong_part(
        self, reading: tuple[Consent | None, _AgentTurn], met: Sequence[Consent]
    ) -> bool:
        """Tell whether a proposal that meets other conditions of a tool names things of this open
        one too, with another value in the place of a fact: a yes would hold for all its calls.
        """
        consent, turn = reading
        if consent is None or consent in [*met, *self._settled]:
            return False
        if all(set(consent.covers).isdisjoint(one.covers) for one in met):
            return False
        own = values_of(consent).difference(*map(values_of, met)) & named_in(turn.text)
        return bool(own and self._misplaced(turn.words, consent))

    def _open_consents(self, text: str) -> Sequence[Consent]:
        """The conditions that a proposal may be about: not one that is met already where another
        one of its tools holds a value of the text too.
        """
        named = named_in(text)
        fresh = [one for one in self._role.consents if one not in self._settled]
        return [
            one
            for one in self._role.consents
            if one in fresh
            or not any(
                one.covers == other.covers and named & values_of(one) & values_of(other)
                for other in fresh
            )
        ]

    def _later_wish(self, when: str) -> UserTurn | None:
        """Bring the next of the user's later wishes if its time has come. One for a refusal is
        passed over when there was none.
        """
        index = self._later
        while when == "done" and self._awaits(index, "refused"):
            index += 1
        if not self._awaits(index, when):
            return None
        sequel = self._role.then[index]
        if sequel.fresh:
            consents, knows = sequel.consents, sequel.knows
            self._messages.clear()
            self._heard.clear()
            self._settled.clear()
            self._answered.clear()
        else:
            consents = sequel.consents or self._role.consents
            knows = {**self._role.knows, **sequel.knows}
        self._focus = next(iter(consents), None)
        self._role = replace(
            self._role,
            knows=knows,
            consent=self._focus,
            others=consents[1:],
        )
        self._later = index + 1
        self._fruitless = self._idle = 0
        return UserTurn(sequel.says, then=index)

    def _awaits(self, index: int, when: str) -> bool:
        then = self._role.then
        return index < len(then) and then[index].when == when

    def _read(self, text: str, found: Sequence[Sentence], asking: Sequence[Sentence]) -> _AgentTurn:
        consent = self._focus
        words = Turn(text, self._said)
        unclear: Sequence[str] = [] if consent is None else self._unclear(words, consent)
        choice = any(sentence.offers_choice for sentence in found)
        clean = (
            consent is not None
            and not unclear
            and not choice
            and self._says_act(consent, words, asking)
            and not words.proposes_nothing
            and not self._adds(found, consent)
            and not words.assures(consent.mentions)
            and not any(words.affirms(fact) for fact in consent.never)
        )
        proposed = any(
            self._proposes(sentence) or (clean and (sentence.bare or sentence.open))
            for sentence in asking
        )
        return _AgentTurn(text, found, asking, words, unclear, choice, clean, proposed)

    def _proposal(self, text: str, asking: Sequence[Sentence]) -> str:
        """The sentences that ask for a yes; before one that only asks whether it is right, the one
        before it.
        """
        found, out = sentences(text), [sentence.text for sentence in asking]
        for before, sentence in pairwise(found):
            if sentence in asking and len(sentence.text) < 32:
                out.append(before.text)
        return "\n".join(out)

    def _adds(self, found: Sequence[Sentence], consent: Consent) -> bool:
        """Tell whether the proposal lists a thing that nobody wants beside a wanted one."""
        known = frozenset[Named]().union(*map(values_of, self._role.consents))
        for sentence in found:
            about = [line for line in sentence.lines if "?" in line or self._on(line, consent)]
            whole = sentence.lines[:1] == tuple(about[:1]) or sentence.confirms_act
            if joined(sentence.lines if whole else about[:1], consent, known):
                return True
        return False

    @staticmethod
    def _on(line: str, consent: Consent) -> bool:
        return Turn(line).names_act(consent.act)

    def _unclear(self, words: Turn, consent: Consent) -> list[str]:
        """The facts that a proposal does not state: a fact that an earlier turn of the agent has
        stated need not be repeated, unless another value stands in its place now.
        """
        return [
            fact
            for fact in words.unclear(consent.mentions, consent.forms)
            if words.holds_any(fact, consent) or not self._stated_before(fact, consent)
        ] + self._misplaced(words, consent)

    @staticmethod
    def _misplaced(words: Turn, consent: Consent) -> list[str]:
        """The facts in whose place a proposal names another value."""
        wrong = strays(words.text, consent)
        wrong += [
            fact
            for fact, others in consent.rivals.items()
            if not words.holds_any(fact, consent) and any(map(words.affirms, others))
        ]
        return list(dict.fromkeys(wrong))

    def _stated_before(self, fact: str, consent: Consent) -> bool:
        values = named_in(" ".join((fact, *consent.forms.get(fact, ()))))
        return bool(values) and any(
            not Turn(text).unclear([fact], consent.forms) for text in self._heard
        )

    def _says_act(self, consent: Consent, words: Turn, asking: Sequence[Sentence]) -> bool:
        """Tell whether a turn proposes the act that the consent is about, and says what it
        would do.
        """
        asked = Turn(self._proposal(words.text, asking))
        if consent.act and self._another_act(consent, words, asked):
            return False
        facts = [fact for one in self._role.consents for fact in one.mentions]
        says = any(sentence.acts or sentence.confirms_act for sentence in asking)
        return says or words.names_act(consent.act) or words.says_act(facts)

    def _another_act(self, consent: Consent, words: Turn, asked: Turn) -> bool:
        """Tell whether a proposal is for another act: where it asks or names the things of the
        consent, or because it names the act nowhere, nor has it before.
        """
        own = self._own_acts
        things = values_of(consent)
        near = Turn("\n".join(line for line in words.text.splitlines() if things & named_in(line)))
        if asked.another_act(own, consent.act) or near.another_act(own, consent.act):
            return True
        if words.names_act(consent.act):
            return False
        if asked.intends(own):
            return True
        if not consent.covers:
            return words.another_act(own)
        earlier = Turn("\n".join((*self._messages, *self._heard)))
        return asked.another_act(()) or not earlier.names_act(consent.act)

    def _consent(self, agreed: Sequence[Consent], topics: Sequence[str]) -> UserTurn:
        """Agree to a clean proposal that meets some conditions, or decline it; topics asked beside
        it are told first.
        """
        consent = next((one for one in agreed if one.declines is not None), agreed[0])
        self._settled += agreed
        self._fruitless = self._idle = 0
        declines = consent.declines is not None
        words = self._telling(
            topics, consent.says if consent.declines is None else consent.declines
        )
        bound = all(one.covers for one in agreed)
        covers = [tool for one in agreed for tool in one.covers] if bound else []
        return UserTurn(
            words,
            told=topics,
            consents=not declines,
            declines=declines,
            covers=() if declines else tuple(covers),
        )

    def _inform(self, turn: _AgentTurn) -> UserTurn:
        """Tell the topics asked for, and correct a proposal that cannot be agreed to."""
        topics, proposed = self._topics(turn)
        if proposed and not any(sentence.for_information for sentence in turn.asking):
            topics = tuple(name for name in topics if name not in self._answered)
        if proposed and self._focus is None and not (topics or turn.choice):
            return self._say_yes(turn)
        if proposed or topics:
            correction = self._correction(turn) if proposed else ""
            return self._tell(topics, correction, corrects=bool(correction and turn.unclear))
        marked = any(sentence.marked for sentence in turn.asking)
        if not marked and statement(turn.text, first=self._first) == "work":
            return self._be_patient(UserTurn(self._draw(GO_ON)))
        return self._bring_nothing(self._draw(NOTHING_TO_ADD))

    def _correction(self, turn: _AgentTurn) -> str:
        if self._focus is None:
            return self._draw(AS_ASKED)
        return self._objection(turn.words, self._focus, turn.unclear)

    def _go_on(self, text: str, *, refused: bool) -> UserTurn:
        """Answer a turn that asks nothing: end the conversation, or let the agent go on."""
        match statement(text, first=self._first):
            case "report":
                return self._leave(text, refused=refused)
            case "work":
                return self._be_patient(UserTurn(self._draw(GO_ON)))
            case "polite":
                words = AS_ASKED if offers_help(text) else GO_ON
                return self._bring_nothing(self._draw(words))

    def _remind(self, text: str, *, refused: bool) -> UserTurn | None:
        """Come back, once, to the parts of the request of which the agent has said nothing."""
        words = Turn(text)
        unsettled = [one for one in self._role.consents if one not in self._settled]
        if refused:
            only = len(unsettled) == 1
            self._settled += [one for one in unsettled if only or self._concerns(words, one)]
            unsettled = [one for one in unsettled if one not in self._settled]
        elif not self._role.others:
            return None
        if not unsettled or self._messages[-1] in THE_REST:
            return None
        return UserTurn(self._draw(THE_REST))

    def _concerns(self, words: Turn, consent: Consent) -> bool:
        facts = (*consent.mentions, *consent.if_named)
        return words.names_act(consent.act, denied=True) or any(
            words.holds_any(fact, consent) for fact in facts if not fact.isalpha()
        )

    def _say_yes(self, turn: _AgentTurn) -> UserTurn:
        """Agree to a proposal that no condition binds, unless it contradicts the user's words."""
        if wrong := contradicted(turn.text, self._said):
            correction = self._draw(NOT_QUITE).format(", ".join(wrong))
            return replace(self._bring_nothing(correction), corrects=True)
        if wish := self._later_wish("proposed"):
            return wish
        if offers_other(turn.text) and not wants_other(self._role.opening):
            return self._bring_nothing(self._draw(NO_THANKS))
        acts = any(sentence.acts for sentence in turn.asking)
        words = GO_AHEAD if acts else THAT_IS_RIGHT
        return self._be_patient(UserTurn(self._draw(words), consents=True))

    def _be_patient(self, turn: UserTurn) -> UserTurn:
        self._idle += 1
        return UserTurn(ends=True) if self._idle > LONG_PATIENCE else turn

    @property
    def _first(self) -> bool:
        """True in the agent's first turn."""
        return len(self._messages) == 1

    def _topics(self, turn: _AgentTurn) -> tuple[tuple[str, ...], bool]:
        """Return the topics that a turn asks for, and whether it holds a proposal to correct."""
        asked = [(sentence, self._asked(sentence)) for sentence in turn.asking]
        topics = self._ordered(name for _, names in asked for name in names)
        open_proposal = any(
            self._proposes(sentence) and (sentence.acts or not names) for sentence, names in asked
        )
        if topics:
            return topics, open_proposal
        if topics := self._ordered(self._meant(turn)) or self._generic(turn):
            return topics, open_proposal and any(sentence.acts for sentence in turn.asking)
        return topics, open_proposal or self._leaves_open(turn)

    def _leaves_open(self, turn: _AgentTurn) -> bool:
        """Tell whether a turn about the consent's facts leaves to the user what to do."""
        consent = self._focus
        if consent is None or not turn.words.touches(consent.mentions):
            return False
        return turn.choice or any(sentence.open for sentence in turn.asking)

    def _generic(self, turn: _AgentTurn) -> tuple[str, ...]:
        """Return all topics if a turn asks for whatever the user can add."""
        generic = any(sentence.generic for sentence in turn.asking)
        return tuple(self._role.knows) if generic else ()

    def _bring_nothing(self, text: str) -> UserTurn:
        """Answer without bringing the agent anything; the last such answer ends the
        conversation.
        """
        self._fruitless += 1
        return UserTurn(ends=True) if self._fruitless > PATIENCE else UserTurn(text)

    def _asks(self, sentence: Sentence, *, refused: bool) -> bool:
        """Tell whether a sentence wants an answer.

        One that puts its request off, or only misses a topic, wants one until the topic is told.
        """
        named = about(sentence.text, self._role.knows)
        if sentence.lacks and not self._answered.issuperset(self._unanswered(sentence)):
            return True
        if not sentence.asks:
            return False
        put_off = sentence.put_off or (refused and named and not sentence.marked)
        if put_off and not self._wants_yes(sentence):
            return not self._answered.issuperset(named)
        looks = sentence.for_confirmation and not (sentence.marked or sentence.confirms_act)
        return not looks or bool(named) or self._names_matter(sentence)

    def _wants_yes(self, sentence: Sentence) -> bool:
        agreement = sentence.for_agreement and (sentence.acts or self._names_fact(sentence))
        return agreement or sentence.confirms_act

    def _meant(self, turn: _AgentTurn) -> Iterable[str]:
        """Yield the topics of a turn in which no question names one: those of its other sentences,
        or of its values.

        A question whether to do something is about nothing else, unless the user has no condition
        of consent.
        """
        knows, acts = self._role.knows, any(sentence.acts for sentence in turn.asking)
        if any(sentence.weighs or sentence.offers_choice for sentence in turn.asking):
            text = "\n".join(sentence.text for sentence in turn.sentences)
            yield from about_by_value(text, knows, at_least=2)
        binding = acts or self._focus is not None
        if turn.proposed and acts and self._focus is not None:
            return
        for sentence in turn.sentences:
            for name in self._unanswered(sentence):
                if not turn.proposed or name not in self._answered or not binding:
                    yield name

    def _names_matter(self, sentence: Sentence) -> bool:
        act = () if self._focus is None else self._focus.act
        return self._names_fact(sentence) or Turn(sentence.text).names_act(act)

    def _names_fact(self, sentence: Sentence) -> bool:
        consent, turn = self._focus, Turn(sentence.text)
        return consent is not None and any(turn.holds(mention) for mention in consent.mentions)

    def _proposes(self, sentence: Sentence) -> bool:
        """Tell whether a sentence asks for agreement, or names a fact of the consent as a
        question.
        """
        if sentence.for_agreement or sentence.confirms_act:
            return True
        if sentence.for_confirmation:
            return self._names_fact(sentence) or not self._unanswered(sentence)
        return sentence.bare and self._names_fact(sentence)

    def _asked(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence asks for, in a turn without agreement."""
        named = about(sentence.text, self._role.knows)
        if sentence.for_information or sentence.for_confirmation:
            return self._unanswered(sentence) or ([] if sentence.led else named)
        if sentence.for_agreement:
            return self._asked_by_proposal(sentence, named)
        if self._proposes(sentence) or not sentence.asks:
            return self._unanswered(sentence)
        return named or about_by_value(sentence.text, self._role.knows)

    def _asked_by_proposal(self, sentence: Sentence, named: Sequence[str]) -> list[str]:
        if self._focus is None or sentence.weighs:
            return self._unanswered(sentence)
        knows = self._role.knows
        untold = [
            name
            for name in self._unanswered(sentence)
            if sentence.of_fact and name not in self._answered
        ]
        return untold + [
            name
            for name in named
            if compares(sentence.text, knows[name])
            and not (sentence.acts and restates(sentence.text, knows[name]))
        ]

    def _asked_beside(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence asks for, in a turn that gets agreement."""
        if not self._proposes(sentence):
            return self._asked(sentence)
        if sentence.for_information:
            return self._unanswered(sentence)
        if sentence.for_confirmation and not sentence.confirms_act:
            return [name for name in self._unanswered(sentence) if name not in self._answered]
        return []

    def _unanswered(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence names without restating their facts; "A or B?" restates
        neither.
        """
        knows = self._role.knows
        named = about(sentence.text, knows, asked=sentence.asks or sentence.lacks)
        return [
            name for name in named if sentence.weighs or not restates(sentence.text, knows[name])
        ]

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        found = set(names)
        return tuple(name for name in self._role.knows if name in found)

    def _telling(self, topics: Sequence[str], more: str) -> str:
        return " ".join(
            part for part in (*(self._role.knows[name].says for name in topics), more) if part
        )

    def _draw(self, texts: Sequence[str]) -> str:
        return texts[derive_seed(self._seed, len(self._messages)) % len(texts)]


def _distance(reading: tuple[Consent | None, _AgentTurn]) -> tuple[bool, int]:
    """How far a turn is from a condition: nearest is one whose facts it touches, then one of which
    it restates most.
    """
    consent, turn = reading
    mentions = () if consent is None else consent.mentions
    return not turn.words.touches(mentions), len(turn.unclear)


@extension(NoOptions, asks_model=False)
def make(options: NoOptions, model: Model | None = None) -> ScriptedUser:
    """Build the user that ``users=scripted`` names."""
    return ScriptedUser()
