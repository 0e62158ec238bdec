"""Bad input: one clear message, exit code 2, no traceback, before any rollout starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import synth
from tests.unit import small_world

EHR = Path(__file__).parents[2] / "examples" / "ehr_db"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A copy of the shipped world to break."""
    shutil.copytree(EHR, tmp_path / "world", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "world"


def refused(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """What a refused ``synth run`` says; there must be no dataset afterwards."""
    done = synth("run", "runtime=inline", *arguments, cwd=cwd, env=env, code=2)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not list(cwd.rglob("*.parquet"))
    return done.stderr


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text, f"{file.name} does not hold {old!r}"
    file.write_text(text.replace(old, new, 1), "utf-8")


def break_schema(world: Path) -> None:
    edit(world / "schema.sql", "CREATE TABLE", "CREATE TABEL")


def break_code(world: Path) -> None:
    with (world / "executors.py").open("a", encoding="utf-8") as file:
        file.write("\nimport no_such_module_at_all\n")


def break_gold(world: Path) -> None:
    edit(
        world / "tasks.yaml",
        "- record_vitals: {patient_id: $pid, heart_rate:",
        "- record_vitals: {patient_id: 999999, heart_rate:",
    )


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (break_schema, ["schema.sql:", "syntax error"]),
        (break_code, ["executors.py:", "no_such_module_at_all"]),
        (break_gold, ["record_heart_rate", "the gold call record_vitals fails"]),
    ],
)
def test_a_broken_world_is_refused_with_its_place(
    tmp_path: Path, world: Path, spoil: Callable[[Path], None], words: list[str]
):
    spoil(world)
    said = refused(tmp_path, f"env.path={world}", "tasks.count=200")
    for word in words:
        assert word in said


def test_a_refused_launch_leaves_its_directory_free(tmp_path: Path):
    refused(
        tmp_path,
        "model=openai",
        "model.name=m",
        "model.base_url=http://127.0.0.1:9/v1",
        "model.api_key_env=null",
        "output.dir=run",
    )
    synth("run", "runtime=inline", "tasks.count=3", "output.dir=run", cwd=tmp_path)


def test_debug_shows_the_traceback(tmp_path: Path):
    done = synth("--debug", "run", "env.path=nowhere", cwd=tmp_path, code=2)
    assert "Traceback" in done.stderr


def test_a_task_that_cannot_be_proved_names_the_worlds_own_file_and_the_universe(tmp_path: Path):
    """A worker unpacks the world to a scratch folder, which nobody could open afterwards."""
    rows = "def rows(universe, random):\n    for n, name in enumerate(['Box 2', 'Box']):\n"
    row = "        yield 'items', {'item_id': 100 + n, 'name': name, 'price': n}\n"
    (small_world.make(tmp_path / "world") / "seed.py").write_text(rows + row, "utf-8")
    said = refused(
        tmp_path, "env.path=world", "tasks.families=[price]", "tasks.universes=2", "tasks.count=4"
    )
    assert (
        "error: universe 1: world/tasks.yaml:16: family price: the oracle price says 1, gold"
        " submits"
    ) in said
