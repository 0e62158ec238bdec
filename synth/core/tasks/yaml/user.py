"""The `user` of a family: what is asked, by whom, what is told when asked, and what is agreed
to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from synth.core.foundation.hashing import derive_seed
from synth.core.tasks.yaml.models import SequelWord
from synth.core.tasks.yaml.scope import Scope, listed_of, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.template import fill, text_of
from synth.user import Consent, FollowUp, Topic, UserRole

YES = ("Yes, please go ahead.",)


@dataclass(frozen=True)
class TopicText:
    """Compiled texts of one topic; one of ``says`` and one of ``asked`` is drawn, ``words``
    go all.
    """

    says: Sequence[object]
    asked: Sequence[object] = ()
    words: Sequence[object] = ()


@dataclass(frozen=True)
class ConsentText:
    """``declines`` maps a case to what the user says instead of agreeing; None stands for every
    task.
    """

    mentions: Sequence[object]
    says: Sequence[object] = YES
    declines: Mapping[str | None, Sequence[object]] = field(
        default_factory=dict[str | None, Sequence[Any]]
    )
    act: Sequence[object] = ()
    never: Sequence[object] = ()
    covers: Sequence[str] = ()
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    rivals: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    if_named: Sequence[str] = ()

    def texts(self) -> list[object]:
        """All that is compiled."""
        return [self.mentions, self.act, self.never, self.says, *self.declines.values()]

    def realised(
        self, slots: Mapping[str, object], case: str | None, one: Callable[..., str], place: str
    ) -> Consent:
        """The condition in one task. ``one`` draws a text for a purpose."""
        declines = self.declines.get(case, self.declines.get(None))
        return Consent(
            mentions=[_text(mention, slots) for mention in self.mentions],
            says=one(self.says, "agrees", *filter(None, [place])),
            declines=None
            if declines is None
            else one(declines, "declines", *filter(None, [place])),
            act=[_text(item, slots) for item in self.act],
            covers=list(self.covers),
            never=[_text(item, slots) for item in self.never],
            forms=dict(self.forms),
            rivals=dict(self.rivals),
            if_named=list(self.if_named),
        )


@dataclass(frozen=True)
class SequelText:
    """A follow-up of the user, compiled."""

    when: SequelWord
    says: Sequence[object]
    knows: Mapping[str, TopicText] = field(default_factory=dict[str, TopicText])
    consents: Sequence[ConsentText] = ()


@dataclass(frozen=True)
class UserText:
    """A family's `user`, compiled."""

    says: Sequence[object]
    signed_in: object = None
    persona: Sequence[object] = ()
    knows: Mapping[str, TopicText] = field(default_factory=dict[str, TopicText])
    consents: Sequence[ConsentText] = ()
    then: Sequence[SequelText] = ()

    @property
    def answers(self) -> bool:
        """True if the user has more to say than the request: topics, consent, follow-ups."""
        return bool(self.knows or self.consents or self.then)

    @property
    def later(self) -> tuple[str, ...]:
        """The times of the follow-ups."""
        return tuple(sequel.when for sequel in self.then)

    @property
    def every_consent(self) -> Sequence[ConsentText]:
        """The conditions of consent, also in follow-ups."""
        return (*self.consents, *(one for sequel in self.then for one in sequel.consents))

    @property
    def every_topic(self) -> Mapping[str, TopicText]:
        """What the user knows at any time."""
        parts = (self, *self.then)
        return {name: topic for part in parts for name, topic in part.knows.items()}

    def texts(self) -> list[object]:
        """All that is compiled, to look for names in."""
        topics = [[know.says, know.asked, know.words] for know in self.every_topic.values()]
        consents = [consent.texts() for consent in self.every_consent]
        later = [sequel.says for sequel in self.then]
        return _lists([self.says, self.signed_in, self.persona, topics, consents, later])

    def role(
        self, opening: str, slots: Mapping[str, object], case: str | None, draw: int
    ) -> UserRole | None:
        """The user of one task, each text drawn on its own; None if there is no more to say than
        the request.
        """
        if not self.answers:
            return None

        def one(texts: Sequence[object], *purpose: str) -> str:
            return (
                _text(texts[derive_seed(draw, "user", *purpose) % len(texts)], slots)
                if texts
                else ""
            )

        def topics(texts: Mapping[str, TopicText]) -> dict[str, Topic]:
            return {
                name: Topic(
                    says=one(topic.says, "says", name),
                    words=[_text(word, slots) for word in topic.words],
                    asked=one(topic.asked, "asked", name),
                )
                for name, topic in texts.items()
            }

        def agreed(consents: Sequence[ConsentText], place: str) -> list[Consent]:
            # The first condition is drawn as it was when a user had one only.
            return [
                consent.realised(slots, case, one, (place or str(index)) if index or place else "")
                for index, consent in enumerate(consents)
            ]

        first, *others = agreed(self.consents, "") or [None]
        return UserRole(
            opening,
            topics(self.knows),
            first,
            one(self.persona, "persona"),
            [consent for consent in others if consent is not None],
            [
                FollowUp(
                    sequel.when,
                    one(sequel.says, "then", str(index)),
                    topics(sequel.knows),
                    agreed(sequel.consents, f"then{index}"),
                )
                for index, sequel in enumerate(self.then)
            ],
        )


def _text(compiled: object, slots: Mapping[str, object]) -> str:
    return text_of(fill(compiled, "$slot", slots))


def _lists(value: object) -> Any:
    """Tuples as lists, which is what compiled values are made of."""
    return (
        [_lists(item) for item in cast("Sequence[object]", value)]
        if isinstance(value, (list, tuple))
        else value
    )


def read_user(raw: Map, scope: Scope) -> UserText:
    """Parse a family's `user`."""
    user = raw["user"]
    knows, consents = _topics(user, scope), _consents(user, scope)
    then = [
        SequelText(
            one.get("when") or "done",
            scope.listed(one, "says"),
            _topics(one, scope),
            _consents(one, scope),
        )
        for one in user.get("then") or ()
    ]
    if user.get("persona") is not None and not (knows or consents or then):
        message = "`persona` is for a user who answers: give `knows`, `agrees_if` or `then`"
        raise scope.fail(message, user.lines["persona"])
    return UserText(
        says=scope.listed(user, "says"),
        signed_in=scope.optional(user, "signed_in"),
        persona=scope.listed(user, "persona"),
        knows=knows,
        consents=consents,
        then=then,
    )


def _consents(owner: Map, scope: Scope) -> list[ConsentText]:
    """The conditions under `agrees_if`: one, or a list."""
    raw = owner.get("agrees_if") or ()
    return [_consent(entry, scope) for entry in ([raw] if isinstance(raw, Map) else raw)]


def _topics(owner: Map, scope: Scope) -> dict[str, TopicText]:
    """What the user knows by topic; a topic that is a text or a list says no more than that."""
    out: dict[str, TopicText] = {}
    for name, topic in (known := scope.part(owner, "knows")).items():
        asked, words = [_default_question([name])], list[object]()
        if isinstance(topic, Map):
            says = scope.listed(topic, "says", f"says of {name}")
            asked = scope.listed(topic, "asked", f"asked of {name}") or asked
            words = scope.listed(topic, "words", f"words of {name}")
        else:
            says = scope.texts(topic, f"knows {name}", known.lines[name])
        out[name] = TopicText(says, asked, words)
    return out


def _default_question(topics: Sequence[str]) -> str:
    return f"Could you tell me the {' and the '.join(topics).replace('_', ' ')}?"


def question(topics: Sequence[str], asked: Mapping[str, str]) -> str:
    """The expert's question about several topics, composed of its question about each."""
    usual = [topic for topic in topics if asked[topic] == _default_question([topic])]
    own = [asked[topic] for topic in topics if topic not in usual]
    return " ".join([*own, _default_question(usual)] if usual else own)


def _consent(raw: Map, scope: Scope) -> ConsentText:
    declines: dict[str | None, Sequence[object]] = {}
    if isinstance(by_case := raw.get("declines"), Map):
        if unknown := [case for case in by_case if case not in scope.cases]:
            message = f"declines: unknown case {unknown[0]!r}; {nearest(unknown[0], scope.cases)}"
            raise scope.fail(message, by_case.lines[unknown[0]])
        declines |= {case: scope.listed(by_case, case, f"declines {case}") for case in by_case}
    elif by_case is not None:
        declines[None] = scope.listed(raw, "declines")
    tools = listed_of(raw.get("covers"))
    if unknown := [tool for tool in tools if tool not in scope.tools]:
        message = f"covers: unknown tool {unknown[0]!r}; {nearest(unknown[0], scope.tools)}"
        raise scope.fail(message, raw.lines["covers"])
    return ConsentText(
        scope.listed(raw, "mentions"),
        scope.listed(raw, "says", "agrees_if says") or YES,
        declines,
        scope.listed(raw, "act"),
        scope.listed(raw, "never"),
        tools,
    )


def unmentioned(
    consent: ConsentText, texts: Sequence[object], samples: Sequence[Mapping[str, object]]
) -> int | None:
    """The place of a mention that one of a confirmation's texts restates in none of the sample
    tasks; None without one.

    Whether every task restates every mention is proved when gold is played; a text with saved
    values is left to that.
    """
    for text in texts:
        for index, mention in enumerate(consent.mentions):
            if not _restates(text, mention, samples):
                return index
    return None


def _restates(text: object, mention: object, samples: Sequence[Mapping[str, object]]) -> bool:
    """True if a text restates a mention in one of the samples, or has saved values in all."""
    compared = False
    for slots in samples:
        filled = fill(text, "$slot", slots)
        if isinstance(filled, dict):
            continue
        if _may_restate(text_of(filled), _text(mention, slots)):
            return True
        compared = True
    return not compared


def _may_restate(text: str, fact: str) -> bool:
    """True if a text has one of the fact's numbers, or the letters of a fact without numbers.

    A date or a sum may be written in any form.
    """
    numbers = _numbers(fact)
    return bool(numbers & _numbers(text)) if numbers else _letters(fact) in _letters(text)


def _numbers(text: str) -> set[float]:
    return {
        float(match)
        for match in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))
    }


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text.casefold())
