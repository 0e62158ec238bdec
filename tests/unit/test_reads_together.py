"""The reads of one turn run at the same time where the engine allows: on PostgreSQL, in every kind
of sandbox.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from envs.sandboxes.base import DatabaseTarget, Template
from envs.types import Limits, ToolCall
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.state import AgentState
from synth.core.dataset.store.wire import decode, encode, to_values, to_wire
from synth.core.rerun.replay import differences
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.middleware import AgentMiddleware, Execute, MiddlewareInstance, ToolAnswer
from synth.model import Completion
from synth.plan import job
from synth.rollout import RolloutContext, play
from synth.task import Task
from synth.verdict import StopReason
from tests.servers import server
from tests.unit import meeting
from tests.unit.agent.test_react import DONE
from tests.unit.meeting import MEETING
from tests.unit.scripted_model import Lines

Turn = Sequence[tuple[str, dict[str, Any]]]

TURN: Turn = [
    (name, {"name": each})
    for name, each in (("price_of", "a"), ("price_of", "b"), ("price_of", "c"))
]


def emitted(turn: Turn) -> Completion:
    calls = [
        ToolCall.of(name, arguments, f"call_{at}") for at, (name, arguments) in enumerate(turn)
    ]
    return Completion(tool_calls=calls, finish_reason="tool_calls")


@dataclass
class Ground:
    world: World
    templates: Templates
    template: Template
    task: Task

    def row(self, *turns: Turn, middlewares: Sequence[tuple[str, Any]] = ()) -> dict[str, Any]:
        model = Lines(*map(emitted, turns), DONE)
        stage = RolloutContext(
            self.world, self.templates, model, Limits(), AgentLimits(), middlewares=middlewares
        )
        row = to_values(decode(encode(to_wire(asyncio.run(play(job(0, self.task, 1, 0), stage))))))
        MEETING.expect()
        assert asyncio.run(differences(row, self.task, self.world, self.template, Limits())) == []
        return row


@pytest.fixture(scope="module", params=["pooled", "cloned"])
def ground(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Ground]:
    kind: Literal["pooled", "cloned"] = request.param
    world = load_world(meeting.make(tmp_path_factory.mktemp("together") / "world"))
    with (
        Templates(
            world, "postgresql", place=DatabaseTarget(server("postgresql"), kind)
        ) as templates,
        templates.use() as template,
    ):
        task = asyncio.run(
            prove(FamilyTasks(world, template).task("reprice", 0, 0), world, template)
        )
        yield Ground(world, templates, template, task)


@pytest.fixture(autouse=True)
def nobody_waits() -> Generator[None]:
    yield
    MEETING.expect()


def told(row: dict[str, Any]) -> list[Any]:
    return [json.loads(each["content"]) for each in row["messages"] if each["role"] == "tool"]


def test_reads_of_one_turn_meet_and_are_told_in_the_order_of_the_turn(ground: Ground):
    """The last one ends first; a replay, one call after the other, comes to the same to the
    letter.
    """
    MEETING.expect("a", "b", "c")
    row = ground.row(TURN)
    assert [each["price"] for each in told(row)] == [10, 20, 30]
    assert [each["id"] for each in row["events"] if each["event"] == "tool_result"] == [
        "call_0",
        "call_1",
        "call_2",
    ]
    assert row["stop_reason"] == "user_ended"


def test_a_write_parts_the_reads_before_it_from_those_after_it(ground: Ground):
    MEETING.expect("a", "b")
    row = ground.row([*TURN[:2], ("reprice", {"name": "c", "price": 5}), TURN[2]])
    assert [each.get("price", each.get("changed")) for each in told(row)] == [10, 20, 1, 5]
    assert [each["call"] for each in row["call_changes"]] == [2]


def test_a_read_that_fails_does_so_alone(ground: Ground):
    MEETING.expect("a", "c")
    row = ground.row([TURN[0], ("price_of", {"name": 3}), ("no_such_tool", {}), TURN[2]])
    assert [each.get("price", each.get("category")) for each in told(row)] == [
        10,
        "invalid_arguments",
        "unknown_tool",
        30,
    ]


def test_more_reads_than_there_are_connections_wait_for_one(ground: Ground):
    """Twenty at once, and as many as the server may still take: each has its answer."""
    row = ground.row([*TURN, *TURN, *TURN, *TURN, *TURN, *TURN])
    assert [each["price"] for each in told(row)] == [10, 20, 30] * 6


def test_the_records_of_calls_stand_in_the_order_of_the_turn(ground: Ground):
    MEETING.expect("a", "b", "c")
    with Episode(ground.task, ground.world, ground.template, Limits()) as episode:
        agent = episode.agent(Lines(emitted(TURN), DONE))
        asyncio.run(agent.run(episode.messages))
        assert MEETING.left == ["c", "b", "a"]
        assert [each.arguments for each in episode.calls] == [
            {"name": "a"},
            {"name": "b"},
            {"name": "c"},
        ]


def test_what_ended_behind_a_read_that_was_broken_off_is_forgotten(ground: Ground):
    """The time ends while a middleware still holds the second of three reads: the first is all that
    has happened.
    """

    class Holds(AgentMiddleware):
        async def around_tool_call(
            self, agent: AgentState, call: ToolCall, execute: Execute
        ) -> ToolAnswer:
            if call.id == "call_1":
                await asyncio.Event().wait()
            return await execute()

    with Episode(ground.task, ground.world, ground.template, Limits()) as episode:
        limits = AgentLimits(timeout_s=0.5)
        agent = episode.agent(Lines(emitted(TURN), DONE), limits, middlewares=[Holds()])
        run = asyncio.run(agent.run(episode.messages))
        assert run.stop_reason is StopReason.TIME_BUDGET
        assert [each.call.id for each in run.outcomes] == ["call_0"]
        assert [each.arguments for each in episode.calls] == [{"name": "a"}]
    assert run.recorded_events[-1] == {"event": "not_executed", "ids": ["call_1", "call_2"]}


def test_hooks_see_the_reads_in_order_although_they_overlap(ground: Ground):
    log: list[str] = []

    class Scribe(AgentMiddleware):
        async def before_tool_call(self, agent: AgentState, call: ToolCall) -> None:
            log.append(f"before {call.id}")

        async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
            log.append(f"after {answered.outcome.call.id}")
            return answered

    MEETING.expect("a", "b", "c")
    ground.row(TURN, middlewares=[("scribe", MiddlewareInstance(Scribe))])
    assert log == [f"{when} call_{at}" for when in ("before", "after") for at in range(3)]
