"""The studies of examples/training: what their files may say, and the table of what was made."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.command import synth

TRAINING = Path(__file__).parents[3] / "examples" / "training"
STUDIES = sorted((TRAINING / "studies").glob("*.yaml"))
SETS = {"easy": ["room_price"], "hard": ["mark_clean"]}
Table = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Table]:
    """`study.py FILE OUT --table`: its exit code, what it prints, and its messages."""
    monkeypatch.syspath_prepend(str(TRAINING))
    study = import_module("study")

    def run(file: Path, out: Path, *options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["study.py", str(file), str(out), "--table", *options])
        code = study.main()
        written = capsys.readouterr()
        return code, written.out, written.err

    yield run
    for name in ("study", "plan", "results"):
        del sys.modules[name]


def write(home: Path, **changes: Any) -> Path:
    """A study beside a folder with the hotel."""
    home.joinpath("studies").mkdir(parents=True)
    shutil.copytree(TRAINING / "hotel", home / "hotel")
    study = {
        "world": "hotel",
        "run": ["tasks.count=8"],
        "tasks": 6,
        "held_out": {name: {"families": families} for name, families in SETS.items()},
        "points": {"before": {"rows": 0}, "after": {"rows": 16}},
        "compare": [["before", "after"]],
        **changes,
    }
    file = home / "studies" / "small.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return file


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_study_that_ships_is_valid_and_nothing_of_it_is_there_yet(
    file: Path, tmp_path: Path, table: Table
):
    code, shown, problem = table(file, tmp_path / "out")
    assert code == 0, problem
    assert "Not evaluated yet: " in shown
    named = yaml.safe_load(file.read_text())
    for part in (*named["points"].values(), *named["held_out"].values()):
        for line in (*part.get("run", ()), *part.get("overrides", ())):
            assert "=" in line


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"points": {"before": {"rows": -1}}}, (), "points.before.rows: Input should be greater"),
        ({"tsks": 3}, (), "tsks: Extra inputs are not permitted"),
        ({"world": "motel"}, (), "motel is not a folder"),
        ({"compare": [["before", "later"]]}, (), "compare: unknown point later"),
        ({"compare": [["after", "before"]]}, (), "before is untrained, so it comes first"),
        ({"points": {"../x": {"rows": 1}}, "compare": []}, (), "'../x': a name is of letters"),
        ({"points": {"a": {"rows": 1, "after": "b"}}, "compare": []}, (), "a.after: b is not a"),
        ({"points": {"b": {"rows": 1, "pass_rate": [0, 1]}}, "compare": []}, (), "needs `after`"),
        ({}, ("--scale", "0"), "--scale is a number above 0"),
        ({}, ("--scale", "nan"), "--scale is a number above 0"),
        ({}, ("--tasks", "0"), "--tasks is a number of at least 1"),
        ({}, ("--seeds", "a"), "--seeds is of the form 0,1,2, not a"),
        ({}, ("--points", "later"), "--points: later; there are before, after"),
    ],
)
def test_bad_studies_are_one_message(
    changes: dict[str, Any], options: tuple[str, ...], words: str, tmp_path: Path, table: Table
):
    code, _, problem = table(write(tmp_path, **changes), tmp_path / "out", *options)
    assert code == 2
    assert words in problem
    assert not (tmp_path / "out" / "results.md").exists()


def evaluated(home: Path, out: str, *more: str) -> None:
    """An evaluation of the scripted expert on six tasks."""
    chosen = ("--families", "mark_clean", "--tasks", "6", "--universes", "100")
    synth("eval", "hotel", *chosen, "--out", out, "runtime=inline", *more, cwd=home)


@pytest.mark.slow
def test_the_table_pools_seeds_and_pairs_tasks(tmp_path: Path, table: Table):
    """Real evaluations of the scripted expert, which errs before and does not after."""
    file = write(tmp_path, seeds=[0, 1])
    for home, rate in (("before", 1.0), ("after/seed-0", 0.0), ("after/seed-1", 0.5)):
        erring = ("model.mistakes=[premature_answer]", f"model.mistake_rate={rate}")
        evaluated(tmp_path, f"out/{home}/easy", *erring)
    code, shown, problem = table(file, tmp_path / "out")
    assert code == 0, problem
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    before, after = results["points"]
    assert (before["rate"], before["seeds"], before["tasks"]) == (0.0, {"-": 0.0}, 6)
    assert (after["rate"], after["seeds"], after["tasks"]) == (2 / 3, {"0": 1.0, "1": 1 / 3}, 6)
    [pair] = results["pairs"]
    assert (pair["on"], pair["tasks"], pair["difference"]) == ("easy", 6, 2 / 3)
    assert pair["interval"][0] < 2 / 3 < pair["interval"][1]
    assert pair["p_value"] == pytest.approx(2 / 2**6), "six tasks, all for the better"
    assert results["missing"] == ["before/hard", "after/seed-0/hard", "after/seed-1/hard"]
    assert "| before | 0 | 0 | easy | 6 | 0.0% | 0.0% to 39.0% | 0.0% |" in shown


@pytest.mark.parametrize(
    ("status", "reported", "rows", "evaluated"),
    [
        ("complete", "complete", 6, True),
        ("partial", "partial", 6, False),
        ("complete", "partial", 6, False),
        ("complete", "complete", 5, False),
    ],
)
def test_a_report_on_some_of_the_tasks_is_no_evaluation(
    table: Table, tmp_path: Path, status: str, reported: str, rows: int, evaluated: bool
):
    """A set whose model's server was stopped is gone on with, and not taken for whole; nor is one
    whose run went on after its report.
    """
    is_evaluated = import_module("study").is_evaluated
    assert not is_evaluated(tmp_path)
    (tmp_path / "eval.json").write_text(json.dumps({"status": reported, "rows": rows}))
    (tmp_path / "manifest.json").write_text(json.dumps({"status": status, "counts": {"rows": 6}}))
    assert is_evaluated(tmp_path) is evaluated


def test_a_file_that_is_not_utf8_is_one_message(table: Table, tmp_path: Path):
    file = write(tmp_path)
    file.write_bytes(b"world: h\xf4tel\n")
    code, _, problem = table(file, tmp_path / "out")
    assert code == 2
    assert problem == f"{file} is not UTF-8: invalid continuation byte at byte 8\n"


@pytest.mark.parametrize("option", [("--threads", "0"), ("--port", "99999"), ("--port", "x")])
def test_a_number_that_cannot_be_is_refused_at_once(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
):
    with pytest.raises(SystemExit):
        table(write(tmp_path), tmp_path / "out", *option)
    assert f"argument {option[0]}: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
