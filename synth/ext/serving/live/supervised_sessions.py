"""The supervised sessions of one server: opened for a task, bounded in number, forgotten later,
and recorded if somebody wants that.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar, get_args

from envs.errors import EnvsError
from synth.core.agent.event_stream import EventStream, Subscription
from synth.core.agent.events import AgentError, AgentEvent, RolloutScore
from synth.core.users.scripted.topics import about, restates
from synth.errors import SynthError
from synth.ext.middlewares import ApprovalConfig
from synth.ext.middlewares.approval import ApprovalMiddleware, Decider, Request
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.session_registry import SessionReport, ended
from synth.ext.serving.live.world import LiveWorld
from synth.middleware import MiddlewareInstance, MiddlewareMaker
from synth.rollout import RolloutContext, play
from synth.task import Job
from synth.user import Topic, User, UserConversation, UserRole, UserTurn

T = TypeVar("T")

LONGEST_LOG = 20_000
"""Events that a session keeps for those who come later; a rollout with more is ended."""

ApprovalMode = Literal["auto_approve", "normal", "strict"]
UserKind = Literal["world", "person"]


@dataclass(frozen=True)
class _Supervision:
    """What a person does in a session: ``approval`` says which calls wait for a decision (none,
    destructive ones, all that write), ``user`` who answers the agent: the world's user, or the
    person.
    """

    approval: ApprovalMode = "auto_approve"
    user: UserKind = "world"


@dataclass(frozen=True)
class _LoggedEvent:
    """An event in its JSON form, under its number in the session."""

    number: int
    kind: str
    data: dict[str, Any]


class _SupervisedSession:
    """One rollout of the context's model. ``finished`` is its task.

    It is called off when nobody has followed it for ``idle_s`` seconds. A decision or a turn that
    does not come within ``idle_s`` counts as a refusal, or as the end of the conversation.
    """

    def __init__(
        self, name: str, job: Job, context: RolloutContext, supervision: _Supervision, idle_s: float
    ) -> None:
        self.name, self.job, self.supervision = name, job, supervision
        self.approver = _PersonApprover()
        self.person = _PersonUser(idle_s)
        self._log: list[_LoggedEvent] = []
        self._count = 0
        self._news = asyncio.Event()
        self._followers = 0
        self._idle_s = idle_s
        self._idle: asyncio.TimerHandle | None = None
        self._ended = "closed"
        self._stream = EventStream()
        self._feed = self._stream.subscribe()
        context = replace(
            context,
            event_stream=self._stream,
            user=self.person if supervision.user == "person" else context.user,
            middlewares=self._middlewares(context),
        )
        self.finished: asyncio.Task[dict[str, Any]] = asyncio.create_task(play(job, context))
        self.logged = asyncio.create_task(self._keep_log(self._feed))
        self._watch()

    def _middlewares(self, context: RolloutContext) -> list[tuple[str, MiddlewareMaker]]:
        """The context's middlewares, with the person in place of its approver."""
        options = ApprovalConfig(mode=self.supervision.approval, timeout_s=self._idle_s)
        own = MiddlewareInstance(lambda: ApprovalMiddleware(options, self.approver))
        kept = [entry for entry in context.middlewares if entry[0] != "approval"]
        return [("approval", own), *kept]

    async def follow(self, after: int = 0) -> AsyncGenerator[_LoggedEvent | None]:
        """The events behind number ``after``, until the last; None when nothing has come for a
        while.
        """
        self._followers += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            while True:
                self._news.clear()
                for event in [event for event in self._log if event.number > after]:
                    after = event.number
                    yield event
                if self.logged.done() and after >= self._count:
                    return
                try:
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        await self._until_news()
                except TimeoutError:
                    yield None
        finally:
            self._followers -= 1
            if not self._followers:
                self._watch()

    async def close(self) -> None:
        """Call the rollout off if it goes on, and wait until its sandbox is closed."""
        if self._idle is not None:
            self._idle.cancel()
        self.finished.cancel()
        await asyncio.wait([self.finished, self.logged])

    @property
    def over(self) -> bool:
        return self.logged.done()

    async def _until_news(self) -> None:
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait([news, self.logged], return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def _watch(self) -> None:
        if not self.finished.done():
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._leave)

    def _leave(self) -> None:
        self._ended = f"closed: nobody followed it for {self._idle_s:g} s"
        self.finished.cancel()

    async def _keep_log(self, feed: Subscription) -> None:
        """Log the rollout's events, and at its end the score."""
        self.finished.add_done_callback(lambda _: feed.end())
        async for event in feed:
            self._add(event)
        if self._idle is not None:
            self._idle.cancel()
        if self.finished.cancelled():
            self._add(AgentError(rollout_id=self.job.id, error=SessionError("closed", self._ended)))
        elif (error := self.finished.exception()) is not None:
            if not isinstance(error, SynthError | EnvsError):
                error = SessionError("unexpected", f"{type(error).__name__}: {error}")
            self._add(AgentError(rollout_id=self.job.id, error=error))
        else:
            row = self.finished.result()
            self._add(
                RolloutScore(
                    rollout_id=self.job.id,
                    step=row["num_turns"],
                    reward=row["reward"],
                    outcome=str(row["outcome"]),
                    verdicts=row["verdicts"],
                )
            )

    def _add(self, event: AgentEvent) -> None:
        if event.event == "content_complete":  # it holds what its pieces held
            self._log = [entry for entry in self._log if entry.kind != "content_delta"]
        self._count += 1
        self._log.append(_LoggedEvent(self._count, event.event, event.to_json()))
        self._news.set()
        if len(self._log) > LONGEST_LOG:
            self.finished.cancel()


KEEP_ALIVE_S = 15.0


class _Awaited(Generic[T]):
    """A value that one side waits for and the other gives; ``missing`` says that nobody waits."""

    def __init__(self, missing: str) -> None:
        self._missing = missing
        self._given: asyncio.Future[T] | None = None

    async def wait(self) -> T:
        self._given = asyncio.get_running_loop().create_future()
        try:
            return await self._given
        finally:
            self._given = None

    def give(self, value: T) -> None:
        """Give it. Raises :class:`SessionError` if nobody waits."""
        if self._given is None or self._given.done():
            raise SessionError("nothing_waits", self._missing)
        self._given.set_result(value)


class _PersonApprover(Decider):
    """A decider whose decisions come from outside."""

    def __init__(self) -> None:
        self._call = ""
        self._decision = _Awaited[str | None]("no call waits for a decision")

    async def decide(self, request: Request) -> str | None:
        self._call = request.call_id
        return await self._decision.wait()

    def answer(self, call: str, why_not: str | None) -> None:
        """Approve (None) or refuse the call that waits.

        Raises :class:`SessionError` if no call of that id waits.
        """
        if call != self._call:
            raise SessionError("nothing_waits", f"no call {call!r} waits for a decision")
        self._decision.give(why_not)


class _PersonUser(User, UserConversation):
    """The user of one session, whose turns come from outside; one that does not come in time ends
    the conversation. A turn tells what the agent asked for, and what it restates.
    """

    name = "person"
    _topics: Mapping[str, Topic] = {}

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._turn = _Awaited[UserTurn]("the agent does not wait for the user")

    def start(self, role: UserRole, seed: int) -> UserConversation:
        self._topics = role.every_topic
        return self

    def give(self, turn: UserTurn) -> None:
        """Give the turn that the agent waits for. Raises :class:`SessionError` if none is."""
        self._turn.give(turn)

    async def reply(self, text: str) -> UserTurn:
        try:
            async with asyncio.timeout(self._patience_s):
                turn = await self._turn.wait()
        except TimeoutError:
            return UserTurn(ends=True)
        asked = about(text, self._topics)
        told = (n for n, one in self._topics.items() if n in asked or restates(turn.text, one))
        return turn if turn.ends else replace(turn, told=[*told])


LISTED = 500
"""Tasks that the description of a world names."""

KEPT = 4
"""Ended sessions that are kept, to be read, for each one that may be open."""


class SupervisedSessions:
    """Sessions by their names, which are drawn. At most ``at_once`` go on together.

    With a recorder each session is another sample of its task, as far as the plan has samples that
    no row stands for; ``report`` gets the end of each.
    """

    def __init__(
        self,
        live: LiveWorld,
        *,
        at_once: int,
        idle_s: float,
        recorder: Recorder | None = None,
        report: Callable[[SessionReport], None] | None = None,
    ) -> None:
        self._live, self._at_once, self._idle_s = live, at_once, idle_s
        self._recorder, self._report = recorder, report
        self._sessions: dict[str, _SupervisedSession] = {}
        self._keepers: set[asyncio.Task[None]] = set()
        self._turns = itertools.count()

    def hide(self, text: str) -> str:
        """The text without the secrets of the run."""
        return self._live.scrubber.text(text)

    def describe(self) -> dict[str, Any]:
        """The world, its tasks and its tools, as far as the model may know them."""
        live = self._live
        samples = live.run.plan.samples
        shown = [live.run.plan.task(index) for index in range(min(live.run.plan.tasks, LISTED))]
        return {
            "world": live.run.world.name,
            "model": live.context.model.name,
            "user_model": "scripted" if live.context.user is None else live.context.user.name,
            "recording": self._recorder is not None,
            "tasks": [
                {"job": index * samples, "family": task.family, "prompt": task.prompt}
                for index, task in enumerate(shown)
            ],
            "tools": [
                {"name": tool.name, "description": tool.description}
                for tool in live.run.world.tools
            ],
            "approval": list(get_args(ApprovalMode)),
            "user": list(get_args(UserKind)),
        }

    async def open(self, asked: Mapping[str, Any]) -> _SupervisedSession:
        """Open a session: ``job`` is its job (default: the next one), ``approval`` and ``user`` are
        as in :class:`_Supervision`.

        Raises :class:`SessionError` for a wrong value, or if there is no room.
        """
        supervision = _supervision(asked)
        index = asked.get("job")
        if index is None:
            index = next(self._turns) % self._live.jobs
        if not isinstance(index, int) or isinstance(index, bool):
            raise SessionError("bad_request", "job is a number")
        if not 0 <= index < self._live.jobs:
            raise SessionError("bad_request", f"job is a number from 0 to {self._live.jobs - 1}")
        job = await self._live.job(self._unplayed(index))
        if sum(not session.over for session in self._sessions.values()) >= self._at_once:
            raise SessionError("too_many_sessions", f"{self._at_once} sessions are open: try later")
        self._forget_some()
        name = secrets.token_urlsafe(9)
        session = _SupervisedSession(name, job, self._live.context, supervision, self._idle_s)
        self._sessions[name] = session
        keeper = asyncio.create_task(self._keep(session))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        return session

    def _unplayed(self, index: int) -> int:
        """The first job of the same task that is neither recorded nor being played; else the job
        itself.
        """
        if self._recorder is None:
            return index
        samples = self._live.run.plan.samples
        first = index - index % samples
        playing = {one.job.index for one in self._sessions.values() if not one.over}
        free = (job for job in self._recorder.unplayed() if first <= job < first + samples)
        return next((job for job in free if job not in playing), index)

    async def _keep(self, session: _SupervisedSession) -> None:
        """Wait for the end of a session, then record and report it; one that was called off leaves
        nothing.
        """
        await asyncio.wait([session.finished, session.logged], return_when=asyncio.ALL_COMPLETED)
        if session.finished.cancelled():
            return
        report, _ = ended(session.name, session.job, session.finished, self._live, self._recorder)
        if self._report is not None:
            self._report(report)

    def __getitem__(self, name: str) -> _SupervisedSession:
        session = self._sessions.get(name)
        if session is None:
            raise SessionError("not_found", "unknown session")
        return session

    async def close(self, name: str) -> None:
        """Call off and forget a session. Raises :class:`SessionError` if there is none."""
        session = self[name]
        del self._sessions[name]
        await session.close()

    async def aclose(self) -> None:
        """Call off every session."""
        for name in list(self._sessions):
            await self.close(name)
        await asyncio.gather(*self._keepers)

    def _forget_some(self) -> None:
        over = [name for name, session in self._sessions.items() if session.over]
        for name in over[: max(0, len(over) - KEPT * self._at_once)]:
            del self._sessions[name]


def _supervision(asked: Mapping[str, Any]) -> _Supervision:
    if unknown := sorted(asked.keys() - {"job", "approval", "user"}):
        raise SessionError(
            "bad_request", f"unknown key {unknown[0]!r}; there are job, approval, user"
        )
    approval, user = asked.get("approval", "auto_approve"), asked.get("user", "world")
    for key, value, choices in (
        ("approval", approval, get_args(ApprovalMode)),
        ("user", user, get_args(UserKind)),
    ):
        if value not in choices:
            raise SessionError("bad_request", f"{key} is one of {', '.join(choices)}")
    return _Supervision(approval, user)
