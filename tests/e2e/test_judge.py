"""A run with a judge at a real endpoint on loopback: votes in the rows, their cost in the run's
totals, and grades from the recorded votes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synth.core.types.events import Usage
from synth.ext.judge.model_judge import VERSION
from synth.model import Completion
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint

KIND = "The assistant is kind."
PLAN = (
    *("run", "env=library", "tasks.count=6", "seed=3", "runtime=inline", "output.dir=out"),
    *("rewards.judge.model=judge", "rewards.judge.votes=3"),
    *("models.judge.name=expert", "models.judge.api_key_env=null"),
    "models.judge.price_input_usd_per_mtok=100.0",
    "models.judge.price_output_usd_per_mtok=1000.0",
    "models.judge.max_retries=1",
    f"rewards.judge.rubric={KIND}",
)
ASKED, SAID = 40, 4


class Panel:
    """Decides against every rollout whose opening has an odd number of letters; ``mute`` decides
    nothing. It refuses a request that is no question to a judge.
    """

    def __init__(self, *, mute: bool = False) -> None:
        self.mute, self.asked = mute, 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.asked += 1
        system, user = request["messages"]
        assert "one decision for each statement" in system["content"]
        document = json.loads(user["content"])
        assert document["policy"]
        assert any("result" in move for move in document["conversation"])
        numbers = [one["number"] for one in document["statements"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert document["statements"][-1] == {
            "number": numbers[-1],
            "kind": "rubric",
            "words": KIND,
        }
        holds = len(document["conversation"][0]["user"]) % 2 == 0
        decisions = [{"number": number, "why": "letters", "holds": holds} for number in numbers]
        said = "Hm." if self.mute else json.dumps({"decisions": decisions})
        return Completion(said, usage=Usage(ASKED, SAID))


def test_votes_are_recorded_paid_and_graded(tmp_path: Path):
    first = Panel()
    with endpoint(first) as url:
        synth(*PLAN, f"models.judge.base_url={url}", cwd=tmp_path)
    rows = stable_rows(tmp_path / "out")
    assert first.asked == 3 * len(rows) == 18
    cost = 3 * (ASKED * 100 + SAID * 1000) / 1_000_000
    for row in rows:
        verdict = row["verdicts"][-1]
        assert verdict["verifier"] == "judge"
        holds = [verdict["score"] == 1] * len(verdict["detail"]["statements"])
        assert [vote["holds"] for vote in verdict["detail"]["votes"]] == [holds] * 3
        assert verdict["detail"]["agreement"] == 1.0
        assert verdict["detail"]["version"] == VERSION
        assert row["reward"] == verdict["score"]
        assert (row["judge_input_tokens"], row["judge_output_tokens"]) == (3 * ASKED, 3 * SAID)
        assert abs(row["judge_cost_usd"] - cost) < 1e-9
    scores = {row["reward"] for row in rows}
    counts = json.loads((tmp_path / "out/manifest.json").read_text())["counts"]
    assert abs(counts["judge_cost_usd"] - 6 * cost) < 1e-9
    assert scores == {0.0, 1.0}, "the panel is of two minds"

    graded = synth("grade", "out", "--json", cwd=tmp_path)
    assert json.loads(graded.stdout)["without_votes"] == 0
    gone = synth(
        "grade", "out", "--judge", "--json", cwd=tmp_path, code=None
    )  # the endpoint is gone
    report = json.loads(gone.stdout)
    assert (gone.returncode, report["without_votes"]) == (1, 6)
    assert all(change["new_reward"] is None for change in report["changes"])
    with endpoint(Panel()) as url:
        words = ("grade", "out", "--judge", "--json", f"models.judge.base_url={url}")
        report = json.loads(synth(*words, cwd=tmp_path, code=None).stdout)
    assert report["without_votes"] == 0


def test_votes_that_say_nothing_leave_rows_unscored_and_money_stops_a_run(tmp_path: Path):
    panel = Panel(mute=True)
    with endpoint(panel) as url:
        ended = synth(*PLAN, f"models.judge.base_url={url}", cwd=tmp_path, code=3)
        assert "without a reward: 6; the first: judge: too few votes" in ended.stdout
        rows = stable_rows(tmp_path / "out")
        assert [row["outcome"] for row in rows] == ["unscored"] * 6
        small = synth(
            *(word for word in PLAN if not word.startswith("output.dir")),
            "output.dir=small",
            f"models.judge.base_url={url}",
            "budget.usd=0.03",
            "runtime.concurrency=1",
            cwd=tmp_path,
            code=None,
        )
    manifest = json.loads((tmp_path / "small/manifest.json").read_text())
    assert manifest["status"] == "partial", small.stdout + small.stderr
    assert manifest["counts"]["rows"] < 6


def test_grade_without_a_judge_says_so(tmp_path: Path):
    run = ("run", "env=library", "tasks.count=1", "runtime=inline", "output.dir=out")
    synth(*run, cwd=tmp_path)
    done = synth("grade", "out", "--judge", cwd=tmp_path, code=2)
    assert "the run has no judge (rewards.judge.model is null)" in done.stderr


def test_a_rollout_without_a_statement_costs_nothing(tmp_path: Path):
    panel = Panel()
    plan = [word for word in PLAN if not word.startswith("rewards.judge.rubric")]
    with endpoint(panel) as url:
        synth(*plan, f"models.judge.base_url={url}", cwd=tmp_path)
    rows = stable_rows(tmp_path / "out")
    for row in rows:
        verdict = row["verdicts"][-1]
        assert (verdict["verifier"], verdict["score"]) == ("judge", 1.0)
        assert verdict["detail"]["statements"] == []
        assert row["judge_cost_usd"] is None
    assert panel.asked == 0


class Lawyer:
    """Decides against every statement on gold members; ``mute`` decides nothing."""

    def __init__(self, *, mute: bool = False) -> None:
        self.mute = mute

    async def __call__(self, request: dict[str, Any]) -> Completion:
        document = json.loads(request["messages"][1]["content"])
        decisions = [
            {"number": one["number"], "why": "no such rule", "holds": "gold" not in one["words"]}
            for one in document["statements"]
        ]
        said = "PASS" if self.mute else json.dumps({"decisions": decisions})
        return Completion(said, usage=Usage(ASKED, SAID))


def test_a_judge_is_calibrated_on_transcripts_like_the_rules(tmp_path: Path):
    rule, promise = "Bags are free of charge for gold members.", "We will send you a letter."
    rollouts = [
        {
            "task_id": number,
            "trial": 0,
            "reward": reward,
            "info": {"task": {"actions": [], "outputs": []}},
            "traj": [
                {"role": "system", "content": "One bag is free for everybody."},
                {"role": "user", "content": "Are bags free?"},
                {"role": "assistant", "content": words},
            ],
        }
        for number, (reward, words) in enumerate([(0.0, rule), (1.0, promise), (1.0, "One is.")])
    ]
    label = {"rollout": "0.0", "words": rule, "label": "TRUE", "cause": "a false rule"}
    (tmp_path / "talks.json").write_text(json.dumps(rollouts))
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    plan = ("calibrate", "talks.json", "--findings", "labels.jsonl", "--json")
    judge = [word for word in PLAN if ".judge." in word and "rubric" not in word]

    def calibrated(lawyer: Lawyer) -> dict[str, Any]:
        with endpoint(lawyer) as url:
            done = synth(*plan, *judge, f"models.judge.base_url={url}", cwd=tmp_path)
        return json.loads(done.stdout)

    found = calibrated(Lawyer())
    row = next(row for row in found["figures"] if row["check"] == "judge")
    assert (row["flagged"], row["precision"], row["recall"], row["false_alarms"]) == (1, 1, 1, 0)
    assert found["judge"]["version"] == VERSION
    assert (found["judge"]["decided"], found["judge"]["unscored"]) == (2, 0)
    assert found["judge"]["agreement"] == 1.0
    cost = 6 * (ASKED * 100 + SAID * 1000) / 1_000_000
    assert abs(found["judge"]["cost_usd"] - cost) < 1e-9
    mute = calibrated(Lawyer(mute=True))
    assert (mute["judge"]["decided"], mute["judge"]["unscored"]) == (0, 2)
    row = next(row for row in mute["figures"] if row["check"] == "judge")
    assert (row["flagged"], row["recall"]) == (0, 0)
