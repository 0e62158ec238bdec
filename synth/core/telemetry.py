"""The contract of a callback: what the driver of a run tells a tracker.

A callback extension is a callable or class ``(options, home) -> RunCallback``, named in
``telemetry.callbacks``. An optional attribute ``Options`` on it, a dataclass or pydantic model,
types its options: those under ``telemetry.options.NAME``. An optional attribute ``middleware``
(``package.module:attribute``) names a middleware that wraps the rollouts in every worker, outermost
and with the same options. :class:`synth.testing.CallbackConformance` tests the contract.

Callbacks see figures, never words: no message, argument or result. They cannot change the data. A
callback that raises is switched off with a warning, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from envs.plugins import Contract
from synth.core.dataset.columns import PAYERS
from synth.errors import OperatorError


@dataclass(frozen=True, slots=True)
class RunStart:
    """A session of a run begins. ``config`` is the plain config, which holds no secrets.

    ``done`` counts the planned rollouts that earlier sessions finished.
    """

    run_id: str
    directory: Path
    config: Mapping[str, Any]
    planned: int
    done: int


@dataclass(frozen=True, slots=True)
class RolloutFigures:
    """The figures of a finished rollout; None where a figure is unknown.

    ``tokens`` and ``cost_usd`` count agent, user, approver and judge together.
    """

    job_index: int
    family: str
    outcome: str
    stop_reason: str
    reward: float | None
    turns: int
    tool_calls: int
    tool_errors: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class RolloutFailure:
    """A rollout that broke: the type of its error, and what it had cost by then."""

    job_index: int
    error_type: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """A session has ended. ``status`` is ``stopped`` if an error or an interrupt ended it; what
    has finished can be read in ``directory``.
    """

    directory: Path
    status: Literal["complete", "partial", "stopped"]
    reason: str | None


class RunCallback(Contract):
    """Hooks that the driver calls, in this order; every hook does nothing by default.

    They run between rollouts on the driver's event loop: send in the background what takes time.
    """

    def run_started(self, run: RunStart) -> None:
        """Begin to follow a session."""

    def rollout_finished(self, rollout: RolloutFigures) -> None:
        """Note a rollout that is in the dataset now."""

    def rollout_failed(self, rollout: RolloutFailure) -> None:
        """Note an attempt that broke; it may be tried again."""

    def run_ended(self, end: RunEnd) -> None:
        """Send what is left. Called once for each session that started."""


@dataclass(frozen=True)
class CallbackHome:
    """Facilities of the driver for a callback.

    ``session`` is a random id of 32 hexadecimal digits, the same in every worker; ``keys`` are the
    values of the variables that options name (``*_env``), which must not be written anywhere.
    """

    run_id: str = ""
    session: str = ""
    keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


Factory = Callable[[Any, CallbackHome], RunCallback]
"""A callback extension; its first argument is an instance of its ``Options``, or a mapping."""


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
