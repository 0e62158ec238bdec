"""Rates, adaptive concurrency and budgets of whole runs against a real endpoint on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.runner.rate_limits.governor import BURST_S
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.limited_endpoint import Limited
from tests.e2e.test_endpoint import tasks_of

JOB = ("run", "tasks.count=40", "seed=11")
MODEL = ("model=openai", "model.name=expert", "model.api_key_env=null")


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("limits")
    synth(*JOB, "runtime=inline", "output.dir=scripted", cwd=home)
    return home / "scripted"


def play(
    scripted: Path, limited: Limited, name: str, *options: str, code: int = 0
) -> list[dict[str, Any]]:
    with endpoint(limited, limited.faults) as url:
        synth(
            *JOB,
            *MODEL,
            f"model.base_url={url}",
            f"output.dir={name}",
            *options,
            cwd=scripted.parent,
            code=code,
        )
    return stable_rows(scripted.parent / name)


@pytest.fixture(scope="module")
def everything(scripted: Path) -> list[dict[str, Any]]:
    """The rows of a run that nothing limits."""
    return play(scripted, Limited(Expert(tasks_of(scripted))), "free", "runtime=inline")


def tokens_of(rows: list[dict[str, Any]]) -> list[int]:
    return [row["input_tokens"] + row["output_tokens"] for row in rows]


def most_in(times: list[float], seconds: float) -> int:
    """The largest number of requests in any span of so many seconds."""
    return max(sum(at <= other < at + seconds for other in times) for at in times)


def check_rate(limited: Limited, per_second: float) -> None:
    """In every span of one, two and five seconds: the rate, the burst, and one that was let in
    already.
    """
    for span in (1.0, 2.0, 5.0):
        assert most_in(limited.asked, span) <= per_second * (span + BURST_S) + 2


def test_a_run_ends_within_one_rollout_below_its_budget_and_goes_on(
    scripted: Path, everything: list[dict[str, Any]]
):
    """Tokens, with eight in flight; a resume finishes the run."""
    limited = Limited(Expert(tasks_of(scripted)), answer_s=0.005)
    costs = tokens_of(everything)
    budget = sum(costs) // 2
    options = ("runtime=inline", "runtime.concurrency=8", f"budget.tokens={budget}")
    rows = play(scripted, limited, "budget", *options, code=3)
    assert budget - max(costs) <= sum(tokens_of(rows)) <= budget
    assert 0 < len(rows) < 40
    with endpoint(limited, limited.faults) as url:
        more = ("budget.tokens=null", f"model.base_url={url}")
        synth("run", "--resume", "budget", *more, cwd=scripted.parent)
    assert [row["messages"] for row in stable_rows(scripted.parent / "budget")] == [
        row["messages"] for row in everything
    ]


@pytest.mark.ray
def test_two_workers_share_rate_bound_and_budget(scripted: Path, everything: list[dict[str, Any]]):
    limited = Limited(Expert(tasks_of(scripted)), answer_s=0.02)
    both = (
        "runtime.workers=2",
        "runtime.concurrency=8",
        "model.requests_per_minute=1800",
        "model.max_concurrency=5",
    )
    costs = tokens_of(everything)
    budget = sum(costs) // 2
    rows = play(scripted, limited, "ray", *both, f"budget.tokens={budget}", code=3)
    messages = [row["messages"] for row in everything]
    assert [row["messages"] for row in rows] == [messages[row["job_index"]] for row in rows]
    assert limited.most <= 5
    check_rate(limited, 30.0)
    assert budget - max(costs) <= sum(tokens_of(rows)) <= budget
