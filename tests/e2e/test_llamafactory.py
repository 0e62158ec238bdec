"""Exported files in LLaMA-Factory's own data code and trainer, in an environment of its own.

pytest -m long tests/e2e/test_llamafactory.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.presets import find_preset
from tests.e2e.isolated import consume, make_environment
from tests.e2e.run_with_mistakes import is_trained, play_with_mistakes, successes
from tests.sample_rows import asks, call, result, row, says, user, write_run

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_800)]

Json = Any
# Its limits let in a torch and a torchaudio for different versions of CUDA.
PACKAGES = ("llamafactory==0.9.5", "torch==2.11.0", "torchaudio==2.11.0")
THOUGHT, END = "<think>\n\n</think>\n\n", "<|im_end|>\n"
TAGS = 'a <b>b</b> <call>{"c": 1}</call> & "d" é'

Turn = tuple[str, list[Json]]
"""The words of a turn and its calls."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_with_mistakes(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def read(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    """What LLaMA-Factory makes of the run as whole rows and as single turns, and of a row with its
    tags in words and arguments.
    """
    home = tmp_path_factory.mktemp("llamafactory")
    python = make_environment(home / "venv", PACKAGES)
    tagged = [user("One."), asks(call("1", "x", note=TAGS), content="Now."), result("1", "x", TAGS)]
    write_run(home / "tagged", [row(0, messages=[*tagged, says("Ok.")])])
    reports = {
        "whole": export(run, "llamafactory", home / "whole.jsonl"),
        "turns": export(run, "llamafactory", home / "turns.jsonl", unit="turn"),
        "tagged": export(home / "tagged", "llamafactory", home / "tagged.jsonl"),
    }
    (home / "qwen3.jinja").write_text(find_preset("qwen3").source)
    found = json.loads(consume(python, "llamafactory_consumer.py", home))
    for name, report in reports.items():
        assert len(found[name]["examples"]) == report.examples, f"{name}: no row is dropped"
    return found


def test_whole_rows_train_every_turn_of_rows_without_mistakes(run: Path, read: dict[str, Json]):
    right = [row for row in successes(run) if not any(untrained(row["messages"]))]
    assert trained(read["whole"]) == [
        [turn_of(message) for message in row["messages"] if message["role"] == "assistant"]
        for row in right
    ]
    assert tools(read["whole"]) == [row["tools"] for row in right]


def test_single_turns_train_everything_but_mistakes(run: Path, read: dict[str, Json]):
    """Under mask_history each example trains on its last turn: a right one, such as a recovery."""
    turns = [(row, message) for row in successes(run) for message in right_turns(row["messages"])]
    assert trained(read["turns"]) == [[turn_of(message)] for _, message in turns]
    assert tools(read["turns"]) == [row["tools"] for row, _ in turns]


@pytest.mark.parametrize("file", ["whole", "turns"])
def test_no_label_holds_a_call_that_only_a_mistake_made(
    run: Path, read: dict[str, Json], file: str
):
    learned = {plain(item) for _, calls in flat(trained(read[file])) for item in calls}
    wrong = {plain(item) for item in calls_of(run, mistakes=True)}
    right = {plain(item) for item in calls_of(run, mistakes=False)}
    assert wrong - right
    assert not learned & (wrong - right)
    if file == "turns":
        assert learned == right, "recoveries too"
        context = "".join(example["masked"] for example in read["turns"]["examples"])
        assert all(item in context for item in wrong), "mistakes are context"


def test_recoveries_are_learned_with_their_words(run: Path, read: dict[str, Json]):
    recoveries = [
        turn_of(later)
        for row in successes(run)
        for message, later in pairs_of_turns(row["messages"])
        if not is_trained(message) and is_trained(later)
    ]
    assert any(words and calls for words, calls in recoveries)
    learned = flat(trained(read["turns"]))
    assert all(turn in learned for turn in recoveries)


def test_tags_in_arguments_stay_there(read: dict[str, Json]):
    (turns,) = trained(read["tagged"])
    assert turns == [("Now.", [{"name": "x", "arguments": {"note": TAGS}}]), ("Ok.", [])]


def test_its_trainer_takes_the_files(read: dict[str, Json]):
    for name, found in read.items():
        assert len(found["losses"]) == 2, name
        assert all(math.isfinite(loss) for loss in found["losses"]), name


def untrained(messages: Sequence[Json]) -> list[Json]:
    return [message for message in messages if message.get("train") is False]


def right_turns(messages: Sequence[Json]) -> list[Json]:
    return [message for message in messages if is_trained(message)]


def pairs_of_turns(messages: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Each turn of the assistant with the next one."""
    turns = [message for message in messages if message["role"] == "assistant"]
    return pairwise(turns)


def turn_of(message: Json) -> Turn:
    calls = [
        {key: item["function"][key] for key in ("name", "arguments")}
        for item in message.get("tool_calls") or ()
    ]
    return message["content"].strip(), calls


def calls_of(run: Path, *, mistakes: bool) -> list[Json]:
    """The calls of successes in turns that are mistakes, or in all others."""
    chosen = untrained if mistakes else right_turns
    turns = [turn_of(message) for row in successes(run) for message in chosen(row["messages"])]
    return [item for _, calls in turns for item in calls]


def plain(item: Json) -> str:
    """A call as the qwen3 template writes it."""
    return json.dumps(item, ensure_ascii=False)


def trained(found: Json) -> list[list[Turn]]:
    """The turns in the labels of each example, read back from the text."""
    return [[decoded(text) for text in example["trained"]] for example in found["examples"]]


def decoded(label: str) -> Turn:
    assert label.startswith(THOUGHT), "qwen3 puts an empty thought before each turn"
    assert label.endswith(END)
    words, *calls = label[len(THOUGHT) : -len(END)].split("<tool_call>\n")
    assert all(item.rstrip().endswith("\n</tool_call>") for item in calls)
    return words.strip(), [json.loads(item.rstrip()[: -len("</tool_call>")]) for item in calls]


def tools(found: Json) -> list[list[Json]]:
    """The tools in the masked text of each example."""
    return [
        [
            json.loads(line)
            for line in example["masked"].split("<tools>\n")[1].split("\n</tools>")[0].splitlines()
        ]
        for example in found["examples"]
    ]


def flat(examples: list[list[Turn]]) -> list[Turn]:
    return [turn for turns in examples for turn in turns]
