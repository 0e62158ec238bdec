"""Ray's start: whatever it raises is said to the operator, and slowness gets a second chance."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from synth.core.runner.runtimes import ray as ray_runtime
from synth.core.runner.runtimes.ray import RayOptions, RayRuntime, worker_resources
from synth.errors import OperatorError

SLOW = "The current node timed out during startup. This could happen because some of the raylet"


class FlakyRay:
    """Ray's functions at start; ``problems`` are raised one after the other."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.inits: list[dict[str, Any]] = []

    def is_initialized(self) -> bool:
        return False

    def init(self, **options: Any) -> None:
        self.inits.append(options)
        if self.problems:
            raise self.problems.pop(0)

    def shutdown(self) -> None:
        """Nothing was started."""

    def put(self, value: object) -> object:
        return value

    def remote(self, **options: Any) -> Any:
        self.options = options
        return lambda actor: actor


async def start(
    monkeypatch: pytest.MonkeyPatch, fake: FlakyRay, options: RayOptions | None = None
) -> None:
    monkeypatch.setattr(ray_runtime, "_RAY", fake)
    await RayRuntime(options).open(SimpleNamespace())  # type: ignore[arg-type]


async def test_a_slow_start_is_tried_once_more(monkeypatch: pytest.MonkeyPatch):
    fake = FlakyRay(Exception(SLOW))
    await start(monkeypatch, fake)
    assert len(fake.inits) == 2


async def test_what_stays_slow_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch):
    fake = FlakyRay(Exception(SLOW), Exception(SLOW))
    with pytest.raises(OperatorError, match="timed out during startup") as caught:
        await start(monkeypatch, fake)
    assert "runtime=inline" in str(caught.value)
    assert len(fake.inits) == 2


@pytest.mark.parametrize("problem", [Exception("odd"), KeyError("node"), AssertionError()])
async def test_nothing_that_ray_raises_is_called_a_bug(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
):
    fake = FlakyRay(problem)
    with pytest.raises(OperatorError, match="Ray does not start on this machine"):
        await start(monkeypatch, fake)
    assert len(fake.inits) == 1


async def test_a_runtime_env_and_resources_reach_ray(monkeypatch: pytest.MonkeyPatch):
    fake = FlakyRay()
    options = RayOptions(resources={"CPU": 2, "tpu": 1}, runtime_env={"env_vars": {"A": "1"}})
    await start(monkeypatch, fake, options)
    assert fake.inits[0]["runtime_env"] == {"env_vars": {"A": "1"}}
    assert fake.options["num_cpus"] == 2
    assert fake.options["resources"] == {"tpu": 1}


def test_resources_by_rays_names():
    assert worker_resources({}) == {}
    assert worker_resources({"GPU": 0.5, "memory": 1e9}) == {"num_gpus": 0.5, "memory": 1e9}
