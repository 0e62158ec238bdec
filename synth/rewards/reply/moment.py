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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from synth.language.wording import stem, texts, tokens
from synth.rewards.base import CallRecord
from synth.rewards.reply.claims import Claim, claims
from synth.rewards.reply.facts import COURTESY, unknown_names
from synth.rewards.reply.known import KnownValues, known_of_tools, leaves, unknown_values
from synth.rewards.reply.patterns import FIRST_PERSON
from synth.rewards.reply.sentences import base_form, is_past, sentences, visible
from synth.rewards.reply.verifier import acts_of, own_words, work_of
from synth.tasks.yaml.words import SUBMIT
from synth.types import Message, Task

LONGEST_PHRASE = 6
"""Words of a later value that is recognised as one; a longer one is prose."""
PROSE = 5
"""Words in a row that prove knowledge of a later text."""
SHORTEST = 4
"""Letters of a later value of one word."""

_LITERALS = frozenset({"true", "false", "none", "null", "json", "sql"})
"""Words of code, which have a capital and name nobody."""

_LONE_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z'\u2019-]{2,}\b")
_ID_ARGUMENT = re.compile(r'"(\w+?)_(?:id|no|number)s?"')
_WHOLE = re.compile(r"\s*(?:is|=|:|#)?\s*#?(\d+)\b")


@dataclass(frozen=True)
class Moment:
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

    def objections(self, text: str, *, claiming: bool = True) -> Iterator[Claim]:
        """Yield what a text cannot know or must not claim. ``claiming`` False leaves out claims
        about the work.
        """
        for value in unknown_values(text, self.known):
            yield Claim("unknown value", value.text)
        for number in self._unknown_ids(text):
            yield Claim("unknown value", number)
        for name in (*unknown_names(text, self.known.words), *self._lone_names(text)):
            yield Claim("unknown name", name)
        for words in self._foreknown(text):
            yield Claim("future knowledge", words)
        if claiming:
            yield from self._claims(text)

    @cached_property
    def known(self) -> KnownValues:
        """All that the assistant may know at this moment."""
        known = KnownValues()
        for message in self.seen:
            if message["role"] in {"system", "user"}:
                known.hear(message["content"])
        known.spans = {int(item) for item in known.numbers if item.isdigit() and int(item) <= 3660}
        known.add(known_of_tools(json.dumps(list(self.tools))))
        for message in self.seen:
            known.read(_data(message))
            known.read([call["function"]["arguments"] for call in message.get("tool_calls", ())])
            known.hear(message.get("reasoning_content") or "")
        known.read(list(self.own))
        today = dt.datetime.fromisoformat(self.task.now).date()
        known.today = today.isoformat()
        known.days |= {(today + dt.timedelta(days)).isoformat() for days in (-1, 0, 1)}
        return known

    def _unknown_ids(self, text: str) -> Iterator[str]:
        """Small numbers behind the name of an id that nobody gave: "patient 7"."""
        nouns = {"id", "number", "no"}
        nouns |= {name.rpartition("_")[2] for name in _ID_ARGUMENT.findall(json.dumps(self.tools))}
        for found in re.finditer(rf"\b(?:{'|'.join(sorted(nouns))})\b", text, re.IGNORECASE):
            number = _WHOLE.match(text, found.end())
            if number is not None and str(int(number[1])) not in self.known.numbers:
                yield f"{found.group()} {number[1]}"

    def _lone_names(self, text: str) -> Iterator[str]:
        """Words with a capital in the middle of a sentence that nobody has said."""
        for found in _LONE_NAME.finditer(text):
            words = [word for word in texts(tokens(found.group())) if word.isalpha()]
            new = [word for word in words if stem(word) not in self.known.words]
            if set(new) - COURTESY - _LITERALS:
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
            new = any(stem(word) not in self.known.words for word in run)
            if new or (len(run) == PROSE and run not in self._seen_runs):
                yield " ".join(run)

    @cached_property
    def _seen_runs(self) -> frozenset[tuple[str, ...]]:
        seen = [message["content"] for message in self.seen]
        values = [leaf for data in self.own for leaf in leaves(data) if isinstance(leaf, str)]
        return frozenset(run for text in (*seen, *values) for run in _runs(_words(text), PROSE))

    def _claims(self, text: str) -> Iterator[Claim]:
        task = self.task
        acts = [name for part in task.parts or (task,) for name in acts_of(part)]
        acted = any(call.changes for call in self.done)
        work = work_of(self.done, acts, self.writers, acted=acted)
        heard = {
            stem(word)
            for message in self.seen
            if message["role"] in {"user", "tool"}
            for word in _words(message["content"])
        }
        quoted = [message["content"] for message in self.seen if message["role"] == "user"]
        # The blank text is the one after it: a text beside calls is never the last.
        said = own_words(visible(text), quoted)
        yield from claims([said, ""], sentences, work, self.known, heard)
        yield from self._undone(said)

    def _undone(self, text: str) -> Iterator[Claim]:
        """Acts of tools that the assistant says to have done, and that no call has done yet."""
        names = [*self.writers, SUBMIT]
        made = {call.name for call in self.done if call.ok}
        acts = {base_form(name.lower().split("_")[0]) for name in names if name not in made}
        acts -= {base_form(name.lower().split("_")[0]) for name in made}
        for sentence in filter(lambda one: one.plain, sentences(text)):
            verbs = [found["verb"] for found in FIRST_PERSON.finditer(sentence.text)]
            if any(verb and is_past(verb) and base_form(verb) in acts for verb in verbs):
                yield Claim("says that something was done", sentence.raw[:160])

    def lost_values(self, text: str, recorded: str) -> Iterator[Claim]:
        """Values of recorded words that other words for them do not have."""
        held = KnownValues()
        held.hear(text)
        for value in unknown_values(recorded, held):
            yield Claim("lost value", value.text)


def _data(message: Message) -> Any:
    """The JSON of a tool's result; the text of any other message."""
    content: str = message["content"]
    if message["role"] != "tool":
        return [content]
    try:
        return json.loads(content)
    except ValueError:
        return [content]


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
