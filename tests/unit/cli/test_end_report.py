"""The end of a run: the report says why, and what to do next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synth.coordinator import Failure, RunReport
from synth.core.cli.end_report import conclude
from synth.core.dataset.store.counts import ToolExecutions
from synth.core.runner.totals import Totals

Concluded = Callable[..., tuple[int, str]]


@pytest.fixture
def concluded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Concluded:
    """The exit code and the report of a run of four rollouts."""

    def conclude_run(totals: Totals, *, as_json: bool = False, **changes: Any) -> tuple[int, str]:
        fields: dict[str, Any] = {"status": "complete", "reason": None, "given_up": 0}
        fields |= {"directory": tmp_path, "planned": 4, "seconds": 1.0, "tools": ToolExecutions()}
        report = RunReport(totals=totals, **(fields | changes))
        return conclude(report, as_json=as_json), capsys.readouterr().out

    return conclude_run


def scored(rewards: list[float], **stops: int) -> Totals:
    return Totals(
        rows=len(rewards),
        successes=rewards.count(1.0),
        scored=len(rewards),
        reward=sum(rewards),
        stop_reasons=Counter(stops or {"finished": len(rewards)}),
    )


def test_a_good_run(concluded: Concluded):
    code, out = concluded(scored([1.0] * 4))
    assert code == 0
    assert out.startswith("complete: 4 of 4 rollouts in ")
    assert "mean reward 1.00, 100.0% successful" in out
    assert "--failed" not in out
    assert "synth export" in out


def test_no_reward_anywhere_is_not_complete_without_a_word(concluded: Concluded):
    _, out = concluded(scored([0.0] * 4))
    assert out.startswith("no rollout has a reward above 0: 4 of 4")
    assert "warning: no rollout called a tool: start the server with its tool parser" in out
    assert "next: synth inspect" in out
    assert "--failed" in out


@pytest.mark.parametrize(("count", "words"), [(1, "1 rollout"), (2, "2 rollouts")])
def test_nor_is_a_run_that_gave_rollouts_up(concluded: Concluded, count: int, words: str):
    kinds = [Failure("ModelRefusedRequest", "HTTP 400: too long", count)]
    code, out = concluded(scored([1.0] * (4 - count)), failures=kinds, given_up=count)
    assert code == 0
    assert out.startswith(f"{words} given up: {4 - count} of 4 rollouts")
    assert "HTTP 400: too long" in out
    assert "--failed" in out


def test_nor_is_every_context_overflow(concluded: Concluded):
    _, out = concluded(scored([0.0] * 4, context_overflow=4))
    assert out.startswith("every conversation outgrew the model's context")
    assert "not ended by the agent: 4 context_overflow" in out


@pytest.mark.parametrize(
    ("stop", "category", "words"),
    [
        ("truncated", None, "4 of 4 rollouts ended in an answer that was cut off: raise model.max"),
        ("max_turns", "malformed_call", "3 of 3 calls could not be read: start the server with"),
        ("max_turns", None, ""),
    ],
)
def test_what_a_setting_of_the_server_mends(
    concluded: Concluded, stop: str, category: str | None, words: str
):
    tools = ToolExecutions()
    tools.add([{"tool": "find", "ms": 1.0, "category": category}] * 3)
    _, out = concluded(scored([0.0] * 4, **{stop: 4}), tools=tools)
    assert f"warning: {words}" in out if words else "warning" not in out


def test_each_kind_of_failure_with_one_of_its_texts(concluded: Concluded):
    refused = "HTTP 400: tool choice requires --enable-auto-tool"
    kinds = [Failure("ModelRefusedRequest", refused, 3, texts=2)]
    kinds.append(Failure("ModelError", "HTTP 500", 1))
    code, out = concluded(Totals(), failures=kinds, given_up=4)
    assert code == 3
    assert out.startswith("empty: 0 of 4 rollouts")
    assert "4 rollouts broke and left no row, 4 of them are given up:" in out
    assert "3 x ModelRefusedRequest (one of 2 texts): HTTP 400: tool choice requires" in out
    assert "1 x ModelError: HTTP 500" in out
    assert "--failed" in out


def test_a_partial_run_says_why_it_stopped_and_how_to_go_on(concluded: Concluded):
    code, out = concluded(scored([1.0, 0.5]), status="partial", reason="the budget of $1")
    assert code == 3
    assert "stopped: the budget of $1" in out
    assert "next: synth run --resume " in out


def test_json_holds_the_same(concluded: Concluded):
    totals = scored([1.0, 0.5])
    totals.retries.add([{"reason": "HTTP 429", "waited_s": 1.25}])
    failures = [Failure("ModelError", "HTTP 500", 2)]
    document = json.loads(concluded(totals, failures=failures, as_json=True)[1])
    assert document["mean_reward"] == 0.75
    assert document["failures"] == [
        {"type": "ModelError", "count": 2, "texts": 1, "message": "HTTP 500"}
    ]
    assert document["stop_reasons"] == {"finished": 2}
    assert document["retries"] == {"count": 1, "reasons": {"HTTP 429": 1}, "waited_s": 1.25}


def test_a_run_that_went_on_has_its_old_report_renewed(concluded: Concluded, tmp_path: Path):
    (tmp_path / "eval.json").write_text("{}")
    assert f"next: synth eval {tmp_path}\n" in concluded(scored([1.0] * 4))[1]
