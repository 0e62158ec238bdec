"""Toolsets: a task offers the tools that it needs and some others."""

from __future__ import annotations

import asyncio

import pytest

from envs.world.loader import load_world
from synth.config import from_dict
from synth.core.foundation.shipped import examples_dir
from synth.core.types.steps import CallStep, every_step
from synth.episode import Episode
from synth.errors import ConfigProblems
from synth.prepare import prepare
from synth.task import Task


def planned(tools: str, count: int = 42) -> list[Task]:
    run = prepare(from_dict({"env": {"name": "shop"}, "tasks": {"count": count, "tools": tools}}))
    return [run.plan.task(index) for index in range(run.plan.tasks)]


def test_each_task_offers_what_gold_calls_and_others_drawn_for_it():
    tasks = planned("needed+4")
    for task in tasks:
        called = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
        offered = set(task.extras["tools"])
        assert called <= offered
        assert 4 <= len(offered - called) <= 6
    assert len({frozenset(task.extras["tools"]) for task in tasks}) > 30
    again = planned("needed+4")
    assert [task.extras["tools"] for task in again] == [task.extras["tools"] for task in tasks]


def test_what_has_to_be_read_is_offered_with_what_it_is_read_for():
    for task in planned("needed+0"):
        offered, demands = set(task.extras["tools"]), task.gate("read_before").options
        for tool in offered & demands.keys():
            for read in demands[tool]:
                choices = [read] if isinstance(read, str | dict) else read
                names = {one if isinstance(one, str) else next(iter(one)) for one in choices}
                assert names & offered, (task.family, tool)


def test_an_agent_sees_no_other_tool_and_can_call_none():
    world = load_world(examples_dir() / "shop")
    task = planned("needed+0", 1)[0]
    with world.template() as template, Episode(task, world, template) as episode:
        shown = {tool["function"]["name"] for tool in episode.tools}
        assert shown - {"submit"} == set(task.extras["tools"])
        other = next(tool.name for tool in world.tools if tool.name not in shown)
        outcome = asyncio.run(episode.call(other, {}))
        assert outcome.result.category == "unknown_tool"


@pytest.mark.parametrize("tools", ["5", "needed", "needed+x", "all+5"])
def test_another_form_is_refused(tools: str):
    with pytest.raises(ConfigProblems, match=r"tasks\.tools: must be of the form needed\+5"):
        planned(tools)
