"""Runs of the expert that errs: what fails is explained by the log, and recoveries are in the
data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.foundation.perturbations import MISTAKE_KINDS
from synth.core.models.scripted.mistakes import implied_failure
from tests.e2e.command import synth

Json = Any
KINDS = f"model.mistakes=[{','.join(MISTAKE_KINDS)}]"
JOB = (
    "run",
    KINDS,
    "model.mistake_rate=0.5",
    "tasks.count=30",
    "tasks.samples=2",
    "seed=5",
    "runtime=inline",
)
WORLDS = ("ehr_db", "shop")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same job in both worlds."""
    home = tmp_path_factory.mktemp("mistakes")
    for world in WORLDS:
        synth(*JOB, f"env={world}", f"output.dir={world}", cwd=home)
    return {world: home / world for world in WORLDS}


@pytest.fixture(params=WORLDS)
def rows(request: pytest.FixtureRequest, runs: dict[str, Path]) -> list[dict[str, Json]]:
    return list(Dataset.open(runs[request.param]).rows())


def log(row: dict[str, Json]) -> list[dict[str, Json]]:
    return [each["mistake"] for each in row["provider_fields"] if "mistake" in each]


def test_a_rollout_fails_exactly_where_its_log_says_so(rows: list[dict[str, Json]]):
    told = {row["trajectory_id"]: (implied_failure(row), log(row), row["verdicts"]) for row in rows}
    assert {key: said for key, said in told.items() if said[0]} == {
        row["trajectory_id"]: told[row["trajectory_id"]] for row in rows if row["reward"] < 1.0
    }
    assert all(row["reward"] == 1.0 for row in rows if not log(row))
    assert all(row["reward"] == 1.0 for row in rows if log(row) and log(row)[-1]["recovered"])


def test_the_turn_with_the_mistake_is_not_trained_on_and_all_others_are(
    rows: list[dict[str, Json]],
):
    """A mistake that a later turn only speaks of is in the log, and masks nothing more."""
    masked = recovered = 0
    for row in rows:
        turns = [message for message in row["messages"] if message["role"] == "assistant"]
        untrained = [at for at, turn in enumerate(turns) if turn.get("train") is False]
        made = [entry["turn"] for entry in log(row) if not entry["recovered"]][:1]
        assert untrained == made
        masked += len(untrained)
        if made and row["reward"] == 1.0:
            recovered += 1
            assert turns[made[0] + 1 :], "the recovery follows, and is trained on"
    assert masked > 30
    assert recovered > 6


def test_queries_that_fail_are_set_right(tmp_path: Path):
    """Every rollout has one query that the database refuses, in three ways, the right one after it,
    and the full reward.
    """
    job = (
        "run",
        "env=shop_sql",
        "model.mistakes=wrong_sql",
        "model.mistake_rate=1.0",
        "tasks.count=12",
        "seed=3",
    )
    synth(*job, "runtime=inline", "output.dir=sql", cwd=tmp_path)
    rows = list(Dataset.open(tmp_path / "sql").rows())
    assert {(row["reward"], row["num_tool_errors"]) for row in rows} == {(1.0, 1)}
    assert {"syntax_error", "column_not_found", "table_not_found"} == {
        each for row in rows for each in row["error_categories"]
    }
    for row in rows:
        made, mended = log(row)
        assert (made["kind"], made["recovered"], mended["recovered"]) == ("wrong_sql", False, True)
        results = [each for each in row["events"] if each["event"] == "tool_result"]
        at = next(
            place for place, each in enumerate(results) if each["result"].get("status") == "error"
        )
        assert results[at]["name"] == results[at + 1]["name"] == "run_select_query"
    synth("replay", "sql", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("world", ["ehr_db", "shop", "shop_sql"])
def test_every_style_of_the_expert_earns_the_full_reward(world: str, tmp_path: Path):
    """Where turns are compacted, long results are stored and calls fail for a passing reason."""
    styles = "model.style={terse: 1, narrating: 1, parallel: 2}"
    more = (
        *("agent.middleware=[compaction,offload,faults]", "agent.compaction.context_window=6000"),
        *("agent.offload.max_chars=1500", "agent.faults.kinds=[lock_timeout]"),
    )
    job = ("run", f"env={world}", styles, "tasks.count=48", "runtime=inline")
    synth(*job, *more, "output.dir=hard", cwd=tmp_path)
    rows = list(Dataset.open(tmp_path / "hard").rows())
    assert [row["trajectory_id"] for row in rows if row["reward"] < 1.0] == []
    drawn = {each["style"] for row in rows for each in row["provider_fields"] if "style" in each}
    assert drawn == {"terse", "narrating", "parallel"}
    together = sum(
        len(message.get("tool_calls") or ()) > 1 for row in rows for message in row["messages"]
    )
    assert together
