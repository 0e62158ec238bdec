"""The README keeps its word: its commands work, its Python runs, its doors are there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from synth.__main__ import COMMANDS
from tests.e2e.command import synth

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def run_lines() -> list[str]:
    """The ``synth run`` lines of the README, each to be tried as a dry run."""
    return [
        line
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("synth run") and "--resume" not in line
    ]


@pytest.mark.parametrize("line", run_lines())
def test_a_run_line_plans(line: str, tmp_path: Path):
    arguments = shlex.split(line)[1:]
    more = ["--cfg"] if "-m" in arguments else [] if "--dry-run" in arguments else ["--dry-run"]
    done = synth(*arguments, *more, cwd=tmp_path, env={"OPENAI_API_KEY": "not-used-by-a-dry-run"})
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


def test_every_command_is_in_the_readme_and_has_help_with_an_example():
    for name in COMMANDS:
        assert f"`synth {name} " in README
        shown = synth(name, "--help", cwd=ROOT)
        assert shown.returncode == 0
        assert "example" in shown.stdout
        assert f"synth {name}" in shown.stdout


def test_the_world_of_the_readme_works(tmp_path: Path):
    """Its tool and its family, with the few lines that they take for granted, prove themselves and run."""
    world = tmp_path / "my_world"
    world.mkdir()
    (world / "schema.sql").write_text("CREATE TABLE items (item_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);\n")
    (world / "seed.sql").write_text("INSERT INTO items (name) VALUES ('Anvil'), ('Bellows'), ('Chisel');\n")
    (world / "policy.md").write_text("Do what is asked.\n")
    tool = next(block for block in blocks("python") if "def rename" in block)
    find = '''

@tool(read_only=True)
def find_items(db: Connection, name: str) -> dict:
    """Find items by name.

    Args:
        name: The name.
    """
    rows = db.execute(text("SELECT item_id, name FROM items WHERE name = :n ORDER BY item_id"), {"n": name})
    return {"items": [dict(row) for row in rows.mappings()]}
'''
    (world / "executors.py").write_text(tool + find)
    (world / "tasks.yaml").write_text(blocks("yaml")[0])
    checked = synth("check", str(world), cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = synth("run", f"env.path={world}", "tasks.count=9", "runtime=inline", "output.dir=out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "100.0% with full reward" in done.stdout


def test_the_python_of_the_readme_runs(tmp_path: Path):
    code = next(block for block in blocks("python") if "synth.open" in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("0.0")


def test_every_contract_of_the_doors_table_exists():
    doors = README.partition("## Doors")[2].partition("\n\n\n")[0]
    for dotted in re.findall(r"^\|[^|]*\| `((?:synth|envs)\.[\w.]+)`", doors, re.MULTILINE):
        module, _, attribute = dotted.rpartition(".")
        assert hasattr(import_module(module), attribute) or import_module(dotted), dotted


def test_every_key_of_a_family_is_documented():
    from synth.tasks.family import FAMILY_KEYS

    table = README.partition("| key | what it says |")[2].partition("\n\n")[0]
    for key in FAMILY_KEYS - {"id", "about", "user"}:
        assert f"`{key}`" in table
    assert "`user.says`" in table
