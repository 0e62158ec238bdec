"""The same job against a real OpenAI-compatible HTTP server on loopback, over real Ray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web

from synth.dataset.reader import Dataset
from synth.dataset.task_table import TaskTable
from synth.models.server import Fault
from synth.types import Task
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import Expert, endpoint

JOB = ("run", "tasks.count=40", "seed=11")
KEY = "test-key-of-the-loopback-endpoint"


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job as the scripted expert plays it."""
    home = tmp_path_factory.mktemp("endpoint")
    assert synth(*JOB, "runtime=inline", "output.dir=scripted", cwd=home).returncode == 0
    return home / "scripted"


def tasks_of(run: Path) -> list[Task]:
    table = TaskTable(run / "tasks.parquet")
    return [Task.from_json(table.task(at)) for at in range(len(table))]


def model(url: str) -> tuple[str, ...]:
    return ("model=openai", "model.name=expert", f"model.base_url={url}", "model.api_key_env=LOOPBACK_KEY")


@pytest.mark.ray
def test_an_endpoint_gives_the_same_transcripts_as_the_expert(scripted: Path):
    expert = Expert(tasks_of(scripted))
    with endpoint(expert, api_key=KEY) as url:
        done = synth(*JOB, *model(url), "output.dir=http", cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
    assert done.returncode == 0, done.stderr
    over_http, in_process = stable_rows(scripted.parent / "http"), stable_rows(scripted)
    for ours, theirs in zip(over_http, in_process, strict=True):
        assert ours["messages"] == theirs["messages"]
        assert ours["reward"] == theirs["reward"] == 1.0
        assert ours["state_hash_after"] == theirs["state_hash_after"]
        assert ours["model"] == "expert"
        assert ours["input_tokens"] > 0
        assert ours["cost_usd"] is None
    assert expert.requests == sum(row["num_turns"] for row in over_http)
    for file in (scripted.parent / "http").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_a_refused_key_is_found_before_anything_is_paid_for(scripted: Path):
    expert = Expert(tasks_of(scripted))
    with endpoint(expert, api_key=KEY) as url:
        done = synth(
            *JOB,
            *model(url),
            "runtime=inline",
            "output.dir=refused",
            cwd=scripted.parent,
            env={"LOOPBACK_KEY": "wrong-key"},
        )
    assert done.returncode == 2
    assert "wrong-key" not in done.stderr + done.stdout
    assert expert.requests == 0


def test_an_outage_trips_the_breaker_and_a_resume_finishes_the_job(scripted: Path):
    down = {"now": True}

    async def faults(request: web.Request) -> Fault | None:
        chat = request.path.endswith("/chat/completions")
        return Fault(status=503, body=(b'{"error": {"message": "overloaded"}}',)) if down["now"] and chat else None

    options = (
        "runtime=inline",
        "runtime.breaker_window=8",
        "model.max_retries=0",
        "runtime.concurrency=4",
        "output.dir=outage",
    )
    with endpoint(Expert(tasks_of(scripted)), faults, KEY) as url:
        done = synth(*JOB, *model(url), *options, cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
        assert done.returncode == 3, done.stderr
        assert "of the last 8 rollouts failed" in done.stdout
        run = scripted.parent / "outage"
        assert json.loads((run / "manifest.json").read_text())["status"] == "partial"
        broken = Dataset.open(run).errors()
        assert 8 <= len(broken) < 40
        assert all(each["retryable"] for each in broken)
        down["now"] = False
        done = synth("run", "--resume", "outage", cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
    assert done.returncode == 0, done.stderr
    assert Dataset.open(run).errors() == []
    assert [row["messages"] for row in stable_rows(run)] == [row["messages"] for row in stable_rows(scripted)]


def test_a_budget_drains_and_a_higher_one_goes_on(scripted: Path):
    options = ("runtime=inline", "runtime.concurrency=2", "budget.tokens=20000", "output.dir=budget")
    with endpoint(Expert(tasks_of(scripted)), api_key=KEY) as url:
        done = synth(*JOB, *model(url), *options, cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
        assert done.returncode == 3, done.stderr
        assert "budget" in done.stdout
        run = scripted.parent / "budget"
        assert 0 < Dataset.open(run).count < 40
        again = synth("run", "--resume", "budget", cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
        assert again.returncode == 3
        done = synth("run", "--resume", "budget", "budget.tokens=null", cwd=scripted.parent, env={"LOOPBACK_KEY": KEY})
    assert done.returncode == 0, done.stderr
    assert [row["messages"] for row in stable_rows(run)] == [row["messages"] for row in stable_rows(scripted)]


def test_a_run_of_which_every_rollout_is_given_up_is_no_success(scripted: Path):
    """An endpoint that refuses each request for good: nothing is left to do, and nothing was made."""

    async def refuse(request: web.Request) -> Fault | None:
        chat = request.path.endswith("/chat/completions")
        return Fault(status=400, body=(b'{"error": {"message": "no such parameter"}}',)) if chat else None

    options = ("tasks.count=3", "seed=11", "runtime=inline", "output.dir=refusing")
    env = {"LOOPBACK_KEY": KEY}
    with endpoint(Expert(tasks_of(scripted)), refuse, KEY) as url:
        done = synth("run", *options, *model(url), cwd=scripted.parent, env=env)
        again = synth("run", "--resume", "refusing", cwd=scripted.parent, env=env)
    for each in (done, again):
        assert each.returncode == 3, each.stderr + each.stdout
        assert "empty: 0 of 3 rollouts" in each.stdout
    assert "3 are given up" in done.stdout
    assert json.loads((scripted.parent / "refusing/manifest.json").read_text())["counts"]["terminal_errors"] == 3
