"""Sessions of an environment server: each holds one task on a sandbox of its own, as a lease.

A lease ends when its client closes it, has not used it for a while, or has had it for too long; the
sandbox then goes back. The score of an ended session is kept for a while, so that a client that
lost an answer can ask again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final, cast

from envs.errors import EnvsError
from synth.core.agent.text_calls import calls_json, find_calls
from synth.episode import Episode, Score
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.world import LiveWorld
from synth.rollout import outcome_of
from synth.task import Message, Task

_log = logging.getLogger(__name__)

SWEEP_S: Final = 1.0
"""Seconds between two looks for leases that have ended."""

KEPT: Final = 4
"""Ended sessions whose score is kept, for each one that may be open."""


@dataclass
class _EnvSession:
    """A lease. ``stop_reason`` says why it ended; ``score`` is there once it is judged."""

    name: str
    index: int
    episode: Episode
    resources: ExitStack
    began: float
    used: float
    turns: int = 0
    stop_reason: str | None = None
    score: Score | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def ending(self) -> dict[str, object]:
        """The end of the session, for its client; rewards are null until then."""
        ended: dict[str, object] = {"session": self.name, "done": self.stop_reason is not None}
        if self.score is None:
            return ended | {"reward": None, "stop_reason": self.stop_reason}
        return ended | {
            "reward": self.score.reward,
            "outcome": str(outcome_of(self.score)),
            "stop_reason": self.stop_reason,
            "verdicts": [verdict.to_json() for verdict in self.score.verdicts],
        }


class EnvSessions:
    """At most ``at_once`` sessions on a world, by names that are drawn.

    A lease ends after ``idle_s`` seconds without a request and after ``longest_s`` in all. Sessions
    on one task share it, its gold and its user's seed, however many there are.
    """

    def __init__(self, live: LiveWorld, *, at_once: int, idle_s: float, longest_s: float) -> None:
        self._live, self._at_once = live, at_once
        self._idle_s, self._longest_s = idle_s, longest_s
        self._open: dict[str, _EnvSession] = {}
        self._ended: OrderedDict[str, dict[str, object]] = OrderedDict()
        self._starting = 0
        self._next = itertools.count()
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def open(self) -> int:
        """Number of leases."""
        return len(self._open)

    def describe(self) -> dict[str, object]:
        """The world, the number of its tasks, and the limits."""
        run = self._live.run
        return {
            "world": run.world.name,
            "env_digest": run.world.digest,
            "tasks": run.plan.tasks,
            "families": dict(run.plan.share),
            "max_turns": self._live.context.agent.max_turns,
            "max_tool_calls": self._live.context.agent.max_tool_calls,
            "sessions": {"open": self.open, "at_once": self._at_once},
            "idle_s": self._idle_s,
            "longest_s": self._longest_s,
        }

    async def reset(self, index: int | None = None) -> dict[str, object]:
        """Lease a sandbox for the task of that number (None: the next one); returns what a policy
        is shown.

        Raises :class:`SessionError` for a task that is not there, or if there is no room.
        """
        count = self._live.run.plan.tasks
        number = next(self._next) % count if index is None else index
        if not 0 <= number < count:
            raise SessionError("bad_request", f"task is a number from 0 to {count - 1}")
        if self.open + self._starting >= self._at_once:
            raise SessionError("too_many_sessions", f"{self._at_once} sessions are open: try later")
        self._starting += 1
        try:
            task = await self._live.task(number)
            session = self._leased(number, task)
        finally:
            self._starting -= 1
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        return {
            "session": session.name,
            "task": number,
            "task_id": task.id,
            "family": task.family,
            "messages": session.episode.messages,
            "tools": session.episode.tools,
        }

    async def number_of(self, task_id: str) -> int:
        """The number of the task of that id. Raises :class:`SessionError` if there is none."""
        number = await self._live.number_of(task_id)
        if number is None:
            raise SessionError(
                "bad_request",
                f"no task {task_id!r} among the {self._live.run.plan.tasks} that are served: serve"
                " the world with the count, seed, universe, families and overrides of the run",
            )
        return number

    async def step(self, name: str, message: Message) -> dict[str, object]:
        """Take an assistant message; returns the messages that follow, and the score at the end.
        Calls beyond ``agent.max_tool_calls`` are not executed.

        Raises :class:`SessionError` for a session that is over or busy, and OperatorError for a
        message that is not the assistant's.
        """
        session = self._session(name)
        async with session.busy:
            session.used = time.monotonic()
            limits = self._live.context.agent.for_requests(session.episode.task.request_count)
            room = limits.max_tool_calls - len(session.episode.calls)
            if limits.text_calls == "parse":
                message = _parsed(message, session)
            try:
                follow = await session.episode.step(message, room)
            except EnvsError:
                self._end(session, "environment_error")
                raise
            session.turns += 1
            session.used = time.monotonic()
            if session.episode.done:
                await self._judge(session, "user_ended")
            elif session.turns >= limits.max_turns:
                await self._judge(session, "max_turns")
            elif len(session.episode.calls) >= limits.max_tool_calls:
                await self._judge(session, "max_tool_calls")
            return {"messages": follow, **session.ending()}

    async def close(self, name: str) -> dict[str, object]:
        """End a session, judge what was done and give its sandbox back. Again, it says the same.

        Raises :class:`SessionError` for one that is busy or was never there.
        """
        if name in self._ended:
            return self._ended[name]
        session = self._session(name)
        async with session.busy:
            await self._judge(session, "closed")
        return self._ended[name]

    async def aclose(self) -> None:
        """End every lease without a score."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for session in list(self._open.values()):
            async with session.busy:
                self._end(session, "server_closed")

    def _leased(self, number: int, task: Task) -> _EnvSession:
        context, resources, now = self._live.context, ExitStack(), time.monotonic()
        try:
            template = resources.enter_context(context.templates.use(task.universe))
            episode = Episode(task, context.world, template, context.limits, user=context.user)
            resources.callback(episode.close)
            episode.error_style = context.agent.error_style
        except BaseException:
            resources.close()
            raise
        name = secrets.token_urlsafe(12)
        session = self._open[name] = _EnvSession(name, number, episode, resources, now, now)
        return session

    def _session(self, name: str) -> _EnvSession:
        if name in self._ended:
            raise SessionError("over", f"this session is over: {self._ended[name]['stop_reason']}")
        if name not in self._open:
            raise SessionError("not_found", "unknown session")
        session = self._open[name]
        if session.busy.locked():
            raise SessionError("busy", "this session is in the middle of a step")
        return session

    async def _judge(self, session: _EnvSession, reason: str) -> None:
        try:
            session.score = await session.episode.scored()
        finally:
            self._end(session, reason)

    def _end(self, session: _EnvSession, reason: str) -> None:
        """Give the sandbox back."""
        if session.stop_reason is not None:
            return
        session.stop_reason = reason
        del self._open[session.name]
        self._ended[session.name] = session.ending()
        while len(self._ended) > KEPT * self._at_once:
            self._ended.popitem(last=False)
        try:
            session.resources.close()
        except EnvsError:  # the session is over all the same, and other leases have to end, too
            _log.exception("the sandbox of task %s was not given back", session.index)

    async def _sweep(self) -> None:
        """End the leases that nobody uses. What was done in them is not judged."""
        while True:
            await asyncio.sleep(min(SWEEP_S, self._idle_s / 2))
            now = time.monotonic()
            for session in list(self._open.values()):
                if session.busy.locked():
                    continue
                if now - session.used > self._idle_s:
                    self._end(session, "idle")
                elif now - session.began > self._longest_s:
                    self._end(session, "lease_ended")


def _parsed(message: Message, session: _EnvSession) -> Message:
    """A message with the calls that its text holds."""
    text: object = message.get("content")
    if not isinstance(text, str) or message.get("tool_calls"):
        return message
    before, calls = find_calls(text, session.episode.infos)
    made = {"content": before, "tool_calls": calls_json(calls, session.turns)}
    return {**message, **made} if calls else message


def message_of(body: Mapping[str, Any], number: int) -> Message:
    """The assistant message that a request's body stands for: ``message`` itself, a ``tool`` with
    its ``arguments``, or a ``text`` to the user. ``number`` makes the id of a call.

    Raises :class:`SessionError` if it is none of the three: only a text, which may be empty, can
    end a session.
    """
    given = [key for key in ("message", "tool", "text") if key in body]
    if len(given) != 1 or set(body) - {"message", "tool", "arguments", "text"}:
        raise SessionError(
            "bad_request",
            "a step has one of `message` (the assistant's), `tool` with `arguments`, or `text`",
        )
    if given == ["message"]:
        if not isinstance(body["message"], dict):
            raise SessionError("bad_request", "a step takes an assistant message, an object")
        return cast("Message", body["message"])
    if given == ["text"]:
        if not isinstance(body["text"], str):
            raise SessionError("bad_request", "text is a string")
        return {"role": "assistant", "content": body["text"]}
    function = {"name": body["tool"], "arguments": body.get("arguments", {})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}
