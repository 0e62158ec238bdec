"""The ReAct loop: ask, record, dispatch, repeat, and always give the reason for stopping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from envs.errors import EnvsError
from envs.types import ToolCall
from synth.core.agent import events
from synth.core.agent.completion_reading import CompletionReading, read
from synth.core.agent.events import AgentEvent
from synth.core.agent.memory import ConversationMemory
from synth.core.agent.rollout_result import AgentLimits, AgentRun, user_event
from synth.core.agent.stack import Stack
from synth.core.agent.state import AgentState, RolloutIdentity
from synth.core.agent.turn import Dispatch, OwnTools, ToolInterface, TurnExecutor
from synth.core.models.emission import completion_event, emitted_call
from synth.core.types.events import CompletionEvent, NotExecutedEvent
from synth.core.types.reply import Act
from synth.errors import ContextOverflow, ModelError, OperatorError
from synth.middleware import AgentMiddleware, StopAgent
from synth.model import Completion, Conversation, first_answer, missing_answer
from synth.plugins import resolve
from synth.task import Message
from synth.user import UserTurn
from synth.verdict import StopReason

if TYPE_CHECKING:
    from synth.core.agent.event_stream import EventStream


class Say(Protocol):
    """Brings the user a turn: its text, and its acts if it states them."""

    def __call__(self, text: str, acts: Sequence[Act] = ()) -> Awaitable[UserTurn]: ...


Converse = Callable[[Sequence[object]], Conversation]
"""Opens a conversation in which the model is offered these tools."""

FIRST_ANSWER_TRIES = 3
"""Requests for the first answer of a rollout before the endpoint, not the agent, is at fault."""


class ReactAgent:
    """Driver of one rollout. It knows neither task nor database. Single use.

    ``converse`` opens the conversation, opens it again after a middleware has set another context,
    and opens side questions; a :class:`Conversation` is enough if none of these is needed.
    ``interface`` is the tool interface, or just the dispatcher of calls.
    """

    def __init__(
        self,
        converse: Converse | Conversation,
        interface: ToolInterface | Dispatch,
        limits: AgentLimits,
        *,
        middlewares: Sequence[AgentMiddleware] = (),
        identity: RolloutIdentity | None = None,
        event_stream: EventStream | None = None,
    ) -> None:
        self._converse: Converse = (
            _only(converse) if isinstance(converse, Conversation) else converse
        )
        self._interface = (
            interface if isinstance(interface, ToolInterface) else ToolInterface(interface)
        )
        self._limits = limits
        self._stack = Stack(middlewares)
        self._identity = identity or RolloutIdentity()
        self._event_stream = event_stream
        self.tools: Sequence[object] = self._interface.tools
        """Tools that the model is offered; complete once :meth:`run` has begun."""
        self.so_far: AgentRun | None = None
        """The work done, also if :meth:`run` raises; None before it."""
        self._unanswered = False
        self._sent: list[Message] = []
        self.done: AgentRun | None = None
        """Result of :meth:`stream`; None before its end."""

    async def run(self, messages: Sequence[Message], say: Say | None = None) -> AgentRun:
        """Work until a limit, or until the user ends the conversation.

        ``say`` brings the user a turn without tool calls; without a user (None) such a turn is the
        end. The user does not get text beside tool calls.

        Raises :class:`synth.errors.ModelError` if the model, or one that plays the user, cannot be
        asked, the dispatcher's exceptions for bugs and broken infrastructure, and exceptions of
        hooks; every mistake of the model itself is a result.
        """
        memory = self._memory = ConversationMemory(messages)
        run = self.so_far = AgentRun(memory.messages)
        own = OwnTools((), ())
        who, interface = self._identity, self._interface
        agent = AgentState(
            *(who.rollout_id, who.job_index, who.seed, who.task_key),
            *(self._limits, memory, run, interface.infos, interface.check, self._ask_beside),
            None if self._event_stream is None else self._event_stream.emit,
        )
        self._agent = agent
        try:
            if owned := self._stack.register(agent):
                own = OwnTools(owned, list(interface.infos))
                self.tools = [*interface.tools, *own.schemas]
                agent.tools = {**interface.infos, **own.infos}
                agent.check = lambda call: (
                    own.check(call) if call.name in own else interface.check(call)
                )
            self._conversation, self._sent = self._converse(self.tools), memory.context
            acting = TurnExecutor(agent, interface, own, self._stack)
            await self._until_it_stops(agent, acting, say)
        except BaseException as error:
            agent.error = error
            run.stop_reason = _broken_by(error)
            if agent.has_subscribers:
                agent.emit(events.AgentError(error=error))
            raise
        finally:
            try:
                await self._stack.finish(agent)
            finally:
                del (
                    self._agent
                )  # it holds us: what is over goes at once, and not when garbage is collected
                if agent.has_subscribers:
                    agent.emit(events.AgentFinish(stop_reason=run.stop_reason))
        return run

    @property
    def memory(self) -> ConversationMemory:
        """The conversation, with the contexts that were sent; available once :meth:`run` has
        begun.
        """
        return self._memory

    async def stream(
        self, messages: Sequence[Message], say: Say | None = None
    ) -> AsyncGenerator[AgentEvent]:
        """Run, and yield the events as they come, deltas included; :attr:`done` is then the result
        of :meth:`run`.

        Leaving early cancels the rollout and waits until it has cleaned up. Raises the exceptions
        of :meth:`run`, after the last event.
        """
        if (event_stream := self._event_stream) is None:
            event_stream = resolve("synth.core.agent.event_stream:EventStream")()
            self._event_stream = event_stream
        feed = event_stream.subscribe()
        task = asyncio.create_task(self.run(messages, say))
        task.add_done_callback(lambda _: feed.end())
        try:
            async for event in feed:
                yield event
            self.done = await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    async def _until_it_stops(
        self, agent: AgentState, acting: TurnExecutor, say: Say | None
    ) -> None:
        deadline = asyncio.timeout(self._limits.timeout_s)
        try:
            async with deadline:
                if agent.has_subscribers:
                    tools = cast("Sequence[Mapping[str, Mapping[str, str]]]", self.tools)
                    names = [tool["function"]["name"] for tool in tools]
                    agent.emit(events.AgentStart(tools=names))
                await self._stack.start(agent)
                agent.run.stop_reason = await self._loop(agent, acting, say)
        except TimeoutError:
            if not deadline.expired():
                raise  # somebody else's: a bug or broken infrastructure, not the end of our time
            if self._unanswered and not agent.run.completions:
                raise ModelError(
                    f"no completion came within the rollout's {self._limits.timeout_s:g} s"
                ) from None
            agent.run.stop_reason = StopReason.TIME_BUDGET
        except StopAgent as stop:
            agent.run.stop_reason = stop.reason
        _close_open_calls(agent)

    async def _loop(self, agent: AgentState, acting: TurnExecutor, say: Say | None) -> StopReason:
        for step in range(1, self._limits.max_turns + 1):
            if agent.has_subscribers:
                agent.emit(events.StepStart(step=step))
            stop = await self._step(agent, acting, say)
            if agent.has_subscribers:
                agent.emit(events.StepEnd(step=step))
            if stop is not None:
                return stop
        return StopReason.MAX_TURNS

    async def _step(
        self, agent: AgentState, acting: TurnExecutor, say: Say | None
    ) -> StopReason | None:
        """Make one completion and process it. Returns the reason to stop, if there is one."""
        run, limits = agent.run, self._limits
        try:
            completion, reading = await (
                self._answer(agent) if run.completions else self._first(agent)
            )
        except ContextOverflow:
            if not run.completions:
                raise
            return StopReason.CONTEXT_OVERFLOW
        calls = agent.memory.add_completion(
            reading.completion, exact=reading.exact, raw=reading.refused
        )
        run.completions.append(reading.completion)
        run.events.append(_completion_event(completion, reading, calls))
        if agent.has_subscribers:
            agent.emit(events.ContentComplete(completion=completion))
        await self._stack.asked(agent, completion)
        cut_off = _cut_off(completion)
        if calls or say is None or cut_off is not None:
            self._interface.utter(completion.content)
        if cut_off is not None:
            return cut_off
        if not calls and missing_answer(completion):
            return StopReason.EMPTY_REPLY
        if not calls and (say is None or await self._hear(agent, say, completion)):
            return StopReason.FINISHED if say is None else StopReason.USER_ENDED
        room = limits.max_tool_calls - len(run.outcomes)
        if calls and room > 0:
            await acting.answer(calls[:room], reading)
        if len(calls) > room:
            return StopReason.MAX_TOOL_CALLS
        return run.beyond(limits)

    async def _answer(self, agent: AgentState) -> tuple[Completion, CompletionReading]:
        completion = await self._complete(agent)
        return completion, read(completion, self._limits, agent.tools)

    async def _first(self, agent: AgentState) -> tuple[Completion, CompletionReading]:
        """Return the first turn; without one there is no agent that could be judged.

        Raises ModelError, or the endpoint's ContextOverflow, after several requests in vain, and
        ModelRefusedRequest where its filter withholds the answer.
        """
        problem: ModelError | None = None
        for _ in range(FIRST_ANSWER_TRIES):
            try:
                completion, reading = await self._answer(agent)
            except ContextOverflow as error:
                problem = error
                continue
            missing = missing_answer(first_answer(completion))
            calls = completion.tool_calls
            if missing is None or reading.written or any(call.name.strip() for call in calls):
                return completion, reading
            agent.run.side.append(completion)
            agent.record(replace(completion_event(completion), event="discarded_completion"))
            problem = ModelError(
                f"the endpoint gave {missing} to {FIRST_ANSWER_TRIES} first requests"
            )
        assert problem is not None
        raise problem

    async def _complete(self, agent: AgentState) -> Completion:
        """Return the next turn. Other completions that a middleware requested count as side
        questions.
        """
        given: list[Completion] = []

        async def ask() -> Completion:
            given.append(await self._send(agent))
            return given[-1]

        try:
            completion = await self._stack.ask(agent, ask)
        except BaseException:
            agent.run.side += given
            raise
        if given and given[-1] is completion:  # nearly always
            given.pop()
        agent.run.side += given
        return completion

    async def _send(self, agent: AgentState) -> Completion:
        context = agent.memory.context
        if context is not self._sent:
            self._conversation, self._sent = self._converse(self.tools), context
        self._unanswered = True
        if self._event_stream is None or not self._event_stream.deltas:
            completion = await self._conversation.complete(context)
        else:
            emit, who, step = self._event_stream.emit, agent.rollout_id, agent.step + 1
            completion = await self._conversation.complete(
                context,
                lambda delta: emit(events.ContentDelta(rollout_id=who, step=step, delta=delta)),
            )
        self._unanswered = False
        return completion

    async def _ask_beside(self, messages: Sequence[Message], tools: Sequence[object]) -> Completion:
        completion = await self._converse(tools).complete(messages)
        self._agent.run.side.append(completion)
        self._agent.record(replace(completion_event(completion), event="side_completion"))
        return completion

    async def _hear(self, agent: AgentState, say: Say, completion: Completion) -> bool:
        """Give the user the assistant's words, and the model the user's answer. Returns True if the
        user ended instead.
        """
        if agent.has_subscribers:
            agent.emit(events.UserTurnRequest(text=completion.content))
        turn = await say(completion.content, completion.acts)
        agent.run.turns.append(turn)
        agent.run.events.append(user_event(turn))
        if agent.has_subscribers:
            agent.emit(events.UserReply(text=turn.text, ends=turn.ends))
        if not turn.ends:
            agent.memory.add_reply(turn.text)
        return turn.ends


def _cut_off(completion: Completion) -> StopReason | None:
    """Return the reason for which a completion ends before it is complete; None if it does not."""
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        return StopReason.REFUSED
    return StopReason.TRUNCATED if completion.finish_reason == "length" else None


def _only(conversation: Conversation) -> Converse:
    """Return a function that opens that one conversation, once."""
    waiting = [conversation]

    def converse(tools: Sequence[object]) -> Conversation:
        if not waiting:
            raise OperatorError(
                "this agent was given one conversation; to open more it takes a function of the"
                " tools"
            )
        return waiting.pop()

    return converse


def _completion_event(
    completion: Completion, reading: CompletionReading, calls: Sequence[ToolCall]
) -> CompletionEvent:
    """Return the event of a completion: the emission, and the calls found in its text."""
    event = completion_event(completion)
    if not reading.written:
        return event
    written = zip(calls, reading.written, strict=True)
    found = tuple(emitted_call(call, text_call.form) for call, text_call in written)
    return replace(event, text_calls=found)


def _broken_by(error: BaseException) -> StopReason | None:
    """Return the error that broke a rollout off. Such a rollout is an error row, retried if that
    can help, and never scored.
    """
    if isinstance(error, ModelError):
        return StopReason.MODEL_ERROR
    return StopReason.ENVIRONMENT_ERROR if isinstance(error, EnvsError) else None


def _close_open_calls(agent: AgentState) -> None:
    """Give every call a result: the calls of a turn that was cut off were not executed."""
    messages = agent.memory.messages
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    if last is None or not last.get("tool_calls"):
        return
    answered = {message["tool_call_id"] for message in messages if message["role"] == "tool"}
    open_calls = [call for call in last["tool_calls"] if call["id"] not in answered]
    if not open_calls:
        return
    last["tool_calls"] = [call for call in last["tool_calls"] if call["id"] in answered]
    if not last["tool_calls"]:
        del last["tool_calls"]
    last["train"] = False
    agent.record(NotExecutedEvent(ids=[call["id"] for call in open_calls]))
