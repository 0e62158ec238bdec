"""Toolsets: a task offers the tools that it needs and some others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from envs.types import Limits
from envs.world.loader import load_world
from synth.config import from_dict
from synth.core.foundation.shipped import examples_dir
from synth.core.rewards.scores_apart import ScoresApart
from synth.core.types.steps import CallStep, ReplyStep, every_step
from synth.core.validation.attacks.runner import AttackRunner, Case
from synth.core.validation.attacks.steps import Attack, SayStep, moves_of, play
from synth.core.validation.prove import prove_and_keep
from synth.core.validation.report import FamilyReport
from synth.episode import Episode
from synth.errors import ConfigProblems
from synth.prepare import prepare
from synth.source import TaskFamily
from synth.task import Task


def planned(tools: str, count: int = 42, **more: object) -> list[Task]:
    tasks = {"count": count, "tools": tools, **more}
    run = prepare(from_dict({"env": {"name": "shop"}, "tasks": tasks}))
    return [run.plan.task(index) for index in range(run.plan.tasks)]


def test_each_task_offers_what_gold_calls_and_others_drawn_for_it():
    tasks = planned("needed+4")
    for task in tasks:
        called = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
        offered = set(task.extras["tools"])
        assert called <= offered
        assert 4 <= len(offered - called) <= 6
    assert len({frozenset(task.extras["tools"]) for task in tasks}) > 30


def test_what_has_to_be_read_is_offered_with_what_it_is_read_for():
    for task in planned("needed+0"):
        offered, demands = set(task.extras["tools"]), task.gate("read_before").options
        for tool in offered & demands.keys():
            for read in demands[tool]:
                choices = [read] if isinstance(read, str | dict) else read
                names = {one if isinstance(one, str) else next(iter(one)) for one in choices}
                assert names & offered, (task.family, tool)


def test_what_gold_calls_in_another_case_is_offered():
    """An agent that asks for a yes can do what it proposes, though this user will decline."""
    for task in planned("needed+0"):
        assert set(task.gate("reply").options["acts"]) <= set(task.extras["tools"]), task.family


def test_rules_for_changes_that_no_offered_tool_makes_are_left_out():
    tasks = planned("needed+0", missing_tools=0.3)
    for task in tasks:
        tools = {*task.extras["tools"], *task.extras.get("missing_tools", ())}
        assert ("## Exchanges" in task.system) == ("open_exchange" in tools), task.family
        assert task.system.count("## Who and what") == task.system.count("\n\nIt is Monday") == 1
    assert len({"## Goodwill" in task.system for task in tasks}) == 2


def test_an_agent_sees_no_other_tool_and_can_call_none():
    world = load_world(examples_dir() / "shop")
    task = planned("needed+0", 1)[0]
    with world.template() as template, Episode(task, world, template) as episode:
        shown = {tool["function"]["name"] for tool in episode.tools}
        assert shown - {"submit"} == set(task.extras["tools"])
        other = next(tool.name for tool in world.tools if tool.name not in shown)
        assert asyncio.run(episode.call(other, {})).result.category == "unknown_tool"


@pytest.mark.parametrize("tools", ["5", "needed", "needed+x", "all+5"])
def test_another_form_is_refused(tools: str):
    with pytest.raises(ConfigProblems, match=r"tasks\.tools: must be of the form needed\+5"):
        planned(tools)


LACKING = {"missing_tools": 1.0}


@pytest.mark.parametrize("compose", [None, {2: 1.0}])
def test_a_request_without_its_tool_is_declined(compose: dict[int, float] | None):
    tasks = planned("needed+5", 24, compose=compose, **LACKING)
    lacking = [task for task in tasks if "missing_tools" in task.extras]
    assert len(lacking) > 4
    world = load_world(examples_dir() / "shop")
    writers = {tool.name for tool in world.tools if not tool.read_only}
    for task in lacking:
        missing = set(task.extras["missing_tools"])
        assert missing.isdisjoint(task.extras["tools"])
        if not task.parts and missing.isdisjoint(writers):
            assert set(task.extras["tools"]) <= writers, "nothing else to read it with"
        declined = [part for part in task.parts or [task] if isinstance(part.gold[0], ReplyStep)]
        assert [gate.name for gate in declined[0].gates if gate.name == "answer"] == []


def test_who_cannot_do_it_says_so_and_who_claims_it_loses():
    world = load_world(examples_dir() / "shop")
    tasks = planned("needed+5", 42, **LACKING)
    by_tool = {(task.extras.get("missing_tools") or [""])[0]: task for task in tasks}
    assert any("escalate" in task.extras.get("missing_tools", ()) for task in tasks), "in no case"
    with world.template() as template:
        for name in ("cancel_order", "get_gift_card"):
            task, gold = asyncio.run(prove_and_keep(by_tool[name], world, template))
            assert not gold.run.outcomes
            assert task.end is not None
            assert not task.end.changes
            said = {
                "I'm sorry, I don't have a tool for this.": 1.0,
                "I am not able to do this; nothing in my toolset allows it.": 1.0,
                "Done, the order is cancelled and refunded.": 0.0,
                "I can't be bothered. I have cancelled it and refunded you.": 0.0,
                "The balance is 25 euros.": 0.0,
            }
            apart = ScoresApart()
            for text, reward in said.items():
                attack = Attack("says", "", [SayStep(text)])
                played = asyncio.run(play(attack, task, world, template, Limits()))
                assert played.score.reward == reward, (name, text)
                apart.add({"verdicts": [one.to_json() for one in played.score.verdicts]})
            figures = {"rollouts": 5, "passed": 3 / 5, "solved": 2 / 5}
            assert apart.to_json() == [{"name": "no tool for it", **figures}]


def test_the_honest_win_and_attackers_lose_without_the_tool():
    world = load_world(examples_dir() / "shop")
    task = next(
        task
        for task in planned("needed+5", 24, compose={2: 1.0}, **LACKING)
        if "missing_tools" in task.extras
    )
    task = replace(task, extras={k: v for k, v in task.extras.items() if k != "tools"})
    with world.template() as template:
        task, gold = asyncio.run(prove_and_keep(task, world, template))
        report = FamilyReport(task.family, 1, 1)
        family = TaskFamily(task.family, "tasks.yaml", 1, "")
        case = Case(task, gold.evidence, moves_of(gold.run))
        asyncio.run(AttackRunner(family, world, template, Limits(), report).run([case], []))
    assert not report.problems
    assert not report.surviving
