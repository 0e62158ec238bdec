"""Events: what is told, to whom, and that nobody slows the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from synth.agent import ReactAgent
from synth.core.agent import events
from synth.core.agent.event_stream import EventStream
from synth.core.agent.rollout_result import AgentLimits
from synth.errors import ModelError
from synth.model import Completion, Conversation, Delta, OnDelta
from synth.task import Message
from synth.verdict import StopReason
from tests.unit.agent.test_react import DONE, OPENING, Lines, calls, dispatch, find
from tests.unit.agent.test_stack import Doorman


class Speaking(Conversation):
    """Tells its answer letter by letter to whoever wants to hear it."""

    def __init__(self) -> None:
        self.streamed = False

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        self.streamed = on_delta is not None
        for letter in "Done." if on_delta else "":
            on_delta(Delta("content", letter))
            await asyncio.sleep(0)
        return DONE


async def test_a_rollout_is_told_from_start_to_finish():
    agent = ReactAgent(
        Lines(calls(find("1"), find("2")), DONE), dispatch, AgentLimits(), middlewares=[Doorman()]
    )
    told = [event async for event in agent.stream(OPENING)]
    assert [type(each).__name__ for each in told] == [
        *(
            "AgentStart",
            "StepStart",
            "ContentComplete",
            "ToolCall",
            "ToolCall",
            "ToolResult",
            "ToolResult",
            "StepEnd",
        ),
        *("StepStart", "ContentComplete", "StepEnd", "AgentFinish"),
    ]
    assert [each.by for each in told if isinstance(each, events.ToolResult)] == [None, "doorman"]
    assert [each.step for each in told] == [0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    assert told[-1].stop_reason is StopReason.FINISHED
    assert agent.done is not None
    assert agent.done.said == "Done."


async def test_deltas_are_told_where_somebody_wants_them():
    model = Speaking()
    told = [event async for event in ReactAgent(model, dispatch, AgentLimits()).stream(OPENING)]
    assert (
        "".join(each.delta.text for each in told if isinstance(each, events.ContentDelta))
        == "Done."
    )
    event_stream = EventStream()
    event_stream.subscribe(deltas=False)
    await ReactAgent(quiet := Speaking(), dispatch, AgentLimits(), event_stream=event_stream).run(
        OPENING
    )
    assert not quiet.streamed, "a model need not stream for nobody"


async def test_a_consumer_that_does_not_read_costs_only_deltas():
    event_stream = EventStream()
    feed = event_stream.subscribe(room=2)
    await ReactAgent(Speaking(), dispatch, AgentLimits(), event_stream=event_stream).run(OPENING)
    await event_stream.aclose()
    told = [event async for event in feed]
    assert feed.dropped == 3
    assert [type(each).__name__ for each in told] == [
        *(
            "AgentStart",
            "StepStart",
            "ContentDelta",
            "ContentDelta",
            "ContentComplete",
            "StepEnd",
            "AgentFinish",
        )
    ]


async def test_listeners_hear_in_order_and_a_broken_one_breaks_nothing():
    heard: list[str] = []
    also: list[str] = []

    async def slow(event: events.AgentEvent) -> None:
        await asyncio.sleep(0.001)
        heard.append(type(event).__name__)

    def plain(event: events.AgentEvent) -> None:
        also.append(type(event).__name__)

    def broken(event: events.AgentEvent) -> None:
        raise ValueError("no")

    event_stream = EventStream()
    for listener in (slow, plain, broken):
        event_stream.listen(listener)
    run = await ReactAgent(Lines(DONE), dispatch, AgentLimits(), event_stream=event_stream).run(
        OPENING
    )
    await event_stream.aclose()
    assert heard == also == ["AgentStart", "StepStart", "ContentComplete", "StepEnd", "AgentFinish"]
    assert run.stop_reason is StopReason.FINISHED


async def test_what_breaks_a_rollout_off_is_told_and_raised():
    told: list[events.AgentEvent] = []
    agent = ReactAgent(Lines(ModelError("gone")), dispatch, AgentLimits())
    with pytest.raises(ModelError, match="gone"):
        async for event in agent.stream(OPENING):
            told.append(event)  # noqa: PERF401 - it raises on the way
    assert [type(each).__name__ for each in told[-2:]] == ["AgentError", "AgentFinish"]
    assert told[-1].stop_reason is StopReason.MODEL_ERROR


async def test_leaving_early_cancels_the_rollout_and_waits_for_its_cleanup():
    finished: list[bool] = []

    class Tidy(Doorman):
        async def agent_finish(self, agent: object) -> None:
            await asyncio.sleep(0)
            finished.append(True)

    agent = ReactAgent(Lines(calls(find("1"))), dispatch, AgentLimits(), middlewares=[Tidy()])
    stream = agent.stream(OPENING)
    async for event in stream:
        if isinstance(event, events.ToolResult):
            break
    await stream.aclose()
    assert finished == [True]
    assert agent.done is None
