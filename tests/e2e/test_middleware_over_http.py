"""All middlewares that ship at once, in a whole run against real endpoints: the model's, and that
of the model which approves.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from synth.core.config.compose import compose
from synth.core.dataset.reader import Dataset
from synth.core.types.events import Usage
from synth.ext.serving.known_rollouts import open_served
from synth.model import Completion
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint
from tests.faulty_endpoint import Fault

PLAN = ("env=shop", "tasks.count=12", "seed=5", "agent.max_turns=100")
ALL = (
    "agent.middleware=[logging,approval,retry,faults,compaction,offload]",
    *("agent.approval.mode=strict", "agent.approval.deny=['*:reason=*never*']"),
    *(
        "agent.approval.model=approver",
        "models.approver.name=expert",
        "models.approver.api_key_env=null",
        "agent.approval.policy='Approve it.'",
    ),
    *(
        "models.approver.price_input_usd_per_mtok=100.0",
        "models.approver.price_output_usd_per_mtok=1000.0",
    ),
    *("agent.retry.max_retries=8", "agent.retry.first_s=0.001"),
    *("agent.faults.rate=0.2", "agent.faults.slow_s=0.001"),
    *("agent.compaction.threshold_tokens=300", "agent.compaction.keep_turns=1"),
    *("agent.offload.max_chars=200", "agent.offload.head_chars=60", "agent.offload.tail_chars=20"),
    "agent.offload.read_chars=500",
)
ASKED, SAID = 50, 2
"""Tokens that the policy's endpoint counts for each of its answers."""


class Judge:
    """Approves everything."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    async def __call__(self, request: dict[str, Any]) -> Completion:
        assert request["messages"][0] == {"role": "system", "content": "Approve it."}
        self.questions.append(request["messages"][1]["content"])
        return Completion(content="Yes, go on.", usage=Usage(ASKED, SAID))


class Overloaded:
    """Refuses every seventh request."""

    def __init__(self) -> None:
        self.requests = 0
        self.refused = 0

    async def __call__(self, request: web.Request) -> Fault | None:
        if not request.path.endswith("/chat/completions"):
            return None
        self.requests += 1
        if self.requests % 7:
            return None
        self.refused += 1
        return Fault(
            status=503,
            headers={"Retry-After": "0"},
            body=(b'{"error": {"message": "overloaded"}}',),
        )


@contextmanager
def played(judge: Judge, busy: Overloaded, *more: str) -> Generator[tuple[str, ...]]:
    """The arguments of a run against both endpoints."""
    config = compose([*PLAN, *ALL, *more], multirun=False, config_dir=None)[0].config
    with (
        open_served(config) as served,
        endpoint(served.repertoire, busy) as url,
        endpoint(judge) as policy,
    ):
        yield (
            *(
                "run",
                *PLAN,
                *ALL,
                *more,
                "runtime=inline",
                f"models.approver.base_url={policy}",
                "model.send_seed=true",
                "preflight=false",
            ),
            *(
                "model=openai",
                "model.name=expert",
                "model.api_key_env=null",
                f"model.base_url={url}",
            ),
            *("model.price_input_usd_per_mtok=0.0", "model.price_output_usd_per_mtok=0.0"),
        )


def test_all_at_once_and_every_rollout_ends_well(tmp_path: Path):
    judge, busy = Judge(), Overloaded()
    with played(judge, busy, "agent.approval.allow=[cancel_*]") as job:
        done = synth(*job, "model.stream=true", "output.dir=out", cwd=tmp_path)
    rows = stable_rows(tmp_path / "out")
    assert [row["reward"] for row in rows] == [1.0] * 12
    assert busy.refused > 5
    events = [event for row in rows for event in row["events"]]
    kinds = {each["event"] for each in events}
    assert {"compaction", "side_completion", "approver_completion"} <= kinds
    assert any("offloaded" in each for each in events)
    assert any(row["injected_faults"] for row in rows)
    lines = [
        line
        for log in (tmp_path / "out/logs").rglob("*.jsonl")
        for line in log.read_text().splitlines()
    ]
    assert {json.loads(line)["rollout"] for line in lines} == {row["trajectory_id"] for row in rows}
    # What the approvals cost is the policy's, and counted once for each question.
    told = [each for each in events if each["event"] == "approver_completion"]
    assert len(told) == len(judge.questions) > 5
    assert sum(row["approver_input_tokens"] or 0 for row in rows) == ASKED * len(judge.questions)
    assert sum(row["approver_output_tokens"] or 0 for row in rows) == SAID * len(judge.questions)
    cost = len(judge.questions) * (ASKED * 100 + SAID * 1000) / 1_000_000
    counts = json.loads((tmp_path / "out/manifest.json").read_text())["counts"]
    assert counts["approver_cost_usd"] == pytest.approx(cost)
    assert counts["cost_usd"] == 0.0
    # All of it is in the run's totals: turns, summaries and approvals.
    names = [f"{who}{kind}_tokens" for who in ("", "approver_") for kind in ("input", "output")]
    assert f"{sum(row[name] or 0 for row in rows for name in names):,} tokens" in done.stdout
    assert sum(
        each["usage"]["input_tokens"] for each in events if each["event"].endswith("completion")
    ) == sum(row["input_tokens"] + (row["approver_input_tokens"] or 0) for row in rows)
    shown = synth("inspect", "out", "--json", cwd=tmp_path)
    assert json.loads(shown.stdout)["approver"]["cost_usd"]["total"] == pytest.approx(cost)
    synth("replay", "out", cwd=tmp_path)


def test_what_approvals_cost_is_in_the_budget(tmp_path: Path):
    """The agent's own model is free here: only the policy's money can have ended the run."""
    judge, busy = Judge(), Overloaded()
    with played(judge, busy, "tasks.families=[cancel_order]") as job:
        done = synth(
            *job, "runtime.concurrency=1", "budget.usd=0.02", "output.dir=out", cwd=tmp_path, code=3
        )
    assert "the budget of $0.02 has no room" in done.stdout
    with Dataset.open(tmp_path / "out") as dataset:
        assert 0 < dataset.count < 12
    assert 0 < len(judge.questions) * 0.007 <= 0.02
