"""Metrics for Ray's exporter: what Ray is told, and what happens without Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.config import RunConfig, to_dict
from synth.core.telemetry import Callbacks, RunEnd, RunStart
from synth.ext.telemetry import ray_metrics
from synth.ext.telemetry.ray_metrics import RayMetrics
from synth.testing import CallbackConformance
from synth.testing.callback_conformance import BROKEN, HOME, ROLLOUTS


@pytest.fixture(autouse=True)
def ray_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_metrics.ray, "is_initialized", lambda: True)


class TestRayMetrics(CallbackConformance):
    def make(self, home: Any) -> RayMetrics:
        return RayMetrics({}, home)


def test_rays_own_metrics_get_the_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Ray's classes check names and tags; only the last step, into the cluster, is watched."""
    seen: list[tuple[str, float, dict[str, str]]] = []

    def record(self: Any, value: float, tags: dict[str, str] | None = None) -> None:
        self._validate_tags(self._get_final_tags(tags))
        seen.append((self._name, value, dict(tags or {})))

    monkeypatch.setattr("ray.util.metrics.Metric._record", record)
    callback = RayMetrics({}, HOME)
    callback.run_started(RunStart("run", tmp_path, to_dict(RunConfig()), 4, 0))
    for rollout in ROLLOUTS:
        callback.rollout_finished(rollout)
    callback.rollout_failed(BROKEN[0])
    callback.run_ended(RunEnd(tmp_path, "partial", None))

    def total(name: str, **tags: str) -> float:
        return sum(v for n, v, t in seen if n == name and tags.items() <= t.items())

    assert total("synth_rollouts") == 3
    assert total("synth_rollouts", outcome="success", family="lend") == 1
    assert total("synth_rollout_reward") == 1.0
    assert total("synth_tokens", type="input") == 135
    assert total("synth_cost_usd") == pytest.approx(0.002)
    assert total("synth_rollout_errors", error_type="ModelTimeout") == 1
    assert [value for name, value, _ in seen if name == "synth_rollouts_waiting"][-1] == 1
    assert {tags["run"] for _, _, tags in seen} == {"run"}


def test_without_ray_it_is_switched_off_with_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(ray_metrics.ray, "is_initialized", lambda: False)
    said: list[str] = []
    callbacks = Callbacks([("ray", RayMetrics({}, HOME))], said.append)
    callbacks.start(RunStart("run", tmp_path, to_dict(RunConfig()), 4, 0))
    for _ in range(2):
        callbacks.failed(3, "ModelTimeout", None)
    callbacks.end("partial", None)
    (line,) = said
    assert line == (
        "warning: the callback ray failed and is switched off: RuntimeError: this run does not use"
        " Ray; runtime=ray does"
    )
