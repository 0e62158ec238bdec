"""A stranger's distribution, installed beside ours, brings extensions by entry points."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "extensions" / "package"
TASKS = """
now: "2026-03-02T09:00:00"
families:
- id: find_emma
  ground: {key: title, sql: SELECT title FROM books WHERE title = 'Emma'}
  user: {says: "Which number has {title}?"}
  answer: {book: {type: integer, description: The number.}}
  gold:
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - submit: {book: $book}
  - say: Found.
  gates: [state, answer, {few_calls: {most: 3}}]
"""


def install(site: Path) -> Path:
    """Lay the package out in a folder of modules as an installer does, without a build."""
    settings = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    for source, target in settings["tool"]["hatch"]["build"]["targets"]["wheel"][
        "force-include"
    ].items():
        (site / target).parent.mkdir(parents=True, exist_ok=True)
        if (PACKAGE / source).is_dir():
            shutil.copytree(PACKAGE / source, site / target, dirs_exist_ok=True)
        else:
            shutil.copy(PACKAGE / source, site / target)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (info / "entry_points.txt").write_text(
        "\n".join(
            f"[{group}]\n" + "\n".join(f"{key} = {value}" for key, value in entries.items())
            for group, entries in project["entry-points"].items()
        )
    )
    return site


@pytest.fixture
def site(tmp_path: Path) -> dict[str, str]:
    """The environment of a process beside which the package is installed."""
    return {"PYTHONPATH": f"{install(tmp_path / 'site')}:{ROOT}"}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The library with families of its own: one with the package's gate, one file that it reads."""
    folder = tmp_path / "world"
    shutil.copytree(ROOT / "examples" / "library", folder)
    (folder / "tasks.py").unlink()
    (folder / "tasks.yaml").write_text(TASKS, "utf-8")
    return folder


def test_an_engine_and_a_gate_are_used_by_run_and_check(
    site: dict[str, str], world: Path, tmp_path: Path
):
    synth("check", "world", cwd=tmp_path, env=site)
    synth(
        "run",
        "env.path=world",
        "tasks.count=1",
        "runtime=inline",
        "database.engine=strict_sqlite",
        "output.dir=out",
        cwd=tmp_path,
        env=site,
    )
    (row,) = Dataset.open(tmp_path / "out").rows()
    assert row["reward"] == 1.0
    assert {verdict["verifier"]: verdict["reason"] for verdict in row["verdicts"]}[
        "few_calls"
    ] == "2 calls"


def test_without_the_package_its_gate_is_unknown(world: Path, tmp_path: Path):
    checked = synth("check", "world", cwd=tmp_path, code=None)
    assert checked.returncode != 0
    assert "few_calls" in checked.stdout + checked.stderr


def test_the_engine_verifies_the_seed(site: dict[str, str], world: Path, tmp_path: Path):
    """The shipped engine takes bytes; the stranger's does not."""
    with (world / "seed.sql").open("a") as file:
        file.write("INSERT INTO books VALUES (999, X'00ff');\n")
    run = ("run", "env.path=world", "tasks.count=1", "runtime=inline")
    synth(*run, "output.dir=shipped", cwd=tmp_path, env=site)
    refused = synth(*run, "database.engine=strict_sqlite", cwd=tmp_path, env=site, code=None)
    assert refused.returncode != 0
    assert "books holds bytes" in refused.stderr


def test_a_task_source_and_an_exporter(site: dict[str, str], tmp_path: Path):
    words = "run env=library tasks.kind=lookups tasks.count=6 runtime=inline output.dir=out"
    synth(*words.split(), cwd=tmp_path, env=site)
    synth("export", "out", "--to", "pairs", "--out", "pairs.jsonl", cwd=tmp_path, env=site)
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert len(lines) == 6
    assert {"asked": "Please look up Emma.", "answered": "Found."} in lines


def test_the_name_of_an_extension_as_a_choice_of_a_group_says_the_key(
    site: dict[str, str], tmp_path: Path
):
    refused = synth("run", "database=strict_sqlite", "model=a:b", cwd=tmp_path, env=site, code=2)
    said = "the engine 'strict_sqlite' of synth-library-kit use database.engine=strict_sqlite"
    assert said in refused.stderr
    assert "use model.kind=a:b" in refused.stderr


def test_a_world_by_another_name_than_its_folder_is_run_and_replayed(
    site: dict[str, str], tmp_path: Path
):
    settings = ("env.name=shelves", "tasks.count=2", "runtime=inline", "output.dir=out")
    synth("run", *settings, cwd=tmp_path, env=site)
    assert extensions(tmp_path) == {("world", "shelves", "synth-library-kit 1.2")}
    synth("replay", "out", cwd=tmp_path, env=site)
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "elsewhere")}
    synth("replay", "out", cwd=tmp_path, env=elsewhere)


def test_the_version_of_a_gate_is_recorded_and_a_resume_with_another_refused(
    site: dict[str, str], world: Path, tmp_path: Path
):
    (world / "tasks.yaml").write_text(TASKS.replace("= 'Emma'", "< 'M'"), "utf-8")
    settings = ("env.path=world", "tasks.count=2", "tasks.samples=4", "runtime=inline")
    synth("run", *settings, "budget.turns=1", "output.dir=out", cwd=tmp_path, env=site, code=3)
    assert extensions(tmp_path) == {("reward", "few_calls", "synth-library-kit 1.2")}
    [metadata] = (tmp_path / "site").glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace("Version: 1.2", "Version: 1.3"))
    resume = ("run", "--resume", "out", "budget.turns=null")
    refused = synth(*resume, cwd=tmp_path, env=site, code=2)
    assert "'few_calls': synth-library-kit 1.2 -> synth-library-kit 1.3" in refused.stderr


def test_a_run_of_a_model_that_is_gone_is_replayed(site: dict[str, str], tmp_path: Path):
    settings = ("env=library", "tasks.count=2", "runtime=inline", "output.dir=out")
    synth("run", *settings, "model.kind=terse", cwd=tmp_path, env=site)
    synth("replay", "out", cwd=tmp_path)


def extensions(home: Path) -> set[tuple[str, str, str]]:
    """Kind, name and release of each extension in the manifest of the run ``out``."""
    manifest = json.loads((home / "out" / "manifest.json").read_text())
    return {
        (row["kind"], row["name"], f"{row['distribution']} {row['version']}")
        for row in manifest["identity"]["more"]["extensions"]
    }


def test_a_reader_of_families(site: dict[str, str], world: Path, tmp_path: Path):
    (world / "tasks.yaml").unlink()
    (world / "titles.txt").write_text("Emma\nMomo\n", "utf-8")
    words = "run env.path=world tasks.count=2 runtime=inline output.dir=out"
    synth(*words.split(), cwd=tmp_path, env=site)
    assert {row["family"] for row in Dataset.open(tmp_path / "out").rows()} == {"look_up"}
