"""A list of tasks through the commands: played at the full reward, replayed, graded, resumed, and
checked.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.servers import VARIABLES, server

EXAMPLES = Path(__file__).parents[2] / "examples" / "action_lists"
FOLDER = Path(__file__).parent.parent / "unit" / "ext" / "action_lists"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER / "desk", tmp_path / "desk")
    shutil.copy(FOLDER / "desk_tasks.json", tmp_path)
    return tmp_path


def run(home: Path, out: str, *more: str) -> Path:
    words = "run env.path=desk tasks=actions tasks.path=desk_tasks.json tasks.count=9 seed=3"
    done = synth(*words.split(), f"output.dir={out}", *more, cwd=home)
    assert "tasks: 10 of 22 used" in done.stderr
    return home / out


@pytest.mark.slow
def test_a_list_is_played_replayed_and_graded(home: Path):
    out = run(home, "out", "runtime=inline")
    assert [row["reward"] for row in Dataset.open(out).rows(columns=["reward"])] == [1.0] * 9
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["account"]["counts"]["task"]["left_out"] == 12
    reasons = [one["why"] for one in manifest["account"]["entries"]]
    assert sum("a value that nobody could know" in why for why in reasons) == 2
    for command in ("replay", "grade"):
        synth(command, "out", cwd=home)


@pytest.mark.parametrize(("database", "kind"), [("postgres", "postgresql"), ("mariadb", "mariadb")])
def test_setup_calls_and_tools_of_the_user_on_a_server(database: str, kind: str, tmp_path: Path):
    server(kind)
    job = (
        f"run tasks=actions tasks.count=4 runtime=inline output.dir=out database={database}".split()
    )
    job += [f"tasks.path={EXAMPLES}/phone.json", f"env.path={EXAMPLES}/phone"]
    synth(*job, f"database.dsn_env_var={VARIABLES[kind]}", cwd=tmp_path)
    assert [row["reward"] for row in Dataset.open(tmp_path / "out").rows()] == [1.0] * 4
    synth("replay", "out", cwd=tmp_path)


@pytest.mark.slow
def test_the_check_of_a_list_prints_its_findings_as_json(home: Path):
    done = synth("check", "desk", "--tasks-file", "desk_tasks.json", "--json", cwd=home, code=1)
    document = json.loads(done.stdout)
    assert (document["world"], document["tasks"], document["proved"]) == ("desk", 22, 10)
    assert document["totals"]["fails_on_data"] == 2
    assert {item["id"] for item in document["findings"] if item["proved"]} >= {"sum", "exchange"}


def test_options_for_families_are_refused_beside_a_list(home: Path):
    words = "check desk --tasks-file desk_tasks.json --families a"
    done = synth(*words.split(), cwd=home, code=2)
    assert "--families is about a world's families" in done.stderr
