"""A dry run, a preview and the table of a sweep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.__main__ import main

pytestmark = pytest.mark.slow


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["run", *words]) == 0
    return capsys.readouterr().out


def test_a_dry_run_as_json(capsys: pytest.CaptureFixture[str]):
    plan = json.loads(shown(capsys, "--dry-run", "--json", "env=library", "tasks.count=2"))
    assert plan["rollouts"] == 2
    assert plan["estimate"] is None
    assert plan["runtime"]["kind"] == "inline"
    names = [tool["function"]["name"] for tool in plan["first"]["tools"]]
    assert names[-1] == "submit"


def test_submit_is_shown_as_the_model_sees_it(capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, "--dry-run", "env=library", "tasks.count=2")
    submit = json.loads(out.splitlines()[-1])
    assert submit["name"] == "submit"
    assert submit["description"]
    assert submit["parameters"]["type"] == "object"


def test_families_without_a_task_are_one_line(capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, "--dry-run", "env=ehr_db", "tasks.count=3")
    assert ": 0 of" not in out
    assert "more families get no task of this count" in out


def test_requests_of_composed_tasks_are_part_of_a_familys_share(capsys: pytest.CaptureFixture[str]):
    words = ("--dry-run", "env=library", "tasks.count=12", "tasks.compose={2: 0.5}")
    plan = json.loads(shown(capsys, *words, "--json"))
    assert sum(entry["tasks"] for entry in plan["families"]) == 6
    assert sum(entry["requests"] for entry in plan["families"]) == pytest.approx(18, abs=1)
    entry = plan["families"][0]
    line = f"{entry['family']}: {entry['tasks']} of {entry['capacity']}, about {entry['requests']}"
    assert f"{line} requests\n" in shown(capsys, *words)
    assert " requests\n" not in shown(capsys, "--dry-run", "env=library", "tasks.count=12")


def test_tokens_and_money_are_estimated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    words = ("--dry-run", "--json", "env=library", "tasks.count=2", "model=openai")
    known = json.loads(shown(capsys, *words, "model.name=gpt-4.1-mini"))["estimate"]
    assert known["input_tokens"] > 1_000
    assert known["cost_usd"] > 0
    twice = (*words, "model.name=gpt-4.1-mini", "tasks.samples=2")
    assert json.loads(shown(capsys, *twice))["estimate"]["input_tokens"] == pytest.approx(
        2 * known["input_tokens"], rel=0.01
    )
    assert json.loads(shown(capsys, *words, "model.name=mine"))["estimate"]["cost_usd"] is None
    words = tuple(word for word in words if word != "--json")
    assert "price unknown" in shown(capsys, *words, "model.name=mine")


def test_a_preview_plays_and_keeps_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    out = shown(capsys, "--preview", "2", "env=library")
    assert out.count("Row changes") == 2
    assert out.rstrip().endswith("2 of 2 rollouts; nothing was kept")
    assert not list(tmp_path.iterdir())
    assert main(["run", "--preview", "0"]) == 2
    assert main(["run", "-m", "--preview", "1", "seed=1,2"]) == 2


def test_a_sweep_ends_with_a_table_over_its_points(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    out = shown(
        capsys,
        "-m",
        "env=library",
        "runtime=inline",
        "tasks.count=1,2",
        f"output.dir={tmp_path / 'sweep'}",
    )
    heading, names, first, second = out.splitlines()[-4:]
    assert heading == "2 points"
    assert names.split()[:3] == ["tasks.count", "status", "rows"]
    assert first.split()[:5] == ["1", "complete", "1", "of", "1"]
    assert second.split()[0] == "2"
    for line in (first, second):  # issue 38: where the runs are
        assert (Path(line.split()[-1]) / "manifest.json").is_file()
