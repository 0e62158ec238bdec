"""Compaction and offload so low that they fire on most rollouts: what is asked, judged, replayed
and exported stays sound.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.foundation.perturbations import MISTAKE_KINDS
from synth.core.models.openai.wire import wire_message
from synth.core.rerun.regrade import grade
from synth.core.rerun.replay import replay
from synth.ext.serving.chat_request import check_request
from tests.e2e.command import stable_rows, synth
from tests.e2e.test_serve_model import differing

Json = Any
PLAN = ("env=shop", "tasks.count=20", "tasks.samples=2", "seed=5", "agent.max_turns=100")
ERRING = (f"model.mistakes=[{','.join(MISTAKE_KINDS)}]", "model.mistake_rate=0.5")
LOW = (
    "agent.middleware=[compaction,offload]",
    "agent.compaction.threshold_tokens=300",
    "agent.compaction.keep_turns=1",
    "agent.offload.max_chars=200",
    "agent.offload.head_chars=60",
    "agent.offload.tail_chars=20",
    "agent.offload.read_chars=500",
)
INLINE = "runtime=inline"
JUDGED = ("reward", "state_diff", "state_hash_after", "submitted")


@pytest.fixture(scope="module")
def low(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the expert that errs, with both middlewares."""
    home = tmp_path_factory.mktemp("low")
    synth("run", *PLAN, *ERRING, *LOW, INLINE, "output.dir=low", cwd=home)
    return home / "low"


def compactions(row: Json) -> list[Json]:
    return [
        each for each in row["events"] if each["event"] == "compaction" and "failed" not in each
    ]


def judged(path: Path) -> list[Json]:
    return [[row["trajectory_id"], *(row[name] for name in JUDGED)] for row in stable_rows(path)]


def test_both_fire_on_most_rollouts_and_change_nothing_that_is_judged(low: Path):
    """The same tasks and mistakes without them come to the same ends and rewards, a failure for a
    failure.
    """
    rows = stable_rows(low)
    assert sum(bool(compactions(row)) for row in rows) > 30
    assert sum(any("offloaded" in each for each in row["events"]) for row in rows) > 25
    assert {row["reward"] == 1.0 for row in rows} == {True, False}
    synth("run", *PLAN, *ERRING, INLINE, "output.dir=plain", cwd=low.parent)
    assert judged(low) == judged(low.parent / "plain")


def test_every_context_that_was_sent_is_valid_and_each_turn_is_trained_in_one_of_them(low: Path):
    """Segments hold all turns in order, each the way it stands in ``messages``."""
    for row in Dataset.open(low).rows():
        if not compactions(row):
            assert row["segments"] == []
            continue
        turns = [each for each in row["messages"] if each["role"] == "assistant"]
        trained: list[Json] = []
        for segment in row["segments"]:
            messages = segment["messages"]
            check_request({"model": "m", "messages": [wire_message(each) for each in messages]})
            own = [each for each in messages if each["role"] == "assistant"][
                -(segment["last_turn"] - segment["first_turn"] + 1) :
            ]
            assert own == turns[segment["first_turn"] : segment["last_turn"] + 1]
            trained += [
                each
                for each in messages
                if each["role"] == "assistant" and each.get("train") is not False
            ]
            assert messages[0] == row["messages"][0]
            assert messages[1]["content"].startswith(row["messages"][1]["content"])
        assert trained == [each for each in turns if each.get("train") is not False]
        assert [each["first_turn"] for each in row["segments"]] == [
            0, *(each["last_turn"] + 1 for each in row["segments"][:-1])
        ]  # fmt: skip


def test_it_replays_and_is_repeated_out_of_its_directory_to_the_letter(low: Path):
    """The replay model answers the requests for summaries, too."""
    home = low.parent
    assert replay(low, lambda: None).differences == []
    assert grade(low, None, None).same
    synth(
        "run", *PLAN, *LOW, "model=replay", "model.path=low", INLINE, "output.dir=again", cwd=home
    )
    assert differing(stable_rows(home / "again"), stable_rows(low)) == {"config_digest"}


def test_it_loads_and_exports_what_the_model_saw(
    low: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    loaded = datasets.load_dataset(str(low), split="train", cache_dir=str(tmp_path))
    assert len(loaded) == 40
    assert sum(bool(segments) for segments in loaded["segments"]) > 30
    synth(
        *("export", "low", "--to", "openai-jsonl", "--view", "segments", "--all", "--keep-submit"),
        cwd=low.parent,
    )
    text = (low.parent / "low.openai-jsonl.jsonl").read_text("utf-8")
    examples = [json.loads(line) for line in text.splitlines()]
    trained = 0
    for each in examples:
        own = [
            message
            for message in each["messages"]
            if message["role"] == "assistant" and "weight" not in message
        ]
        trained += len(own)
        for message in each["messages"]:
            message.pop("weight", None)
        *before, last = each["messages"]
        assert last["role"] == "assistant"
        check_request({"model": "m", "messages": before, "tools": each["tools"]})
    rows = stable_rows(low)
    masked = sum(message.get("train") is False for row in rows for message in row["messages"])
    assert trained == sum(row["num_turns"] for row in rows) - masked
