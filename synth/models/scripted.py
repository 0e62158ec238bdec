"""The scripted expert: plays a task's gold solution through the model interface.

It reads only what any model reads, the messages: what a step saves comes out of the tool results in them, and what the
user says comes in them too. So it runs in process as well as behind an HTTP endpoint that keeps no state.

A result that was put aside it reads through the tool for that, and where turns are left out it goes by its own notes of them:
asked for a summary, it gives those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from envs.sql_errors import tells_of_transient
from envs.types import ErrorCategory, ToolCall
from synth.errors import TaskError
from synth.models.base import Conversation, Model, OnDelta
from synth.models.kept_output import READ, kept_in, read_piece
from synth.models.notes import Notes, read_notes, remembered
from synth.models.recap import opening_of, read_request, without_recap
from synth.tasks.steps import extract
from synth.tasks.template import fill
from synth.tasks.words import SUBMIT
from synth.types import Completion, Message, Task

Json = Any
Play = Generator[Completion, str]
"""Completions one by one; each is sent the text of the message that answers it, of a tool or of the user."""

CLOSING = "Done."
"""What the expert says when gold ends without a word."""

RETRIES = 3
"""How often the expert makes a call again that failed for a reason which lies in no call: a lock, a lost connection."""

GAVE_UP = "I am sorry: the database keeps failing, so I could not finish this."

_MAY_BE_MEANT = frozenset({ErrorCategory.TIMEOUT, ErrorCategory.DEADLOCK, ErrorCategory.CONNECTION_ERROR})


class GaveUpError(Exception):
    """The expert has retried a call often enough."""


_READING = {"do": "call", "tool": READ}


class GoldStuckError(TaskError):
    """Gold cannot go on. ``step`` is the word of the step, or its tool; the file and its line know others."""

    def __init__(self, message: str, family: str, step: str) -> None:
        super().__init__(message, family=family)
        self.args = (message, family, step)
        self.step = step


class ScriptedModel(Model):
    """The expert for every task; ``name`` is what the record's ``model`` column says, ``retries`` as its conversation's."""

    def __init__(self, name: str = "scripted", retries: int | None = RETRIES) -> None:
        self.name = name
        self.retries = retries

    def start(self, task: Task, tools: Sequence[Json], seed: int) -> ScriptedConversation:
        return ScriptedConversation(task, self.retries)


class ScriptedConversation(Conversation):
    """One playing of the gold solution. Feed it a longer transcript and it catches up.

    ``steps`` holds the gold step behind each call made so far. A call that fails for a passing reason is made again up to
    ``retries`` times, and then the expert gives up in words; None: a failure is gold's own, as in its proof.
    """

    def __init__(self, task: Task, retries: int | None = RETRIES) -> None:
        self._task = task
        self._retries = retries
        self._closing = CLOSING
        self._read = 0
        self._heard = 0
        self._spoken = ""
        self._step = ""
        self.steps: list[Json] = []
        self._playing = self._play()
        self._waiting = next(self._playing, None)

    async def complete(self, messages: Sequence[Message], on_delta: OnDelta | None = None) -> Completion:
        return self.next_turn(messages)

    def next_turn(self, messages: Sequence[Message]) -> Completion:
        """The next completion after these messages. Raises :class:`TaskError` where gold cannot go on."""
        request = read_request(messages)
        if request is not None:
            return Completion(content=self._summary(request.messages))
        messages, recap = without_recap(messages)
        if recap is not None:  # fewer messages than before, but the same answers
            answers = [*read_notes(recap.summary), *_answers(messages, opening_of(messages))]
            self._hear(answers[self._heard :])
        else:
            self._hear(_answers(messages, self._read or opening_of(messages)))
            self._read = len(messages)
        return self._waiting or Completion(content=self._closing)

    def _summary(self, messages: Sequence[Message]) -> str:
        """Notes of what these messages tell, for a conversation that goes on without them."""
        messages, recap = without_recap(messages)
        notes = Notes()
        for answer in [*read_notes(recap.summary if recap else ""), *_answers(messages, opening_of(messages))]:
            called = self._waiting is not None and bool(self._waiting.tool_calls)
            notes.add(self.steps[-1] if called else None, answer, failed=failed(answer))
            self._hear([answer])
        return notes.text or "Nothing was done yet."

    def _hear(self, answers: Sequence[str]) -> None:
        """Play on, by what the calls and questions were answered."""
        self._heard += len(answers)
        for each in answers:
            if self._waiting is not None:
                try:
                    self._waiting = self._playing.send(each)
                except StopIteration:
                    self._waiting = None

    def _play(self) -> Play:
        try:
            yield from self._steps(self._task.gold, {})
        except GaveUpError:
            self._spoken = self._closing = GAVE_UP
        if self._spoken:
            yield self._turn()

    def _steps(self, steps: Sequence[Json], names: dict[str, Json]) -> Play:
        for step in steps:
            self._step = step.get("tool", step["do"])
            if step["do"] == "say":  # goes with what comes next: a call, a question, or the end
                self._add(step["text"], names)
            elif step["do"] == "for_each":
                over = self._fill(step["over"], names)
                if not isinstance(over, list):
                    shown = json.dumps(over, ensure_ascii=False)[:100]
                    raise self._stuck(f"for_each {step['name']} needs a list, not {shown}")
                for each in cast("list[Json]", over):
                    yield from self._steps(step["steps"], names | {step["name"]: each})
            elif step["do"] in {"ask", "confirm"}:
                yield from self._talk(step, names)
            else:
                yield from self._act(step, names)

    def _act(self, step: Json, names: dict[str, Json]) -> Play:
        tool, arguments = self._request(step, names)
        content = yield from self._call(step, tool, arguments)
        self._save(step, content, names)

    def _talk(self, step: Json, names: Mapping[str, Json]) -> Play:
        """Ask or confirm; what the user answers is in the messages, and gold knows it."""
        self._add(step["text"], names)
        yield self._turn()

    def _request(self, step: Json, names: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
        """The tool that a step calls, and its arguments."""
        called = step["do"] == "call"
        tool, compiled = (step["tool"], step["arguments"]) if called else (SUBMIT, step["fields"])
        return tool, self._fill(compiled, names)

    def _call(self, step: Json, tool: str, arguments: Mapping[str, Json]) -> Generator[Completion, str, str]:
        """Make a call, again where that may help; returns its result's text, read to its end where gold wants to know it."""
        content = yield from self._tried(step, tool, arguments)
        return (yield from self._whole(content)) if step.get("save") else content

    def _tried(self, step: Json, tool: str, arguments: Mapping[str, Json]) -> Generator[Completion, str, str]:
        content = yield from self._attempt(step, tool, arguments)
        if self._retries is None or step.get("fails") in _MAY_BE_MEANT:
            return content
        for _ in range(self._retries):
            if not tells_of_transient(content):
                break
            content = yield from self._attempt(step, tool, arguments)
        if tells_of_transient(content):
            raise GaveUpError
        return content

    def _attempt(self, step: Json, tool: str, arguments: Mapping[str, Json]) -> Generator[Completion, str, str]:
        """Make a call once, with what is to be said on the way; returns its result's text."""
        call = ToolCall.of(tool, arguments, f"call_{len(self.steps)}")
        self.steps.append(step)
        return (yield self._turn(call))

    def _whole(self, content: str) -> Generator[Completion, str, str]:
        """A result that was put aside, read through to its end; any other as it is."""
        kept, offset, text = kept_in(content), 0, ""
        while kept is not None and offset is not None:
            arguments = {"output_id": kept.output_id, "offset": offset}
            content = yield from self._tried(_READING, READ, arguments)
            found = read_piece(content)
            if found is None:  # refused, or read before the turns that notes tell of
                return content
            text, offset = text + found[0], found[1]
        return text if kept is not None else content

    def _turn(self, *calls: ToolCall) -> Completion:
        """The completion that says what is to be said, and makes these calls."""
        spoken, self._spoken = self._spoken, ""
        return Completion(content=spoken, tool_calls=calls, finish_reason="tool_calls" if calls else "stop")

    def _add(self, text: Json, names: Mapping[str, Json]) -> None:
        filled = self._fill(text, names)
        words = filled if isinstance(filled, str) else json.dumps(filled, ensure_ascii=False)
        self._spoken = f"{self._spoken}\n\n{words}".strip()

    def _fill(self, value: Json, names: Mapping[str, Json]) -> Json:
        try:
            return fill(value, "$", names)
        except KeyError as error:
            raise self._stuck(f"gold uses {error.args[0]!r}, which no step before has saved") from None
        except TaskError as error:
            raise self._stuck(error.message) from None

    def _save(self, step: Json, content: str, names: dict[str, Json]) -> None:
        saved = remembered(content)
        for name, path in step.get("save", {}).items():
            if saved is not None:
                names[name] = saved[name]
                continue
            try:
                names[name] = extract(path, json.loads(content))
            except (LookupError, ValueError) as error:
                raise self._stuck(_unsaved(name, step["tool"], error, content)) from None

    def _stuck(self, message: str) -> GoldStuckError:
        return GoldStuckError(message, self._task.family, self._step)


def _answers(messages: Sequence[Message], start: int) -> list[str]:
    """What calls and questions were answered, from a message on."""
    return [each["content"] for each in messages[start:] if each["role"] in {"tool", "user"}]


def failed(content: str) -> bool:
    """Whether a tool's message tells of an error, in any of the agent's error styles."""
    try:
        result: Json = json.loads(content)
    except ValueError:
        return content.startswith("Error:")
    return isinstance(result, dict) and cast("dict[str, Json]", result).get("status") == "error"


def _unsaved(name: str, tool: str, error: Exception, content: str) -> str:
    """Why nothing could be saved: a call that failed is the reason itself."""
    found = re.match(r'\{"status":"error",', content)
    refusal: dict[str, Json] = json.loads(content) if found else {}
    if refusal.get("category"):
        return f"the gold call {tool} fails: {str(refusal.get('message')).rstrip('.')} ({refusal['category']})"
    return f"gold cannot save {name!r} from {tool}: {error}; the result was {content[:300]}"
