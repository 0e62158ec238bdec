"""Tasks under renamings: played, judged, recorded and played again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from envs.sandboxes.base import Template
from envs.types import Limits, ToolCall
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.database import DatabaseConfig
from synth.core.dataset.store.wire import decode, encode, to_values, to_wire
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.models.scripted.fallible import FallibleModel
from synth.core.renaming.opening import opening_of
from synth.core.rerun.replay import differences
from synth.core.runner.run_files import task_row
from synth.core.runner.setup import limits_of
from synth.core.tasks.families import FamilyTasks
from synth.core.types.renaming import AddedTool, Renaming, renaming_of, with_renaming
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import TaskError
from synth.ext.renamings import RenamingsConfig
from synth.ext.renamings.making import Renamings
from synth.model import Completion, Model
from synth.plan import Plan, job
from synth.rollout import RolloutContext, play
from synth.task import Task
from synth.transform import Block
from tests.unit.ext.renamings import parcel_world
from tests.unit.scripted_model import Lines

NUMBERS = range(7)


@dataclass
class Scene:
    """A world with its plan over seven renamings."""

    world: World
    template: Template
    pool: FamilyTasks

    def renamings(self, *numbers: int, held_out: Sequence[int] = (), seed: int = 0) -> Renamings:
        """The renamings of a plan over the pool."""
        made = Renamings(RenamingsConfig(renamings=[*numbers], held_out_renamings=[*held_out]))
        made.look(self.template)
        made.choose([Block(self.pool, "train", seed, {})], lambda _, task: task.prompt)
        return made

    def plan(self, numbers: Sequence[int], tasks: int = 7, seed: int = 0) -> Plan:
        return Plan.make([self.pool], tasks, 1, seed, [self.renamings(*numbers)])

    def task(self, number: int, family: str) -> Task:
        """The proved first task of a family, under one renaming."""
        task = self.renamings(number).changed(self.pool.task(family, 0, 0), 0, first=True)
        return asyncio.run(prove(task, self.world, self.template))

    def played(self, task: Task, model: Model) -> dict[str, Any]:
        """The row of a rollout, as it comes out of its cells."""
        limits = limits_of(DatabaseConfig())
        context = RolloutContext(
            self.world, Templates(self.world), model, limits, AgentLimits(error_style="advice")
        )
        row = asyncio.run(play(job(0, task, 1, 0), context))
        return to_values(decode(encode(to_wire(row))))

    def episode(self, task: Task) -> Episode:
        return Episode(task, self.world, self.template, Limits())


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    world = load_world(parcel_world.make(tmp_path_factory.mktemp("renaming") / "parcels"))
    with world.template() as template:
        pool = FamilyTasks(world, template)
        yield Scene(world, template, pool)


@pytest.mark.parametrize("family", ["state_of", "arrived"])
@pytest.mark.parametrize("number", NUMBERS)
def test_gold_earns_the_full_reward_and_replays(scene: Scene, number: int, family: str):
    task = scene.task(number, family)
    row = scene.played(task, ScriptedModel())
    assert row["reward"] == 1.0
    assert row["renaming"] == (number or None)
    limits = limits_of(DatabaseConfig())
    assert asyncio.run(differences(row, task, scene.world, scene.template, limits)) == []
    called = [
        call["function"]["name"]
        for message in row["messages"]
        for call in message.get("tool_calls", ())
    ]
    assert called
    assert set(called) <= {tool["function"]["name"] for tool in row["tools"]}
    if number:
        assert set(called) <= set(row["renaming_names"]["tools"].values())


def test_the_record_is_in_shown_names_and_the_state_in_the_worlds(scene: Scene):
    task = scene.task(4, "arrived")
    row = scene.played(task, ScriptedModel())
    names = row["renaming_names"]
    call = next(
        call["function"]
        for message in row["messages"]
        for call in message.get("tool_calls", ())
        if call["function"]["name"] == names["tools"]["mark_parcel"]
    )
    status = names["names"].get("status", "status")
    assert call["arguments"][status] == names["values"]["status"].get("delivered", "delivered")
    (change,) = row["state_diff"]
    assert change["table"] == "parcels"
    assert change["after"]["status"] == "delivered"
    assert row["submitted"] == {"outcome": "marked"}
    assert {execution["tool"] for execution in row["executions"]} == {"find_parcel", "mark_parcel"}


def replied(scene: Scene, task: Task, state: str) -> dict[str, Any]:
    """The row of an agent that looks the parcel up, hands in the right state and says this one."""
    renaming = renaming_of(task) or Renaming(0)
    number, words = task.slots["number"], renaming.values.get("state", {})
    calls = [
        ToolCall.of(
            renaming.tools.get("find_parcel", "find_parcel"),
            {renaming.names.get("number", "number"): number},
            "a",
        ),
        ToolCall.of(
            renaming.tools.get("submit", "submit"),
            {renaming.names.get("state", "state"): words.get("shipped", "shipped")},
            "b",
        ),
    ]
    turns = [Completion(tool_calls=[call], finish_reason="tool_calls") for call in calls]
    said = Completion(content=f"Parcel {number} is {words.get(state, state)}.")
    return scene.played(task, Lines(*turns, said, Completion(content="Anything else?")))


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_reply_is_judged_by_what_it_means(scene: Scene, number: int):
    """Under a renaming the gate finds the wrong outcome behind the renaming's word for it."""
    task = scene.task(number, "state_of")
    rows = {state: replied(scene, task, state) for state in ("shipped", "delivered")}
    assert [row["reward"] for row in rows.values()] == [1.0, 0.0]
    if number:
        assert renaming_of(task) is not None
        assert set(renaming_of(task).values["state"]) == {
            "shipped",
            "in_transit",
            "delivered",
            "cancelled",
        }
        said = [rows[state]["messages"][-1]["content"] for state in rows]
        assert "shipped" not in said[0]
        assert "delivered" not in said[1]


def test_the_worlds_own_names_are_unknown_to_the_model(scene: Scene):
    task = scene.task(1, "arrived")
    assert renaming_of(task) is not None
    names = renaming_of(task)
    with scene.episode(task) as episode:
        before = episode.state_hash()
        own = asyncio.run(episode.call("mark_parcel", {"number": "P-13", "status": "delivered"}))
        assert own.result.category == "unknown_tool"
        assert "mark_parcel" not in (own.result.advice or "")
        wrong = asyncio.run(episode.call(names.tools["mark_parcel"], {"parcel_number": "P-13"}))
        assert wrong.result.category == "invalid_arguments"
        assert names.names.get("status", "status") in (wrong.result.message or "")
        missing = {names.names.get("number", "number"): "P-99"}
        refused = asyncio.run(episode.call(names.tools["find_parcel"], missing))
        assert names.tools["list_parcels"] in (refused.result.message or "")
        assert "list_parcels" not in (refused.result.message or "")
        assert episode.state_hash() == before
        assert [call.name for call in episode.calls] == [
            "mark_parcel",
            "mark_parcel",
            "find_parcel",
        ]
        assert [call.ok for call in episode.calls] == [False, False, False]


def test_added_tools_answer_and_change_nothing(scene: Scene):
    task = scene.task(3, "state_of")
    assert renaming_of(task) is not None
    added = AddedTool("send_fax", "Send a fax.", {}, refusal="There is no line.")
    task = with_renaming(task, replace(renaming_of(task), added=(*renaming_of(task).added, added)))
    with scene.episode(task) as episode:
        before = episode.state_hash()
        for tool in renaming_of(task).added if renaming_of(task) else ():
            arguments: Mapping[str, Any] = {
                name: {"string": "x", "integer": 1, "number": 1.5}[schema["type"]]
                for name, schema in tool.parameters.items()
            }
            outcome = asyncio.run(episode.call(tool.name, arguments))
            assert outcome.result.ok is (tool.refusal is None)
        assert outcome.result.message == "There is no line."
        assert episode.state_hash() == before
        assert len(episode.executions) == len(episode.calls) == len(renaming_of(task).added)


def test_a_tool_that_is_left_out_is_not_there(scene: Scene):
    tasks = [scene.task(number, "state_of") for number in (2, 5, 8, 11)]
    renamings = [renaming_of(task) for task in tasks if renaming_of(task) is not None]
    assert any(renaming.left_out for renaming in renamings)
    for task, renaming in zip(tasks, renamings, strict=True):
        # Gold and the rules name find_parcel, and its description names list_parcels.
        assert {"find_parcel", "list_parcels"}.isdisjoint(renaming.left_out)
        with scene.episode(task) as episode:
            for name in renaming.left_out:
                outcome = asyncio.run(episode.call(renaming.tools[name], {}))
                assert outcome.result.category == "unknown_tool"


def test_the_plan_spreads_renamings_and_keeps_the_tasks(scene: Scene):
    shown, own = scene.plan(NUMBERS), scene.plan([0])
    tasks = [shown.task(index) for index in range(7)]
    numbers = [0 if renaming_of(task) is None else renaming_of(task).number for task in tasks]
    assert sorted(numbers) == list(NUMBERS)
    assert [task.id for task in tasks] == [own.task(index).id for index in range(7)]
    jobs = [shown.job(index, task).id for index, task in enumerate(tasks)]
    before = [own.job(index, own.task(index)).id for index in range(7)]
    same = [number == 0 for number in numbers]
    assert [one == other for one, other in zip(jobs, before, strict=True)] == same
    assert shown.digest() != own.digest()
    assert scene.plan(NUMBERS).digest() == shown.digest()


def test_a_held_out_renaming_is_not_shown_in_the_first_split(scene: Scene):
    renamings = scene.renamings(0, 1, 2, held_out=[2], seed=5)
    task = scene.pool.task("state_of", 0, 0)
    first = [renaming_of(renamings.changed(task, index, first=True)) for index in range(12)]
    second = [renaming_of(renamings.changed(task, index, first=False)) for index in range(12)]
    assert {renaming.number for renaming in first if renaming is not None} == {1}
    assert {renaming.number for renaming in second if renaming is not None} == {1, 2}


def test_a_task_survives_its_json_with_its_renaming(scene: Scene):
    task = scene.task(2, "arrived")
    again = Task.from_json(json.loads(json.dumps(task.to_json())))
    assert renaming_of(again) == renaming_of(task)
    assert opening_of(again) == opening_of(task)
    row = task_row(task, scene.world)
    assert row["messages"] == opening_of(task)
    assert "find_parcel" not in json.dumps(row["tools"])


def test_a_renaming_under_which_gold_fails_is_refuted(scene: Scene):
    task = scene.task(1, "arrived")
    assert renaming_of(task) is not None
    broken = with_renaming(task, replace(renaming_of(task), left_out=("mark_parcel",)))
    with pytest.raises(TaskError, match="under renaming 1: "):
        asyncio.run(prove(broken, scene.world, scene.template))


def test_a_mistake_is_the_same_under_every_renaming(scene: Scene):
    model = FallibleModel(["wrong_argument", "forgotten_step", "premature_answer"], 1.0)
    rows = [scene.played(scene.task(number, "arrived"), model) for number in (0, 1, 4)]
    kinds = [[entry.get("mistake") for entry in row["provider_fields"]] for row in rows]
    assert any(kinds[0])
    assert kinds[0] == kinds[1] == kinds[2]
    assert len({row["reward"] for row in rows}) == 1
