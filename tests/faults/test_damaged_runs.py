"""A file of a run is deleted, flipped or cut: a resume names it, heals it, and makes again what is
lost and nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.errors import DatasetError, ResumeRefused
from tests.e2e.command import synth
from tests.faults.promises import promise
from tests.faults.runs import copy, go_on, made_again, play, stable
from tests.unit.small_world import make

JOBS, PER_SHARD = 12, 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("damage")
    world = make(home / "world")
    run = home / "whole"
    play(run, f"env.path={world}", f"tasks.count={JOBS}", f"output.rows_per_shard={PER_SHARD}")
    return run


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x15
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = (delete, flip, cut)
FILES = {
    "data/train-00001-of-00003.parquet": [4, 5, 6, 7],
    "manifest.json": [],
    "config.yaml": [],
    "tasks.parquet": [],
    "world/*.tar.zst": [],
    "README.md": [],
}


@promise(
    "A damaged or missing file of a run is named, and a resume makes again exactly what is lost"
)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_resume_heals_a_sealed_run(
    whole: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    run = copy(whole, tmp_path / "run")
    path = next(run.glob(name))
    damage(path)
    report, words = go_on(run)
    assert report.status == "complete"
    assert path.name in words or name in ("README.md", "config.yaml")
    assert stable(run) == stable(whole)
    assert made_again(whole, run) == FILES[name]
    Dataset.open(run).verify()
    _, words = go_on(run)
    assert "note: " not in words, "it is healed"


@promise(
    "A damaged or missing file of a run is named, and a resume makes again exactly what is lost"
)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [".synth/run.json", "config.yaml", "world/*.tar.zst"])
def test_a_resume_heals_an_interrupted_run(
    whole: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    run = copy(whole, tmp_path / "run")
    (run / "data" / "train-00002-of-00003.parquet").unlink()
    interrupted(run)
    damage(next(run.glob(name)))
    report, _ = go_on(run)
    assert report.status == "complete"
    assert stable(run) == stable(whole)
    assert made_again(whole, run) == [8, 9, 10, 11]


def test_the_command_heals_a_manifest_too(whole: Path, tmp_path: Path) -> None:
    """It looks at the manifest first, to end at once where the run is complete."""
    run = copy(whole, tmp_path / "run")
    flip(run / "manifest.json")
    done = synth("run", "--resume", "run", cwd=tmp_path)
    assert "manifest.json" in done.stderr
    assert stable(run) == stable(whole)
    assert "complete already" in synth("run", "--resume", "run", cwd=tmp_path, code=None).stdout


def interrupted(run: Path) -> None:
    """Give a run the form that it has while it is written."""
    (run / ".synth").mkdir(exist_ok=True)
    (run / "manifest.json").rename(run / ".synth" / "run.json")


def test_a_reader_of_a_damaged_run_is_told_the_command(whole: Path, tmp_path: Path) -> None:
    run = copy(whole, tmp_path / "run")
    cut(run / "data" / "train-00001-of-00003.parquet")
    with pytest.raises(DatasetError, match=r"`synth run --resume .*` makes again what is lost"):
        stable(run)


def test_a_lost_archive_of_a_world_that_has_changed_is_refused_with_both_names(
    whole: Path, tmp_path: Path
) -> None:
    world = make(tmp_path / "world")
    run = tmp_path / "run"
    play(run, f"env.path={world}", "tasks.count=2")
    next((run / "world").iterdir()).unlink()
    policy = world / "policy.md"
    policy.write_text("Another rule.")
    with pytest.raises(ResumeRefused, match=r"tar.zst is missing, and the world .* is another"):
        go_on(run)
    policy.write_text("Be careful.\n")
    report, _ = go_on(run)
    assert report.status == "complete"


@promise("A file that is torn is healed by a resume")
def test_a_config_that_is_cut_off_between_two_lines_is_restored(
    whole: Path, tmp_path: Path
) -> None:
    """It is YAML all the same, and its last keys may not matter to the rows."""
    lines = (whole / "config.yaml").read_bytes().splitlines(keepends=True)
    for count in (len(lines) - 1, len(lines) // 2, 1):
        run = copy(whole, tmp_path / str(count))
        (run / "config.yaml").write_bytes(b"".join(lines[:count]))
        report, words = go_on(run)
        assert report.status == "complete"
        assert "config.yaml is cut off; it is restored" in words
        assert (run / "config.yaml").read_bytes() == b"".join(lines)


def test_a_config_that_was_edited_is_restored_and_named(whole: Path, tmp_path: Path) -> None:
    run = copy(whole, tmp_path / "run")
    config = run / "config.yaml"
    config.write_text(re.sub("^seed: 0$", "seed: 4", config.read_text(), flags=re.MULTILINE))
    _, words = go_on(run)
    assert "is not the config that the run began with (seed" in words
    assert re.search("^seed: 0$", config.read_text(), re.MULTILINE)


@pytest.mark.long
@promise("A shard flipped at any byte is found, and what is lost is made again")
def test_flips_anywhere_in_a_shard(
    whole: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    draw, found, tried = random.Random(7), 0, 200
    rows = stable(whole)
    for number in range(tried):
        run = copy(whole, tmp_path / str(number))
        path = run / "data" / "train-00001-of-00003.parquet"
        data = bytearray(path.read_bytes())
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        _, words = go_on(run)
        found += path.name in words
        assert stable(run) == rows
    record_property("figure", f"{found} of {tried} flips found and healed")
    assert found == tried


@pytest.mark.parametrize("name", ["config.yaml", "tasks.parquet", "world/*.tar.zst"])
def test_a_complete_run_is_healed_as_replay_advises(whole: Path, tmp_path: Path, name: str) -> None:
    run = copy(whole, tmp_path / "run")
    (path,) = run.glob(name)
    if name == "config.yaml":
        path.write_text("garbage")
    else:
        flip(path)
    broken = synth("replay", str(run), cwd=tmp_path, code=None)
    assert broken.returncode != 0
    assert f"{path} " in broken.stderr
    assert f"synth run --resume {run}" in broken.stderr
    synth("run", "--resume", str(run), cwd=tmp_path)
    synth("replay", str(run), cwd=tmp_path)
    assert stable(run) == stable(whole)
