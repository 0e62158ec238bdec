"""The ReAct loop: ask, record, dispatch, repeat, and always say why it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from envs.errors import EnvsError
from envs.types import ToolCall
from synth.agent import events
from synth.agent.acting import Acting, Dispatch, Hands, OwnTools
from synth.agent.bus import EventBus
from synth.agent.events import AgentEvent
from synth.agent.memory import ConversationMemory
from synth.agent.middleware.base import AgentMiddleware, StopAgent
from synth.agent.middleware.stack import Stack
from synth.agent.reading import Reading, read
from synth.agent.run import AgentLimits, AgentRun, user_event
from synth.agent.state import AgentState, Identity
from synth.errors import ContextOverflow, ModelError, OperatorError
from synth.models.base import Conversation
from synth.models.emission import call_entry, completion_event
from synth.types import Completion, Message, StopReason, UserTurn

Json = Any
Say = Callable[[str], Awaitable[UserTurn]]
Converse = Callable[[Sequence[Json]], Conversation]
"""Opens a conversation in which the model is offered these tools."""


class ReactAgent:
    """Drives one rollout. Knows neither task nor database. Single use.

    ``converse`` opens the conversation, again after a middleware has set another context, and for side questions; a
    :class:`Conversation` serves where none of these is wanted. ``hands`` is what it acts with, or just the dispatcher of calls.
    """

    def __init__(
        self,
        converse: Converse | Conversation,
        hands: Hands | Dispatch,
        limits: AgentLimits,
        *,
        middlewares: Sequence[AgentMiddleware] = (),
        identity: Identity | None = None,
        bus: EventBus | None = None,
    ) -> None:
        self._converse: Converse = _only(converse) if isinstance(converse, Conversation) else converse
        self._hands = hands if isinstance(hands, Hands) else Hands(hands)
        self._limits = limits
        self._stack = Stack(middlewares)
        self._identity = identity or Identity()
        self._bus = bus
        self.tools: Sequence[Json] = self._hands.tools
        """What the model is offered: complete once :meth:`run` has begun."""
        self.so_far: AgentRun | None = None
        """What was done, also where :meth:`run` raises; None before it."""
        self.done: AgentRun | None = None
        """What :meth:`stream` came to; None before its end."""

    async def run(self, messages: Sequence[Message], say: Say | None = None) -> AgentRun:
        """Work until a limit, or until the user ends the conversation.

        ``say`` brings the user a turn without tool calls; where there is nobody to talk to (None), such a turn is the end.
        What is said beside tool calls, the user does not hear.

        Raises :class:`synth.errors.ModelError` when the model, or one that plays the user, cannot be asked, what the
        dispatcher raises for bugs and broken infrastructure, and what hooks raise; everything that the model itself
        does wrong is a result.
        """
        memory = self._memory = ConversationMemory(messages)
        run = self.so_far = AgentRun(memory.messages)
        own = OwnTools((), ())
        who, hands = self._identity, self._hands
        agent = AgentState(
            *(who.rollout_id, who.job_index, who.seed, who.task_key),
            *(self._limits, memory, run, hands.infos, hands.check, self._ask_beside),
            None if self._bus is None else self._bus.emit,
        )
        self._agent = agent
        try:
            if owned := self._stack.register(agent):
                own = OwnTools(owned, list(hands.infos))
                self.tools = [*hands.tools, *own.schemas]
                agent.tools = {**hands.infos, **own.infos}
                agent.check = lambda call: own.check(call) if call.name in own else hands.check(call)
            self._conversation, self._sent = self._converse(self.tools), memory.context
            acting = Acting(agent, hands, own, self._stack)
            await self._until_it_stops(agent, acting, say)
        except BaseException as error:
            agent.error = error
            run.stop_reason = _broken_by(error)
            if agent.heard:
                agent.emit(events.AgentError(rollout_id=agent.rollout_id, step=agent.step, error=error))
            raise
        finally:
            try:
                await self._stack.finish(agent)
            finally:
                del self._agent  # it holds us: what is over goes at once, and not when garbage is collected
                if agent.heard:
                    reason = run.stop_reason
                    agent.emit(events.AgentFinish(rollout_id=agent.rollout_id, step=agent.step, stop_reason=reason))
        return run

    @property
    def memory(self) -> ConversationMemory:
        """The conversation, with the contexts that were sent of it; there once :meth:`run` has begun."""
        return self._memory

    async def stream(self, messages: Sequence[Message], say: Say | None = None) -> AsyncGenerator[AgentEvent]:
        """Run, and give the events as they come, deltas included; :attr:`done` is what :meth:`run` returns. Leaving early
        cancels the rollout and waits until it has cleaned up. Raises what :meth:`run` raises, after the last event.
        """
        bus = self._bus = self._bus or EventBus()
        feed = bus.subscribe()
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

    async def _until_it_stops(self, agent: AgentState, acting: Acting, say: Say | None) -> None:
        deadline = asyncio.timeout(self._limits.timeout_s)
        try:
            async with deadline:
                if agent.heard:
                    names = [each["function"]["name"] for each in self.tools]
                    agent.emit(events.AgentStart(rollout_id=agent.rollout_id, tools=names))
                await self._stack.start(agent)
                agent.run.stop_reason = await self._loop(agent, acting, say)
        except TimeoutError:
            if not deadline.expired():
                raise  # somebody else's: a bug or broken infrastructure, not the end of our time
            agent.run.stop_reason = StopReason.TIME_BUDGET
        except StopAgent as stop:
            agent.run.stop_reason = stop.reason
        _close_open_calls(agent)

    async def _loop(self, agent: AgentState, acting: Acting, say: Say | None) -> StopReason:
        for step in range(1, self._limits.max_turns + 1):
            if agent.heard:
                agent.emit(events.StepStart(rollout_id=agent.rollout_id, step=step))
            stop = await self._step(agent, acting, say)
            if agent.heard:
                agent.emit(events.StepEnd(rollout_id=agent.rollout_id, step=step))
            if stop is not None:
                return stop
        return StopReason.MAX_TURNS

    async def _step(self, agent: AgentState, acting: Acting, say: Say | None) -> StopReason | None:
        """One completion and what follows it; the reason to stop, if there is one."""
        run, limits = agent.run, self._limits
        try:
            completion = await self._complete(agent)
        except ContextOverflow:
            return StopReason.CONTEXT_OVERFLOW
        reading = read(completion, limits, agent.tools)
        calls = agent.memory.add_completion(reading.completion, exact=reading.exact, raw=reading.refused)
        run.completions.append(reading.completion)
        run.events.append(_told(completion, reading, calls))
        if agent.heard:
            place = {"rollout_id": agent.rollout_id}
            agent.emit(events.ContentComplete(**place, step=agent.step, completion=completion))
        await self._stack.asked(agent, completion)
        if completion.refusal is not None or completion.finish_reason == "content_filter":
            return StopReason.REFUSED
        if completion.finish_reason == "length":
            return StopReason.TRUNCATED
        if not calls and (say is None or await self._hear(agent, say, completion.content)):
            return StopReason.FINISHED if say is None else StopReason.USER_ENDED
        room = limits.max_tool_calls - len(run.outcomes)
        if calls and room > 0:
            await acting.answer(calls[:room], reading)
        if len(calls) > room:
            return StopReason.MAX_TOOL_CALLS
        return run.beyond(limits)

    async def _complete(self, agent: AgentState) -> Completion:
        """The next turn. What a middleware asked for before, or threw away, counts as a side question."""
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
        if self._bus is None or not self._bus.deltas:
            return await self._conversation.complete(context)
        emit, who, step = self._bus.emit, agent.rollout_id, agent.step + 1
        return await self._conversation.complete(
            context, lambda delta: emit(events.ContentDelta(rollout_id=who, step=step, delta=delta))
        )

    async def _ask_beside(self, messages: Sequence[Message], tools: Sequence[Json]) -> Completion:
        completion = await self._converse(tools).complete(messages)
        self._agent.run.side.append(completion)
        self._agent.record(completion_event(completion) | {"event": "side_completion"})
        return completion

    async def _hear(self, agent: AgentState, say: Say, text: str) -> bool:
        """Bring the user what was said, and its answer to the model; whether the user ended instead."""
        turn = await say(text)
        agent.run.turns.append(turn)
        agent.run.events.append(user_event(turn))
        if not turn.ends:
            agent.memory.add_reply(turn.text)
        return turn.ends


def _only(conversation: Conversation) -> Converse:
    """Opens that one conversation, once."""
    waiting = [conversation]

    def converse(tools: Sequence[Json]) -> Conversation:
        if not waiting:
            raise OperatorError("this agent was given one conversation; to open more it takes a function of the tools")
        return waiting.pop()

    return converse


def _told(completion: Completion, reading: Reading, calls: Sequence[ToolCall]) -> dict[str, Json]:
    """The event of a completion: what was emitted, and what calls were found in its text."""
    event = completion_event(completion)
    if reading.written:
        forms = [each.form for each in reading.written]
        event["text_calls"] = [call_entry(call) | {"form": form} for call, form in zip(calls, forms, strict=True)]
    return event


def _broken_by(error: BaseException) -> StopReason | None:
    """What broke a rollout off. Such a one is an error row, tried again where that can help, and never scored."""
    if isinstance(error, ModelError):
        return StopReason.MODEL_ERROR
    return StopReason.ENVIRONMENT_ERROR if isinstance(error, EnvsError) else None


def _close_open_calls(agent: AgentState) -> None:
    """Leave no call without a result: those of a turn that was cut off were not executed."""
    messages = agent.memory.messages
    last = next((each for each in reversed(messages) if each["role"] == "assistant"), None)
    if last is None or not last.get("tool_calls"):
        return
    answered = {each["tool_call_id"] for each in messages if each["role"] == "tool"}
    open_calls = [each for each in last["tool_calls"] if each["id"] not in answered]
    if not open_calls:
        return
    last["tool_calls"] = [each for each in last["tool_calls"] if each["id"] in answered]
    if not last["tool_calls"]:
        del last["tool_calls"]
    last["train"] = False
    agent.run.events.append({"event": "not_executed", "ids": [each["id"] for each in open_calls]})
