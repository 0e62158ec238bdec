"""What a run says while it works: never a long silence, without a terminal as with one."""

from __future__ import annotations

import io
import time
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from synth import coordinator
from synth.core.config.compose import compose
from synth.core.runner import progress
from synth.core.runner.progress import ProgressView, Waiting
from synth.core.runner.totals import Totals
from synth.launch import launch


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setattr(progress, "FIRST_LINES_S", 0.05)
    return Console(file=io.StringIO(), force_terminal=False, width=200)


def lines(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_waiting_speaks_at_once_and_again_while_this_thread_is_busy(console: Console):
    with Waiting("on Ray: about 44 s", console, "starting"):
        assert lines(console) == ["on Ray: about 44 s"]
        time.sleep(0.3)  # as a blocking call does
    assert len(lines(console)) >= 3
    assert lines(console)[1] == "starting: 0 s"
    count = len(lines(console))
    time.sleep(0.15)
    assert len(lines(console)) == count


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_speaks_though_nothing_finishes(console: Console, terminal: bool):
    failed = Counter[str]()
    shown = Console(file=console.file, force_terminal=terminal, width=200)
    with ProgressView("rollouts", 8, 0, shown, failed):
        failed["HTTP 429"] = 7
        time.sleep(0.3)
    text = " ".join(lines(console))
    assert "rollouts" in text
    assert ("0/8" if terminal else "0 of 8") in text
    assert "failed requests: 7 HTTP 429; " in text


def test_progress_shows_the_mean_reward_and_what_the_whole_will_cost(console: Console):
    totals = Totals(rows=2, scored=2, reward=1.5, tokens=100, cost_usd=0.5, cost_known=True)
    with ProgressView("rollouts", 8, 0, console) as view:
        view.advance(totals)
        view.advance(totals)
        time.sleep(0.2)
    assert "mean reward 0.75" in lines(console)[-1]
    assert "cost $0.50 of about $2.00" in lines(console)[-1]


def test_the_time_left_follows_from_what_this_session_did(console: Console):
    view = ProgressView("proving", 2_400, 0, console)
    for _ in range(1_200):
        view.advance(earlier=True)
    view._line()
    view._began -= 10
    view.advance()
    view._line()
    assert lines(console) == [
        "proving: 1,200 of 2,400, none finished yet",
        "proving: 1,201 of 2,400, 0.1 a second, about 200 min left",
    ]


def test_a_proof_that_was_a_rollout_counts_for_no_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Two samples of each task: the first is the proof, and only the second is played."""
    ended: list[tuple[str, int]] = []

    class Noted(ProgressView):
        def __exit__(self, *why: object) -> None:
            ended.append((self._label, self._done - self._start))
            super().__exit__(*why)

    monkeypatch.setattr(coordinator, "ProgressView", Noted)
    words = ["env=library", "tasks.count=4", "tasks.samples=2", "runtime=inline"]
    (job,) = compose([*words, f"output.dir={tmp_path}/run"])
    launch(job.config, Console(quiet=True))
    assert ended == [("proving", 4), ("rollouts", 4)]


def test_a_terminal_gets_a_spinner_that_leaves_nothing_behind():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    with Waiting("planning [bold]", console):
        pass
    assert "planning [bold]" in screen.getvalue()
