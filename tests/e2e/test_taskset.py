"""verifiers and inspect_ai play tasks of ours by their own commands, each in an environment of its
own.

pytest -m long tests/e2e/test_taskset.py
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.dataset.reader import Dataset
from synth.ext.rl.planned_tasks import PlannedTasks
from synth.model import Completion
from synth.task import Task
from tests.documents import ROOT
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.isolated import consume, install, make_environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

VERIFIERS, INSPECT = "verifiers==0.4.0", "inspect-ai==0.3.285"
COUNT = 6
EXTENSIONS = ROOT / "examples" / "extensions"
CALLS = [
    ToolCall("bad_json", "find_customer", '{"name": '),
    ToolCall("a_list", "find_customer", "[1, 2]"),
    ToolCall("bad_types", "find_customer", '{"name": {"first": []}, "other": null}'),
    ToolCall("no_name", "", "{}"),
    ToolCall("unknown", "fly_to_the_moon", "{}"),
]
"""Calls that no tool takes."""

Played = tuple[str, float, Mapping[str, float]]
"""The task of a rollout, its reward, and the score of each verifier."""


class Mixed(Expert):
    """Plays each task in another way, by its number: as the expert; as one who only talks; as the
    expert after calls that no tool takes; as one who gives up after the first call.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        tasks = list(tasks)
        super().__init__(tasks)
        self._numbers = {task.prompt: number for number, task in enumerate(tasks)}

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = request["messages"]
        prompt = next(one["content"] for one in messages if one["role"] == "user")
        way = self._numbers[prompt] % 4
        said = [one for one in messages if one["role"] == "assistant"]
        if way == 1 or (way == 3 and said):
            return Completion("It is done.")
        if way == 2:
            if not said:
                return Completion(tool_calls=tuple(CALLS), finish_reason="tool_calls")
            failed = {call.id for call in CALLS}
            answers = [one for one in messages if one.get("tool_call_id") in failed]
            assert len(answers) == len(CALLS), "each call has its answer"
            messages = [one for one in messages if one is not said[0] and one not in answers]
        return await super().__call__({**request, "messages": messages})


@pytest.fixture(scope="module")
def with_verifiers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with verifiers, and then synth."""
    python = make_environment(tmp_path_factory.mktemp("verifiers") / "venv", (VERIFIERS,))
    install(python, (str(ROOT),))
    return python


@pytest.fixture(scope="module")
def with_inspect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with inspect_ai and synth."""
    return make_environment(tmp_path_factory.mktemp("inspect") / "venv", (INSPECT, str(ROOT)))


def test_an_unknown_world_is_one_message(with_verifiers: Path, tmp_path: Path):
    command = [str(with_verifiers.with_name("vf-eval")), "synth-worlds", "--model", "expert"]
    command += ["--env.taskset.overrides", '["env=nowhere"]', "--push", "false", "--rich", "None"]
    done = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "error: env=nowhere: no such choice" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def play_by_synth(overrides: list[str], model: str, home: Path) -> list[Played]:
    url = f"model.base_url={model}"
    asked = ("model=openai", "model.name=expert", url, "model.api_key_env=null", "runtime=inline")
    synth("run", *overrides, *asked, "output.dir=run", cwd=home)
    return [
        (
            row["task_id"],
            row["reward"],
            {one["verifier"]: one["score"] for one in row["verdicts"] if one["score"] is not None},
        )
        for row in Dataset.open(home / "run").rows()
    ]


def play_by_verifiers(
    python: Path, overrides: list[str], model: str, home: Path, samples: int = 1
) -> list[Played]:
    run(
        [
            *(python.with_name("vf-eval"), "synth-worlds", "--model", "expert"),
            *("--env.taskset.overrides", json.dumps(overrides), "--client.base-url", model),
            *("--client.api-key-var", "ANY_KEY", "--output-dir", "out", "--push", "false"),
            *("--rich", "None", "--num-rollouts", str(samples)),
        ],
        home,
        ANY_KEY="unused",
    )
    [file] = (home / "out").glob("*/traces.jsonl")
    found: list[Played] = []
    for episode in map(json.loads, file.read_text().splitlines()):
        [trace] = episode["traces"]
        assert not episode["errors"] + trace["errors"], trace["errors"]
        reward = trace["rewards"]["synth"]["score"]
        found.append((trace["task"]["key"], reward, trace["metrics"]))
    return found


def play_by_inspect(
    python: Path, task: str, overrides: list[str], url: str, home: Path, samples: int = 1
) -> list[Played]:
    options = [part for one in overrides for part in ("-T", one)]
    run(
        [
            *(python.with_name("inspect"), "eval", task, "--model", "openai-api/local/expert"),
            *(*options, "--display", "none", "--log-format", "json", "--log-dir", "log"),
            *("--epochs", str(samples)),
        ],
        home,
        LOCAL_API_KEY="unused",
        LOCAL_BASE_URL=url,
    )
    [file] = (home / "log").glob("*.json")
    log = json.loads(file.read_text())
    assert log["status"] == "success", log.get("error")
    found: list[Played] = []
    for sample in log["samples"]:
        score = sample["scores"]["verdicts"]
        lines = [line.split(": ")[:2] for line in score["explanation"].splitlines()]
        scores = {name: float(text.split()[0]) for name, text in lines}
        found.append((sample["id"], score["value"], scores))
    return found


def run(command: list[Any], home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **variables},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def proved(planned: PlannedTasks) -> list[Task]:
    async def prove() -> list[Task]:
        return [await planned.task(task.id) for task in planned.tasks]

    return asyncio.run(prove())


def by_task(played: list[Played]) -> dict[str, Played]:
    assert len({task for task, _, _ in played}) == len(played)
    return {one[0]: one for one in played}


def test_each_runner_gives_the_reward_of_synth_run(
    with_verifiers: Path, with_inspect: Path, tmp_path: Path
):
    overrides = ["env=shop", f"tasks.count={COUNT}", "seed=5"]
    tasks = proved(PlannedTasks(overrides))
    with endpoint(Mixed(tasks)) as url:
        expected = by_task(play_by_synth(overrides, url, tmp_path))
        verifiers = play_by_verifiers(with_verifiers, overrides, url, tmp_path / "verifiers")
        inspect = play_by_inspect(
            with_inspect, "synth/shop", overrides[1:], url, tmp_path / "inspect"
        )
    assert [expected[task.id][1] for task in tasks] == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    assert by_task(verifiers) == expected
    assert by_task(inspect) == expected


def test_parallel_rollouts_in_a_world_of_a_package_share_nothing(
    with_verifiers: Path, with_inspect: Path, tmp_path: Path
):
    """Each of four rollouts of a task changes the same row, and each finds it as it was."""
    for python in (with_verifiers, with_inspect):
        install(python, (str(EXTENSIONS / "package"),), "--no-deps")
    tasks = proved(PlannedTasks([f"env.path={EXTENSIONS / 'world'}", "tasks.count=2"]))
    overrides = ["env.name=shelves", "tasks.count=2"]
    with endpoint(Expert(tasks)) as url:
        for played in (
            play_by_verifiers(with_verifiers, overrides, url, tmp_path / "verifiers", samples=4),
            play_by_inspect(
                with_inspect, "synth/world", overrides, url, tmp_path / "inspect", samples=4
            ),
        ):
            assert [reward for _, reward, _ in played] == [1.0] * 8
            assert len({task for task, _, _ in played}) == 2


def test_inspect_closes_sandboxes_and_scores_no_model_that_never_answers(
    with_inspect: Path, tmp_path: Path
):
    ends = json.loads(consume(with_inspect, "inspect_consumer.py", tmp_path))
    closed = {name: 6 if name == "is asked again" else 3 for name in ends}
    assert {name: end["sandboxes"] for name, end in ends.items()} == closed
    assert {name: end["closed"] for name, end in ends.items()} == closed
    assert all(end["unscored"] for end in ends.values())
