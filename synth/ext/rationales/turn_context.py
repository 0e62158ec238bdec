"""The check of a text that is written into a conversation afterwards: it must hold nothing that was
not known at its place.

The gate ``reply`` judges a whole rollout and allows what gold says. Here only the messages before
the text count, and the calls that it stands beside. An objection quotes nothing but the text, so
that its author learns nothing from it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from typing import Any, cast

from synth.core.foundation.json_leaves import leaves, parsed
from synth.core.language.values import MEASURES, StatedValue, same_day, values_in
from synth.core.language.wording import fold, stem, texts, tokens
from synth.core.rewards.reply.acts import ActClaims
from synth.core.rewards.reply.given import Material
from synth.core.rewards.reply.identifiers import unknown_identifiers
from synth.core.rewards.reply.outcome import denies_work
from synth.core.rewards.reply.secrets import asked_secrets
from synth.core.rewards.reply.sentences import ReplyFinding, base_form, is_past, sentences, visible
from synth.core.rewards.reply.verifier import own_words
from synth.core.tasks.yaml.words import SUBMIT
from synth.evidence import CallRecord
from synth.task import Message, Task

LONGEST_PHRASE = 6
"""Words of a later value that is recognised as one; a longer one is prose."""
PROSE = 5
"""Words in a row that prove knowledge of a later text."""
SHORTEST = 4
"""Letters of a later value of one word."""
FREE = 12
"""Whole numbers up to this one need no source, unless they measure something."""

_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "true false none null json sql i we your our the mr mrs ms dr dear hello hi yes no ok"
        " okay monday tuesday wednesday thursday friday saturday sunday january february march"
        " april may june july august september october november december",
    )
)
"""Words with a capital that name nobody."""

_NAME = re.compile(
    r"\b[A-Z][\w'\u2019-]+(?:\s+(?:(?:of|the|and|de|van|von|la)\s+)*[A-Z][\w'\u2019-]+)+"
)
_LONE_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z'\u2019-]{2,}\b")
_ID_ARGUMENT = re.compile(r'"(\w+?)_(?:id|no|number)s?"')
_WHOLE = re.compile(r"\s*(?:is|=|:|#)?\s*#?(\d+)\b")
_OWN_ACT = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have)?(?:\s+(?:now|just|also|already|then"
    r"|[a-z]+ly))*\s+(?P<verb>[a-z]+)\b"
)


@dataclass(frozen=True)
class TurnContext:
    """One turn of a conversation, as its assistant knew it.

    ``seen`` are the messages before it, ``later`` those behind it. ``own`` is JSON that the turn
    itself holds: the arguments of its calls, and words that it has already. ``done`` are the calls
    executed before it. ``tools`` are the schemas that the assistant was offered, ``writers`` the
    names of those that may change rows.
    """

    task: Task
    seen: Sequence[Message]
    later: Sequence[Message]
    own: Sequence[Any]
    done: Sequence[CallRecord]
    tools: Sequence[Any]
    writers: frozenset[str]

    def objections(self, text: str, *, claiming: bool = True) -> Iterator[ReplyFinding]:
        """Yield what a text cannot know or must not claim. ``claiming`` False leaves out claims
        about the work.
        """
        for value in values_in(text):
            if not self._is_known(value, text):
                yield ReplyFinding("unknown value", value.text)
        for number in self._unknown_ids(text):
            yield ReplyFinding("unknown value", number)
        for sentence in sentences(text):
            for found in unknown_identifiers(sentence.raw, self.known):
                yield ReplyFinding("unknown value", found.words, found.evidence)
            yield from asked_secrets(sentence, Material([self.task.system]), lambda: self.known)
        for name in (*self._unknown_names(text), *self._lone_names(text)):
            yield ReplyFinding("unknown name", name)
        for words in self._foreknown(text):
            yield ReplyFinding("future knowledge", words)
        if claiming:
            yield from self._claims(text)

    @cached_property
    def known(self) -> Material:
        """All that the assistant may know at this moment."""
        written: list[str] = []
        data: list[Any] = [list(self.tools), list(self.own)]
        for message in self.seen:
            if message["role"] in {"system", "user"}:
                written.append(message["content"])
            data += [_data(message), message.get("reasoning_content") or ""]
            data += [call["function"]["arguments"] for call in message.get("tool_calls", ())]
        return Material(written, data)

    @cached_property
    def _days(self) -> frozenset[str]:
        today = dt.datetime.fromisoformat(self.task.now).date()
        return self.known.days | {(today + dt.timedelta(days)).isoformat() for days in (-1, 0, 1)}

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        """The known numbers, their lists' lengths, sums and differences."""
        counts = {Decimal(length) for length in _lengths(self.known.data)}
        known = self.known.numbers | counts
        small = list(known) if len(known) <= 60 else []
        pairs = {
            part
            for one, other in combinations(small, 2)
            for part in (one + other, abs(one - other))
        }
        return known | pairs

    def _is_known(self, value: StatedValue, text: str) -> bool:
        if value.kind in {"link", "email"}:
            return self.known.holds(value.text.rstrip(".,;:!?/"))
        if value.kind == "date":
            return _is_day_of(value, self._days)
        if value.kind == "time":
            return any(part in self.known.text for part in value.parts)
        line = fold(text)[: value.start].rpartition("\n")[2].strip(" >-#(|")
        wanted = {Decimal(part) * times for part in value.parts for times in (1, 100)}
        return _is_small(value) or not line or bool(wanted & self._numbers)

    def _unknown_names(self, text: str) -> Iterator[str]:
        """Names of several words in the middle of a sentence, no word of which is known."""
        for found in _NAME.finditer(text):
            before = text[: found.start()].rstrip(" ")
            if not before or before[-1] in ".!?:*>-\n\u2013\u2014\"'|#":
                continue
            words = [word for word in texts(tokens(found.group())) if word.isalpha()]
            if words and not any(
                stem(word) in self.known.stems or word in _NO_NAMES for word in words
            ):
                yield found.group()

    def _unknown_ids(self, text: str) -> Iterator[str]:
        """Small numbers behind the name of an id that nobody gave: "patient 7"."""
        nouns = {"id", "number", "no"}
        nouns |= {name.rpartition("_")[2] for name in _ID_ARGUMENT.findall(json.dumps(self.tools))}
        for found in re.finditer(rf"\b(?:{'|'.join(sorted(nouns))})\b", text, re.IGNORECASE):
            number = _WHOLE.match(text, found.end())
            if number is not None and Decimal(number[1]) not in self.known.numbers:
                yield f"{found.group()} {number[1]}"

    def _lone_names(self, text: str) -> Iterator[str]:
        """Words with a capital in the middle of a sentence that nobody has said."""
        for found in _LONE_NAME.finditer(text):
            words = [word for word in texts(tokens(found.group())) if word.isalpha()]
            new = [word for word in words if stem(word) not in self.known.stems]
            if set(new) - _NO_NAMES:
                yield found.group()

    @cached_property
    def _hidden(self) -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]:
        """The values that come later or are gold's, and the runs of words of later texts."""
        values = [*self._later_values()]
        phrases = (tuple(_words(value)) for value in values)
        role = self.task.role
        said = [message["content"] for message in self.later if message["role"] == "user"]
        said += [topic.says for topic in role.every_topic.values()]
        said += [sequel.says for sequel in role.then]
        runs = (run for text in (*said, *values) for run in _runs(_words(text), PROSE))
        return frozenset(filter(_is_phrase, phrases)), frozenset(runs)

    def _later_values(self) -> Iterator[str]:
        """The texts in later results, in the arguments of later calls, and in gold's answer."""
        end = self.task.end
        data: list[Any] = [dict(self.task.oracle), None if end is None else end.answer]
        for message in self.later:
            data.append(arguments_of(message))
            if message["role"] == "tool":
                data.append(_data(message))
        yield from (leaf for item in data for leaf in leaves(item) if isinstance(leaf, str))

    def _foreknown(self, text: str) -> Iterator[str]:
        phrases, prose = self._hidden
        words = _words(text)
        said = [run for size in range(1, LONGEST_PHRASE + 1) for run in _runs(words, size)]
        for run in dict.fromkeys(said):
            if run not in phrases and not (len(run) == PROSE and run in prose):
                continue
            new = any(stem(word) not in self.known.stems for word in run)
            if new or (len(run) == PROSE and run not in self._seen_runs):
                yield " ".join(run)

    @cached_property
    def _seen_runs(self) -> frozenset[tuple[str, ...]]:
        seen = [message["content"] for message in self.seen]
        values = [leaf for data in self.own for leaf in leaves(data) if isinstance(leaf, str)]
        return frozenset(run for text in (*seen, *values) for run in _runs(_words(text), PROSE))

    def _claims(self, text: str) -> Iterator[ReplyFinding]:
        quoted = [message["content"] for message in self.seen if message["role"] == "user"]
        said = own_words(visible(text), quoted)
        made = [call for call in self.done if call.ok and not call.read_only]
        claims = ActClaims(made, self.done, self.writers, self.known)
        for sentence in sentences(said):
            yield from claims.false_in(sentence)
            if made and denies_work(sentence):
                yield ReplyFinding("says that nothing was done", sentence.raw[:160])
        yield from self._undone(said)

    def _undone(self, text: str) -> Iterator[ReplyFinding]:
        """Acts of tools that the assistant says to have done, and that no call has done yet."""
        names = [*self.writers, SUBMIT]
        made = {call.name for call in self.done if call.ok}
        acts = {base_form(name.lower().split("_")[0]) for name in names if name not in made}
        acts -= {base_form(name.lower().split("_")[0]) for name in made}
        for sentence in filter(lambda one: one.plain, sentences(text)):
            verbs = [found["verb"] for found in _OWN_ACT.finditer(sentence.text)]
            if any(verb and is_past(verb) and base_form(verb) in acts for verb in verbs):
                yield ReplyFinding("says that something was done", sentence.raw[:160])

    def lost_values(self, text: str, recorded: str) -> Iterator[ReplyFinding]:
        """Values of recorded words that other words for them do not have."""
        held = Material([text])
        for value in values_in(recorded):
            if not _is_kept(value, held):
                yield ReplyFinding("lost value", value.text)


def _is_day_of(value: StatedValue, days: Collection[str]) -> bool:
    return any(same_day(part, day) for part in value.parts for day in days)


def _is_small(value: StatedValue) -> bool:
    """True for a small number that measures nothing: it needs no source."""
    small = all(part.isdigit() and int(part) <= FREE for part in value.parts)
    return value.unit not in MEASURES and small


def _is_kept(value: StatedValue, held: Material) -> bool:
    if value.kind == "date":
        return _is_day_of(value, held.days)
    if value.kind == "number":
        return _is_small(value) or any(map(held.holds_number, value.parts))
    return held.holds(value.text) or any(part in held.text for part in value.parts)


def _lengths(data: Any) -> Iterator[int]:
    """The lengths of the lists in JSON data."""
    if isinstance(data, Mapping):
        for inner in cast("Mapping[str, Any]", data).values():
            yield from _lengths(inner)
    elif isinstance(data, (list, tuple)):
        items = cast("Sequence[Any]", data)
        yield len(items)
        for inner in items:
            yield from _lengths(inner)


def _data(message: Message) -> Any:
    """The JSON of a tool's result; the text of any other message."""
    data = parsed(message["content"]) if message["role"] == "tool" else message["content"]
    return [data] if isinstance(data, str) else data


def _words(text: str) -> list[str]:
    return texts(tokens(text))


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _is_phrase(words: tuple[str, ...]) -> bool:
    """True for a value of few words that means something by itself."""
    if not 0 < len(words) <= LONGEST_PHRASE or not any(word.isalpha() for word in words):
        return False
    return len(words) > 1 or any(len(word) >= SHORTEST for word in words)


def arguments_of(message: Message) -> list[Mapping[str, Any]]:
    """The arguments of the calls of a turn."""
    return [call["function"]["arguments"] for call in message.get("tool_calls", ())]
