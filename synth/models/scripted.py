"""The scripted expert: plays a task's gold solution through the model interface.

It reads only what any model reads, the messages: what a step saves comes out of the tool results in them.
So it runs in process as well as behind an HTTP endpoint that keeps no state.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from envs.types import ToolCall
from synth.errors import TaskError
from synth.models.base import Conversation, Model, Sampling
from synth.tasks.steps import extract
from synth.tasks.template import fill
from synth.types import Completion, Message, Task

Json = Any

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
        self.steps: list[Json] = []
        self._play = self._steps(task.gold, {})
        self._waiting = next(self._play, None)

    async def complete(self, messages: Sequence[Message]) -> Completion:
        return self.next_turn(messages)

    def next_turn(self, messages: Sequence[Message]) -> Completion:
        """The next completion after these messages. Raises :class:`TaskError` where gold cannot go on."""
        for message in messages[self._read :]:
            if message["role"] == "tool" and self._waiting is not None:
                try:
                    self._waiting = self._play.send(message["content"])
                except StopIteration:
                    self._waiting = None
        self._read = len(messages)
        return self._waiting or Completion(content=CLOSING)

    def _steps(self, steps: Sequence[Json], names: dict[str, Json]) -> Generator[Completion, str]:
        """Completions one by one; each that calls a tool is sent the result's text."""
        spoken = ""
        for at, step in enumerate(steps):
            if step["do"] == "say":
                spoken = f"{spoken}\n\n{self._text(step['text'], names)}".strip()
                if at == len(steps) - 1:  # the parser keeps `say` out of loops: this is the reply
                    yield Completion(content=spoken)
            elif step["do"] == "for_each":
                over = self._value(step["over"], names)
                if not isinstance(over, list):
                    message = f"for_each {step['name']} needs a list, not {json.dumps(over, ensure_ascii=False)[:100]}"
                    raise TaskError(message, family=self._task.family)
                for each in cast("list[Json]", over):
                    yield from self._steps(step["steps"], names | {step["name"]: each})
            else:
                tool = step["tool"] if step["do"] == "call" else "submit"
                arguments = self._value(step["arguments" if step["do"] == "call" else "fields"], names)
                call = ToolCall.of(tool, arguments, f"call_{len(self.steps)}")
                self.steps.append(step)
                content = yield Completion(content=spoken, tool_calls=(call,), finish_reason="tool_calls")
                spoken = ""
                self._save(step, content, names)

    def _save(self, step: Json, content: str, names: dict[str, Json]) -> None:
        for name, path in step.get("save", {}).items():
            try:
                names[name] = extract(path, json.loads(content))
            except (LookupError, ValueError) as error:
                message = f"gold cannot save {name!r} from {step['tool']}: {error}; the result was {content[:300]}"
                raise TaskError(message, family=self._task.family) from None

    def _value(self, value: Json, names: dict[str, Json]) -> Json:
        return fill(value, "$", names)

    def _text(self, value: Json, names: dict[str, Json]) -> str:
        filled = fill(value, "$", names)
        return filled if isinstance(filled, str) else json.dumps(filled, ensure_ascii=False)


def make(options: Mapping[str, Json], sampling: Sampling, api_key: str | None) -> ScriptedModel:
    """The factory that ``model=scripted`` names."""
    return ScriptedModel(options.get("name") or "scripted")
