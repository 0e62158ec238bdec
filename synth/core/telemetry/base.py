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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


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


class RunCallback:
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
