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
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    synth(*("run", "env=library", "tasks.count=8", "runtime=inline", "output.dir=out"), cwd=folder)
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
    return synth(
        "push", "out", REPO, *licence, *more, cwd=folder, env=environment(kept, folder), code=None
    )


def test_a_run_goes_there_and_comes_back_and_is_replayed(run: Path, tmp_path: Path, online: Hub):
    done = push(online, tmp_path, "--private")
    assert done.returncode == 0, done.stderr
    kept = online.files[REPO]
    assert online.private[REPO]
    assert {name.split("/")[0] for name in kept} == {
        *("README.md", "card", "config.yaml", "data", "manifest.json", "tasks.parquet", "world")
    }
    assert set(online.commits[-1]["paths"]) == {"README.md", "manifest.json"}
    back = synth("pull", REPO, "back", cwd=tmp_path, env=environment(online, tmp_path))
    assert "8 rows of library in back" in back.stdout
    assert list(Dataset.open(tmp_path / "back").rows()) == list(Dataset.open(run).rows())
    synth("replay", "back", "--trust", cwd=tmp_path)


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
    done = synth("push", "out", REPO, "--license", "mit", cwd=tmp_path, env=wrong, code=2)
    assert "export HF_TOKEN" in done.stderr
    wrong["HF_ENDPOINT"] = "http://127.0.0.1:1"
    done = synth("push", "out", REPO, "--license", "mit", cwd=tmp_path, env=wrong, code=2)
    assert "the Hub (http://127.0.0.1:1) cannot be reached" in done.stderr
    assert not online.files


def test_a_secret_in_any_file_stops_the_push(run: Path, tmp_path: Path, online: Hub):
    canary = "canary-of-this-machine-4711"
    config = run / "config.yaml"
    config.write_text(f"{config.read_text('utf-8')}# {canary}\n", "utf-8")
    done = synth(
        *("push", "out", REPO, "--license", "mit", "--personal-data-reviewed"),
        cwd=tmp_path,
        env=environment(online, tmp_path) | {"MY_API_KEY": canary},
        code=2,
    )
    assert "config.yaml: the value of a key variable of this machine" in done.stderr
    assert canary not in done.stderr + done.stdout
    assert not online.requests


def test_a_repository_without_a_run_is_one_message(tmp_path: Path, online: Hub):
    online.files["acme/other"] = {"README.md": b"hello"}
    for repo, said in (("acme/other", "holds no run of synth"), ("acme/none", "has no acme/none")):
        done = synth(
            "pull", repo, repo[5:], cwd=tmp_path, env=environment(online, tmp_path), code=2
        )
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_changed_shard_is_found_when_it_is_pulled(run: Path, tmp_path: Path, online: Hub):
    assert push(online, tmp_path).returncode == 0
    name = next(name for name in online.files[REPO] if name.startswith("data/"))
    online.files[REPO][name] += b"x"
    done = synth("pull", REPO, "back", cwd=tmp_path, env=environment(online, tmp_path), code=2)
    assert "is not what the manifest describes" in done.stderr


def test_a_world_goes_there_and_is_played_as_it_is_now_once_somebody_trusts_it(
    tmp_path: Path, online: Hub
):
    """Its card tells tools, families and proofs."""
    world = Path(shutil.copytree(EXAMPLES / "library", tmp_path / "reading_room"))
    tools = world / "executors.py"
    tools.write_text(tools.read_text("utf-8") + "\n# ours\n", "utf-8")  # else it is installed here
    words = ("push", "reading_room", "acme/reading-room", "--license", "cc-by-4.0")
    env = environment(online, tmp_path) | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    done = synth(*words, "--personal-data-reviewed", cwd=tmp_path, env=env)
    assert "next: synth run env=hf:acme/reading-room" in done.stdout
    files = online.files["acme/reading-room"]
    card = files["README.md"].decode()
    header = yaml.safe_load(card.split("---")[1])
    assert header["license"] == "cc-by-4.0"
    assert "synth-world" in header["tags"]
    assert "| `lend` | writes |" in card
    assert "| `lend_book` |" in card
    assert "Proved by `synth check`" in card
    assert files["WORLD.md"] == (world / "README.md").read_bytes()

    job = ("run", "env=hf:acme/reading-room", "tasks.count=4", "runtime=inline")
    refused = synth(*job, "output.dir=no", cwd=tmp_path, env=env, code=2)
    assert "was not made on this machine" in refused.stderr
    assert not (tmp_path / "no").exists()

    def digest(out: str, *trust: str) -> str:
        synth(*job, f"output.dir={out}", *trust, cwd=tmp_path, env=env)
        (row, *_) = Dataset.open(tmp_path / out).rows(["env", "reward", "env_digest"])
        assert (row["env"], row["reward"]) == ("reading-room", 1.0)
        return str(row["env_digest"])

    before = digest("yes", "--trust")
    assert digest("again") == before, "consent is remembered"
    synth("check", "hf:acme/reading-room", "--tasks", "1", cwd=tmp_path, env=env)
    files["more.py"] = b"SHELVES = 3\n"
    assert digest("with", "--trust") != before
    del files["more.py"]
    assert digest("after", "--trust") == before


def test_a_world_that_does_not_prove_itself_is_not_published(tmp_path: Path, online: Hub):
    world = Path(shutil.copytree(EXAMPLES / "library", tmp_path / "broken"))
    policy = world / "tasks.yaml"
    policy.write_text(policy.read_text("utf-8").replace("- lend:", "- renew:", 1), "utf-8")
    words = ("push", "broken", "acme/broken", "--license", "cc-by-4.0")
    done = synth(*words, cwd=tmp_path, env=environment(online, tmp_path), code=None)
    assert done.returncode != 0
    assert "acme/broken" not in online.files
