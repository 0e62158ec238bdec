"""Injected faults: which calls are hit, what the agent is told, what is kept, and that it is what
real engines say.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, get_args

import pytest

from envs.sql_errors import is_transient
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import RolloutIdentity, ToolInfo
from synth.core.agent.turn import ToolInterface
from synth.core.types.events import injected_faults
from synth.ext.middlewares import FaultKind, FaultsConfig, RetryConfig
from synth.ext.middlewares.faults import FAULTS, FaultInjectionMiddleware, said_by
from synth.ext.middlewares.retry import RetryMiddleware
from tests.unit.agent.test_react import (
    BOX,
    DONE,
    OPENING,
    Lines,
    calls,
    check_transcript,
    dispatch,
    find,
)

KINDS: tuple[FaultKind, ...] = tuple(each for each in get_args(FaultKind) if each != "slow")
ALWAYS = FaultsConfig(rate=1.0, kinds=KINDS, max_per_rollout=100, max_in_row=2, slow_s=0.0)
SAME = [calls(find(f"c{at}")) for at in range(9)]


async def play(
    *lines: Any,
    options: FaultsConfig = ALWAYS,
    seed: int = 1,
    engine: str = "sqlite",
    outer: Any = (),
    **limits: Any,
) -> tuple[AgentRun, list[str]]:
    """A rollout with faults, and the ids of the calls that the environment saw."""
    seen: list[str] = []

    async def execute(call: ToolCall) -> ToolOutcome:
        seen.append(call.id)
        return await dispatch(call)

    def check(call: ToolCall) -> ToolResult | None:
        parsed = BOX.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    infos = {name: ToolInfo(name, read_only=True) for name in ("find", "submit")}
    agent = ReactAgent(
        Lines(*lines, DONE),
        ToolInterface(execute, [each.to_openai() for each in BOX.tools], infos, check),
        AgentLimits(**limits),
        middlewares=[*outer, FaultInjectionMiddleware(options, engine)],
        identity=RolloutIdentity("r", 0, seed, "t"),
    )
    run = await agent.run(OPENING)
    check_transcript(run.messages)
    return run, seen


async def test_the_same_call_fails_at_most_so_often_in_a_row():
    """At a rate of one: two failures, one success, and again."""
    run, seen = await play(*SAME)
    assert [each.result.ok for each in run.outcomes] == [False, False, True] * 3
    assert seen == ["c2", "c5", "c8"]


async def test_a_rollout_meets_at_most_so_many():
    run, _ = await play(*SAME, options=replace(ALWAYS, max_per_rollout=3, max_in_row=5))
    assert [each.result.ok for each in run.outcomes] == [False] * 3 + [True] * 6


async def test_a_fault_is_an_error_to_the_model_and_a_note_in_the_record():
    run, _ = await play(
        *SAME[:3], options=replace(ALWAYS, kinds=("deadlock",)), engine="postgresql"
    )
    told = [each["content"] for each in run.messages if each["role"] == "tool"]
    error = '"category":"deadlock","message":"deadlock detected","sql_state":"40P01"'
    assert told[0] == '{"status":"error","error":"OperationalError",' + error + "}"
    events = [each for each in run.recorded_events if each["event"] == "tool_result"]
    assert [each.get("by") for each in events] == ["faults", "faults", None]
    assert [each.get("fault") for each in events] == [
        {"kind": "deadlock", "place": at} for at in (0, 1)
    ] + [None]
    assert injected_faults(run.events) == [
        {"call": at, "id": f"c{at}", "name": "find", "kind": "deadlock"} for at in (0, 1)
    ]
    assert all(not each.changes for each in run.outcomes)


async def test_a_slow_call_is_executed_and_noted():
    run, seen = await play(*SAME[:2], options=replace(ALWAYS, kinds=("slow",)))
    assert seen == ["c0", "c1"]
    assert all(each.result.ok for each in run.outcomes)
    assert [each["kind"] for each in injected_faults(run.events)] == ["slow", "slow"]
    assert not any("by" in each for each in run.recorded_events)


async def test_the_schedule_follows_from_the_seed_alone():
    options = replace(ALWAYS, rate=0.4)
    names = [calls(find(f"c{at}", f"n{at}")) for at in range(40)]

    async def schedule(seed: int, engine: str = "sqlite") -> list[Any]:
        return injected_faults(
            (await play(*names, options=options, seed=seed, engine=engine, max_turns=100))[0].events
        )

    assert (
        await schedule(1)
        == await schedule(1)
        == await schedule(1, "mysql")
        == await schedule(1, "postgresql")
    )
    assert await schedule(1) != await schedule(2)
    hit = Counter([each["kind"] for seed in range(20) for each in await schedule(seed)])
    assert set(hit) == set(KINDS)
    assert 0.35 < hit.total() / 800 < 0.45


async def test_only_calls_that_would_reach_the_database_are_hit():
    wrong = calls(
        ("a", "find", "{"),
        ("b", "nothing", "{}"),
        ("c", "find", '{"other": 1}'),
        ("d", "submit", "{}"),
    )
    run, _ = await play(wrong)
    assert injected_faults(run.events) == []
    run, _ = await play(*SAME, options=replace(ALWAYS, tools=("another",)))
    assert injected_faults(run.events) == []


async def test_each_call_of_a_turn_has_its_own_place():
    run, seen = await play(
        calls(find("a"), find("b", "x"), find("c")), options=replace(ALWAYS, max_in_row=1)
    )
    assert [each["id"] for each in injected_faults(run.events)] == ["a", "b"]
    assert seen == ["c"]  # the same as a


async def test_a_retry_around_it_heals_the_call_and_every_fault_is_still_on_record():
    retry = RetryMiddleware(
        RetryConfig(max_retries=5, first_s=0.001, longest_s=0.001, total_s=10.0, tools=True)
    )
    run, seen = await play(SAME[0], outer=[retry])
    assert [each.result.ok for each in run.outcomes] == [True]
    assert seen == ["c0"]
    assert len(injected_faults(run.events)) == 2
    [event] = [each for each in run.recorded_events if each["event"] == "tool_result"]
    assert [each["result"]["status"] for each in event["retried"]] == ["error", "error"]


def test_every_fault_is_one_that_can_be_noticed_and_retried():
    for engine in (*FAULTS, "mariadb"):
        for kind in KINDS:
            result = said_by(engine, kind)
            assert not result.ok
            assert is_transient(result.message or "")


@pytest.mark.parametrize(
    "message", ["interrupted: the statement took longer than it may", "no such table: x", ""]
)
def test_what_a_retry_would_not_heal_is_not_transient(message: str):
    assert not is_transient(message)
