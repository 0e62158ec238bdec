"""The tasks that verifiers and inspect_ai play."""

from __future__ import annotations

import asyncio
import importlib
import sys
from types import ModuleType

import pytest

from envs.errors import SandboxError
from synth.core.models.scripted.expert import ScriptedModel
from synth.errors import OperatorError
from synth.ext.rl.planned_tasks import PlannedTasks


def test_the_expert_earns_the_reward_and_an_idle_agent_nothing():
    planned = PlannedTasks(["env=library", "tasks.count=2"])
    task = asyncio.run(planned.task(planned.tasks[0].id))
    with planned.episode(task) as episode:
        asyncio.run(
            episode.agent(ScriptedModel(), planned.limits).run(episode.messages, episode.say)
        )
        assert episode.score().reward == 1.0
    with planned.episode(task) as idle:
        asyncio.run(idle.say("It is done."))
        assert idle.score().reward == 0.0
    with pytest.raises(SandboxError):
        idle.diff()


def test_an_unknown_task_is_refused():
    planned = PlannedTasks(["env=library", "tasks.count=2"])
    with pytest.raises(OperatorError, match="no task 'nope' among 2"):
        asyncio.run(planned.task("nope"))


def test_the_model_is_the_runner_s():
    with pytest.raises(OperatorError, match="model: another runner plays these tasks"):
        PlannedTasks(["env=library", "model=openai", "model.name=any"])


@pytest.mark.parametrize("lacking", ["verifiers", "verifiers.v1"])
def test_without_verifiers_its_taskset_says_what_to_install(
    lacking: str, monkeypatch: pytest.MonkeyPatch
):
    if lacking == "verifiers.v1":
        monkeypatch.setitem(sys.modules, "verifiers", ModuleType("verifiers"))
    monkeypatch.setitem(sys.modules, lacking, None)
    for module in ("synth_worlds", "synth.ext.rl.taskset"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(OperatorError, match="synth-worlds needs verifiers: pip install"):
        importlib.import_module("synth_worlds")
