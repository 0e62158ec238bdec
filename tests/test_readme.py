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
    arguments = shlex.split(line, comments=True)[1:]
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


def marked(what: str, name: str) -> str:
    """The block that stands under ``<!-- what: name -->``."""
    found = re.search(rf"^<!-- {what}: {re.escape(name)} -->\n```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found is not None, f"the README has no {what} {name}"
    return found[1]


def test_the_world_of_the_readme_works(tmp_path: Path):
    """Nothing but the files that it prints: they prove themselves, run, and can be looked at and played again."""
    world = tmp_path / "library"
    world.mkdir()
    names = re.findall(r"^<!-- file: (\S+) -->$", README, re.MULTILINE)
    assert {"schema.sql", "seed.sql", "policy.md", "executors.py", "tools.yaml", "tasks.yaml", "tasks.py"} == set(names)
    for name in names:
        (world / name).write_text(marked("file", name), "utf-8")
    checked = synth("check", "library", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = synth("run", "env.path=library", "tasks.count=80", "runtime=inline", "output.dir=out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "100.0% with full reward" in done.stdout
    replayed = synth("replay", "out", cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stdout


def test_the_row_of_the_readme_is_what_inspect_shows(tmp_path: Path):
    """Where the world or the plan has changed, paste what ``synth inspect DIR --show 5`` says now."""
    done = synth("run", "runtime=inline", "output.dir=out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert synth("inspect", "out", "--show", "5", cwd=tmp_path).stdout.endswith(f"\n{marked('shown', '5')}")


def test_the_python_of_the_readme_runs(tmp_path: Path):
    code = next(block for block in blocks("python") if "synth.open" in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("0.0")


def test_every_contract_of_the_doors_table_exists():
    doors = README.partition("## Doors")[2].partition("\n\n\n")[0]
    for dotted in re.findall(r"^\|[^|]*\| `((?:synth|envs)\.[\w.]+)`", doors, re.MULTILINE):
        module, _, attribute = dotted.rpartition(".")
        assert hasattr(import_module(module), attribute) or import_module(dotted), dotted


def test_every_word_of_the_notation_is_documented():
    from synth.tasks.words import FAMILY_KEYS, GATES, TOPIC_KEYS, USER_KEYS, WORDS

    table = README.partition("| key | what it says |")[2].partition("\n\n")[0]
    for key in FAMILY_KEYS - {"id", "about"}:
        assert f"`{key}`" in table
    world = README.partition("## A world")[2].partition("## Doors")[0]
    for word in GATES | TOPIC_KEYS | USER_KEYS | WORDS:
        assert re.search(rf"[`{{ ]{word}\b", world), word


@pytest.mark.parametrize(("world", "family"), re.findall(r"^<!-- from: (\w+) (\w+) -->$", README, re.MULTILINE))
def test_what_the_readme_shows_of_a_world_stands_in_it(world: str, family: str):
    """Each line but `...` and the remarks of the README, in this order."""
    tasks = (ROOT / "examples" / world / "tasks.yaml").read_text("utf-8")
    lines = iter(tasks.partition(f"- id: {family}\n")[2].partition("\n- id: ")[0].splitlines())
    for line in marked("from", f"{world} {family}").splitlines():
        shown = re.sub(r"\s+# .*$", "", line)
        if shown.strip() != "...":
            assert shown in lines, line
