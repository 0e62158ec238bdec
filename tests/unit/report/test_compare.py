"""`synth inspect --compare`: pairs by task and sample, the flips, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.core.cli.inspect import main
from synth.core.dataset.reader import Dataset
from synth.core.report.compare import compare
from synth.errors import DatasetError, OperatorError
from synth.ext.evaluation.pages import comparison_page
from tests.sample_rows import row, unscored, verdict, write_run

LOST = verdict("state", 0.0, "missing: loans")


def sample(index: int, task: str, number: int, passed: bool, **more):
    failed = {} if passed else {"outcome": "failure", "reward": 0.0, "verdicts": [LOST]}
    return row(index, task_id=task, sample_index=number, **failed, **more)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two tasks with two samples, a third that is unscored once, one that only A has."""
    first = [
        sample(0, "t1", 0, True),
        sample(1, "t1", 1, True),
        sample(2, "t2", 0, False),
        sample(3, "t2", 1, False),
        unscored(4) | {"task_id": "t3"},
        sample(5, "t4", 0, True),
    ]
    second = [
        sample(0, "t1", 0, True, model="student"),
        sample(1, "t1", 1, False, model="student", blame="agent"),
        sample(2, "t2", 0, True, model="student"),
        sample(3, "t2", 1, True, model="student"),
        sample(4, "t3", 0, True, model="student"),
    ]
    return write_run(tmp_path / "a", first), write_run(tmp_path / "b", second)


def test_pairs_are_samples_of_the_same_task(runs):
    document = compare(*map(Dataset.open, runs))
    assert (document["pairs"], document["unscored_pairs"]) == (4, 1)
    assert (document["only_first"], document["only_second"]) == (1, 0)
    counts = [document[key] for key in ("both_passed", "gained", "lost", "both_failed")]
    assert counts == [1, 2, 1, 0]
    assert document["rates"] == [0.5, 0.75]
    assert document["difference"] == 0.25
    # Two tasks with the differences -1 and +2: every assignment of signs is as far from zero.
    assert document["p_value"] == 1.0
    assert [(f["task_id"], f["sample"], f["change"]) for f in document["flips"]] == [
        ("t1", 1, "lost"),
        ("t2", 0, "gained"),
        ("t2", 1, "gained"),
    ]
    assert document["why_lost"] == [
        {"verifier": "state", "blame": "agent", "stop_reason": "finished", "count": 1}
    ]


def test_the_comparison_is_printed_lost_samples_first(runs, capsys):
    assert main(["--compare", *map(str, runs)]) == 0
    out = capsys.readouterr().out
    assert "B's rate less A's: +25.0 points over 4 pairs, p = 1: no clear difference" in out
    assert "1 samples only in A are left out" in out
    flips = [line.split()[0] for line in out.partition("Flipped (3)")[2].splitlines()[2:5]]
    assert flips == ["lost", "gained", "gained"]
    assert "state: missing: loans" in out
    last = [line.strip() for line in out.splitlines()[-4:]]
    assert last[0].startswith("B's rate less A's: +25.0 points")
    assert last[-1] == f"synth view {runs[0]} {runs[1]}"


def test_pairs_that_all_differ_alike_have_no_interval(tmp_path: Path, capsys):
    names = "abcde"
    write_run(tmp_path / "a", [sample(n, name, 0, False) for n, name in enumerate(names)])
    write_run(tmp_path / "b", [sample(n, name, 0, True) for n, name in enumerate(names)])
    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "+100.0 points over 5 pairs (no interval: all tasks differ alike), p = " in out
    assert "note:" not in out


def test_two_versions_of_a_world_are_noted(tmp_path: Path, capsys):
    old, new = ([sample(0, "t", 0, True, env_digest=digest)] for digest in ("e11", "e22"))
    write_run(tmp_path / "a", old)
    write_run(tmp_path / "b", new)
    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    note = "1 pairs come from two versions of their world (env_digest e11 and e22)"
    assert note in out
    with Dataset.open(tmp_path / "a") as first, Dataset.open(tmp_path / "b") as second:
        assert note in comparison_page(compare(first, second))


def test_the_comparison_as_json_is_the_document(runs, capsys):
    assert main(["--compare", *map(str, runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(json.dumps(compare(*map(Dataset.open, runs))))
    assert document["runs"][1]["models"] == ["student"]
    assert document["runs"][0]["pass"]["samples"] == 5


def test_what_cannot_be_compared_is_one_message(runs, tmp_path):
    with pytest.raises(OperatorError, match="--compare takes two runs, not 1"):
        main(["--compare", str(runs[0])])
    other = write_run(tmp_path / "c", [sample(0, "elsewhere", 0, True)])
    with pytest.raises(DatasetError, match="no task and sample in common"):
        main(["--compare", str(runs[0]), str(other)])
    twice = write_run(tmp_path / "d", [sample(0, "t1", 0, True), sample(1, "t1", 0, True)])
    with pytest.raises(DatasetError, match="sample 0 twice"):
        main(["--compare", str(twice), str(runs[0])])
