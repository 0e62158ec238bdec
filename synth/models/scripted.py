"""The scripted expert: plays a task's gold solution through the model interface.

It reads only what any model reads, the messages: what a step saves comes out of the tool results in them, and what the
user says comes in them too. So it runs in process as well as behind an HTTP endpoint that keeps no state.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from envs.types import ToolCall
from synth.errors import TaskError
from synth.models.base import Conversation, Model
from synth.tasks.steps import extract
from synth.tasks.template import fill
from synth.types import Completion, Message, Task

Json = Any
Play = Generator[Completion, str]
"""Completions one by one; each is sent the text of the message that answers it, of a tool or of the user."""

SUBMIT = "submit"
CLOSING = "Done."
"""What the expert says when gold ends without a word."""


class ScriptedModel(Model):
    """The expert for every task; ``name`` is what the record's ``model`` column says."""

    def __init__(self, name: str = "scripted") -> None:
        self.name = name

    def start(self, task: Task, tools: Sequence[Json], seed: int) -> ScriptedConversation:
        return ScriptedConversation(task)


class ScriptedConversation(Conversation):
    """One playing of the gold solution. Feed it a longer transcript and it catches up.

    ``steps`` holds the gold step behind each call made so far.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._read = 0
        self._opened = False
        self._spoken = ""
        self.steps: list[Json] = []
        self._playing = self._play()
        self._waiting = next(self._playing, None)

    async def complete(self, messages: Sequence[Message]) -> Completion:
        return self.next_turn(messages)

    def next_turn(self, messages: Sequence[Message]) -> Completion:
        """The next completion after these messages. Raises :class:`TaskError` where gold cannot go on."""
        for message in messages[self._read :]:
            self._opened = self._opened or message["role"] == "assistant"
            answers = message["role"] == "tool" or (message["role"] == "user" and self._opened)
            if answers and self._waiting is not None:
                try:
                    self._waiting = self._playing.send(message["content"])
                except StopIteration:
                    self._waiting = None
        self._read = len(messages)
        return self._waiting or Completion(content=CLOSING)

    def _play(self) -> Play:
        yield from self._steps(self._task.gold, {})
        if self._spoken:
            yield self._turn()

    def _steps(self, steps: Sequence[Json], names: dict[str, Json]) -> Play:
        for step in steps:
            if step["do"] == "say":  # goes with what comes next: a call, a question, or the end
                self._add(step["text"], names)
            elif step["do"] == "for_each":
                over = self._fill(step["over"], names)
                if not isinstance(over, list):
                    shown = json.dumps(over, ensure_ascii=False)[:100]
                    raise TaskError(f"for_each {step['name']} needs a list, not {shown}", family=self._task.family)
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
        """Make a call, with what is to be said on the way; returns its result's text."""
        call = ToolCall.of(tool, arguments, f"call_{len(self.steps)}")
        self.steps.append(step)
        return (yield self._turn(call))

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
            raise TaskError(
                f"gold uses {error.args[0]!r}, which no step before has saved", family=self._task.family
            ) from None

    def _save(self, step: Json, content: str, names: dict[str, Json]) -> None:
        for name, path in step.get("save", {}).items():
            try:
                names[name] = extract(path, json.loads(content))
            except (LookupError, ValueError) as error:
                message = f"gold cannot save {name!r} from {step['tool']}: {error}; the result was {content[:300]}"
                raise TaskError(message, family=self._task.family) from None
