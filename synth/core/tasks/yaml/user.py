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
from synth.core.tasks.yaml.scope import Scope, nearest
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
        out = dict(self.knows)
        for sequel in self.then:
            out.update(sequel.knows)
        return out

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
    says = scope.texts(user["says"], "says", user.lines["says"])
    knows = {
        name: _topic(name, topic, user, scope) for name, topic in scope.part(user, "knows").items()
    }
    consents = _consents(user, scope)
    then = _sequels(user, scope)
    if user.get("persona") is not None and not (knows or consents or then):
        message = "`persona` is for a user who answers: give `knows`, `agrees_if` or `then`"
        raise scope.fail(message, user.lines["persona"])
    signed_in = user.get("signed_in")
    return UserText(
        says=says,
        signed_in=None
        if signed_in is None
        else scope.value(signed_in, "signed_in", user.lines["signed_in"]),
        persona=_texts(user, "persona", "persona", scope),
        knows=knows,
        consents=consents,
        then=then,
    )


def _sequels(user: Map, scope: Scope) -> list[SequelText]:
    """The user's follow-ups."""
    return [_sequel(entry, scope) for entry in user.get("then") or ()]


def _sequel(raw: Map, scope: Scope) -> SequelText:
    says = scope.texts(raw["says"], "says", raw.lines["says"])
    knows = {
        name: _topic(name, topic, raw, scope) for name, topic in scope.part(raw, "knows").items()
    }
    return SequelText(raw.get("when") or "done", says, knows, _consents(raw, scope))


def _consents(owner: Map, scope: Scope) -> list[ConsentText]:
    """The conditions under `agrees_if`: one, or a list."""
    raw = owner.get("agrees_if") or ()
    return [_consent(entry, scope) for entry in ([raw] if isinstance(raw, Map) else raw)]


def _texts(owner: Map, key: str, what: str, scope: Scope) -> list[object]:
    return [] if owner.get(key) is None else scope.texts(owner[key], what, owner.lines[key])


def _topic(name: str, raw: object, user: Map, scope: Scope) -> TopicText:
    line = user["knows"].lines[name]
    if not isinstance(raw, Map):
        return TopicText(scope.texts(raw, f"knows {name}", line), [_default_question([name])])
    words = _texts(raw, "words", f"words of {name}", scope)
    asked = _texts(raw, "asked", f"asked of {name}", scope)
    says = _texts(raw, "says", f"says of {name}", scope)
    return TopicText(says, asked or [_default_question([name])], words)


def _default_question(topics: Sequence[str]) -> str:
    return f"Could you tell me the {' and the '.join(topics).replace('_', ' ')}?"


def question(topics: Sequence[str], asked: Mapping[str, str]) -> str:
    """The expert's question about several topics, composed of its question about each."""
    usual = [topic for topic in topics if asked[topic] == _default_question([topic])]
    own = [asked[topic] for topic in topics if topic not in usual]
    return " ".join([*own, _default_question(usual)] if usual else own)


def _consent(raw: Map, scope: Scope) -> ConsentText:
    mentions = _texts(raw, "mentions", "mentions", scope)
    declines: dict[str | None, Sequence[object]] = {}
    if isinstance(raw.get("declines"), Map):
        for case, texts in raw["declines"].items():
            where = raw["declines"].lines[case]
            if case not in scope.cases:
                raise scope.fail(
                    f"declines: unknown case {case!r}; {nearest(case, scope.cases)}", where
                )
            declines[case] = scope.texts(texts, f"declines {case}", where)
    elif raw.get("declines") is not None:
        declines[None] = _texts(raw, "declines", "declines", scope)
    says = _texts(raw, "says", "agrees_if says", scope) or YES
    act, never = _texts(raw, "act", "act", scope), _texts(raw, "never", "never", scope)
    return ConsentText(mentions, says, declines, act, never, _covers(raw, scope))


def _covers(raw: Map, scope: Scope) -> list[str]:
    """The tools that a yes licenses."""
    value: Any = raw.get("covers") or []
    tools: list[str] = [value] if isinstance(value, str) else value
    for tool in tools:
        if tool not in scope.tools:
            message = f"covers: unknown tool {tool!r}; {nearest(tool, scope.tools)}"
            raise scope.fail(message, raw.lines["covers"])
    return list(tools)


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
