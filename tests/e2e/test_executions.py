"""How tools ran reaches the manifest, the report and `synth inspect`, and says what the rows say:
no call twice, none lost.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from envs.metrics import ExecutionMetrics
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.counts import NO_TOOL
from tests.e2e.command import synth

Json = Any


def counted(run: Path) -> dict[str, Json]:
    """The metrics of each tool, from the rows alone."""
    found: dict[str, ExecutionMetrics] = {}
    for row in Dataset.open(run).rows(["executions"]):
        for each in row["executions"]:
            found.setdefault(each["tool"] or NO_TOOL, ExecutionMetrics()).record(
                each["ms"], each["category"]
            )
    return {name: found[name].to_json() for name in sorted(found)}


def manifest(run: Path) -> dict[str, Json]:
    return json.loads((run / "manifest.json").read_text())["counts"]["tools"]


def answered(run: Path) -> tuple[Counter[str], Counter[str]]:
    """Calls and errors by tool, from what each rollout's events tell: answers that were handed in
    are the rollout's own.
    """
    calls, errors = Counter[str](), Counter[str]()
    for row in Dataset.open(run).rows(["events"]):
        for event in row["events"]:
            if event["event"] == "tool_result" and event["name"] != "submit" and "by" not in event:
                calls[event["name"]] += 1
                result = event["result"]
                errors[event["name"]] += (
                    isinstance(result, dict) and result.get("status") == "error"
                )
    return calls, errors


def assert_true(run: Path) -> None:
    """Manifest, rows and `synth inspect` tell one story."""
    told = manifest(run)
    calls, errors = answered(run)
    assert {name: each["count"] for name, each in told.items()} == calls
    assert {name: sum(each["errors"].values()) for name, each in told.items()} == {
        name: errors[name] for name in calls
    }
    assert told == counted(run)
    said = synth("inspect", run.name, "--json", cwd=run.parent)
    assert json.loads(said.stdout)["executions"] == told


def test_the_numbers_are_those_of_the_rows(tmp_path: Path):
    """With mistakes, so that some calls fail."""
    options = ("tasks.count=60", "model.mistakes=[wrong_argument]", "model.mistake_rate=1.0")
    done = synth("run", *options, "runtime=inline", "output.dir=out", cwd=tmp_path)
    told = manifest(tmp_path / "out")
    assert sum(sum(each["errors"].values()) for each in told.values()) > 0
    assert all(
        0 < each["p50_ms"] <= each["p95_ms"] <= each["max_ms"] <= each["total_ms"]
        for each in told.values()
    )
    total = sum(each["count"] for each in told.values())
    assert re.search(
        rf"^{total:,} tool calls, [\d.]+% errors; p50 [\d.]+ ms, p95 [\d.]+ ms; slowest \w+",
        done.stdout,
        re.MULTILINE,
    )
    assert counted(tmp_path / "out") == told
    text = synth("inspect", "out", cwd=tmp_path).stdout
    assert re.search(r"tool +calls +errors +error rate +mean +min +p50 +p95 +max", text)
