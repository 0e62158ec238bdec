"""The callbacks of a session, told together; one that fails is switched off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from synth.core.dataset.columns import PAYERS
from synth.core.telemetry.base import (
    RolloutFailure,
    RolloutFigures,
    RunCallback,
    RunEnd,
    RunStart,
)
from synth.errors import OperatorError

Say = Callable[[str], None]


class Callbacks:
    """The callbacks of one session, by their names. ``say`` prints a line for the operator."""

    def __init__(self, callbacks: Sequence[tuple[str, RunCallback]], say: Say) -> None:
        self._active = list(callbacks)
        self._say = say
        self._run: RunStart | None = None

    def start(self, run: RunStart) -> None:
        """Begin the session."""
        self._run = run
        self._tell(lambda callback: callback.run_started(run))

    def finished(self, index: int, stats: Mapping[str, Any]) -> None:
        """Tell of a rollout whose row is journaled; ``stats`` are columns of its row."""
        if self._active:
            figures = RolloutFigures(
                job_index=index,
                family=stats["family"],
                outcome=str(stats["outcome"]),
                stop_reason=str(stats["stop_reason"]),
                reward=stats["reward"],
                turns=stats["num_turns"],
                tool_calls=stats["num_tool_calls"],
                tool_errors=stats["num_tool_errors"],
                **spent(stats),
            )
            self._tell(lambda callback: callback.rollout_finished(figures))

    def failed(self, index: int, error_type: str, stats: Mapping[str, Any] | None) -> None:
        """Tell of an attempt that broke."""
        if self._active:
            failure = RolloutFailure(index, error_type, **spent(stats or {}))
            self._tell(lambda callback: callback.rollout_failed(failure))

    def end(self, status: Literal["complete", "partial", "stopped"], reason: str | None) -> None:
        """End the session; further calls do nothing."""
        if self._run is not None:
            end = RunEnd(self._run.directory, status, reason)
            self._run = None
            self._tell(lambda callback: callback.run_ended(end))

    def _tell(self, hook: Callable[[RunCallback], None]) -> None:
        for name, callback in list(self._active):
            try:
                hook(callback)
            except OperatorError:
                raise
            except Exception as error:  # a tracker's fault costs no rollout
                self._active.remove((name, callback))
                self._say(
                    f"warning: the callback {name} failed and is switched off:"
                    f" {type(error).__name__}: {error}"
                )


def spent(stats: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens and the money of agent, user, approver and judge together."""
    costs = [cost for payer in PAYERS if (cost := stats.get(f"{payer}cost_usd")) is not None]
    return {
        "input_tokens": sum(stats.get(f"{payer}input_tokens") or 0 for payer in PAYERS),
        "output_tokens": sum(stats.get(f"{payer}output_tokens") or 0 for payer in PAYERS),
        "cost_usd": sum(costs) if costs else None,
    }
