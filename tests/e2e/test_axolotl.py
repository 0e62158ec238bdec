"""Axolotl's own config, loader, chat template strategy and filters on exported rows, in an
environment of its own.

pytest -m long tests/e2e/test_axolotl.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.presets import find_preset
from tests.documents import block_with
from tests.e2e.isolated import consume, make_environment
from tests.e2e.run_with_mistakes import is_trained, play_with_mistakes, successes

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

Turn = tuple[str, list[tuple[str, Any]]]
"""Words and calls of a turn that is trained on."""

AXOLOTL = "axolotl==0.19.0"
NEEDED = (
    *("torch>=2.11,<=2.13", "transformers==5.16.1", "datasets==4.8.4", "accelerate==1.13.0"),
    *("peft==0.20.0", "trl==1.9.0", "pydantic==2.12.5", "posthog==6.7.11", "numpy>=2.1,<3"),
    *("addict", "colorama", "numba", "scipy", "requests", "pillow", "pyyaml", "jinja2"),
)
"""All that Axolotl imports up to its datasets, in the versions that it asks for."""

VARIABLES = {"AXOLOTL_DO_NOT_TRACK": "1", "AXOLOTL_IS_PREPROCESS": "1"}


def test_axolotl_trains_on_every_right_turn_and_on_nothing_else(tmp_path: Path):
    """With the config of the guide no row is dropped, and the labels are exactly the words and
    calls of the turns to train on, recoveries among them; mistakes are context only.
    """
    python = make_environment(tmp_path / "venv", NEEDED, alone=(AXOLOTL,))
    run = play_with_mistakes(tmp_path)
    right_rows = successes(run)
    turns = [
        (row, index)
        for row in right_rows
        for index, message in enumerate(row["messages"])
        if is_trained(message)
    ]
    whole = export(run, "axolotl", tmp_path / "whole.jsonl", template="qwen3")
    cut = export(run, "axolotl", tmp_path / "turns.jsonl", template="qwen3", unit="turn")
    assert (whole.examples, cut.examples) == (len(right_rows), len(turns))

    report = consumed(python, tmp_path)
    assert [report[name]["rows"] for name in ("whole", "turns")] == [len(right_rows), len(turns)]
    expected = [
        [turn_of(message) for message in row["messages"] if is_trained(message)]
        for row in right_rows
    ]
    assert learned(report["whole"]) == expected
    assert learned(report["turns"]) == [[turn_of(row["messages"][index])] for row, index in turns]

    for row, text, runs in zip(
        right_rows, report["whole"]["texts"], report["whole"]["trained"], strict=True
    ):
        listed = text.split("<tools>\n")[1].split("\n</tools>")[0].splitlines()
        assert [json.loads(line) for line in listed] == row["tools"], "tools are in the prompt"
        assert [result for result in texts_of(row, "tool") if result not in text] == []
        assert not any("<tool_response>" in run or "<|im_start|>" in run for run in runs)

    wrong = [call for row in right_rows for call in calls_of(row, trained=False)]
    right = [call for row in right_rows for call in calls_of(row, trained=True)]
    mistakes = [call for call in wrong if call not in right]
    assert mistakes
    taught = [call for _, calls in chain.from_iterable(learned(report["whole"])) for call in calls]
    assert [call for call in mistakes if call in taught] == []
    assert [call for call in right if call not in taught] == []
    unmarked = [
        call for _, calls in chain.from_iterable(learned(report["unmarked"])) for call in calls
    ]
    assert [call for call in mistakes if call not in unmarked] == [], "but for the mark, taught"
    assert report["short"]["texts"] == [], "Axolotl's own sequence_len drops every row"


def consumed(python: Path, folder: Path) -> dict[str, Any]:
    """What Axolotl makes of the rows: with the config of the guide; without the mark; and without
    sequence_len.
    """
    guide = yaml.safe_load(block_with("yaml", "message_field_training: train"))
    (dataset,) = guide["datasets"]
    length = {"sequence_len": guide["sequence_len"]}
    marked = {**dataset, "path": str(folder / "whole.jsonl")}
    unmarked = {key: marked[key] for key in ("path", "type", "field_messages")}
    configs = {
        "whole": {**length, "datasets": [marked]},
        "turns": {**length, "datasets": [{**dataset, "path": str(folder / "turns.jsonl")}]},
        "unmarked": {**length, "datasets": [{**unmarked, "roles_to_train": ["assistant"]}]},
        "short": {"datasets": [marked]},
    }
    (folder / "configs.json").write_text(json.dumps(configs))
    (folder / "qwen3.jinja").write_text(find_preset("qwen3").source)
    consume(python, "axolotl_consumer.py", folder, **VARIABLES, HF_HOME=str(folder / "cache"))
    return json.loads((folder / "report.json").read_text())


def learned(prepared: dict[str, Any]) -> list[list[Turn]]:
    """The turns in the labels of each example, read back as the template writes them."""
    return [[read_back(run) for run in runs] for runs in prepared["trained"]]


def read_back(run: str) -> Turn:
    text, end, rest = run.partition("<|im_end|>")
    assert end, "the end of the turn is trained on"
    assert not rest
    words, *marked = text.split("<tool_call>\n")
    calls = [json.loads(part.strip().removesuffix("\n</tool_call>")) for part in marked]
    found = [(call["name"], call["arguments"]) for call in calls]
    return (words.removesuffix("\n") if calls else words), found


def turn_of(message: dict[str, Any]) -> Turn:
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return message["content"] or "", [(call["name"], call["arguments"]) for call in calls]


def calls_of(row: dict[str, Any], *, trained: bool) -> Iterator[tuple[str, Any]]:
    for message in row["messages"]:
        if message["role"] == "assistant" and is_trained(message) == trained:
            yield from turn_of(message)[1]


def texts_of(row: dict[str, Any], role: str) -> list[str]:
    return [message["content"] for message in row["messages"] if message["role"] == role]
