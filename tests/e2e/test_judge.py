"""A run with a judge at a real endpoint on loopback: votes in the rows, their cost in the run's
totals, and grades from the recorded votes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synth.types import Completion, Usage
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint

PLAN = (
    *("run", "env=library", "tasks.count=6", "seed=3", "runtime=inline", "output.dir=out"),
    *("rewards.judge.name=expert", "rewards.judge.api_key_env=null", "rewards.judge.votes=3"),
    "rewards.judge.price_input_usd_per_mtok=100.0",
    "rewards.judge.price_output_usd_per_mtok=1000.0",
    "rewards.judge.max_retries=1",
)
ASKED, SAID = 40, 4


class Panel:
    """Fails every rollout whose opening has an odd number of letters; ``mute`` answers neither
    way.
    """

    def __init__(self, *, mute: bool = False) -> None:
        self.mute, self.asked = mute, 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.asked += 1
        system, user = request["messages"]
        assert "PASS or FAIL" in system["content"]
        opening = next(one for one in json.loads(user["content"]) if one["role"] == "user")
        fails = len(opening["content"]) % 2
        said = "Hm." if self.mute else "FAIL: odd." if fails else "PASS: fine."
        return Completion(said, usage=Usage(ASKED, SAID))


def test_votes_are_recorded_paid_and_graded(tmp_path: Path):
    first = Panel()
    with endpoint(first) as url:
        done = synth(*PLAN, f"rewards.judge.base_url={url}", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = stable_rows(tmp_path / "out")
    assert first.asked == 3 * len(rows) == 18
    cost = 3 * (ASKED * 100 + SAID * 1000) / 1_000_000
    for row in rows:
        verdict = row["verdicts"][-1]
        assert verdict["verifier"] == "judge"
        assert [vote["passes"] for vote in verdict["detail"]["votes"]] == [
            verdict["score"] == 1
        ] * 3
        assert row["reward"] == verdict["score"]
        assert (row["judge_input_tokens"], row["judge_output_tokens"]) == (3 * ASKED, 3 * SAID)
        assert abs(row["judge_cost_usd"] - cost) < 1e-9
    scores = {row["reward"] for row in rows}
    counts = json.loads((tmp_path / "out/manifest.json").read_text())["counts"]
    assert abs(counts["judge_cost_usd"] - 6 * cost) < 1e-9
    assert scores == {0.0, 1.0}, "the panel is of two minds"

    graded = synth("grade", "out", "--json", cwd=tmp_path)
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert json.loads(graded.stdout)["without_votes"] == 0
    gone = synth("grade", "out", "--judge", "--json", cwd=tmp_path)  # the endpoint is gone
    report = json.loads(gone.stdout)
    assert (gone.returncode, report["without_votes"]) == (1, 6)
    assert all(change["new_reward"] is None for change in report["changes"])


def test_votes_that_say_nothing_leave_rows_unscored_and_money_stops_a_run(tmp_path: Path):
    panel = Panel(mute=True)
    with endpoint(panel) as url:
        done = synth(*PLAN, f"rewards.judge.base_url={url}", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = stable_rows(tmp_path / "out")
        assert [row["outcome"] for row in rows] == ["unscored"] * 6
        small = synth(
            *PLAN[:-7],
            *PLAN[-6:],
            "output.dir=small",
            f"rewards.judge.base_url={url}",
            "budget.usd=0.03",
            "runtime.concurrency=1",
            cwd=tmp_path,
        )
    manifest = json.loads((tmp_path / "small/manifest.json").read_text())
    assert manifest["status"] == "partial", small.stdout + small.stderr
    assert manifest["counts"]["rows"] < 6


def test_grade_without_a_judge_says_so(tmp_path: Path):
    run = ("run", "env=library", "tasks.count=1", "runtime=inline", "output.dir=out")
    assert synth(*run, cwd=tmp_path).returncode == 0
    done = synth("grade", "out", "--judge", cwd=tmp_path)
    assert done.returncode == 2
    assert "the run has no judge (rewards.judge.name is null)" in done.stderr
