"""``runtime=auto``: this process for what it ends sooner than Ray starts, Ray for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from synth.config import RuntimeConfig, from_dict
from synth.core.runner.runtimes import auto
from synth.core.runner.runtimes.auto import AutoRuntime, choose
from synth.core.runner.runtimes.base import Runtime, make_runtime
from synth.core.runner.setup import WorkerSetup, Workload
from synth.prepare import prepare
from synth.testing import RuntimeConformance

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def setup() -> WorkerSetup:
    run = prepare(from_dict({"env": {"name": "library"}, "tasks": {"count": 2}}))
    return run.worker_setup(b"")


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto.os, "cpu_count", lambda: 2)


def chosen(setup: WorkerSetup, jobs: int, **config: Any) -> tuple[str, str]:
    work = Workload(tasks=jobs, jobs=jobs)
    return choose(RuntimeConfig(**config), replace(setup, workload=work))


def test_a_small_job_stays_in_this_process_and_the_line_says_why(setup: WorkerSetup):
    kind, line = chosen(setup, 64)
    assert kind == "inline"
    assert line.startswith("64 proofs and 64 rollouts in this process: about 2 s")
    assert "runtime=ray" in line


def test_a_large_job_goes_to_ray(setup: WorkerSetup):
    kind, line = chosen(setup, 5_000)
    assert kind == "ray"
    assert line.startswith("5,000 proofs and 5,000 rollouts on Ray, 2 workers")


@pytest.mark.parametrize(
    "config",
    [
        {"workers": 1},
        {"address": "ray://head:10001"},
        {"options": {"look_s": 1.0}},
        {"resources": {"CPU": 2}},
        {"runtime_env": {"env_vars": {"A": "1"}}},
    ],
)
def test_what_only_ray_has_means_ray(setup: WorkerSetup, config: dict[str, Any]):
    kind, line = chosen(setup, 1, **config)
    assert kind == "ray"
    assert f"runtime.{next(iter(config))} is set" in line


def test_an_endpoint_is_waited_for_with_as_many_requests_as_are_in_flight(setup: WorkerSetup):
    asking = replace(setup, spec=replace(setup.spec, asks_endpoint=True))
    concurrency = asking.spec.runtime.concurrency
    assert chosen(asking, concurrency)[0] == "inline"
    assert chosen(asking, concurrency * 8)[0] == "ray"


def test_sql_of_the_agents_own_and_servers_cost_more(setup: WorkerSetup):
    jobs = 400
    assert chosen(setup, jobs)[0] == "inline"
    free = replace(setup, workload=Workload(jobs, jobs, free_sql=True))
    assert choose(RuntimeConfig(), free)[0] == "ray"
    assert chosen(replace(setup, spec=replace(setup.spec, engine="postgresql")), 1_000)[0] == "ray"


class TestAuto(RuntimeConformance):
    def make(self) -> Runtime:
        runtime = make_runtime(RuntimeConfig(kind="auto"))
        assert isinstance(runtime, AutoRuntime)
        return runtime
