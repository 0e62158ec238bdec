"""The questions of a turn of the agent: topics, a yes, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from synth.core.users.scripted.conditions import (
    names_fact,
    names_matter,
    objects,
    says_act,
    unclear,
    wrong_part,
)
from synth.core.users.scripted.hearing import Sentence, refuses
from synth.core.users.scripted.proposal import Turn
from synth.core.users.scripted.talk import Talk
from synth.core.users.scripted.topics import about, about_by_value, compares, restates
from synth.user import Consent


class Reading:
    """A turn of the agent, read under one condition of consent, or under none."""

    def __init__(
        self, talk: Talk, text: str, found: Sequence[Sentence], consent: Consent | None
    ) -> None:
        self.text, self.sentences, self.consent = text, found, consent
        self.words = Turn(text, talk.own_words)
        self.refused = refuses(text)
        self._talk, self._knows = talk, talk.role.knows
        self.asking = [sentence for sentence in found if self._asks(sentence)]
        self.unclear = [] if consent is None else unclear(self.words, consent, talk)
        self.choice = any(sentence.offers_choice for sentence in found)

    @cached_property
    def clean(self) -> bool:
        """A proposal in it may be agreed to."""
        consent, talk = self.consent, self._talk
        return (
            consent is not None
            and not (self.unclear or self.choice)
            and says_act(self.words, consent, talk, self.sentences, self.asking)
            and not objects(self.words, consent, talk, self.sentences)
        )

    @cached_property
    def proposed(self) -> bool:
        """It holds a proposal."""
        return any(
            self._proposes(sentence) or (self.clean and not sentence.for_information)
            for sentence in self.asking
        )

    @property
    def is_proposal(self) -> bool:
        """It may be agreed to."""
        return self.clean and self.proposed

    def wrong_beside(self, met: Sequence[Consent]) -> bool:
        """Tell whether it is a wrong part of a turn that meets other conditions."""
        if self.consent is None or not met:
            return False
        asked = Turn("\n".join(sentence.text for sentence in self.asking))
        return wrong_part(self.words, self.consent, met, self._talk, asked)

    @property
    def distance(self) -> tuple[bool, int]:
        """How far the turn is from the condition: nearest is one whose facts it touches, then one
        of which it restates most.
        """
        mentions = () if self.consent is None else self.consent.mentions
        return not self.words.touches(mentions), len(self.unclear)

    @property
    def acts(self) -> bool:
        return any(sentence.acts for sentence in self.asking)

    @property
    def topics(self) -> tuple[tuple[str, ...], bool]:
        """The topics that the turn asks for, and whether it holds a proposal to correct."""
        asked = [(sentence, self._asked(sentence)) for sentence in self.asking]
        ordered = self._talk.ordered
        topics = ordered(name for _, names in asked for name in names)
        open_proposal = any(
            self._proposes(sentence) and (sentence.acts or not names) for sentence, names in asked
        )
        if topics:
            return topics, open_proposal
        generic = any(sentence.generic for sentence in self.asking)
        if topics := ordered(self._meant()) or tuple(self._knows if generic else ()):
            return topics, open_proposal and self.acts
        return topics, open_proposal or self._leaves_open()

    def _leaves_open(self) -> bool:
        """Tell whether a turn about the consent's facts leaves to the user what to do."""
        mentions = () if self.consent is None else self.consent.mentions
        opens = self.choice or any(sentence.open for sentence in self.asking)
        return opens and self.words.touches(mentions)

    @property
    def beside(self) -> tuple[str, ...]:
        """The topics that the turn asks for beside a proposal that gets a yes."""
        return self._talk.ordered(
            name for sentence in self.asking for name in self._asked_beside(sentence)
        )

    def _asks(self, sentence: Sentence) -> bool:
        """Tell whether a sentence wants an answer.

        One that puts its request off, or only misses a topic, wants one until the topic is told;
        so does a request to check something beside a refusal.
        """
        named = about(sentence.text, self._knows)
        if sentence.lacks and not self._talk.answered.issuperset(self._unanswered(sentence)):
            return True
        if not sentence.asks:
            return False
        put_off = sentence.put_off or (self.refused and named and not sentence.marked)
        if put_off and not self._wants_yes(sentence):
            return not self._talk.answered.issuperset(named)
        looks = sentence.for_confirmation and not (sentence.marked or sentence.confirms_act)
        return not looks or bool(named) or names_matter(sentence, self.consent)

    def _wants_yes(self, sentence: Sentence) -> bool:
        agreement = sentence.for_agreement and (sentence.acts or names_fact(sentence, self.consent))
        return agreement or sentence.confirms_act

    def _meant(self) -> Iterable[str]:
        """Yield the topics of a turn in which no question names one, from its other sentences or
        its values.

        A question whether to do something is about nothing else, unless the user has no condition
        of consent.
        """
        acts = self.acts
        if any(sentence.weighs or sentence.offers_choice for sentence in self.asking):
            text = "\n".join(sentence.text for sentence in self.sentences)
            yield from about_by_value(text, self._knows, at_least=2)
        binding = acts or self.consent is not None
        if self.proposed and acts and self.consent is not None:
            return
        for sentence in self.sentences:
            for name in self._unanswered(sentence):
                if not self.proposed or name not in self._talk.answered or not binding:
                    yield name

    def _proposes(self, sentence: Sentence) -> bool:
        """Tell whether a sentence asks for agreement, or names a fact of the consent as a
        question.
        """
        if sentence.for_agreement or sentence.confirms_act:
            return True
        if sentence.for_confirmation:
            return names_fact(sentence, self.consent) or not self._unanswered(sentence)
        return sentence.bare and names_fact(sentence, self.consent)

    def _asked(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence asks for, in a turn without agreement."""
        named = about(sentence.text, self._knows)
        if sentence.for_information or sentence.for_confirmation:
            return self._unanswered(sentence) or ([] if sentence.led else named)
        if sentence.for_agreement:
            return self._asked_by_proposal(sentence, named)
        if self._proposes(sentence) or not sentence.asks:
            return self._unanswered(sentence)
        return named or about_by_value(sentence.text, self._knows)

    def _asked_by_proposal(self, sentence: Sentence, named: Sequence[str]) -> list[str]:
        if self.consent is None or sentence.weighs:
            return self._unanswered(sentence)
        knows, acts = self._knows, sentence.acts
        untold = () if acts else {*self._unanswered(sentence)}.difference(self._talk.answered)
        told = (one for one in named if not (acts and restates(sentence.text, knows[one])))
        return [*untold, *(one for one in told if compares(sentence.text, knows[one]))]

    def _asked_beside(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence asks for, in a turn that gets agreement."""
        if not self._proposes(sentence):
            return self._asked(sentence)
        if sentence.for_information:
            return self._unanswered(sentence)
        if sentence.for_confirmation and not sentence.confirms_act:
            return [name for name in self._unanswered(sentence) if name not in self._talk.answered]
        return []

    def _unanswered(self, sentence: Sentence) -> list[str]:
        """Return the topics that a sentence names without restating their facts; "A or B?" restates
        neither.
        """
        knows = self._knows
        named = about(sentence.text, knows, asked=sentence.asks or sentence.lacks)
        return [
            name for name in named if sentence.weighs or not restates(sentence.text, knows[name])
        ]
