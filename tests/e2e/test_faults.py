"""Runs whose tools fail on purpose: the expert that retries earns all, the one that does not fails
where the schedule says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synth.core.models.scripted.expert import GAVE_UP
from tests.e2e.command import stable_rows, synth

Json = Any
FAULTS = (
    "runtime=inline",
    "agent.middleware=[faults]",
    "agent.faults.rate=0.2",
    "agent.faults.slow_s=0.001",
    "seed=2",
)


def rows_of(home: Path, name: str, *options: str) -> list[dict[str, Json]]:
    synth("run", *FAULTS, *options, f"output.dir={name}", cwd=home, timeout=900)
    return stable_rows(home / name)


def broken(row: dict[str, Json]) -> list[dict[str, Json]]:
    """The faults that are failures: a slow call is none."""
    return [each for each in row["injected_faults"] if each["kind"] != "slow"]


def check_retried(rows: list[dict[str, Json]], home: Path, name: str) -> None:
    """Full reward for all, about a fifth of the calls hit, every fault on record and none seen by
    the verifiers.
    """
    assert {row["reward"] for row in rows} == {1.0}
    assert {row["blame"] for row in rows} == {None}
    calls, hits = (
        sum(row["num_tool_calls"] for row in rows),
        sum(len(row["injected_faults"]) for row in rows),
    )
    assert 0.12 * calls < hits < 0.25 * calls
    for row in rows:
        results = [each for each in row["events"] if each["event"] == "tool_result"]
        assert [at for at, each in enumerate(results) if "fault" in each] == [
            each["call"] for each in row["injected_faults"]
        ]
        assert [each.get("by") for each in results] == [
            "faults" if "fault" in each and each["fault"]["kind"] != "slow" else None
            for each in results
        ]
    synth("replay", name, cwd=home)
    graded = synth("grade", name, cwd=home, code=None)
    assert "0 rewards changed" in graded.stdout


def test_an_expert_that_retries_earns_everything_and_one_that_does_not_fails_by_schedule(
    tmp_path: Path,
):
    job = ("env=shop", "tasks.count=24")
    patient = rows_of(tmp_path, "patient", *job)
    check_retried(patient, tmp_path, "patient")
    hasty = rows_of(tmp_path, "hasty", *job, "model.tool_retries=0")
    for one, other in zip(patient, hasty, strict=True):
        assert one["task_id"] == other["task_id"]
        first = next(
            iter(broken(one)), None
        )  # until the first failure both do the same: the schedule is the same
        if first is None:
            assert (other["reward"], other["injected_faults"]) == (1.0, one["injected_faults"])
            continue
        assert broken(other) == [first]
        assert other["num_tool_calls"] == first["call"] + 1
        said = [each["content"] for each in other["messages"] if each["role"] == "assistant"]
        assert any(GAVE_UP in each for each in said)
        # What was left to do decides: a read that nothing hung on costs nothing.
        assert other["blame"] == (None if other["reward"] == 1.0 else "tool")
    assert sum(row["reward"] < 1.0 for row in hasty) > 5
