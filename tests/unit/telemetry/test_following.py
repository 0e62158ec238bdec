"""Callbacks are told what happened; one that fails costs no rollout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.runner.totals import STATS
from synth.core.telemetry import Callbacks, RunCallback, RunStart
from synth.errors import OperatorError
from synth.testing import CallbackConformance

STATS_OF_ONE: dict[str, Any] = dict.fromkeys(STATS) | {
    "family": "lend",
    "reward": 0.5,
    "outcome": "success",
    "stop_reason": "finished",
    "num_turns": 2,
    "num_tool_calls": 3,
    "num_tool_errors": 1,
    "input_tokens": 10,
    "output_tokens": 4,
    "user_input_tokens": 5,
    "cost_usd": 0.25,
    "approver_cost_usd": 0.5,
    "judge_output_tokens": 3,
    "judge_cost_usd": 0.125,
}


class Noting(RunCallback):
    def __init__(self, fails: type[BaseException] | None = None) -> None:
        self.heard: list[Any] = []
        self.fails = fails

    def run_started(self, run):
        self.heard.append(run)

    def rollout_finished(self, rollout):
        if self.fails is not None:
            raise self.fails("no room")
        self.heard.append(rollout)

    def rollout_failed(self, rollout):
        self.heard.append(rollout)

    def run_ended(self, end):
        self.heard.append(end)


class TestNoting(CallbackConformance):
    def make(self, home):
        return Noting()


def started(*callbacks: tuple[str, RunCallback]) -> tuple[Callbacks, list[str]]:
    lines: list[str] = []
    following = Callbacks(callbacks, lines.append)
    following.start(RunStart("run", Path("out"), {}, 2, 0))
    return following, lines


def test_tokens_and_money_are_those_of_all_models():
    noting = Noting()
    following, _ = started(("noting", noting))
    following.finished(7, STATS_OF_ONE)
    following.failed(8, "ModelTimeout", None)
    following.end("complete", None)
    following.end("stopped", "again")
    _, rollout, failure, end = noting.heard
    assert (rollout.job_index, rollout.reward, rollout.tool_errors) == (7, 0.5, 1)
    assert (rollout.input_tokens, rollout.output_tokens, rollout.cost_usd) == (15, 7, 0.875)
    assert (failure.error_type, failure.input_tokens, failure.cost_usd) == ("ModelTimeout", 0, None)
    assert (end.status, end.directory) == ("complete", Path("out"))


def test_a_callback_that_fails_is_switched_off_and_the_others_go_on():
    broken, sound = Noting(RuntimeError), Noting()
    following, lines = started(("broken", broken), ("sound", sound))
    following.finished(0, STATS_OF_ONE)
    following.finished(1, STATS_OF_ONE)
    following.end("partial", "interrupted")
    assert [type(event).__name__ for event in broken.heard] == ["RunStart"]
    assert len(sound.heard) == 4
    assert lines == [
        "warning: the callback broken failed and is switched off: RuntimeError: no room"
    ]


@pytest.mark.parametrize("error", [OperatorError, KeyboardInterrupt])
def test_what_the_operator_has_to_mend_is_not_swallowed(error: type[BaseException]):
    following, _ = started(("mine", Noting(error)))
    with pytest.raises(error):
        following.finished(0, STATS_OF_ONE)
