"""A run that the version with schema version 1 recorded still works with every command that reads
runs, and its world, which is in the old notation, still runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from synth.dataset.columns import COLUMNS
from synth.dataset.reader import Dataset
from synth.dataset.store.task_table import TaskTable
from synth.errors import RenamedKeyWarning
from synth.foundation.archive import unpack_world
from synth.runner.run_files import load_config
from tests.e2e.command import synth

RECORDED = Path(__file__).parent.parent / "recorded_runs" / "schema_1_shop"
ROWS = 16
COLUMNS_WARNING = (
    "RenamedKeyWarning: schema version 1: `branch` is now `case`, `policy_input_tokens` is"
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RECORDED, tmp_path / "run"))


@pytest.fixture
def old_world(tmp_path: Path) -> Path:
    [archive] = (RECORDED / "world").iterdir()
    unpack_world(archive.read_bytes(), tmp_path / "worlds" / "shop")
    return tmp_path / "worlds" / "shop"


def test_inspect_counts_the_rows_and_rewards(run: Path):
    done = synth("inspect", str(run), "--json", cwd=run)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["rows"] == ROWS
    assert counts["rewards"] == {"mean": 1.0, "scored": ROWS, "unscored": 0, "successes": ROWS}
    assert done.stderr.count("RenamedKeyWarning") == 1
    assert f"{run}/manifest.json:3: {COLUMNS_WARNING}" in done.stderr


def test_the_reader_presents_the_columns_under_their_new_names(run: Path):
    with pytest.warns(RenamedKeyWarning, match="`branch` is now `case`"):
        dataset = Dataset.open(run)
    dataset.verify()
    table = dataset.table()
    assert table.column_names == [col.name for col in COLUMNS]
    assert table["case"].to_pylist().count("allow") == 5
    assert set(table["reward"].to_pylist()) == {1.0}
    assert set(table["schema_version"].to_pylist()) == {1}
    assert dataset.manifest is not None
    assert dataset.manifest["counts"]["approver_cost_usd"] is None
    assert "policy_cost_usd" not in json.dumps(dataset.manifest)
    assert dataset.query("\"case\" = 'allow'", ["family"]).num_rows == 5


def test_the_tasks_are_presented_under_their_new_names(run: Path):
    table = TaskTable(run / "tasks.parquet")
    rows = list(table.rows())
    assert len(rows) == ROWS
    for index, row in enumerate(rows):
        assert {"case", "alternatives"} <= row["task"].keys()
        assert not {"branch", "accept"} & row["task"].keys()
        assert row["case"] == row["task"]["case"] == table.task(index)["case"]


def test_datasets_loads_the_files_as_they_are(run: Path, tmp_path: Path):
    code = "import datasets, sys; print(datasets.load_dataset(sys.argv[1])['train'].num_rows)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(run)],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == str(ROWS)


def test_export_writes_every_row(run: Path, tmp_path: Path):
    out = tmp_path / "exported"
    done = synth("export", str(run), "--to", "trl-sft", "--out", str(out), cwd=run)
    assert done.returncode == 0, done.stderr
    assert f"{ROWS} examples from {ROWS} rows" in done.stdout
    lines = tmp_path / "lines.jsonl"
    done = synth("export", str(run), "--to", "openai-jsonl", "--out", str(lines), cwd=run)
    assert done.returncode == 0, done.stderr
    assert len(lines.read_text().splitlines()) == ROWS


def test_replay_finds_no_difference(run: Path):
    done = synth("replay", str(run), "--trust", cwd=run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{ROWS} trajectories, 55 tool calls: every tool result" in done.stdout


def test_grade_changes_no_reward(run: Path):
    done = synth("grade", str(run), "--trust", "--json", cwd=run)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["trajectories"] == ROWS
    assert report["rewards_changed"] == 0
    assert report["not_graded"] == []


def test_grade_by_the_tasks_of_the_old_world_changes_no_reward(run: Path, old_world: Path):
    done = synth("grade", str(run), "--trust", "--world", str(old_world), "--json", cwd=run)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["rewards_changed"], report["not_graded"]) == (0, [])
    assert f"{old_world}/tasks.yaml:158: RenamedKeyWarning: `twins` is now `cases`" in done.stderr


def test_a_world_in_the_old_notation_runs(old_world: Path, tmp_path: Path):
    settings = ["tasks.count=24", "runtime=inline", "output.dir=out"]
    done = synth("run", f"env.path={old_world}", *settings, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RenamedKeyWarning") == 2
    file = old_world / "tasks.yaml"
    assert f"{file}:158: RenamedKeyWarning: `twins` is now `cases`" in done.stderr
    assert f"{file}:801: RenamedKeyWarning: `accept` is now `alternatives`" in done.stderr
    table = Dataset.open(tmp_path / "out").table(["case", "reward", "schema_version"])
    assert {"allow", "owner"} <= set(table["case"].to_pylist())
    assert set(table["reward"].to_pylist()) == {1.0}
    assert set(table["schema_version"].to_pylist()) == {2}


def test_the_config_of_a_run_on_mysql_names_the_engine_mariadb(run: Path):
    file = run / "config.yaml"
    text = file.read_text().replace("engine: sqlite", "engine: mysql")
    file.write_text(text.replace("dsn_env_var: null", "dsn_env_var: MY_DSN"))
    assert load_config(run, {}).database.engine == "mariadb"


def test_resuming_a_complete_run_says_that_it_is_complete(run: Path):
    done = synth("run", "--resume", str(run), cwd=run)
    assert done.returncode == 0
    assert done.stdout.startswith(f"complete already: {ROWS} of {ROWS} rollouts")


def test_resuming_a_partial_run_is_refused_in_one_sentence(run: Path):
    manifest = run / "manifest.json"
    text = manifest.read_text().replace('"status": "complete"', '"status": "partial"')
    manifest.write_text(text)
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    done = synth("run", "--resume", str(run), cwd=run)
    assert done.returncode == 2
    assert (
        f"error: {run} was begun with schema version 1, but this version of synth writes schema"
        " version 2: start a new run, or resume with the version of synth that began it\n"
    ) in done.stderr
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before
