"""A run goes to a stand-in of the Hub and comes back: card, scan, licences, resumption, replay."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.hub_stand_in import TOKEN, Hub, hub

REPO = "acme/library"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    done = synth(
        *("run", "env=library", "tasks.count=8", "runtime=inline", "output.dir=out"), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


@pytest.fixture
def online() -> Iterator[Hub]:
    with hub() as kept:
        yield kept


def environment(kept: Hub, folder: Path) -> dict[str, str]:
    return {
        "HF_ENDPOINT": kept.url,
        "HF_TOKEN": TOKEN,
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }


def push(kept: Hub, folder: Path, *more: str):
    licence = () if "--no-licence" in more else ("--license", "cc-by-4.0")
    more = tuple(word for word in more if word != "--no-licence")
    return synth("push", "out", REPO, *licence, *more, cwd=folder, env=environment(kept, folder))


def test_a_run_goes_there_and_comes_back_and_is_replayed(run: Path, tmp_path: Path, online: Hub):
    done = push(online, tmp_path, "--private")
    assert done.returncode == 0, done.stderr
    kept = online.files[REPO]
    assert online.private[REPO]
    assert {name.split("/")[0] for name in kept} == {
        *("README.md", "card", "config.yaml", "data", "manifest.json", "tasks.parquet", "world"),
    }
    assert set(online.commits[-1]["paths"]) == {"README.md", "manifest.json"}
    back = synth("pull", REPO, "back", cwd=tmp_path, env=environment(online, tmp_path))
    assert back.returncode == 0, back.stderr
    assert "8 rows of library in back" in back.stdout
    assert list(Dataset.open(tmp_path / "back").rows()) == list(Dataset.open(run).rows())
    played = synth("replay", "back", "--trust", cwd=tmp_path)
    assert played.returncode == 0, played.stdout + played.stderr


def test_a_push_that_broke_goes_on_and_one_that_is_there_sends_nothing(
    run: Path, tmp_path: Path, online: Hub
):
    online.fails = lambda number: number == 1
    broke = push(online, tmp_path)
    assert broke.returncode == 2
    assert "the stand-in was asked to fail" in broke.stderr
    assert "Traceback" not in broke.stderr
    assert "manifest.json" not in online.files[REPO]
    online.fails = lambda number: False
    done = push(online, tmp_path, "--json")
    report = json.loads(done.stdout)
    assert (report["uploaded"], report["unchanged"]) == (2, len(online.files[REPO]) - 2)
    commits = len(online.commits)
    again = json.loads(push(online, tmp_path, "--json").stdout)
    assert (again["uploaded"], len(online.commits)) == (0, commits)


def test_what_an_earlier_push_had_more_is_removed(run: Path, tmp_path: Path, online: Hub):
    online.files[REPO] = {"data/train-00007-of-00008.parquet": b"old", "notes.md": b"a person's"}
    assert push(online, tmp_path).returncode == 0
    assert "data/train-00007-of-00008.parquet" not in online.files[REPO]
    assert "notes.md" in online.files[REPO]


def test_a_dry_run_writes_the_card_and_makes_no_request(run: Path, tmp_path: Path, online: Hub):
    done = push(online, tmp_path, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert not online.requests
    assert "README.md" in json.loads(done.stdout)["files"]
    header = yaml.safe_load((run / "README.md").read_text("utf-8").split("---\n")[1])
    assert (header["license"], header["language"]) == ("cc-by-4.0", ["en"])
    assert header["configs"][0]["data_files"] == [
        {"split": "train", "path": "data/train-*.parquet"}
    ]


def test_nothing_is_sent_without_licences_or_a_token(run: Path, tmp_path: Path, online: Hub):
    done = push(online, tmp_path, "--no-licence")
    assert done.returncode == 2
    assert "of the data: card.license, or --license" in done.stderr
    assert not online.requests
    wrong = environment(online, tmp_path) | {"HF_TOKEN": "hf_wrong0123456789abcdef"}
    done = synth("push", "out", REPO, "--license", "mit", cwd=tmp_path, env=wrong)
    assert done.returncode == 2
    assert "export HF_TOKEN" in done.stderr
    assert not online.files


@pytest.mark.parametrize(
    ("canary", "kind"),
    [
        ("AKIAQYLPMN5HFIQR7XYA", "AWS Access Key"),
        ("ghp_0123456789abcdefABCDEF0123456789abcd", "GitHub Token"),
        ("canary-of-this-machine-4711", "the value of a key variable of this machine"),
    ],
)
def test_a_secret_in_any_file_stops_the_push(
    run: Path, tmp_path: Path, online: Hub, canary: str, kind: str
):
    config = run / "config.yaml"
    config.write_text(f"{config.read_text('utf-8')}# {canary}\n", "utf-8")
    done = synth(
        *("push", "out", REPO, "--license", "mit", "--personal-data-reviewed"),
        cwd=tmp_path,
        env=environment(online, tmp_path) | {"MY_API_KEY": "canary-of-this-machine-4711"},
    )
    assert done.returncode == 2
    assert f"config.yaml: {kind}" in done.stderr
    assert canary not in done.stderr + done.stdout
    assert not online.requests


def test_a_repository_without_a_run_is_one_message(tmp_path: Path, online: Hub):
    online.files["acme/other"] = {"README.md": b"hello"}
    for repo, said in (("acme/other", "holds no run of synth"), ("acme/none", "has no acme/none")):
        done = synth("pull", repo, repo[5:], cwd=tmp_path, env=environment(online, tmp_path))
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_changed_shard_is_found_when_it_is_pulled(run: Path, tmp_path: Path, online: Hub):
    assert push(online, tmp_path).returncode == 0
    name = next(name for name in online.files[REPO] if name.startswith("data/"))
    online.files[REPO][name] += b"x"
    done = synth("pull", REPO, "back", cwd=tmp_path, env=environment(online, tmp_path))
    assert done.returncode == 2
    assert "is not what the manifest describes" in done.stderr
