"""Run directories under two drivers, other versions, edited worlds, and clocks that jump."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from synth.core.dataset.store.run_info import json_bytes
from synth.errors import ResumeRefused
from tests.e2e.misbehaving import Place
from tests.faults.promises import promise
from tests.faults.runs import copy, go_on, play, stable
from tests.unit.small_world import make

JOBS = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("directories") / "world")


@pytest.fixture(scope="module")
def whole(world: Path) -> Path:
    run = world.parent / "whole"
    play(run, f"env.path={world}", f"tasks.count={JOBS}", "output.rows_per_shard=8")
    return run


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


@promise("Two drivers cannot write one directory; the second is told who does")
def test_a_second_driver_is_refused(place: Place) -> None:
    first = place.start("runtime=inline", "output.dir=run", "runtime.concurrency=1", PACE="0.2")
    place.wait_for_calls(first, 65)
    code, _, words = place.run("--resume", "run")
    assert code == 2
    assert f"is being written by process {first.pid} on " in words
    code, _, words = place.run("runtime=inline", "output.dir=run")
    assert code == 2
    assert "already holds a run" in words


@promise("A run of another version of the product is gone on with, or refused in one sentence")
def test_other_versions(whole: Path, tmp_path: Path) -> None:
    newer = copy(whole, tmp_path / "newer")
    manifest = json.loads((newer / "manifest.json").read_text())
    (newer / "manifest.json").write_bytes(
        json_bytes(manifest | {"versions": {"synth-worlds": "99.0"}, "of_the_future": [1]})
    )
    (newer / "data" / "train-00001-of-00005.parquet").unlink()
    report, _ = go_on(newer)
    assert report.status == "complete"
    assert stable(newer) == stable(whole)
    other = copy(whole, tmp_path / "other")
    (other / "manifest.json").write_bytes(json_bytes(manifest | {"schema_version": 99}))
    _, words = go_on(other)
    assert "upgrade synth" in words


@promise("A world that was edited between start and resume is refused by the names of its files")
def test_an_edited_world(tmp_path: Path) -> None:
    world, run = make(tmp_path / "world"), tmp_path / "run"
    play(run, f"env.path={world}", "tasks.count=8", "output.rows_per_shard=4")
    before = stable(run)
    (run / "data" / "train-00000-of-00002.parquet").unlink()
    text = (world / "tasks.yaml").read_text()
    (world / "tasks.yaml").write_text(text + "# a thought\n")
    with pytest.raises(ResumeRefused, match=r"changed since the run began: tasks\.yaml"):
        go_on(run)
    (world / "tasks.yaml").write_text(text)
    go_on(run)
    assert stable(run) == before


@promise("A clock that jumps by days changes no row and ends nothing early")
def test_a_clock_that_jumps(
    world: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, jumps = time.time, itertools.cycle([0.0, 86_400.0, -86_400.0, 3e7])
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    play(tmp_path / "run", f"env.path={world}", f"tasks.count={JOBS}", "output.rows_per_shard=8")
    assert stable(tmp_path / "run") == stable(whole)
