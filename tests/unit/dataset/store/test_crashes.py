"""A writer that is killed at any step loses nothing and doubles nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.run_writer import STEPS
from tests.unit.dataset.store.crashing import HOPELESS, LAYOUT, killer, play

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]


def tables(directory: Path) -> dict[str, bytes]:
    """Everything in the directory that must not depend on what happened on the way."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.suffix in {".parquet", ".yaml"}
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Counter[str]]:
    """The end that every disturbed run has to reach, and how often each step is taken on the
    way.
    """
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    steps = Counter[str]()
    play(directory, lambda step: steps.update([step]))
    assert set(steps) == set(STEPS), "the scenario takes every step"
    return tables(directory), steps


def killed(directory: Path, step: str, occurrence: int) -> bool:
    """Play in a process of its own; whether it was killed at that step."""
    command = [
        sys.executable,
        "-m",
        "tests.unit.dataset.store.crashing",
        str(directory),
        step,
        str(occurrence),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("step", STEPS)
def test_a_death_at_every_step(
    step: str, tmp_path: Path, undisturbed: tuple[dict[str, bytes], Counter[str]]
):
    """Killed at the first and at the last time that the step is taken, one death after the other in
    the same run, read in between, then resumed: the same bytes as without any of it.
    """
    end, steps = undisturbed
    directory = tmp_path / "run"
    deaths = [
        killed(directory, step, occurrence)
        for occurrence in dict.fromkeys((1, max(1, steps[step] - 2)))
    ]
    assert deaths[0]
    if RunFiles(directory).holds_run():
        with Dataset.open(directory) as dataset:
            ids = dataset.table(["trajectory_id"])["trajectory_id"].to_pylist()
            broken = [row["trajectory_id"] for row in dataset.errors()]
            assert len(set(ids)) == len(ids) == dataset.count
            assert not set(ids) & set(broken)
    play(directory, lambda _: None)
    assert tables(directory) == end
    assert not (directory / ".synth").exists()
    with Dataset.open(directory) as dataset:
        dataset.verify()
        assert dataset.status == "complete"
        assert [row["job_index"] for row in dataset.errors()] == list(HOPELESS)
        assert dataset.table(["job_index"])["job_index"].to_pylist() == [
            job for job in range(LAYOUT.jobs) if job not in HOPELESS
        ]


def test_a_hundred_deaths_in_one_run(
    tmp_path: Path, undisturbed: tuple[dict[str, bytes], Counter[str]]
):
    """Dying at the n-th step of any kind, again and again in the same directory, still comes to the
    same end.

    The deaths are exceptions here, as a disk error or Ctrl-C would be: the lock is let go, nothing
    else is done.
    """

    class Died(BaseException):
        pass

    directory = tmp_path / "run"
    for death in range(100):
        left = 1 + death % 7

        def fault(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Died

        try:
            play(directory, fault)
        except Died:
            continue
        break
    play(directory, lambda _: None)
    assert tables(directory) == undisturbed[0]


def test_a_shard_without_rows_has_no_row_group(tmp_path: Path):
    """One empty row group breaks `load_dataset`."""
    play(tmp_path / "run", lambda _: None)
    metadata = pq.ParquetFile(tmp_path / "run" / "data" / "test-00000-of-00001.parquet").metadata
    assert (metadata.num_rows, metadata.num_row_groups) == (0, 0)


def test_the_killer_kills(tmp_path: Path):
    """The test's own weapon works: without it every test above would pass for nothing."""
    assert killed(tmp_path / "run", STEPS[0], 1)
    assert not killed(tmp_path / "other", "no such step", 1)
    killer("no such step", 1)("another")
