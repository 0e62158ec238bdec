"""The same job against a real OpenAI-compatible HTTP server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from aiohttp import web

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import TaskTable
from synth.task import Task
from tests.e2e.command import COMMAND, stable_rows, synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.misbehaving import wait_for_words
from tests.faulty_endpoint import Fault

JOB = ("run", "tasks.count=40", "seed=11")
KEY = "test-key-of-the-loopback-endpoint"


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job as the scripted expert plays it."""
    home = tmp_path_factory.mktemp("endpoint")
    synth(*JOB, "runtime=inline", "output.dir=scripted", cwd=home)
    return home / "scripted"


def tasks_of(run: Path) -> list[Task]:
    table = TaskTable(run / "tasks.parquet")
    return [Task.from_json(table.task(at)) for at in range(len(table))]


def model(url: str) -> tuple[str, ...]:
    return (
        "model=openai",
        "model.name=expert",
        f"model.base_url={url}",
        "model.api_key_env=LOOPBACK_KEY",
    )


def test_an_endpoint_gives_the_same_transcripts_as_the_expert(scripted: Path):
    expert = Expert(tasks_of(scripted))
    with endpoint(expert, api_key=KEY) as url:
        synth(
            *JOB,
            *model(url),
            "runtime=inline",
            "output.dir=http",
            cwd=scripted.parent,
            env={"LOOPBACK_KEY": KEY},
        )
    over_http, in_process = stable_rows(scripted.parent / "http"), stable_rows(scripted)
    for ours, theirs in zip(over_http, in_process, strict=True):
        assert ours["messages"] == theirs["messages"]
        assert ours["reward"] == theirs["reward"] == 1.0
        assert ours["state_hash_after"] == theirs["state_hash_after"]
        assert ours["model"] == "expert"
        assert ours["input_tokens"] > 0
        assert ours["cost_usd"] is None
    first_call = 1
    assert expert.requests == first_call + sum(row["num_turns"] for row in over_http)
    for file in (scripted.parent / "http").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


REFUSALS: dict[str, Fault] = {
    "400": Fault(status=400, body=(b'{"error": {"message": "no such parameter"}}',)),
    "503": Fault(status=503, body=(b'{"error": {"message": "overloaded"}}',)),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_what_an_endpoint_that_accepts_nothing_refuses_is_played_once_it_is_mended(
    scripted: Path, kind: str
):
    """No refused job is lost, no row is made of it, and equal refusals stop the run early."""
    mended = False

    async def refuse(request: web.Request) -> Fault | None:
        chat = request.path.endswith("/chat/completions")
        return REFUSALS[kind] if chat and not mended else None

    options = (
        "preflight=false",  # it would end the run before the first rollout
        "runtime=inline",
        "runtime.concurrency=4",
        "runtime.breaker_window=8",
        "runtime.max_attempts=2",
        "model.max_retries=0",
        f"output.dir=refusing-{kind}",
    )
    run, env = scripted.parent / f"refusing-{kind}", {"LOOPBACK_KEY": KEY}
    with endpoint(Expert(tasks_of(scripted)), refuse, KEY) as url:
        done = synth(*JOB, *options, *model(url), cwd=scripted.parent, env=env, code=3)
        words = {"503": "of the last 8 rollouts failed", "400": "has let no rollout come to an end"}
        assert words[kind] in done.stdout
        assert json.loads((run / "manifest.json").read_text())["status"] == "partial"
        for _ in range(2):  # more sessions than a job has attempts
            synth("run", "--resume", str(run), cwd=scripted.parent, env=env, code=3)
        assert Dataset.open(run).count == 0
        assert len(Dataset.open(run).errors()) < 40
        mended = True
        synth("run", "--resume", str(run), cwd=scripted.parent, env=env)
    assert Dataset.open(run).errors() == []
    assert [row["messages"] for row in stable_rows(run)] == [
        row["messages"] for row in stable_rows(scripted)
    ]


def test_requests_that_were_made_again_are_counted_with_their_reasons(scripted: Path):
    """Issue 38: 104 retried requests (429, 500) stood nowhere, and a run whose requests were all
    refused for now said nothing of it; an answer without a choice was "HTTP 200".
    """
    seen, told_of = 0, False

    async def now_and_then(request: web.Request) -> Fault | None:
        nonlocal seen
        seen += request.path.endswith("/chat/completions")
        status = {0: 429, 5: 500, 7: 200}.get(seen % 10) if told_of or seen < 2 else 429
        headers = {"Retry-After": "0"} if status == 429 else {}
        body = (b'{"choices": []}',)
        return None if status is None else Fault(status=status, body=body, headers=headers)

    options = ("tasks.count=8", "seed=11", "runtime=inline", "runtime.concurrency=1")
    run, env = scripted.parent / "again", {"LOOPBACK_KEY": KEY}
    with endpoint(Expert(tasks_of(scripted)), now_and_then, KEY) as url:
        words = ("run", *options, f"output.dir={run}", *model(url), "model.max_retries=99")
        pipe = subprocess.PIPE
        done = subprocess.Popen(
            [*COMMAND, *words], env=os.environ | env, text=True, stdout=pipe, stderr=pipe
        )
        wait_for_words(done, "rollouts: 0 of 8, failed requests: ")
        told_of = True
        out, said = done.communicate()
    assert done.returncode == 0, said
    told = json.loads((run / "manifest.json").read_text())["counts"]["retries"]
    assert told["reasons"].keys() == {"HTTP 429", "HTTP 500", "unusable answer"}
    assert told["count"] == sum(told["reasons"].values()) > 2
    assert told["waited_s"] > 0
    words = f"{told['count']} ({', '.join(f'{n} {why}' for why, n in told['reasons'].items())})"
    assert f"requests made again: {words}, " in out
    shown = synth("inspect", str(run), cwd=scripted.parent)
    assert words in shown.stdout
    rows = Dataset.open(run).rows(["retries"])
    assert sum(len(row["retries"]) for row in rows) == told["count"]


def test_requests_of_rollouts_that_broke_are_counted_too(scripted: Path):
    """Issue 38: where every request was refused for its rate, no line said how often it was made."""

    async def refuse(request: web.Request) -> Fault | None:
        asks = request.path.endswith("/chat/completions")
        body = (b'{"error": {"message": "slow down"}}',)
        return Fault(status=429, body=body, headers={"Retry-After": "0"}) if asks else None

    options = ("tasks.count=4", "seed=11", "runtime=inline", "preflight=false")
    run, env = scripted.parent / "refused", {"LOOPBACK_KEY": KEY}
    with endpoint(Expert(tasks_of(scripted)), refuse, KEY) as url:
        words = (*options, f"output.dir={run}", *model(url), "model.max_retries=2")
        done = synth("run", *words, cwd=scripted.parent, env=env, code=3)
    assert "requests made again: 8 (8 HTTP 429), " in done.stdout
    assert json.loads((run / "manifest.json").read_text())["counts"]["retries"]["count"] == 8
    assert "requests: 8 (8 HTTP 429), " in synth("inspect", str(run), cwd=scripted.parent).stdout
