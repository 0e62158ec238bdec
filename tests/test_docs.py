"""README and docs are true: their commands work, their Python runs, their extension points exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from synth.__main__ import COMMANDS
from synth.core.dataset.reader import Dataset
from tests.documents import README, ROOT, TEXTS, WHOLE, block_with, blocks, links, marked
from tests.e2e.command import synth


def run_lines() -> list[str]:
    """Return the ``synth run`` lines of all pages, each to be tried as a dry run."""
    lines = [
        line
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("synth run") and "--resume" not in line
    ]
    return list(dict.fromkeys(lines))


@pytest.mark.parametrize("line", run_lines())
def test_a_run_line_plans(line: str, tmp_path: Path):
    arguments = shlex.split(line, comments=True)[1:]
    more = (
        ["--cfg", "job"] if "-m" in arguments else [] if "--dry-run" in arguments else ["--dry-run"]
    )
    synth(*arguments, *more, cwd=tmp_path, env={"OPENAI_API_KEY": "not-used-by-a-dry-run"})
    assert not list(tmp_path.iterdir())


def test_every_command_is_in_the_docs_and_has_help_with_an_example():
    for name in COMMANDS:
        assert f"`synth {name} " in TEXTS["docs/reference/commands.md"]
        shown = synth(name, "--help", cwd=ROOT)
        assert "example" in shown.stdout
        assert f"synth {name}" in shown.stdout


LIBRARY = ROOT / "examples" / "library"


@pytest.mark.parametrize("name", ["schema.sql", "executors.py", "tasks.yaml"])
def test_a_file_of_the_library_is_shown_as_it_is(name: str):
    assert marked("file", name) == (LIBRARY / name).read_text("utf-8")


def test_no_other_file_is_shown_whole():
    assert len(re.findall(r"^<!-- file: (\S+) -->$", WHOLE, re.MULTILINE)) == 3


def test_what_is_shown_of_a_file_is_in_it():
    """Each line but `...`, in this order."""
    lines = iter((LIBRARY / "tasks.py").read_text("utf-8").splitlines())
    for line in marked("part", "library tasks.py").splitlines():
        assert line == "..." or line in lines, line


def test_the_library_runs_and_replays(tmp_path: Path):
    """`synth check` of it is a test of tests/unit/examples/test_library.py."""
    done = synth(
        "run", "env=library", "tasks.count=80", "runtime=inline", "output.dir=out", cwd=tmp_path
    )
    assert "100.0% successful" in done.stdout
    synth("replay", "out", cwd=tmp_path)


def test_the_rewards_of_the_docs_judge_the_library(tmp_path: Path):
    """Its gate passes and its score is below 1 where the last reply is long."""
    world = tmp_path / "mine"
    shutil.copytree(LIBRARY, world)
    code = block_with("python", "import gate, reward")
    (world / "rewards.py").write_text(code, "utf-8")
    synth("check", "mine", cwd=tmp_path)
    arguments = ("env.path=mine", "tasks.count=20", "runtime=inline", "output.dir=out")
    synth("run", *arguments, cwd=tmp_path)
    for row in Dataset.open(tmp_path / "out").rows():
        verdicts = {verdict["verifier"]: verdict for verdict in row["verdicts"]}
        assert verdicts["lends_to_one_member"]["score"] == 1.0
        assert verdicts["brief"]["gate"] is False
        assert row["reward"] == pytest.approx((1 + 0.2 * verdicts["brief"]["score"]) / 1.2)


def test_the_python_of_the_readme_runs(tmp_path: Path):
    code = block_with("python", "episode.say")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("0.0")


def test_every_word_of_the_notation_is_documented():
    from synth.core.tasks.yaml.models import STEP_WORDS, FamilyModel, TopicModel, UserModel, keys_of
    from synth.plugins import REWARDS

    table = (
        TEXTS["docs/reference/tasks-yaml.md"]
        .partition("| key | what it says |")[2]
        .partition("\n\n")[0]
    )
    for key in keys_of(FamilyModel) - {"id", "about"}:
        assert f"`{key}`" in table
    assert all(f"`{gate}`" in TEXTS["docs/concepts/rewards.md"] for gate in REWARDS.builtin)
    for word in {*REWARDS.builtin, *keys_of(TopicModel), *keys_of(UserModel), *STEP_WORDS}:
        assert re.search(rf"[`{{ ]{word}\b", WHOLE), word


@pytest.mark.parametrize(
    ("world", "family"), re.findall(r"^<!-- from: (\w+) (\w+) -->$", WHOLE, re.MULTILINE)
)
def test_what_the_docs_show_of_a_world_stands_in_it(world: str, family: str):
    """Each line but `...` and the remarks of the page, in this order."""
    tasks = (ROOT / "examples" / world / "tasks.yaml").read_text("utf-8")
    lines = iter(tasks.partition(f"- id: {family}\n")[2].partition("\n- id: ")[0].splitlines())
    for line in marked("from", f"{world} {family}").splitlines():
        shown = re.sub(r"\s+# .*$", "", line)
        if shown.strip() != "...":
            assert shown in lines, line


def test_the_readme_is_short():
    assert len(README.read_bytes()) < 8000


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_files(page: str):
    folder = (ROOT / page).parent
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    made = {
        (ROOT / "docs" / place).resolve()
        for place in re.findall(r": (\S+\.md)$", site, re.MULTILINE)
    }
    paths = {link: (folder / link).resolve() for link in links(page)}
    assert not [link for link, path in paths.items() if not path.exists() and path not in made]
