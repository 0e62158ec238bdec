"""`synth decontaminate` and `synth export --against` on real runs and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import synth
from synth.core.dataset.reader import Dataset
from synth.errors import OperatorError
from synth.ext.exporters import cli as export
from synth.ext.hub.cli import decontaminate
from tests.sample_rows import SYSTEM, row, says, user, write_run

TEXT = "Natalia sold clips to 48 of her friends in April, and half as many in the month of May."


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three rows, of which the second says what the benchmark asks."""
    asked = [SYSTEM, user(f"A riddle for you. {TEXT}"), says("Seventy-two.")]
    return write_run(tmp_path / "ehr", [row(0), row(1, messages=asked), row(2)])


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    file = tmp_path / "gsm.jsonl"
    file.write_text(json.dumps({"question": TEXT}) + "\n", "utf-8")
    return file


def test_it_lists_the_rows_and_what_they_share(run: Path, benchmark: Path, capsys):
    assert decontaminate.main([str(run), "--against", str(benchmark)]) == 1
    out = capsys.readouterr().out
    assert "gsm.jsonl: 1 texts, 1 of them found" in out
    assert "1 of 3 rows overlap (33.3%): 13 words in a row 1" in out
    (line,) = [line for line in out.splitlines() if row(1)["trajectory_id"] in line]
    assert "user turn 1" in line
    assert "natalia sold clips to 48 of her friends" in line


def test_the_same_as_json(run: Path, benchmark: Path, capsys):
    decontaminate.main([str(run), "--against", str(benchmark), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (report["rows"], report["overlapping"], report["out"]) == (3, 1, None)
    assert report["benchmarks"] == [{"name": "gsm.jsonl", "texts": 1, "texts_found": 1}]
    (found,) = report["found"]
    assert found["trajectory_id"] == row(1)["trajectory_id"]
    assert found["overlaps"][0]["text"] == TEXT


def test_out_holds_the_other_rows_as_they_were(run: Path, benchmark: Path, tmp_path: Path, capsys):
    out = tmp_path / "clean.parquet"
    command = [str(run), "--against", str(benchmark), "--out", str(out)]
    assert decontaminate.main(command) == 0
    assert f"{out}: 2 rows, 1 left out" in capsys.readouterr().out
    with Dataset.open(run) as before, Dataset.open(out) as after:
        kept = [taken for taken in before.rows() if taken["job_index"] != 1]
        assert list(after.rows()) == kept
    assert decontaminate.main([str(out), "--against", str(benchmark)]) == 0
    with pytest.raises(OperatorError, match="exists; --force replaces it"):
        decontaminate.main(command)
    assert decontaminate.main([*command, "--force"]) == 0
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["clean.jsonl", "ehr/data/train-9.parquet"])
def test_out_is_never_written_where_it_would_harm(
    run: Path, benchmark: Path, tmp_path: Path, name: str
):
    with pytest.raises(OperatorError):
        decontaminate.main([str(run), "--against", str(benchmark), "--out", str(tmp_path / name)])
    assert len(list((run / "data").iterdir())) == 1


def test_an_export_leaves_the_rows_out_and_counts_them(
    run: Path, benchmark: Path, tmp_path: Path, capsys
):
    out = tmp_path / "train.jsonl"
    command = [str(run), "--to", "openai-jsonl", "--out", str(out), "--against", str(benchmark)]
    assert export.main(command) == 0
    assert ": shares text with gsm.jsonl (--against)" in capsys.readouterr().err
    assert len(out.read_text("utf-8").splitlines()) == 2
    report = synth.export(run, "openai-jsonl", tmp_path / "b.jsonl", against=[benchmark], best=1)
    assert report.left_out == {"shares text with gsm.jsonl (--against)": 1}


def test_a_benchmark_that_is_not_there_is_one_message(run: Path, tmp_path: Path):
    with pytest.raises(OperatorError, match=r"--against .*missing\.json: .*No such file"):
        decontaminate.main([str(run), "--against", str(tmp_path / "missing.json")])
