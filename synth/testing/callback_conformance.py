"""Contract tests of :class:`synth.core.telemetry.RunCallback`, on the figures of a small
run.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synth.config import RunConfig, to_dict
from synth.core.telemetry import (
    CallbackHome,
    RolloutFailure,
    RolloutFigures,
    RunCallback,
    RunEnd,
    RunStart,
)

HOME = CallbackHome(run_id="run", session="0123456789abcdef0123456789abcdef")

ROLLOUTS = (
    RolloutFigures(0, "lend", "success", "finished", 1.0, 3, 2, 0, 120, 30, 0.002),
    RolloutFigures(1, "lend", "failure", "max_turns", 0.0, 9, 8, 3, 0, 0, None),
    RolloutFigures(2, "ask", "unscored", "user_ended", None, 1, 0, 0, 5, 0, 0.0),
)
BROKEN = (
    RolloutFailure(3, "ModelTimeout", 10, 0, None),
    RolloutFailure(3, "UnexpectedError", 0, 0, 0.1),
)


class CallbackConformance:
    """Subclass it, name the class ``Test...``, and construct the callback."""

    @abstractmethod
    def make(self, home: CallbackHome) -> RunCallback:
        """Return a new callback, with options for a test."""

    def config(self) -> Mapping[str, Any]:
        """The plain config of the run."""
        return to_dict(RunConfig())

    def test_it_follows_a_run_to_its_end(self, tmp_path: Path) -> None:
        callback = self.make(HOME)
        callback.run_started(RunStart("run", tmp_path, self.config(), 4, 0))
        for rollout in ROLLOUTS:
            callback.rollout_finished(rollout)
        for failure in BROKEN:
            callback.rollout_failed(failure)
        callback.run_ended(RunEnd(tmp_path, "partial", "interrupted"))

    def test_it_follows_a_resumed_run_that_plays_nothing(self, tmp_path: Path) -> None:
        for status in ("complete", "stopped"):
            callback = self.make(HOME)
            callback.run_started(RunStart("run", tmp_path, self.config(), 4, 4))
            callback.run_ended(RunEnd(tmp_path, status, None))

    def test_it_does_not_change_the_config(self, tmp_path: Path) -> None:
        config = self.config()
        before = copy.deepcopy(config)
        callback = self.make(HOME)
        callback.run_started(RunStart("run", tmp_path, config, 4, 0))
        callback.rollout_finished(ROLLOUTS[0])
        callback.run_ended(RunEnd(tmp_path, "complete", None))
        assert config == before

    def test_it_writes_nothing_into_the_run(self, tmp_path: Path) -> None:
        """What is in a run's directory is the dataset's."""
        callback = self.make(HOME)
        callback.run_started(RunStart("run", tmp_path, self.config(), 4, 0))
        callback.run_ended(RunEnd(tmp_path, "complete", None))
        assert not list(tmp_path.iterdir())
