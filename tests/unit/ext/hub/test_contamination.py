"""Overlap of splits, and of rows with texts that a model will be judged by."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from synth.errors import OperatorError
from synth.ext.hub.cli.card import main
from synth.ext.hub.contamination import Benchmark, overlaps
from synth.ext.hub.facts import Contamination
from tests.sample_rows import SYSTEM, row, says, user, write_run

LONG = "Natalia sold clips to 48 of her friends in April, and then she sold half as many in May."

SHORT = "what is the name of the capital of France"
LAST = "this last line of the list is in no row of any dataset"


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
        (SHORT, f"Tell me: {SHORT}?", True),
        (SHORT, SHORT.replace("France", "Spain"), False),
        ("what is the capital", "Tell me what is the capital", False),
        ("what is the capital of France", "What is the capital of France?", True),
        ("what is the capital of France", "Tell me, what is the capital of France?", False),
        (LONG, LONG.replace("Natalia", "Anna").replace("May", "June"), True),
        (SHORT, f"{SHORT.replace('France', 'Spain')} {SHORT}", True),
    ],
)
def test_words_in_a_row_a_short_text_whole_or_a_near_duplicate(
    tmp_path: Path, listed: str, text: str, found: bool
):
    file = tmp_path / "list.jsonl"
    file.write_text(f"{listed}\n{LAST}\n\n", "utf-8")
    benchmark = Benchmark(file)
    assert benchmark.texts == (1 if len(listed.split()) < 5 else 2)
    assert (benchmark.overlap(text) is not None) is found
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
    line = (
        "`gsm.txt`: 1 rows overlap with 1 of its 2 texts (13 words in a row, a text of 8 to 12"
        " words as a whole, or a near-duplicate)."
    )
    assert line in capsys.readouterr().out
    assert f"- {line}" in (run / "README.md").read_text("utf-8")


def texts_in(path: Path) -> int:
    benchmark = Benchmark(path)
    for text in (LONG, SHORT, LAST):
        benchmark.overlap(text)
    return len(benchmark.found)


def test_a_folder_is_read_in_every_form_that_benchmarks_come_in(tmp_path: Path):
    folder = tmp_path / "suite"
    (folder / "deep").mkdir(parents=True)
    lines = [json.dumps({"question": [[{"role": "user", "content": LONG}]]}), json.dumps({"n": 1})]
    (folder / "lines.json").write_text("\n".join(lines), "utf-8")  # JSON Lines under another name
    nested = json.dumps({"answer": SHORT})  # JSON in a string of JSON
    (folder / "deep" / "tasks.json").write_text(json.dumps({"a": [{"truth": nested}]}), "utf-8")
    pq.write_table(pa.table({"turns": [[{"text": LAST}], [], None]}), folder / "deep" / "x.parquet")
    (folder / "database.bin").write_bytes(b"\xff\x00")
    (folder / ".git").mkdir()
    (folder / ".git" / "log.txt").write_text("\xff", "latin-1")
    assert texts_in(folder) == 3
    assert texts_in(folder / "deep") == 2
    (folder / "broken.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OperatorError, match=r"broken\.txt: it is not UTF-8"):
        Benchmark(folder)


def test_a_folder_without_a_known_file_says_which_are_known(tmp_path: Path):
    (tmp_path / "database.bin").write_bytes(b"\xff\x00")
    with pytest.raises(OperatorError, match=r"no file that ends in \.json, \.jsonl"):
        Benchmark(tmp_path)


def test_user_turns_replies_and_answers_are_held_against_it_and_results_are_not(tmp_path: Path):
    (tmp_path / "a.txt").write_text(f"{LONG}\n{SHORT}\n{LAST}\n", "utf-8")
    held = [Benchmark(tmp_path / "a.txt")]
    tool = {"role": "tool", "tool_call_id": "c", "name": "find", "content": LONG}
    silent = row(0, messages=[{"role": "system", "content": LONG}, user("Hello."), tool])
    assert overlaps(silent, held) == []
    spoken = row(
        0,
        messages=[user("Hello."), says(f"Well: {LONG}"), user(f"No, {SHORT}")],
        submitted={"sql": [LAST], "n": 4},
    )
    found = [(overlap.place, overlap.how, overlap.file) for overlap in overlaps(spoken, held)]
    file = str(tmp_path / "a.txt")
    assert found == [
        ("reply 1", "13 words in a row", file),
        ("user turn 2", "a short text as a whole", file),
        ("answer", "13 words in a row", file),
    ]
