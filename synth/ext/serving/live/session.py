"""A rollout whose agent is a client: calls and words come in, results and the user's turns go out.

The rollout and its row are as in any run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from envs.errors import EnvsError
from envs.types import ToolCall
from synth.core.agent.state import AgentState
from synth.errors import SynthError
from synth.ext.serving.live.remote_model import RemoteConversation, RemoteModel
from synth.middleware import AgentMiddleware, MiddlewareInstance, ToolAnswer
from synth.model import Completion
from synth.rollout import RolloutContext, play
from synth.task import Job
from synth.verdict import StopReason

LONGEST = 1_000_000
"""Characters of one call's arguments, or of one turn's words, that a session takes."""


class SessionError(SynthError):
    """What a session refuses, for the client: ``kind`` is a word for programs."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class SessionAnswer:
    """The text that the client gets; ``ok`` is false for a tool's error, ``over`` is true if the
    session ended with it.
    """

    text: str
    ok: bool = True
    over: bool = False


class RemoteSession:
    """One rollout, played by calls of :meth:`call` and :meth:`say`.

    It ends with the conversation, at a limit of the agent's, after ``idle_s`` seconds without a
    turn, or by :meth:`leave`. ``finished`` is then the task of the rollout: its result is the row.
    What the client gets is hidden by ``hide`` first: it may send it on to a provider.
    """

    def __init__(
        self, job: Job, context: RolloutContext, idle_s: float, hide: Callable[[str], str] = str
    ) -> None:
        self.job = job
        self._hide = hide
        self._conversation = RemoteConversation()
        self._tap = _ResultTap()
        self._idle_s = idle_s
        self._idle: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()
        model = RemoteModel(context.model.name, self._conversation)
        own = ("session", MiddlewareInstance(lambda: self._tap))
        context = replace(context, model=model, middlewares=[own, *context.middlewares])
        self.finished: asyncio.Task[dict[str, Any]] = asyncio.create_task(play(job, context))

    @property
    def over(self) -> bool:
        return self.finished.done()

    @property
    def turns(self) -> int:
        """Number of the client's turns so far."""
        return self._conversation.turns

    @property
    def writers(self) -> frozenset[str]:
        """Names of the tools that may change the database."""
        return self._tap.writers

    async def tools(self) -> list[Mapping[str, Any]]:
        """The tools of the rollout, as OpenAI describes functions; also when it is over.

        Raises :class:`SessionError` if it broke before it began.
        """
        if not (self.over and self._conversation.tools):
            await self._ready()
        return [tool["function"] for tool in self._conversation.tools]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> SessionAnswer:
        """Make a tool call, which is a turn of its own.

        Raises :class:`SessionError` if the session is over, and for arguments that are too large or
        no JSON.
        """
        async with self._turn:
            call = ToolCall(f"call_{self.turns}", name, _json(arguments))
            await self._play(Completion(tool_calls=(call,), finish_reason="tool_calls"))
            answer = self._tap.answers.get(call.id)
            if answer is None:
                raise self._ended()
            return SessionAnswer(self._hide(answer.content), answer.outcome.result.ok, self.over)

    async def say(self, text: str) -> SessionAnswer:
        """Say something to the user, and return the user's turn.

        Raises :class:`SessionError` if the session is over, and for words that are too long or
        none.
        """
        if not text.strip():
            raise SessionError("empty_text", "the text must not be empty")
        if len(text) > LONGEST:
            raise SessionError("too_large", f"at most {LONGEST} characters can be said at once")
        async with self._turn:
            await self._play(Completion(content=text))
            if self.over:
                if self.finished.cancelled() or self.finished.exception() is not None:
                    raise self._ended()
                return SessionAnswer("", over=True)
            return SessionAnswer(self._hide(str(self._conversation.messages[-1]["content"])))

    async def leave(self) -> None:
        """End the rollout, which is judged as it stands, and wait for that.

        A rollout without a turn is called off instead, and nothing comes of it.
        """
        if self._idle is not None:
            self._idle.cancel()
        self._end()
        await asyncio.wait([self.finished])

    async def _play(self, turn: Completion) -> None:
        await self._ready()
        if self._idle is not None:
            self._idle.cancel()
        self._conversation.play(turn)
        await self._until_waiting()
        if not self.over:
            self._watch()

    async def _ready(self) -> None:
        await self._until_waiting()
        if self.over:
            raise self._ended()
        if self._idle is None:
            self._watch()

    async def _until_waiting(self) -> None:
        """Wait until the rollout wants a turn, or is over."""
        waiting = asyncio.ensure_future(self._conversation.waiting.wait())
        try:
            await asyncio.wait([waiting, self.finished], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    def _watch(self) -> None:
        self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._end)

    def _end(self) -> None:
        if not self.turns:
            self.finished.cancel()
        else:
            self._conversation.leave(StopReason.EMPTY_REPLY)

    def _ended(self) -> SessionError:
        """The reason why no turn is possible any more, in words that hold no score."""
        if self.finished.cancelled():
            return SessionError("session_over", "this session was closed")
        error = self.finished.exception()
        if isinstance(error, SynthError | EnvsError):
            return SessionError("session_broken", f"this session broke: {type(error).__name__}")
        if error is not None:
            return SessionError("session_broken", "this session broke")
        reason = self.finished.result()["stop_reason"]
        return SessionError("session_over", f"this session is over: {reason}")


class _ResultTap(AgentMiddleware):
    """Keeps the result of the last call as the agent gets it, by the call's id."""

    name = "session"

    def __init__(self) -> None:
        self.answers: dict[str, ToolAnswer] = {}
        self.writers: frozenset[str] = frozenset()

    async def agent_start(self, agent: AgentState) -> None:
        self.writers = frozenset(name for name, info in agent.tools.items() if info.risk != "read")

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        self.answers = {answered.outcome.call.id: answered}
        return answered


def _json(arguments: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise SessionError("bad_arguments", f"the arguments are not JSON: {error}") from None
    if len(text) > LONGEST:
        raise SessionError("too_large", f"arguments have at most {LONGEST} characters")
    return text
