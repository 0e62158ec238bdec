"""The gate ``reply``: what the user is told, as far as the evidence decides it.

The outcome is due: what was done, or why not, and what the user asked to learn, each value beside
what it belongs to. A claimed act must agree with the calls. Identifiers must have been given. Data
of people who are not part of the task must not be told, and secrets not be asked for. All else is a
note. Values of a proposal that the user declined or corrected are claims no longer.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, cast

from synth.core.foundation.json_leaves import named_values
from synth.core.language.values import MEASURES, values_in
from synth.core.language.wording import fold, stem, stems
from synth.core.personal import Person
from synth.core.rewards.reply.acts import ActClaims
from synth.core.rewards.reply.fact_roles import SeenObjects, exchanged_roles
from synth.core.rewards.reply.facts import (
    MISPLACED,
    MISSING,
    Spoken,
    exchanged,
    missing,
    not_closed,
    rivals,
    unknown_currency,
    wrong_units,
)
from synth.core.rewards.reply.given import Material, gold_reply, made_calls
from synth.core.rewards.reply.identifiers import unknown_identifiers
from synth.core.rewards.reply.outcome import GENERAL, results_of, untold
from synth.core.rewards.reply.secrets import asked_secrets
from synth.core.rewards.reply.sentences import AgentSentence, ReplyFinding, sentences, visible
from synth.core.types.reply import Fact, GoldReply
from synth.errors import ConfigProblems
from synth.evidence import Evidence, Utterance, Verifier
from synth.verdict import Verdict

PROMISE = "promise"
AMOUNT = "unknown number"
RULE = "stated rule"
WORDS = "unsupported words"
KINDS = (PROMISE, AMOUNT, RULE, WORDS)

_PROMISE = re.compile(
    r"\b(?:i|we)(?:'ll| will| shall| am going to| are going to)\b|\byou(?:'ll| will) (?:receive"
    r"|get|hear|find)\b"
)
_RULE = stems(
    "entitled eligible allowed permitted policy policies rule required qualify qualified within"
    " complimentary waive guarantee maximum minimum"
)


def _notes_on(sentence: AgentSentence, given: Material | None) -> Iterator[ReplyFinding]:
    """The notes on one sentence; a question has only words without support. What gold says too has
    support: there ``given`` is None.

    A note costs no reward. A judge that is a model decides about the statements, and an author may
    forbid a kind by name.
    """
    words = sentence.raw[:200]
    if given is not None and (new := _new_words(sentence, given)):
        yield ReplyFinding(WORDS, words, f"nothing gave {', '.join(new[:4])}")
    if sentence.asks:
        return
    if _PROMISE.search(sentence.text) and not sentence.conditional:
        yield ReplyFinding(PROMISE, words)
    if not _RULE.isdisjoint(sentence.stems):
        yield ReplyFinding(RULE, words)
    for value in () if given is None else values_in(sentence.text):
        if (value.unit in MEASURES or len(value.text) > 2) and given and given.lacks(value):
            yield ReplyFinding(AMOUNT, words, f"nothing gave {value.text}")


def _new_words(sentence: AgentSentence, given: Material) -> list[str]:
    """Words of more than three letters that nothing gave, if there are several."""
    words = {stem(word): word for word in sentence.words if len(word) > 3 and word.isalpha()}
    new = sorted(words[one] for one in words.keys() - GENERAL if not given.has_stem(one))
    return new if len(new) > 1 else []


RULES = "2026-11-30.5"
"""The version of the rules; a change of any rule changes it."""

UNJUDGED = "unjudged"
LONGEST = 500_000
"""The most characters of a rollout's words that are judged; more are not reply."""

_PLACE = r"(?:\b(?:was|is|as|now|still|from|to)\s+|(?:[:|(\u2013\u2014]|\s-)\s*)"
"""What stands before a state, or the value of a field."""
THIRD_PARTY = "data of a third party"
PHRASE = "phrase of the author"


@dataclass(frozen=True, slots=True)
class _ReplyOptions:
    """``acts`` are the tools that the family's gold calls in any case. ``unjudged`` is the reason
    for which replies are not judged. ``must`` and ``never`` are phrases of the author. ``forbid``
    names kinds of notes that fail a reply. ``outcome`` is False where what the agent hands in is
    the answer, so that any words may go with it.
    """

    acts: Sequence[str] = ()
    unjudged: str | None = None
    must: Sequence[str] = ()
    never: Sequence[str] = ()
    forbid: Sequence[str] = ()
    outcome: bool = True


class ReplyVerifier(Verifier):
    """Judges all that the assistant said.

    ``detail`` holds the version of the ``rules``, the ``findings`` and the ``notes``, or
    ``unjudged``.
    """

    name = "reply"

    def parse_options(self, raw: Any) -> _ReplyOptions:
        if raw is not None and not isinstance(raw, Mapping):
            raise ConfigProblems([f"{self.name}: the options must be a mapping, not {raw!r}"])
        given = cast("Mapping[str, Any]", raw or {})
        forbid = tuple(given.get("forbid", ()))
        if unknown := [kind for kind in forbid if kind not in KINDS]:
            raise ConfigProblems(
                [f"{self.name}.forbid: {unknown[0]!r} is not a kind of note: {', '.join(KINDS)}"]
            )
        return _ReplyOptions(
            tuple(given.get("acts", ())),
            given.get("unjudged"),
            tuple(given.get("must", ())),
            tuple(given.get("never", ())),
            forbid,
            given.get("outcome", True),
        )

    def verify(self, evidence: Evidence, options: _ReplyOptions) -> Verdict:
        if options.unjudged is not None:
            reason = f"replies of this family are not judged: {options.unjudged}"
            return Verdict(self.name, 1.0, reason, detail={UNJUDGED: options.unjudged})
        if evidence.task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        length = sum(len(words.text) for words in evidence.spoken)
        if length > LONGEST:
            reason = f"says more than anybody reads: {length:,} characters"
            return Verdict(self.name, 0.0, reason, detail={"rules": RULES})
        judgement = Judgement(evidence, options)
        notes = list(dict.fromkeys(judgement.notes()))
        found = list(dict.fromkeys(judgement.findings()))
        found += [note for note in notes if note.check in options.forbid]
        detail: dict[str, Any] = {
            "rules": RULES,
            "findings": [one.to_json() for one in found],
            "notes": [one.to_json() for one in notes],
        }
        if not found:
            return Verdict(self.name, 1.0, "the user is told what is so", detail=detail)
        return Verdict(self.name, 0.0, "; ".join(map(str, found))[:1000], detail=detail)


class Judgement:
    """The judgement of one rollout's words."""

    def __init__(self, evidence: Evidence, options: _ReplyOptions) -> None:
        self.evidence, self.options = evidence, options
        self.gold: GoldReply = gold_reply(evidence.task.end)
        self.requests = evidence.so_far
        self.earlier = [gold_reply(one.task.end) for one in self.requests[:-1]]
        self.quoted = [text for one in self.requests for text in _user_texts(one)]
        said = [(words, visible(words.text)) for words in evidence.spoken]
        self.own = own = [(words, own_words(text, self.quoted)) for words, text in said]
        self.texts = [text for _, text in own]
        # A proposal that the user has declined or corrected claims nothing any more.
        self.standing = [text for words, text in own if not _declined(words, evidence)]
        self.closing = [text for words, text in own if not made_calls([evidence], words.after)]
        self.spoken = Spoken("\n".join(self.standing))
        self.golds = [text for gold in (*self.earlier, self.gold) for text in gold.said]
        self.by_gold = {one.raw for text in self.golds for one in sentences(text)}

    @cached_property
    def given(self) -> Material:
        """All that the assistant was told and has seen."""
        return Material.given(self.requests)

    @cached_property
    def reports(self) -> Sequence[str]:
        """The texts after the last write, or else after the last call."""
        last = [text for words, text in self.own if words.after >= len(self.evidence.calls)]
        return self.closing if made_calls([self.evidence]) else last

    @cached_property
    def sentences(self) -> Sequence[AgentSentence]:
        return [sentence for text in self.texts for sentence in sentences(text)]

    def findings(self) -> Iterator[ReplyFinding]:
        """The findings that fail the reply."""
        due = self.gold if self.options.outcome else replace(self.gold, said=())
        yield from untold(self.evidence, due)
        if not self.evidence.task.rules.alternatives or self._golds_end:
            yield from missing(self.spoken, self.gold.must, _keys(self.evidence))
        if not {*self.standing} <= {*self.gold.said}:
            yield from self._places()
        yield from self._other_states()
        yield from self._contradictions()
        yield from unknown_currency(self.spoken, lambda: self.given)
        yield from self._acts()
        for sentence in self.sentences:
            if sentence.raw not in self.by_gold:
                yield from unknown_identifiers(sentence.raw, self.given)
                yield from asked_secrets(sentence, self.rules, lambda: self.given)
        yield from self._people()
        yield from self._phrases()

    def notes(self) -> Iterator[ReplyFinding]:
        """The statements that a judge may look at."""
        for sentence in self.sentences:
            by_gold = sentence.raw in self.by_gold
            yield from _notes_on(sentence, None if by_gold else self.given)

    @cached_property
    def rules(self) -> Material:
        """The words of the rules, and of what gold asks."""
        asked = [one.raw for text in self.gold.said for one in sentences(text) if one.asks]
        return Material([self.evidence.task.system, *asked])

    @cached_property
    def _answer(self) -> Mapping[str, Any]:
        return (self.evidence.task.end and self.evidence.task.end.answer) or {}

    @cached_property
    def _golds_end(self) -> bool:
        end = self.evidence.task.end
        rows = [change.to_json() for change in self.evidence.changes]
        return end is not None and sorted(map(str, rows)) == sorted(map(str, end.changes))

    @cached_property
    def _left(self) -> Sequence[Any]:
        """Gold's changes that this rollout did not make, and the arguments of such calls.

        It is nothing where another end may be right.
        """
        end, rules = self.evidence.task.end, self.evidence.task.rules
        if end is None or rules.alternatives:
            return []
        rows = [change.to_json() for change in self.evidence.changes]
        left = [(row["key"], row.get("after")) for row in end.changes if row not in rows]
        made = [call.arguments for call in self.evidence.calls]
        called = [end.played[index]["arguments"] for index in end.writes if left and end.played]
        return [*left, *(one for one in called if one not in made)]

    def _acts(self) -> Iterator[ReplyFinding]:
        texts = [text for text in self.standing if text not in self.golds]
        if not texts:
            return
        every = [call for one in self.requests for call in one.calls]
        writers = frozenset(name for one in self.requests for name in one.writers)
        made = made_calls(self.requests)
        verbs, states = _described(self.evidence.tools_json, writers)
        asks = self.evidence.task.end is None or not self.evidence.task.end.changes
        asked = Material([self.evidence.task.prompt] if asks else [])
        claims = ActClaims(
            made, every, writers, self.given, self.golds, verbs, states, self._left, asked
        )
        for text in texts:
            if text in self.reports:
                yield from claims.false_report(sentences(text)) if made else ()
                yield from claims.false_amounts(sentences(text))
            for sentence in sentences(text):
                if sentence.raw not in self.by_gold:
                    yield from claims.false_in(sentence)

    def _places(self) -> Iterator[ReplyFinding]:
        """Values in another's place, where gold's end is reached and its words are known."""
        gold = self.gold
        if not gold.said or not self._golds_end:
            return
        beside = [text for one in self.evidence.beside for text in gold_reply(one.task.end).said]
        yield from rivals(self.spoken, [*gold.said, *beside], self.given)
        ends = set(self.closing if made_calls([self.evidence]) else ()).intersection(self.standing)
        whole = Spoken("\n".join(sorted(ends)))
        yield from rivals(whole, [*gold.said[-1:], *beside], self.given, reports=True)
        yield from wrong_units(self.spoken, [*gold.said, *beside], self.given, gold.must)
        yield from exchanged(self.standing, [*gold.must, *gold.facts])
        listed = [Fact(name, (value,)) for name, value in self._answer.items()]
        yield from not_closed(self.spoken, [*gold.must, *listed], results_of(self.evidence))
        role = self.evidence.task.role
        facts = [str(fact) for consent in role.consents for fact in consent.mentions]
        facts += [str(form) for fact in (*gold.must, *gold.facts) for form in fact.scalars[:1]]
        yield from _misplaced(exchanged_roles(self.standing, gold.said, list(dict.fromkeys(facts))))

    def _contradictions(self) -> Iterator[ReplyFinding]:
        """Values of other objects, after the last write or else after the last call."""
        said = [text for text in self.reports if text not in self.golds]
        seen = SeenObjects([call for one in self.requests for call in one.calls], self.given)
        yield from seen.contradictions(said, self.evidence.task.system, [*self.quoted, *self.golds])
        yield from _misplaced(pair for text in said for pair in seen.exchanged(text))

    def _other_states(self) -> Iterator[ReplyFinding]:
        """Values of an argument that no call, result or user has, where a state stands."""
        place, names = _enums(self.evidence.tools_json)
        own = (one for one in self.sentences if one.raw not in self.by_gold)
        said = ((one, found[1]) for one in own if names for found in place.finditer(one.text))
        for sentence, value in said:
            known = not sentence.plain or self._heard.holds(value)
            if not known and names[value] & {name for name, _ in named_values(self._heard.data)}:
                yield ReplyFinding(MISPLACED, sentence.raw[:200], f"nothing is {value!r}")

    @cached_property
    def _heard(self) -> Material:
        """What the user, the results and gold say, without rules and schemas."""
        calls = [call for one in self.requests for call in one.calls]
        return Material([*self.quoted, *self.gold.said], Material.of_calls(calls).data)

    def _people(self) -> Iterator[ReplyFinding]:
        """Personal data of people whom neither the request nor gold concern."""
        people = self.evidence.people
        if people is None:
            return
        concerned = {one for gold in (*self.earlier, self.gold) for one in gold.people}
        prompts = [one.task.prompt for one in self.requests]
        given = Spoken("\n".join([self.evidence.task.system, *prompts, *self.golds]))
        by_user = [turn.text for one in self.requests for turn in one.turns]
        for text in {*self.texts}.difference(self.golds):
            for value in people.mentioned(text):
                free = self._of_rows | (self._followed if value.kind == "name" else set[Person]())
                if value.people & (concerned | free) or given.holds(value.text):
                    continue
                told = any(value.people & people.in_text(turn) for turn in by_user)
                if not (told or _is_of_two_names(value.text, text)):
                    yield ReplyFinding(THIRD_PARTY, value.text, f"{value.kind} of somebody else")

    @cached_property
    def _followed(self) -> set[Person]:
        """The people of keys in gold's calls that no request has: gold's way leads over them."""
        people, end = self.evidence.people, self.evidence.task.end
        asked = Spoken("\n".join(one.task.prompt for one in self.requests))
        calls = [one["arguments"].items() for one in end.played] if end else []
        keys = [{name: key for name, key in own if not asked.holds(key)} for own in calls]
        return people.in_data(keys) if people else set()

    @cached_property
    def _of_rows(self) -> set[Person]:
        """The people of the rows that gold changes or hands in, as results show them."""
        evidence, people, end = self.evidence, self.evidence.people, self.evidence.task.end
        if people is None or end is None:
            return set()
        keys = [cell for change in end.changes for cell in change["key"].items()]
        ids = [one for one in self._answer.values() if str(one) not in (str(one).lower(), "None")]
        rows = Material((), results_of(evidence)).objects
        own = (row for row in rows if any(cell in keys or cell[1] in ids for cell in row.items()))
        owners = {frozenset(people.in_data(row)) for row in own} - {frozenset()}
        return set(*owners) if len(owners) == 1 else set()

    def _phrases(self) -> Iterator[ReplyFinding]:
        held = self.spoken.holds
        yield from (
            ReplyFinding(MISSING, "", repr(one)) for one in self.options.must if not held(one)
        )
        never = filter(held, self.options.never)
        yield from (ReplyFinding(PHRASE, one, "must not be said") for one in never)


def _misplaced(pairs: Iterable[tuple[str, str]]) -> Iterator[ReplyFinding]:
    for one, other in pairs:
        yield ReplyFinding(MISPLACED, f"{one} and {other}", "they have each other's place")


def _is_of_two_names(words: str, text: str) -> bool:
    """True for the end of a name and the beginning of the next: "Omar Davis, Fatima Patel"."""
    last, _, first = words.partition(" ")
    pattern = rf"[A-Z][\w'-]+ (?i:{re.escape(last)}),\s+(?i:{re.escape(first)}) [A-Z]"
    return bool(first) and re.search(pattern, text) is not None


def _user_texts(evidence: Evidence) -> list[str]:
    return [evidence.task.prompt, *(turn.text for turn in evidence.turns)]


def _declined(words: Utterance, evidence: Evidence) -> bool:
    """True if the user's next turn declines or corrects what was said."""
    turns = evidence.turns
    return words.turns < len(turns) and (turns[words.turns].declines or turns[words.turns].corrects)


def own_words(text: str, quoted: Sequence[str]) -> str:
    """A text without what it quotes, out of some texts or their sentences."""
    for whole in quoted:
        for part in _quotable(whole):
            text = text.replace(part, " ")
    return text


@lru_cache(maxsize=64)
def _enums(tools_json: str) -> tuple[re.Pattern[str], Mapping[str, set[str]]]:
    """A pattern of the texts that arguments of tools may have, and the arguments' names by text."""
    names = defaultdict[str, set[str]](set)
    for tool in (one["function"] for one in json.loads(tools_json or "[]")):
        for name, spec in tool["parameters"].get("properties", {}).items():
            for value in spec.get("enum", ()) if tool["name"] != "submit" else ():
                if len(str(value)) > 3:
                    names[fold(str(value)).replace("_", " ")].add(name)
    return re.compile(rf"{_PLACE}({'|'.join(map(re.escape, names))})(?![\w-])"), names


@lru_cache(maxsize=64)
def _described(
    tools_json: str, writers: frozenset[str]
) -> tuple[Mapping[str, str], frozenset[str]]:
    """The first word of the description of each tool, by its name, and the values of the enums of
    writing tools.
    """
    tools = [tool["function"] for tool in json.loads(tools_json or "[]")]
    said = {tool["name"]: (tool.get("description") or "").lower().split() for tool in tools}
    verbs = {name: words[0] for name, words in said.items() if words}
    taken = [tool["parameters"].get("properties", {}) for tool in tools if tool["name"] in writers]
    values = (value for specs in taken for spec in specs.values() for value in spec.get("enum", ()))
    return verbs, frozenset(fold(one).replace("_", " ") for one in values if isinstance(one, str))


@lru_cache(maxsize=64)
def _quotable(text: str) -> Sequence[str]:
    """A text and its sentences, as far as they are long enough to be quoted."""
    parts = (text, *(one.raw for one in sentences(text)))
    return [part for part in parts if part.count(" ") > 2]


def _keys(evidence: Evidence) -> dict[tuple[str, str], list[Any]]:
    """The values of the rows that a rollout inserted, by table and column."""
    out = defaultdict[tuple[str, str], list[Any]](list)
    for change in (one for one in evidence.changes if one.op == "insert"):
        for column, value in {**change.key, **(change.after or {})}.items():
            out[change.table, column].append(value)
    return out
