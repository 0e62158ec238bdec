"""The driver's part of ``otel``: the run's span, and metrics of its rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, SpanKind, StatusCode

from synth.core.telemetry import (
    CallbackHome,
    RolloutFailure,
    RolloutFigures,
    RunCallback,
    RunEnd,
    RunStart,
)
from synth.ext.telemetry import OtelConfig
from synth.ext.telemetry.otel import names
from synth.ext.telemetry.otel.providers import providers, run_context


class RunTelemetry(RunCallback):
    """The callback that ``otel`` names."""

    def __init__(self, options: OtelConfig, home: CallbackHome) -> None:
        self._run_id = home.run_id
        self._providers = providers(options, home.keys, "driver", run_context(home.session))
        self._instruments = _Instruments(
            self._providers.meters.get_meter(names.SCOPE, schema_url=names.SCHEMA_URL)
        )
        self._span: Span | None = None
        self._shared: dict[str, Any] = {names.RUN_ID: self._run_id}

    def run_started(self, run: RunStart) -> None:
        world = _world(run.config)
        model = run.config["model"]["name"] or run.config["model"]["kind"]
        self._shared |= {names.REQUEST_MODEL: model}
        tracer = self._providers.tracers.get_tracer(names.SCOPE, schema_url=names.SCHEMA_URL)
        self._span = tracer.start_span(
            f"{names.INVOKE_WORKFLOW} {world}",
            kind=SpanKind.INTERNAL,
            attributes={
                names.OPERATION: names.INVOKE_WORKFLOW,
                names.WORKFLOW: world,
                names.RUN_ID: self._run_id,
                names.REQUEST_MODEL: model,
                names.PLANNED: run.planned,
            },
        )
        self._instruments.waiting.add(run.planned - run.done, {names.RUN_ID: self._run_id})

    def rollout_finished(self, rollout: RolloutFigures) -> None:
        shared = self._shared | {names.FAMILY: rollout.family}
        meters = self._instruments
        ends = {names.OUTCOME: rollout.outcome, names.STOP_REASON: rollout.stop_reason}
        meters.rollouts.add(1, shared | ends)
        meters.waiting.add(-1, {names.RUN_ID: self._run_id})
        meters.tool_calls.add(rollout.tool_calls, shared)
        meters.tool_errors.add(rollout.tool_errors, shared)
        if rollout.reward is not None:
            meters.rewards.record(rollout.reward, shared)
        self._spend(rollout)

    def rollout_failed(self, rollout: RolloutFailure) -> None:
        self._instruments.errors.add(1, self._shared | {names.ERROR_TYPE: rollout.error_type})
        self._spend(rollout)

    def run_ended(self, end: RunEnd) -> None:
        if self._span is not None:
            self._span.set_attribute(names.STATUS, end.status)
            if end.status == "stopped":
                self._span.set_status(StatusCode.ERROR)
            self._span.end()
        self._providers.close()

    def _spend(self, rollout: RolloutFigures | RolloutFailure) -> None:
        meters = self._instruments
        for kind, count in (("input", rollout.input_tokens), ("output", rollout.output_tokens)):
            meters.tokens.add(count, self._shared | {names.TOKEN_TYPE: kind})
        if rollout.cost_usd is not None:
            meters.money.add(rollout.cost_usd, self._shared)


class _Instruments:
    def __init__(self, meter: Meter) -> None:
        self.rollouts = meter.create_counter(names.ROLLOUTS, "{rollout}", "Finished rollouts.")
        self.errors = meter.create_counter(
            names.ROLLOUT_ERRORS, "{attempt}", "Attempts at a rollout that broke."
        )
        self.waiting = meter.create_up_down_counter(
            names.WAITING, "{rollout}", "Planned rollouts that have no row yet."
        )
        self.rewards = meter.create_histogram(
            names.REWARDS,
            "1",
            "Rewards of finished rollouts.",
            explicit_bucket_boundaries_advisory=names.REWARD_BOUNDS,
        )
        self.tokens = meter.create_counter(
            names.TOKENS, "{token}", "Tokens of agent, user, approver and judge."
        )
        self.money = meter.create_counter(names.MONEY, "USD", "Known costs of model calls.")
        self.tool_calls = meter.create_counter(names.TOOL_CALLS, "{call}", "Tool calls.")
        self.tool_errors = meter.create_counter(
            names.TOOL_ERRORS, "{call}", "Tool calls that failed."
        )


def _world(config: Any) -> str:
    named = config["env"]["name"] or config["env"]["path"] or config["tasks"]["path"] or "world"
    return Path(named).name
