"""A rollout of a model that somebody watches: its events as they come, and the answers that it
waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any, Literal

from envs.errors import EnvsError
from envs.types import ToolCall, ToolResult
from synth.core.agent.event_stream import EventStream, Subscription
from synth.core.agent.events import AgentError, AgentEvent, RolloutScore
from synth.core.agent.state import AgentState
from synth.errors import SynthError
from synth.ext.middlewares.approval import ApprovalMiddleware, Decider, Request
from synth.ext.middlewares.config import ApprovalConfig
from synth.ext.serving.live.session import SessionError
from synth.middleware import AgentMiddleware, MiddlewareInstance, MiddlewareMaker
from synth.rollout import RolloutContext, play
from synth.task import Job
from synth.user import User, UserConversation, UserRole, UserTurn

LONGEST_LOG = 20_000
"""Events that a session keeps for those who come later; a rollout with more is ended."""

ApprovalMode = Literal["auto_approve", "normal", "strict"]
UserKind = Literal["world", "person"]


@dataclass(frozen=True)
class Supervision:
    """What a person does in a session: ``approval`` says which calls wait for a decision (none,
    destructive ones, all that write), ``user`` who answers the agent: the world's user, or the
    person.
    """

    approval: ApprovalMode = "auto_approve"
    user: UserKind = "world"


@dataclass(frozen=True)
class LoggedEvent:
    """An event in its JSON form, under its number in the session."""

    number: int
    kind: str
    data: dict[str, Any]


class SupervisedSession:
    """One rollout of the context's model. ``finished`` is its task.

    It is called off when nobody has followed it for ``idle_s`` seconds. A decision or a turn that
    does not come within ``idle_s`` counts as a refusal, or as the end of the conversation.
    """

    def __init__(
        self, name: str, job: Job, context: RolloutContext, supervision: Supervision, idle_s: float
    ) -> None:
        self.name, self.job, self.supervision = name, job, supervision
        self.approver = PersonApprover()
        self.person = PersonUser(idle_s)
        self._log: list[LoggedEvent] = []
        self._count = 0
        self._news = asyncio.Event()
        self._followers = 0
        self._idle_s = idle_s
        self._idle: asyncio.TimerHandle | None = None
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

        def start() -> AgentMiddleware:
            return _Approval(options, self.approver)

        kept = [entry for entry in context.middlewares if entry[0] != "approval"]
        return [("approval", MiddlewareInstance(start)), *kept]

    async def follow(self, after: int = 0) -> AsyncGenerator[LoggedEvent | None]:
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
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self.finished.cancel)

    async def _keep_log(self, feed: Subscription) -> None:
        """Log the rollout's events, and at its end the score."""
        self.finished.add_done_callback(lambda _: feed.end())
        async for event in feed:
            self._add(event)
        if self._idle is not None:
            self._idle.cancel()
        if self.finished.cancelled():
            self._add(AgentError(rollout_id=self.job.id, error=SessionError("closed", "closed")))
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
        self._log.append(LoggedEvent(self._count, event.event, event.to_json()))
        self._news.set()
        if len(self._log) > LONGEST_LOG:
            self.finished.cancel()


KEEP_ALIVE_S = 15.0


class PersonApprover(Decider):
    """A decider whose decisions come from outside. ``call`` is the id of the call that waits."""

    def __init__(self) -> None:
        self.call = ""
        self._decision: asyncio.Future[str | None] | None = None

    async def decide(self, request: Request) -> str | None:
        self._decision = asyncio.get_running_loop().create_future()
        try:
            return await self._decision
        finally:
            self._decision = None

    def answer(self, call: str, why_not: str | None) -> None:
        """Approve (None) or refuse the call that waits.

        Raises :class:`SessionError` if no call of that id waits.
        """
        if self._decision is None or self._decision.done() or call != self.call:
            raise SessionError("nothing_waits", f"no call {call!r} waits for a decision")
        self._decision.set_result(why_not)


class _Approval(ApprovalMiddleware):
    """The approval middleware, which tells its decider the id of the call."""

    name = "approval"

    def __init__(self, options: ApprovalConfig, approver: PersonApprover) -> None:
        super().__init__(options, approver)
        self._approver = approver

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        self._approver.call = call.id
        return await super().before_tool_call(agent, call)


class PersonUser(User):
    """A user whose turns come from outside; one that does not come in time ends the
    conversation.
    """

    name = "person"

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._turn: asyncio.Future[UserTurn] | None = None

    def start(self, role: UserRole, seed: int) -> UserConversation:
        return _Person(self)

    def answer(self, turn: UserTurn) -> None:
        """Give the turn that the agent waits for. Raises :class:`SessionError` if none is."""
        if self._turn is None or self._turn.done():
            raise SessionError("nothing_waits", "the agent does not wait for the user")
        self._turn.set_result(turn)

    async def wait(self) -> UserTurn:
        self._turn = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._patience_s):
                return await self._turn
        except TimeoutError:
            return UserTurn(ends=True)
        finally:
            self._turn = None


class _Person(UserConversation):
    def __init__(self, person: PersonUser) -> None:
        self._person = person

    async def reply(self, text: str) -> UserTurn:
        return await self._person.wait()
