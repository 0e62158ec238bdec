"""The `user` of a family: what is asked, by whom, what is told when asked, and what is agreed to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from synth.canonical import derive_seed
from synth.tasks.scope import Scope, nearest
from synth.tasks.template import fill, text_of
from synth.tasks.words import CONSENT_KEYS, NAME, TOPIC_KEYS, USER_KEYS
from synth.tasks.yaml_source import Map
from synth.types import Consent, Topic, UserRole

Json = Any

YES = ("Yes, please go ahead.",)


@dataclass(frozen=True)
class TopicText:
    """Compiled texts of one topic; one of ``says`` and one of ``asked`` is drawn, ``words`` go all."""

    says: Sequence[Json]
    asked: Sequence[Json] = ()
    words: Sequence[Json] = ()


@dataclass(frozen=True)
class ConsentText:
    """``declines`` maps a twin to what the user says instead of agreeing; None stands for every task."""

    mentions: Sequence[Json]
    says: Sequence[Json] = YES
    declines: Mapping[str | None, Sequence[Json]] = field(default_factory=dict[str | None, Sequence[Any]])
    act: Sequence[Json] = ()


@dataclass(frozen=True)
class UserText:
    """A family's `user`, compiled."""

    says: Sequence[Json]
    signed_in: Json = None
    persona: Sequence[Json] = ()
    knows: Mapping[str, TopicText] = field(default_factory=dict[str, TopicText])
    consent: ConsentText | None = None

    def texts(self) -> list[Json]:
        """All that is compiled, to look for names in."""
        topics = [[each.says, each.asked, each.words] for each in self.knows.values()]
        consent = self.consent and [
            *(self.consent.mentions, self.consent.act, self.consent.says),
            *self.consent.declines.values(),
        ]
        return _lists([self.says, self.signed_in, self.persona, topics, consent])

    def role(self, opening: str, slots: Mapping[str, Json], branch: str | None, draw: int) -> UserRole | None:
        """Who answers in one task; None where nobody does. Each list's text is drawn on its own."""
        if not self.knows and self.consent is None:
            return None

        def one(texts: Sequence[Json], *purpose: str) -> str:
            return _text(texts[derive_seed(draw, "user", *purpose) % len(texts)], slots) if texts else ""

        knows = {
            name: Topic(
                says=one(topic.says, "says", name),
                words=[_text(each, slots) for each in topic.words],
                asked=one(topic.asked, "asked", name),
            )
            for name, topic in self.knows.items()
        }
        consent = None
        if self.consent is not None:
            declines = self.consent.declines.get(branch, self.consent.declines.get(None))
            consent = Consent(
                mentions=[_text(each, slots) for each in self.consent.mentions],
                says=one(self.consent.says, "agrees"),
                declines=None if declines is None else one(declines, "declines"),
                act=[_text(each, slots) for each in self.consent.act],
            )
        return UserRole(opening, knows, consent, one(self.persona, "persona"))


def _text(compiled: Json, slots: Mapping[str, Json]) -> str:
    return text_of(fill(compiled, "$slot", slots))


def _lists(value: Json) -> Json:
    """Tuples as lists, which is what compiled values are made of."""
    return [_lists(each) for each in cast("Sequence[Json]", value)] if isinstance(value, (list, tuple)) else value


def read_user(raw: Map, scope: Scope) -> UserText:
    """Parse a family's `user`."""
    user = scope.mapping(raw["user"], "user", raw.lines["user"], USER_KEYS)
    says = scope.texts(user.get("says"), "says", user.lines.get("says", user.line))
    knows = {name: _topic(name, topic, user, scope) for name, topic in scope.part(user, "knows").items()}
    consent = _consent(user, scope) if "agrees_if" in user else None
    if "persona" in user and not knows and consent is None:
        message = "`persona` is for a user who answers: give `knows` or `agrees_if`"
        raise scope.fail(message, user.lines["persona"])
    signed_in = user.get("signed_in")
    if signed_in is not None and not isinstance(signed_in, str):
        raise scope.fail("`signed_in` is a text", user.lines["signed_in"])
    return UserText(
        says=says,
        signed_in=None if signed_in is None else scope.value(signed_in, "signed_in", user.lines["signed_in"]),
        persona=_texts(user, "persona", "persona", scope),
        knows=knows,
        consent=consent,
    )


def _texts(owner: Map, key: str, what: str, scope: Scope) -> list[Json]:
    return scope.texts(owner[key], what, owner.lines[key]) if key in owner else []


def _topic(name: str, raw: Json, user: Map, scope: Scope) -> TopicText:
    line = user["knows"].lines[name]
    if not NAME.fullmatch(name):
        raise scope.fail(f"the topic {name!r} must match {NAME.pattern}", line)
    if not isinstance(raw, Map):
        return TopicText(scope.texts(raw, f"knows {name}", line), [_default_question([name])])
    entry = scope.mapping(raw, f"knows {name}", line, TOPIC_KEYS)
    if "says" not in entry:
        raise scope.fail(f"knows {name} needs `says`, what the user tells", line)
    words = _texts(entry, "words", f"words of {name}", scope)
    asked = _texts(entry, "asked", f"asked of {name}", scope)
    says = _texts(entry, "says", f"says of {name}", scope)
    return TopicText(says, asked or [_default_question([name])], words)


def _default_question(topics: Sequence[str]) -> str:
    return f"Could you tell me the {' and the '.join(topics).replace('_', ' ')}?"


def question(topics: Sequence[str], asked: Mapping[str, str]) -> str:
    """How the expert asks for some topics at once, from how it asks for each."""
    usual = [each for each in topics if asked[each] == _default_question([each])]
    own = [asked[each] for each in topics if each not in usual]
    return " ".join([*own, _default_question(usual)] if usual else own)


def _consent(user: Map, scope: Scope) -> ConsentText:
    line = user.lines["agrees_if"]
    raw = scope.mapping(user["agrees_if"], "agrees_if", line, CONSENT_KEYS)
    if "mentions" not in raw:
        raise scope.fail("agrees_if needs `mentions`, what the agent has to restate", line)
    mentions = _texts(raw, "mentions", "mentions", scope)
    declines: dict[str | None, Sequence[Json]] = {}
    if isinstance(raw.get("declines"), Map):
        for twin, texts in raw["declines"].items():
            where = raw["declines"].lines[twin]
            if twin not in scope.branches:
                raise scope.fail(f"declines: there is no twin {twin!r}; {nearest(twin, scope.branches)}", where)
            declines[twin] = scope.texts(texts, f"declines {twin}", where)
    elif "declines" in raw:
        declines[None] = _texts(raw, "declines", "declines", scope)
    act = _texts(raw, "act", "act", scope)
    return ConsentText(mentions, _texts(raw, "says", "agrees_if says", scope) or YES, declines, act)


def unmentioned(consent: ConsentText, texts: Sequence[Json], samples: Sequence[Mapping[str, Json]]) -> int | None:
    """The place of a mention that one of a confirmation's texts restates in none of the sample tasks; None without one.

    Whether every task restates every mention is proved when gold is played; a text with saved values is left to that.
    """
    for text in texts:
        for at, mention in enumerate(consent.mentions):
            said = [(fill(text, "$slot", each), each) for each in samples]
            whole = [(text_of(each), slots) for each, slots in said if not isinstance(each, dict)]
            if whole and not any(_may_restate(each, _text(mention, slots)) for each, slots in whole):
                return at
    return None


def _may_restate(text: str, fact: str) -> bool:
    """Whether a text can say a fact, be a date or a sum written out as it may: it has one of its numbers, or its letters."""
    numbers = _numbers(fact)
    return bool(numbers & _numbers(text)) if numbers else _letters(fact) in _letters(text)


def _numbers(text: str) -> set[float]:
    return {float(each) for each in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))}


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text.casefold())
