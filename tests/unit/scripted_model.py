"""Models of tests, which say what a test wants; each is its own conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from synth.model import Completion, Conversation, Model, OnDelta
from synth.task import Message, Task


class Answering(Model, Conversation):
    """Says what ``answer`` makes of the messages."""

    name = "answering"

    def __init__(self, answer: Callable[[Sequence[Message]], Completion]) -> None:
        self._answer = answer

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        return self

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        return self._answer(messages)


class Lines(Answering):
    """Says one line after the other, raises those that are exceptions, repeats the last; keeps what
    it was shown.
    """

    def __init__(self, *lines: Completion | Exception) -> None:
        super().__init__(self._next)
        self.lines = list(lines)
        self.shown: list[list[Message]] = []

    def _next(self, messages: Sequence[Message]) -> Completion:
        self.shown.append(json.loads(json.dumps(messages)))
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, Exception):
            raise line
        return line
