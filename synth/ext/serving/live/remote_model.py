"""The model of a rollout that a client plays: its turns come from outside, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from synth.errors import OperatorError
from synth.middleware import StopAgent
from synth.model import Completion, Conversation, Model, OnDelta
from synth.task import Message, Task
from synth.verdict import StopReason

REMOTE = "remote"
"""The ``model.kind`` of a recording."""

REFUSAL = (
    "model.kind=remote is whoever plays over `synth mcp`, and no run can ask it: continue a"
    " recording with `synth mcp WORLD --record DIR` and the same options, or replay it with"
    " model=replay model.path=DIR"
)


class RemoteConversation(Conversation):
    """The turns of one client. ``tools`` are those that the rollout offers, ``messages`` the
    conversation so far; both are there once ``waiting`` is set.
    """

    def __init__(self) -> None:
        self.tools: Sequence[Any] = ()
        self.messages: Sequence[Message] = ()
        self.turns = 0
        self.waiting = asyncio.Event()
        self._turn: asyncio.Queue[Completion | StopReason] = asyncio.Queue()

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        """Wait for the client's turn. Raises :class:`StopAgent` if the client has left."""
        self.messages = messages
        self.waiting.set()
        turn = await self._turn.get()
        self.waiting.clear()
        if isinstance(turn, StopReason):
            raise StopAgent(turn)
        return turn

    def play(self, turn: Completion) -> None:
        """Hand in a turn; to be called while ``waiting`` is set."""
        self.waiting.clear()
        self.turns += 1
        self._turn.put_nowait(turn)

    def leave(self, reason: StopReason) -> None:
        """End the rollout at the next turn, for this reason."""
        self._turn.put_nowait(reason)


class RemoteModel(Model):
    """A model of one rollout: the client behind ``conversation``."""

    def __init__(self, name: str, conversation: RemoteConversation) -> None:
        self.name = name
        self._conversation = conversation

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        self._conversation.tools = tools
        return self._conversation


def make(options: Mapping[str, object], sampling: object, api_key: str | None) -> Model:
    """Whoever plays over `synth mcp`: a recording names it in its config, and no run can ask it.

    Raises OperatorError.
    """
    raise OperatorError(REFUSAL)


make.asks_endpoint = False  # type: ignore[attr-defined]
make.refusal = REFUSAL  # type: ignore[attr-defined]
