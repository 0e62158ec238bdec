"""Disks that are full, read-only or gone, in a mount namespace of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.command import APART, COMMAND, stable_rows
from tests.faults.promises import promise
from tests.faults.runs import play, stable
from tests.unit.small_world import make

PLAN = ("tasks.count=60", "output.rows_per_shard=8")
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
ENTER = ["nsenter", "--user", "--mount", "--preserve-credentials", "--target"]
FULL_KB = 280
"""More than the run takes."""


def may_mount() -> bool:
    """Whether the system lets us have mounts of our own."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    mount = [*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def need_mounts() -> None:
    if not may_mount():
        pytest.skip("no mount namespaces here")


class Disk:
    """A small disk at ``folder``, which exists for the processes that it starts."""

    def __init__(self, folder: Path, size_kb: int) -> None:
        self.folder = folder
        folder.mkdir()
        self._keeper = subprocess.Popen(
            [*NAMESPACE, "sh", "-c", "echo ready; exec sleep 3600"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == "ready\n"
        self.call("mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "none", str(folder))

    @property
    def seen(self) -> Path:
        """The folder as processes outside of the namespace see it."""
        return Path(f"/proc/{self._keeper.pid}/root{self.folder}")

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        command = [*ENTER, str(self._keeper.pid), *words]
        return subprocess.Popen(
            command, text=True, stderr=subprocess.PIPE, env=os.environ | variables
        )

    def call(self, *words: str) -> None:
        process = self.start(*words)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said

    def synth(self, *words: str) -> tuple[int, str]:
        """The exit code and the last line of `synth run`."""
        process = self.start(*COMMAND, "run", *words)
        _, said = process.communicate(timeout=300)
        return process.returncode, said.strip().rpartition("\n")[2]

    def close(self) -> None:
        self._keeper.kill()
        self._keeper.communicate()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = "    found = db.execute("
    wait = '    __import__("time").sleep(float(__import__("os").environ.get("PACE", "0")))\n'
    return make(tmp_path_factory.mktemp("disks") / "world", executors=(before, wait + before))


@pytest.fixture(scope="module")
def whole(world: Path) -> Path:
    run = world.parent / "whole"
    play(run, f"env.path={world}", *PLAN)
    return run


@pytest.fixture
def make_disk(tmp_path: Path) -> Iterator[Callable[[int], Disk]]:
    made: list[Disk] = []

    def make_one(size_kb: int) -> Disk:
        made.append(Disk(tmp_path / f"disk{len(made)}", size_kb))
        return made[-1]

    yield make_one
    for disk in made:
        disk.close()


def job(world: Path, disk: Disk, *more: str) -> tuple[str, ...]:
    return (f"env.path={world}", *PLAN, "runtime=inline", f"output.dir={disk.folder}/run", *more)


FULL = "A run on a full disk says which file it cannot write, and resumes whole when there is room"


@promise(FULL)
@pytest.mark.parametrize("size_kb", [8, 120])
def test_a_full_disk(
    size_kb: int, world: Path, whole: Path, make_disk: Callable[[int], Disk]
) -> None:
    fill_and_resume(make_disk(size_kb), world, whole)


@pytest.mark.long
@promise(FULL)
def test_a_disk_that_is_full_at_any_page(
    world: Path,
    whole: Path,
    make_disk: Callable[[int], Disk],
    record_property: Callable[[str, object], None],
) -> None:
    sizes = range(4, FULL_KB, 4)
    full = sum(fill_and_resume(make_disk(size), world, whole) for size in sizes)
    assert full > len(sizes) / 2
    record_property("figure", f"{full} disks of 4 to {sizes[-1]} KB were full, all resumed whole")


def fill_and_resume(disk: Disk, world: Path, whole: Path) -> bool:
    """Whether the run met the end of the disk; in the end all rows are there."""
    code, said = disk.synth(*job(world, disk))
    if code:
        assert code == 2
        assert "No space left on device" in said
        assert str(disk.folder) in said
        disk.call("mount", "-o", "remount,size=64m", str(disk.folder))
        begun = (disk.seen / "run" / ".synth" / "run.json").exists()
        again = ("--resume", str(disk.folder / "run")) if begun else job(world, disk)
        assert disk.synth(*again)[0] == 0
    assert stable_rows(disk.seen / "run") == stable(whole)
    return bool(code)


@promise("A disk that becomes read-only ends the run with one message; it resumes whole")
def test_a_disk_that_becomes_read_only(
    world: Path, whole: Path, make_disk: Callable[[int], Disk]
) -> None:
    disk = make_disk(64_000)
    run = str(disk.folder / "run")
    process = start_slowly(disk, world)
    disk.call("mount", "--bind", run, run)
    disk.call("mount", "-o", "remount,bind,ro", run)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "Read-only file system" in said.strip().rpartition("\n")[2]
    code, said = disk.synth("--resume", run)
    assert code == 2
    assert "Read-only file system" in said
    disk.call("umount", run)
    assert disk.synth("--resume", run)[0] == 0
    assert stable_rows(disk.seen / "run") == stable(whole)


@promise("A run whose directory is removed ends with one message, and is not called complete")
def test_a_directory_that_is_removed(world: Path, make_disk: Callable[[int], Disk]) -> None:
    disk = make_disk(64_000)
    process = start_slowly(disk, world)
    disk.call("rm", "-rf", str(disk.folder / "run"))
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "No such file or directory" in said.strip().rpartition("\n")[2]
    assert "complete" not in said
    assert not (disk.seen / "run").exists()
    code, said = disk.synth("--resume", str(disk.folder / "run"))
    assert code == 2
    assert "directory not found" in said


def start_slowly(disk: Disk, world: Path) -> subprocess.Popen[str]:
    """A run of which some rows are written and others not."""
    words = job(world, disk, "runtime.concurrency=1", APART)
    process = disk.start(*COMMAND, "run", *words, PACE="0.05")
    journal = disk.seen / "run" / ".synth" / "journal"
    while process.poll() is None and not any(file.stat().st_size for file in journal.glob("*.log")):
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    return process
