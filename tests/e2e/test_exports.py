"""Every target on a real run: samples of the expert that errs, some of them recovered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.reader import Dataset
from synth.ext.exporters.exporting import ExportReport
from synth.ext.exporters.exporting import export as write
from synth.plugins import EXPORTERS
from tests.e2e.run_with_mistakes import play_with_mistakes
from tests.tokenizer_file import write_tokenizer

Json = Any


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_with_mistakes(tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def rows(run: Path) -> list[dict[str, Json]]:
    return list(Dataset.open(run).rows())


def export(run: Path, out: Path, target: str, **options: Json) -> tuple[list[Json], ExportReport]:
    """Examples and report of one export; JSON values of Parquet are decoded."""
    file = out / f"examples.{target}"
    report = write(run, target, file, **options)
    if file.read_bytes()[:4] != b"PAR1":
        examples = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    else:
        examples = [
            {key: decoded(value) for key, value in item.items()}
            for item in pq.read_table(file).to_pylist()
        ]
    assert len(examples) == report.examples
    return examples, report


def decoded(value: Json) -> Json:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [json.loads(item) for item in value]
    return value


@pytest.fixture(scope="module")
def mistakes(rows: list[dict[str, Json]]) -> set[str]:
    """The calls, as JSON, that recovered rows made by mistake."""
    found = {
        json.dumps(call["function"], sort_keys=True)
        for row in rows
        if row["outcome"] == "success"
        for message in row["messages"]
        if message.get("train") is False
        for call in message["tool_calls"]
    }
    assert len(found) > 5
    return found


def calls(messages: list[Json]) -> set[str]:
    """The calls that these turns teach, in the form of ``mistakes``."""
    return {
        json.dumps(call["function"], sort_keys=True)
        for message in messages
        for call in message.get("tool_calls") or ()
    }


@pytest.mark.parametrize("target", sorted(EXPORTERS.builtin))
def test_every_target_accounts_for_every_row(run: Path, tmp_path: Path, target: str):
    """An example is in the file, or its row is counted with a reason."""
    options: dict[str, Json] = {}
    if target == "tokens":
        tokenizer = str(write_tokenizer(tmp_path / "tokenizer.json"))
        options = {"template": "qwen3-training", "tokenizer": tokenizer}
    examples, report = export(run, tmp_path, target, **options)
    assert examples
    assert report.matched == 48
    prompts = {"trl-grpo", "verl", "nemo-gym"}
    if target in prompts:
        assert len(examples) == 16
        assert report.left_out == {}
    elif target != "trl-dpo":
        assert len(examples) + sum(report.left_out.values()) == 48


def test_no_sft_target_teaches_a_mistake(
    run: Path, tmp_path: Path, rows: list[dict[str, Json]], mistakes: set[str]
):
    """The mistakes stay in the context, the recoveries are taught."""
    successes = sum(row["outcome"] == "success" for row in rows)
    examples, _ = export(run, tmp_path, "axolotl")
    assert len(examples) == successes, "masks cost no row"
    taught = [
        {
            "tool_calls": [
                {
                    "function": {
                        "name": call["function"]["name"],
                        "arguments": json.loads(call["function"]["arguments"]),
                    }
                }
                for call in message["tool_calls"]
            ]
        }
        for example in examples
        for message in example["messages"]
        if message["train"] and message.get("tool_calls")
    ]
    clean = {
        call
        for row in rows
        for call in calls(
            [
                message
                for message in row["messages"]
                if message["role"] == "assistant" and message.get("train") is not False
            ]
        )
    }
    assert calls(taught) <= clean
    assert not calls(taught) & (mistakes - clean)
    turns, _ = export(run, tmp_path, "trl-sft", unit="turn")
    assert not calls([turn["completion"][0] for turn in turns]) & (mistakes - clean)
    assert any(calls(turn["prompt"]) & (mistakes - clean) for turn in turns)


def test_pairs_go_on_from_the_same_state(run: Path, tmp_path: Path):
    pairs, _ = export(run, tmp_path, "trl-dpo", options={"pairs": 2})
    assert len(pairs) >= 3
    for pair in pairs:
        assert pair["chosen_reward"] > pair["rejected_reward"]
        assert pair["chosen"][0] != pair["rejected"][0]
        assert pair["chosen"][0]["role"] == pair["rejected"][0]["role"] == "assistant"
        assert pair["prompt"][-1]["role"] in {"user", "tool"}
        for side in ("chosen", "rejected"):
            assert pair[side][-1]["role"] == "assistant"
