"""Overlap of splits, and of rows with texts that a model will be judged by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from synth.cli.card import main
from synth.errors import OperatorError
from synth.hub.contamination import Benchmark, Contamination
from tests.sample_rows import SYSTEM, row, says, user, write_run

LONG = "Natalia sold clips to 48 of her friends in April, and then she sold half as many in May."


def said(index: int, text: str, **columns: object):
    return row(index, messages=[SYSTEM, user(text), says("Done.")], **columns)


def test_the_same_request_in_both_splits_is_counted_whatever_its_case():
    overlap = Contamination()
    overlap.add(said(0, "Please lend me Walden!"))
    overlap.add(said(1, "Stop the warfarin."))
    overlap.add(said(2, "please LEND me Walden", split="test", universe=1))
    overlap.add(said(3, "Something else.", split="test", universe=1))
    assert overlap.lines()[0] == (
        "`test` against `train`: 0 tasks in both, 1 of 2 opening requests in the same words,"
        " rows of other universes."
    )


def test_a_run_of_one_split_says_so():
    overlap = Contamination()
    overlap.add(row(0))
    assert overlap.lines()[0].startswith("All rows are of one split")


@pytest.mark.parametrize(
    ("listed", "text", "found"),
    [
        (LONG, f"A riddle: {LONG.upper()} How many?", True),
        (json.dumps({"question": LONG, "id": 7}), LONG.replace(",", ""), True),
        (LONG, LONG.replace("half", "twice").replace("friends", "aunts"), False),
        ("what is the capital of France", "Tell me: what is the capital of France?", True),
        ("what is the capital of France", "What is the capital of Spain?", False),
    ],
)
def test_thirteen_words_in_a_row_or_a_short_text_whole(
    tmp_path: Path, listed: str, text: str, found: bool
):
    file = tmp_path / "list.jsonl"
    file.write_text(f"{listed}\n\n", "utf-8")
    benchmark = Benchmark(file)
    assert benchmark.texts == 1
    assert benchmark.holds(text) is found
    assert len(benchmark.found) == found


@pytest.mark.parametrize("content", [b"", b"a few words\n", b"\xff\xfe\x00", None])
def test_a_list_that_cannot_be_read_is_one_message(tmp_path: Path, content: bytes | None):
    file = tmp_path / "list.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(OperatorError, match="--against"):
        Benchmark(file)


def test_the_card_says_how_many_rows_hold_a_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = write_run(tmp_path / "ehr", [said(0, LONG), row(1)])
    (run / "config.yaml").write_text(yaml.safe_dump({"env": {"name": "ehr_db"}}), "utf-8")
    (tmp_path / "gsm.txt").write_text(f"{LONG}\nAnother text of more than a few words.\n", "utf-8")
    assert main([str(run), "--against", str(tmp_path / "gsm.txt")]) == 0
    line = "`gsm.txt`: 1 rows share 13 words in a row with 1 of its 2 texts."
    assert line in capsys.readouterr().out
    assert f"- {line}" in (run / "README.md").read_text("utf-8")
