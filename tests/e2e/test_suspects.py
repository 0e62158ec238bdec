"""Suspect gold: several samples of a model agree on an end that is not gold's, over real HTTP."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import load_world
from synth.core.models.openai.wire import canonical_message
from synth.core.models.scripted.expert import ExpertConversation
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import CallStep, LoopStep
from synth.model import Completion
from synth.task import Task
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import endpoint

LIBRARY = Path(__file__).parents[2] / "examples" / "library"


class Model:
    """A model that does what the request says, where gold renews until a wrong day."""

    def __init__(self, tasks: list[Task]) -> None:
        self.tasks = {task.prompt: task for task in tasks}

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = [canonical_message(message) for message in request["messages"]]
        asked = next(message["content"] for message in messages if message["role"] == "user")
        return ExpertConversation(self.tasks[asked]).next_turn(messages)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """The library, whose gold ignores the day that is asked for."""
    folder = tmp_path / "library"
    shutil.copytree(LIBRARY, folder)
    tasks = folder / "tasks.yaml"
    text = tasks.read_text("utf-8")
    day = 'renew: {loan_id: $loan, due: "{until}"}'
    assert day in text
    tasks.write_text(text.replace(day, 'renew: {loan_id: $loan, due: "2026-04-05"}').replace(
        "until {until} please", "until {until} please, not 2026-04-05"))  # fmt: skip
    return folder


@pytest.fixture
def model(wrong: Path) -> Iterator[str]:
    """The URL of an endpoint that plays the model."""
    world = load_world(wrong)
    with world.template() as template:
        source = FamilyTasks(world, template)
        names = ["lend_book", "renew_all"]
        tasks = [
            source.task(name, index, seed)
            for name in names
            for index in range(8)
            for seed in (0, 1)
        ]
    with endpoint(Model([_honest(task) for task in tasks])) as url:
        yield url


def _honest(task: Task) -> Task:
    """The task with a gold that does what the request says."""
    if task.family != "renew_all":
        return task
    (loop,) = (step for step in task.gold if isinstance(step, LoopStep))
    (renew,) = loop.steps
    assert isinstance(renew, CallStep)
    right = replace(renew, arguments={**renew.arguments, "due": task.slots["until"]})
    other = replace(loop, steps=[right])
    return replace(task, gold=[other if step is loop else step for step in task.gold])


def test_check_shows_what_samples_agree_on_beside_gold(wrong: Path, model: str):
    words = ("--families", "lend_book,renew_all", "--tasks", "1", "--samples", "3")
    done = synth("check", str(wrong), "--model", "expert", "--base-url", model, *words, cwd=wrong)
    assert "renew_all: 0 of 3 samples solved" in done.stdout
    assert "lend_book: 6 of 6 samples solved" in done.stdout
    assert (
        "renew_all: 3 of 3 samples agree on an end that is not gold's (task renew_all-"
        in done.stdout
    )
    assert "gold: update loans" in done.stdout
    assert "samples: update loans" in done.stdout
    assert '"due":"2026-04-05"' in done.stdout
    assert done.stdout.rstrip().endswith("1 suspect")


def test_inspect_finds_the_same_in_a_finished_run(wrong: Path, model: str):
    words = ["tasks.families=[lend_book,renew_all]", "tasks.count=4", "tasks.samples=2", "seed=0"]
    words += ["model=openai", "model.name=expert", f"model.base_url={model}", "runtime=inline"]
    synth("run", f"env.path={wrong}", *words, "output.dir=out", cwd=wrong,
                env={**os.environ, "OPENAI_API_KEY": "k"})  # fmt: skip
    shown = ["inspect", "out", "--suspect"]
    assert "Next\n  synth view out\n" in synth(*shown, cwd=wrong, code=None).stdout
    report = json.loads(synth(*shown, "--json", cwd=wrong, code=None).stdout)
    assert report["families"]["lend_book"] == {"solved": 4, "samples": 4}
    assert report["families"]["renew_all"] == {"solved": 0, "samples": 4}
    assert {suspect["family"] for suspect in report["suspects"]} == {"renew_all"}
    for suspect in report["suspects"]:
        assert (suspect["agreeing"], suspect["samples"]) == (2, 2)
        assert {change["after"]["due"] for change in suspect["gold"]["changes"]} == {"2026-04-05"}
        until = {change["after"]["due"] for change in suspect["end"]["changes"]}
        assert len(until) == 1
        assert until.pop() in suspect["prompt"]
