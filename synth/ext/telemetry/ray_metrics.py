"""The callback ``ray``: metrics of a run for the Prometheus exporter of its Ray cluster.

Ray exports them under its own prefix (``ray_synth_rollouts_total`` ...) at each node's metrics
port, beside its own, if ``ray[default]`` is installed there. It collects every ten seconds
(``metrics_report_interval_ms``), so that the last ones of a run may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ray
from ray.util.metrics import Counter, Gauge, Histogram

from synth.core.telemetry import (
    CallbackHome,
    RolloutFailure,
    RolloutFigures,
    RunCallback,
    RunEnd,
    RunStart,
)

REWARD_BOUNDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999]


class RayMetrics(RunCallback):
    """The callback that ``ray`` names. It has no options."""

    def __init__(self, options: Mapping[str, object], home: CallbackHome) -> None:
        del options
        self._shared = {"run": home.run_id}
        self._left = 0
        self._instruments: _RayInstruments | None = None

    def run_started(self, run: RunStart) -> None:
        model = run.config["model"]
        self._shared |= {"model": str(model["name"] or model["kind"])}
        self._left = run.planned - run.done

    def rollout_finished(self, rollout: RolloutFigures) -> None:
        meters = self._ready()
        tags = {**self._shared, "family": rollout.family}
        ends = {"outcome": rollout.outcome, "stop_reason": rollout.stop_reason}
        meters.rollouts.inc(1, {**tags, **ends})
        self._left -= 1
        meters.waiting.set(self._left, self._shared)
        if rollout.reward is not None:
            meters.reward.observe(rollout.reward, tags)
        _add(meters.calls, rollout.tool_calls, tags)
        _add(meters.call_errors, rollout.tool_errors, tags)
        self._spend(meters, rollout)

    def rollout_failed(self, rollout: RolloutFailure) -> None:
        meters = self._ready()
        meters.errors.inc(1, {**self._shared, "error_type": rollout.error_type})
        self._spend(meters, rollout)

    def run_ended(self, end: RunEnd) -> None:
        if self._instruments is not None and ray.is_initialized():
            self._instruments.waiting.set(self._left, self._shared)

    def _spend(self, meters: _RayInstruments, rollout: RolloutFigures | RolloutFailure) -> None:
        for kind, count in (("input", rollout.input_tokens), ("output", rollout.output_tokens)):
            _add(meters.tokens, count, {**self._shared, "type": kind})
        _add(meters.cost, rollout.cost_usd or 0.0, self._shared)

    def _ready(self) -> _RayInstruments:
        """The instruments, made when the first rollout has come from Ray: before, it may not run.

        Raises RuntimeError in a run that stays in its process.
        """
        if not ray.is_initialized():
            raise RuntimeError("this run does not use Ray; runtime=ray does")
        if self._instruments is None:
            self._instruments = _RayInstruments()
        return self._instruments


class _RayInstruments:
    def __init__(self) -> None:
        own = ("run", "model")
        family = (*own, "family")
        ends = (*family, "outcome", "stop_reason")
        self.rollouts = Counter("synth_rollouts", "Finished rollouts.", ends)
        failed = "Attempts at a rollout that broke."
        self.errors = Counter("synth_rollout_errors", failed, (*own, "error_type"))
        planned = "Planned rollouts that have no row yet."
        self.waiting = Gauge("synth_rollouts_waiting", planned, own)
        scored = "Rewards of finished rollouts."
        self.reward = Histogram("synth_rollout_reward", scored, REWARD_BOUNDS, family)
        paid = "Tokens of agent, user, approver and judge."
        self.tokens = Counter("synth_tokens", paid, (*own, "type"))
        self.cost = Counter("synth_cost_usd", "Known costs of model calls.", own)
        self.calls = Counter("synth_tool_calls", "Tool calls.", family)
        self.call_errors = Counter("synth_tool_errors", "Tool calls that failed.", family)


def _add(counter: Any, value: float, tags: dict[str, str]) -> None:
    """Add to a counter, which takes no zero."""
    if value > 0:
        counter.inc(value, tags)
