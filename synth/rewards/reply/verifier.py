"""The gate ``reply``: what the user is told.

A reply must not be empty, must hold what the user asked to learn, and must not hold a value that
nobody gave, a claim that differs from what was done, other people's personal data, an unkept
promise, a link that nobody gave, or a request for a secret. What is right follows from gold: its
words, its answer, its row changes and the people that it is about. All turns count, those beside
calls too. The values and facts of a proposal that the user declined or corrected are claims no
longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from synth.errors import ConfigProblems
from synth.language.wording import stem, texts, tokens
from synth.rewards.base import CallRecord, Evidence, Utterance, Verifier
from synth.rewards.reply.claims import Claim, Work, claims
from synth.rewards.reply.fact_roles import exchanged_roles
from synth.rewards.reply.facts import (
    Spoken,
    exchanged,
    missing,
    other_words,
    rivals,
    unknown_names,
)
from synth.rewards.reply.known import KnownValues, gold_reply, leaves, unknown_values
from synth.rewards.reply.sentences import base_form, sentences, visible
from synth.rewards.reply.support import unsupported
from synth.types import Task, Verdict
from synth.types.reply import GoldReply
from synth.types.steps import AskStep, ConfirmStep, every_step

UNJUDGED = "unjudged"
LONGEST = 500_000
"""The most characters of a rollout's words that are judged; more are no reply."""
_VAGUE = "add change create edit enter make put record register save set update"
VAGUE = frozenset(base_form(verb) for verb in _VAGUE.split())
"""Verbs of tools that fit many acts."""


@dataclass(frozen=True, slots=True)
class ReplyOptions:
    """``acts`` are the tools that the family's gold calls in any case. ``unjudged`` is the reason
    for which replies are not judged. ``must`` and ``never`` are phrases of the author.
    """

    acts: Sequence[str] = ()
    unjudged: str | None = None
    must: Sequence[str] = ()
    never: Sequence[str] = ()


@dataclass
class _Findings:
    found: list[Claim] = field(default_factory=list[Claim])

    def add(self, kind: str, words: str) -> None:
        claim = Claim(kind, words)
        if claim not in self.found:
            self.found.append(claim)


class ReplyVerifier(Verifier):
    """Judges all that the assistant said.

    ``detail`` lists what was found, or holds ``unjudged``.
    """

    name = "reply"

    def parse_options(self, raw: Any) -> ReplyOptions:
        if raw is not None and not isinstance(raw, Mapping):
            raise ConfigProblems([f"{self.name}: the options must be a mapping, not {raw!r}"])
        given = cast("Mapping[str, Any]", raw or {})
        return ReplyOptions(
            tuple(given.get("acts", ())),
            given.get("unjudged"),
            tuple(given.get("must", ())),
            tuple(given.get("never", ())),
        )

    def verify(self, evidence: Evidence, options: ReplyOptions) -> Verdict:
        if options.unjudged is not None:
            reason = f"replies of this family are not judged: {options.unjudged}"
            return Verdict(self.name, 1.0, reason, detail={UNJUDGED: options.unjudged})
        if evidence.task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        length = sum(len(words.text) for words in evidence.spoken)
        if length > LONGEST:
            reason = f"says more than anybody reads: {length:,} characters"
            return Verdict(self.name, 0.0, reason)
        found = _Judgement(evidence, options).findings()
        if not found:
            return Verdict(self.name, 1.0, "the user is told what is so")
        reason = "; ".join(f"{claim.kind}: {claim.words}" for claim in found)
        detail = {"findings": [{"kind": claim.kind, "words": claim.words} for claim in found]}
        return Verdict(self.name, 0.0, reason[:1000], detail=detail)


class _Judgement:
    """The judgement of one rollout's words."""

    def __init__(self, evidence: Evidence, options: ReplyOptions) -> None:
        self.evidence, self.options = evidence, options
        self.gold: GoldReply = gold_reply(evidence.task.end)
        self.known = KnownValues.of(evidence)
        self.earlier = [gold_reply(one.task.end) for one in evidence.so_far[:-1]]
        quoted = [text for one in evidence.so_far for text in _user_texts(one)]
        own = [(words, own_words(visible(words.text), quoted)) for words in evidence.spoken]
        self.texts = [text for _, text in own]
        # A proposal that the user has declined or corrected claims nothing any more.
        self.standing = [text for words, text in own if not _declined(words, evidence)]
        self.spoken = Spoken("\n".join(self.standing))

    def findings(self) -> list[Claim]:
        if _mute(self.evidence):
            return [Claim("says nothing", "the user is told nothing about the work")]
        out = _Findings()
        for kind, words in (
            *self._missing(),
            *self._values(),
            *self._unsupported(),
            *self._people(),
            *self._phrases(),
        ):
            out.add(kind, words)
        said = [text for gold in (*self.earlier, self.gold) for text in gold.said]
        allowed = {claim.kind for claim in self._claims(said)}
        for claim in self._claims(self.texts):
            if claim.kind not in allowed or claim.kind == "asks for a secret":
                out.add(claim.kind, claim.words)
        return out.found

    def _missing(self) -> Iterator[tuple[str, str]]:
        task = self.evidence.task
        if task.alternatives and not self._golds_end():
            return
        for fact in missing(self.spoken, self.gold.must, _keys(self.evidence)):
            yield "does not say", f"{fact.name} ({_shown(fact.forms)})"

    def _golds_end(self) -> bool:
        end = self.evidence.task.end
        rows = [change.to_json() for change in self.evidence.changes]
        return end is not None and sorted(map(str, rows)) == sorted(map(str, end.changes))

    def _values(self) -> Iterator[tuple[str, str]]:
        task, gold = self.evidence.task, self.gold
        for text in self.texts:
            for value in unknown_values(text, self.known):
                if text in self.standing or value.kind in {"link", "email"}:
                    yield "says what nobody gave", value.text
        for text in self.standing:
            for name in unknown_names(text, self.known.words):
                yield "names somebody or something unknown", name
        if gold.said and self._golds_end():
            request = "\n".join([task.prompt, *(turn.text for turn in self.evidence.turns)])
            for words in rivals(self.spoken, gold.said, request, self._said_beside()):
                yield "says another value than the right one", words
        for words in exchanged(self.standing, [*gold.must, *gold.facts]):
            yield "exchanges two facts", words
        role = task.role
        facts = [fact for consent in role.consents for fact in consent.mentions]
        for one, other in exchanged_roles(self.standing, gold.said, list(dict.fromkeys(facts))):
            yield "exchanges two facts", f"{one} and {other}"
        yield from self._statuses()

    def _unsupported(self) -> Iterator[tuple[str, str]]:
        for text in self.standing:
            for statement in unsupported(text, self.known):
                yield "tells of what nothing shows", statement[:160]

    def _said_beside(self) -> list[str]:
        """Gold's words for the other requests of the same message."""
        return [text for one in self.evidence.beside for text in gold_reply(one.task.end).said]

    def _statuses(self) -> Iterator[tuple[str, str]]:
        """Another word of an answer's enum than the right one, where nothing else has said it."""
        task = self.evidence.task
        answer = {} if task.end is None else task.end.answer or {}
        heard = Spoken("\n".join([*self._heard_texts()]))
        properties: Mapping[str, Mapping[str, Any]] = (task.answer or {}).get("properties", {})
        for name, spec in properties.items():
            right = answer.get(name)
            if not isinstance(right, str) or "enum" not in spec:
                continue
            for words in other_words(self.spoken, right, spec["enum"]):
                stated = self._stated(words)
                if stated and not heard.holds(words):
                    yield "says another outcome than the right one", stated[0][:160]

    def _stated(self, words: str) -> list[str]:
        """The sentences that hold words as a plain statement."""
        return [
            sentence.raw
            for text in self.standing
            for sentence in sentences(text)
            if Spoken(sentence.raw).has_words(words) and sentence.plain
        ]

    def _heard_texts(self) -> Iterator[str]:
        yield from (text for gold in (*self.earlier, self.gold) for text in gold.said)
        for evidence in self.evidence.so_far:
            yield from _user_texts(evidence)
            yield from self._results(evidence)

    def _results(self, evidence: Evidence) -> Iterator[str]:
        for call in evidence.calls:
            if call.result is not None:
                yield "\n".join(
                    str(leaf) for leaf in leaves(call.result.payload()) if isinstance(leaf, str)
                )[:100_000]

    def _people(self) -> Iterator[tuple[str, str]]:
        """Personal data of people whom neither the request nor gold concern."""
        people = self.evidence.people
        if people is None:
            return
        golds = [*self.earlier, self.gold]
        concerned = {person for gold in golds for person in gold.people}.union(
            *(
                people.in_text(turn.text)
                for evidence in self.evidence.so_far
                for turn in evidence.turns
            )
        )
        prompts = [evidence.task.prompt for evidence in self.evidence.so_far]
        said = [text for gold in golds for text in gold.said]
        given = Spoken("\n".join([self.evidence.task.system, *prompts, *said]))
        for text in self.texts:
            for value in people.mentioned(text):
                if not value.people & concerned and not given.holds(value.text):
                    yield "tells another person's data", f"{value.kind} {value.text}"

    def _phrases(self) -> Iterator[tuple[str, str]]:
        for phrase in self.options.must:
            if not self.spoken.holds(phrase):
                yield "does not say", phrase
        for phrase in self.options.never:
            if self.spoken.holds(phrase):
                yield "says, yet must not", phrase

    def _claims(self, said: Sequence[str]) -> Iterator[Claim]:
        yield from claims(said, sentences, self._work(), self.known, self._heard_words)

    @cached_property
    def _heard_words(self) -> set[str]:
        return {
            stem(word) for text in self._heard_texts() for word in texts(tokens(text[:100_000]))
        }

    def _work(self) -> Work:
        requests, writers = self.evidence.so_far, self.evidence.writers
        known = [*self.options.acts, *(name for one in requests[:-1] for name in acts_of(one.task))]
        calls = [call for one in requests for call in one.calls]
        return work_of(calls, known, writers, acted=any(map(_acted, requests)))


def work_of(
    calls: Sequence[CallRecord], acts: Sequence[str], writers: frozenset[str], *, acted: bool
) -> Work:
    """The work of some calls; ``acts`` are the tools that the task wants called."""
    wanted = [name for name in acts if name in writers]
    verbs = {base_form(name.lower().split("_")[0]) for name in wanted or writers}
    wrote = {part for call in calls if call.changes for part in call.name.lower().split("_")}
    failed = any(not call.ok for call in calls)
    unmade = _unmade(writers, {call.name for call in calls})
    return Work(acted, frozenset(verbs), bool(wanted), frozenset(wrote), failed, unmade)


def _unmade(writers: frozenset[str], called: set[str]) -> dict[str, frozenset[str]]:
    """The things that each verb of a tool acts on, for tools with verbs that no call had."""
    parts = {name: name.lower().split("_") for name in writers | called}
    used = {base_form(parts[name][0]) for name in called} | VAGUE
    things: dict[str, frozenset[str]] = {}
    for verb, *nouns in (parts[name] for name in sorted(writers - called)):
        if base_form(verb) not in used:
            held = things.get(base_form(verb), frozenset[str]())
            things[base_form(verb)] = held | {stem(noun) for noun in nouns if len(noun) > 2}
    return things


def _acted(request: Evidence) -> bool:
    """True if rows changed, and gold changes some."""
    end = request.task.end
    return bool(request.changes and end is not None and end.changes)


def _user_texts(evidence: Evidence) -> list[str]:
    return [evidence.task.prompt, *(turn.text for turn in evidence.turns)]


def acts_of(task: Task) -> Sequence[str]:
    """The tools that gold of a request calls in any case."""
    gate = task.gate(ReplyVerifier.name)
    return ReplyVerifier().parse_options(None if gate is None else gate.options).acts


def _mute(evidence: Evidence) -> bool:
    """True if nothing is said after the last write and the last answer of the user."""
    writes = [index for index, call in enumerate(evidence.calls) if call.changes]
    answers = _answers(evidence)
    calls = writes[-1] + 1 if writes else 0
    turns = answers[-1] + 1 if answers else 0
    return not any(
        words.after >= calls and words.turns >= turns and visible(words.text).strip()
        for words in evidence.spoken
    )


def _answers(evidence: Evidence) -> list[int]:
    """The turns in which the user first tells what gold asks for, or first answers a proposal."""
    steps = list(every_step(evidence.task.gold))
    wanted = {topic for step in steps if isinstance(step, AskStep) for topic in step.topics}
    confirms = any(isinstance(step, ConfirmStep) for step in steps)
    out: list[int] = []
    for index, turn in enumerate(evidence.turns):
        decides = confirms and (turn.consents or turn.declines)
        if decides or wanted & {*turn.told}:
            out.append(index)
        wanted -= {*turn.told}
        confirms = confirms and not decides
    return out


def _declined(words: Utterance, evidence: Evidence) -> bool:
    """True if the user's next turn declines or corrects what was said."""
    turns = evidence.turns
    return words.turns < len(turns) and (turns[words.turns].declines or turns[words.turns].corrects)


def own_words(text: str, quoted: Sequence[str]) -> str:
    """A text without what it quotes of the user."""
    for whole in quoted:
        for part in (whole, *(sentence.raw for sentence in sentences(whole))):
            if len(part.split()) > 3:
                text = text.replace(part, " ")
    return text


def _keys(evidence: Evidence) -> dict[tuple[str, str], list[Any]]:
    """The values of the rows that a rollout inserted, by table and column."""
    out: dict[tuple[str, str], list[Any]] = {}
    for change in evidence.changes:
        if change.op == "insert":
            for column, value in {**change.key, **(change.after or {})}.items():
                out.setdefault((change.table, column), []).append(value)
    return out


def _shown(forms: Sequence[Any]) -> str:
    return " or ".join(f"{form!r:.60}" for form in forms[:2]) or "a key that the work made"
