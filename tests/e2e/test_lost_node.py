"""A cluster of two nodes on this machine, with Ray's token authentication on: one is lost while a
run goes on, another joins, and one interrupt drains what is left.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import stable_rows
from tests.e2e.misbehaving import Place, interrupt, wait_for_words
from tests.e2e.ray_cluster import ClusterProcess, ray_cluster

pytestmark = pytest.mark.ray

JOBS = 60


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


@pytest.fixture
def cluster(place: Place) -> Iterator[ClusterProcess]:
    with ray_cluster(CALLS=str(place.calls), PACE="1") as made:
        yield made


def start(place: Place, cluster: ClusterProcess, workers: int, *more: str) -> Popen[str]:
    job = (f"runtime.address={cluster.address}", f"runtime.workers={workers}", *more)
    return place.start(*job, "runtime.concurrency=1", "output.dir=run", **cluster.env)


def wait_for_rows(run: Path, count: int) -> None:
    while Dataset.open(run).count < count:
        time.sleep(0.1)


def test_a_run_goes_on_without_a_lost_node_takes_a_new_one_and_drains(
    cluster: ClusterProcess, place: Place
) -> None:
    cluster.add_node()
    doomed = cluster.add_node()
    process = start(place, cluster, 2, "runtime.options.silence_s=600")
    place.wait_for_calls(process, JOBS + 5)  # the proofs, and the first rollouts
    os.kill(doomed, signal.SIGKILL)  # no farewell: its workers die with it
    wait_for_words(process, "1 go on; a new one joins")
    before = Dataset.open(place.home / "run").count
    wait_for_rows(place.home / "run", before + 2)
    place.hold.touch()
    cluster.add_node()
    wait_for_words(process, "A new worker has started: 2 are at work.")
    interrupt(process)
    wait_for_words(process, "in flight; Ctrl-C once more")
    place.hold.unlink()
    process.communicate(timeout=120)
    assert process.returncode in (3, 130)
    assert 0 < Dataset.open(place.home / "run").count < JOBS

    code, out, errors = place.run("--resume", "run", "runtime=inline", "runtime.options={}")
    assert code == 0, out + errors
    code, out, errors = place.run("runtime=inline", "output.dir=whole")
    assert code == 0, out + errors
    assert stable_rows(place.home / "run") == stable_rows(place.home / "whole")


@pytest.mark.long
def test_a_run_that_has_lost_its_only_node_says_so_and_an_interrupt_seals_it(
    cluster: ClusterProcess, place: Place
) -> None:
    doomed = cluster.add_node()
    process = start(place, cluster, 1)
    place.wait_for_calls(process, JOBS + 5)
    os.kill(doomed, signal.SIGKILL)  # no farewell: its workers die with it
    wait_for_words(process, "none is left; the run goes on as soon as there is room")
    interrupt(process)
    process.communicate(timeout=120)
    assert process.returncode in (3, 130)
    assert 0 < Dataset.open(place.home / "run").count < JOBS
