"""The site, its pictures, its notebooks, its tutorials: built and executed as readers have them."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import synth
from tests.documents import ROOT, TEXTS, block_with, marked
from tests.e2e.command import COMMAND
from tests.e2e.command import synth as command

SITE = ROOT / "docs" / "site"
TUTORIALS = [page for page in TEXTS if page.startswith("docs/tutorials/")]
MOST_WORDS = 30


def site_module(name: str) -> ModuleType:
    """A script of docs/site, which is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sentences(text: str) -> list[str]:
    """The sentences of a page, without code, tables and headings."""
    text = re.sub(r"^ *```.*?^ *```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"\n\s*\n|^\|.*$|^[-*] |^#.*$", text, flags=re.MULTILINE)
    return [sentence for part in parts for sentence in re.split(r"(?<=[.!?:])\s+", part.strip())]


@pytest.mark.parametrize("page", TUTORIALS)
def test_no_sentence_of_a_tutorial_is_long(page: str):
    long = [text for text in sentences(TEXTS[page]) if len(text.split()) > MOST_WORDS]
    assert not long


def test_long_sentences_are_found():
    assert max(len(text.split()) for text in sentences(f"# x\n\n{'word ' * 31}.")) > MOST_WORDS


def test_the_picture_of_the_readme_is_what_inspect_shows(monkeypatch: pytest.MonkeyPatch):
    """Where it differs, `make picture` draws it again."""
    monkeypatch.setenv("NO_COLOR", "1")
    drawn = _shown(site_module("picture").picture())
    stored = _shown((ROOT / "docs" / "pictures" / "transcript.svg").read_text("utf-8"))
    assert "Renew all that Ben O'Hara has on loan" in drawn
    assert "update loans loan_id=43" in drawn
    calls = re.findall(r"-> (\w+)", drawn)
    assert calls == re.findall(r"-> (\w+)", stored)
    assert (
        drawn.partition("Row changes")[2].split()[:12]
        == (stored.partition("Row changes")[2].split()[:12])
    )


def _shown(picture: str) -> str:
    """The text of a picture, in order."""
    text = html.unescape(re.sub(r"<[^>]+>", " ", picture))
    return " ".join(text.replace("\xa0", " ").split())


def test_the_python_of_the_readme_and_of_the_guide_runs(tmp_path: Path):
    code = [block_with("python", "failed[0]"), marked("python", "run")]
    code.append(marked("python", "others"))
    for block in code:
        done = subprocess.run(
            [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "train.jsonl").read_text("utf-8").count("\n") > 3
    assert (tmp_path / "out" / "library.jsonl").exists()


def executed(path: Path, out: Path) -> list[dict[str, Any]]:
    """The cells of a notebook after its execution inside a kernel's running loop."""
    pytest.importorskip("nbclient")
    done = subprocess.run(
        [sys.executable, str(SITE / "notebooks.py"), str(path), str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((out / path.name).read_text("utf-8"))["cells"]


def test_the_python_of_the_readme_runs_in_a_notebook(tmp_path: Path):
    code = block_with("python", "failed[0]")
    cell = {"cell_type": "code", "id": "a", "source": code, "metadata": {}, "outputs": []}
    book = {"cells": [cell | {"execution_count": None}], "metadata": {}}
    path = tmp_path / "readme.ipynb"
    path.write_text(json.dumps(book | {"nbformat": 4, "nbformat_minor": 5}), "utf-8")
    (tmp_path / "out").mkdir()
    (cell,) = executed(path, tmp_path / "out")
    assert "20 of 20 rollouts" in json.dumps(cell["outputs"])


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")))
def test_a_notebook_runs(path: Path, tmp_path: Path):
    """Each cell gives as many outputs as are stored; `make notebooks` executes it in place."""
    stored = json.loads(path.read_text("utf-8"))["cells"]
    made = executed(path, tmp_path)
    assert [len(cell.get("outputs", ())) for cell in made] == [
        len(cell.get("outputs", ())) for cell in stored
    ]


def test_the_tutorial_on_endpoints_can_be_rehearsed(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    serve = shlex.split(marked("tutorial", "serve").replace("8000", port))
    play = shlex.split(marked("tutorial", "play").replace("8000", port))
    server = subprocess.Popen(
        [*COMMAND, *serve[1:]], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        assert any("synth run" in line for line in server.stdout)
        done = command(*play[1:], cwd=tmp_path)
        assert "8 of 8" in done.stdout
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_the_tutorial_on_text_to_sql_does_what_it_says(tmp_path: Path):
    rewards: list[list[float]] = []
    mistakes = 0
    for name, folder in (("run", "sql"), ("mistakes", "wrong")):
        command(*shlex.split(marked("tutorial", name))[1:], cwd=tmp_path)
        rows = list(synth.load(tmp_path / "out" / folder))
        rewards.append([row["reward"] for row in rows])
        mistakes = sum("mistake" in item for row in rows for item in row["provider_fields"])
    assert set(rewards[0]) == {1.0}
    assert mistakes > 5
    assert "Questions" in command("inspect", "out/sql", cwd=tmp_path).stdout


def test_the_family_of_the_first_tutorial_proves_itself_and_its_slip_is_named(tmp_path: Path):
    text = (ROOT / "docs/tutorials/first-world.md").read_text("utf-8")
    (family,) = re.findall(r"<!-- family: loans_of -->\n```yaml\n(.*?)```", text, re.DOTALL)
    world = shutil.copytree(ROOT / "examples/library", tmp_path / "library")
    tasks = (world / "tasks.yaml").read_text("utf-8")
    check = ("check", str(world), "--families", "loans_of")
    (world / "tasks.yaml").write_text(tasks + family, "utf-8")
    command(*check, cwd=tmp_path)
    slip = family.replace("$.loans[*]", "$.loan[*]")
    assert slip != family
    (world / "tasks.yaml").write_text(tasks + slip, "utf-8")
    done = command(*check, cwd=tmp_path, code=1)
    assert re.search(
        r"tasks.yaml:\d+: family loans_of: the oracle .*; on line \d+, `save` loans with"
        r" \$\.loan\[\*\]\.loan_id finds nothing",
        done.stdout,
    )


def deployed() -> list[str]:
    """Each `synth run` of the deployment files."""
    folder = ROOT / "examples" / "deploy"
    texts = [
        str(service.get("command", ""))
        for service in yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    ]
    job = list(yaml.safe_load_all((folder / "rayjob.yaml").read_text()))[1]
    texts.append(job["spec"]["entrypoint"])
    return [
        found.strip()
        for text in texts
        for found in re.findall(r"(synth run (?!--resume).*?)(?:\"|; fi)", text)
    ]


@pytest.mark.parametrize("line", deployed())
def test_a_command_of_the_deployment_files_plans(line: str, tmp_path: Path):
    words = shlex.split(line)
    env = {"OPENAI_API_KEY": "x", "SYNTH_DATABASE_URL": "postgresql://x@127.0.0.1/x"}
    command(*words[1:], "--cfg", "job", cwd=tmp_path, env=env)


def test_the_deployment_files_hold_commands():
    assert len(deployed()) == 2


@pytest.mark.slow
def test_the_site_is_built_without_a_warning():
    """With the pages that are made from the code."""
    pytest.importorskip("zensical")
    done = subprocess.run(
        [sys.executable, str(SITE / "build.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = ROOT / "out" / "site"
    assert (pages / "extending" / "engine.html").is_file()
    listed = re.findall(
        r"^- \[.+\]\((.+)\)$", (pages / "llms.txt").read_text("utf-8"), re.MULTILINE
    )
    assert len(listed) > 50
    assert all((pages / place).is_file() for place in listed)
    whole = (pages / "llms-full.md").read_text("utf-8")
    assert "## Resume" in whole
    assert len(re.findall(r"^<!-- [\w/.-]+\.md -->$", whole, re.MULTILINE)) == len(listed)
    index = (pages / "index.html").read_text("utf-8")
    assert not re.findall(r"(?:src|href)=\"?https?://(?:fonts|img)\.[^\" >]*", index), "offline"
    texts = [page.read_text("utf-8") for page in pages.rglob("*.html")]
    assert not any('class="mermaid"' in text for text in texts), "a script of another server"
    config = (pages / "reference" / "config.html").read_text("utf-8")
    assert "agent.compaction.context_window" in config
    python = (pages / "reference" / "python.html").read_text("utf-8")
    assert "Make a dataset, or go on with one." in python
    assert re.search(r"<h2[^>]*>\W*(?:<[^>]*>)*\W*synth\.run\W", python)
