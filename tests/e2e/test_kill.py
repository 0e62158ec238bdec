"""SIGKILL at any moment, then resume: the dataset of an undisturbed run, nothing twice, nothing
lost.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import re
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.task_table import read_tasks
from tests.e2e.command import APART, COMMAND, stable_rows, synth


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start ``synth`` as the leader of a process group of its own."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def group_of(pid: int) -> list[int]:
    """The process and all that descend from it, wherever their groups are."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    out, waiting = [], [pid]
    while waiting:
        out.append(waiting.pop())
        waiting += parents.get(out[-1], [])
    return out


def kill_all(pid: int) -> None:
    for each in group_of(pid):
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


def rows_so_far(run: Path) -> int:
    """Finished rollouts that the directory holds, whatever state it is in."""
    return (
        Dataset.open(run).count
        if (run / ".synth" / "run.json").exists() or (run / "manifest.json").exists()
        else 0
    )


def kill_after_progress(process: subprocess.Popen[str], run: Path, rows: int, pause: float) -> None:
    """Kill everything once so many rows more are journaled, or the process has ended by itself."""
    before = rows_so_far(run)
    while process.poll() is None and rows_so_far(run) < before + rows:
        time.sleep(0.05)
    time.sleep(pause)
    kill_all(process.pid)
    process.communicate()


def disturbed(cwd: Path, options: tuple[str, ...], kills: int, rows: int, seed: int) -> int:
    """A run that is killed again and again, then left alone; how often it was killed before it was
    complete.
    """
    draw = random.Random(seed)
    run, killed = cwd / "killed", 0

    def arguments() -> tuple[str, ...]:
        begun = (run / "config.yaml").exists()
        return ("run", "--resume", "killed") if begun else ("run", "output.dir=killed", *options)

    for _ in range(kills):
        process = start(*arguments(), cwd=cwd)
        kill_after_progress(process, run, draw.randrange(rows), draw.random() * 0.3)
        killed += process.returncode == -signal.SIGKILL
    for _ in range(3):
        done = synth(*arguments(), cwd=cwd, code=None)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    return killed


def assert_equal_runs(cwd: Path, jobs: int) -> None:
    killed = stable_rows(cwd / "killed")
    assert [row["job_index"] for row in killed] == list(range(jobs))
    assert killed == stable_rows(cwd / "whole")
    assert json.loads((cwd / "killed" / "manifest.json").read_text())["status"] == "complete"


def test_a_killed_inline_run_resumes_to_the_same_dataset(tmp_path: Path):
    """Each row is of the same split and universe, and each call of a tool is counted once."""
    options = (
        *(APART, "tasks.count=240", "seed=5", "output.rows_per_shard=16", "runtime=inline"),
        *("tasks.universes=2", "tasks.splits={train:[0],test:[1]}"),
    )
    synth("run", *options, "output.dir=whole", cwd=tmp_path)
    assert disturbed(tmp_path, options, kills=2, rows=16, seed=1) == 2
    assert_equal_runs(tmp_path, 240)
    counts = [
        {
            name: (metrics["count"], metrics["errors"])
            for name, metrics in json.loads((tmp_path / run / "manifest.json").read_text())[
                "counts"
            ]["tools"].items()
        }
        for run in ("whole", "killed")
    ]
    assert counts[0] == counts[1]


def test_a_run_killed_in_its_proofs_goes_on_with_what_is_proved_and_played(tmp_path: Path):
    options = ("env=library", "tasks.count=40", "seed=5", "runtime=inline")
    synth("run", *options, "output.dir=whole", cwd=tmp_path)
    process = start("run", *options, "output.dir=killed", cwd=tmp_path)
    log = tmp_path / "killed/.synth/proofs/proofs.log"
    while process.poll() is None and not (log.exists() and log.stat().st_size):
        time.sleep(0.001)
    kill_all(process.pid)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    segment = Segment(log)
    begun = len(segment.frames)
    segment.close()
    assert 0 < begun < 40
    assert rows_so_far(tmp_path / "killed") == 0
    damaged = log.read_bytes()[:-1]
    log.write_bytes(damaged)
    synth("run", "--resume", "killed", cwd=tmp_path)
    assert_equal_runs(tmp_path, 40)
    again, whole = (read_tasks(tmp_path / name / "tasks.parquet") for name in ("killed", "whole"))
    assert list(again) == list(whole)
    assert not log.parent.exists()


@pytest.mark.ray
def test_a_killed_worker_costs_nothing_but_its_own_work(tmp_path: Path):
    options = (APART, "tasks.count=80", "seed=5", "output.rows_per_shard=64")
    synth("run", *options, "runtime=inline", "output.dir=whole", cwd=tmp_path)
    process = start("run", *options, "output.dir=killed", "runtime.workers=2", cwd=tmp_path)
    while process.poll() is None and rows_so_far(tmp_path / "killed") < 20:
        time.sleep(0.05)
    workers = [pid for pid in group_of(process.pid) if b"_Actor" in command_line(pid)]
    assert workers, "no worker process to kill"
    os.kill(workers[0], signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert_equal_runs(tmp_path, 80)


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def heeds_a_hangup() -> None:
    """Undo what ``nohup`` leaves to the tests that run under it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def begun(
    tmp_path: Path, meanwhile: Callable[[], object] = lambda: None, **how: Any
) -> subprocess.Popen[str]:
    """A run in one process, of which 20 rollouts have ended."""
    how = {"preexec_fn": heeds_a_hangup, **how}
    command = [*COMMAND, "run", APART, "tasks.count=200", "runtime=inline", "output.dir=run"]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, **how)
    while process.poll() is None and rows_so_far(tmp_path / "run") < 20:
        time.sleep(0.05)
        meanwhile()
    assert process.poll() is None, "it ended before it could be disturbed"
    return process


def test_a_closed_terminal_drains_the_run(tmp_path: Path):
    """Issue 38: SIGHUP ended a run without words."""
    ours, theirs = os.openpty()

    def own_terminal() -> None:
        heeds_a_hangup()
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read() -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(ours, 1 << 20)

    os.set_blocking(ours, False)
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = begun(tmp_path, read, preexec_fn=own_terminal, **ends)
    os.close(theirs)
    os.close(ours)
    assert process.wait(timeout=120) == 130
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["stopped"] == "interrupted: the terminal was closed"
    assert 20 <= manifest["counts"]["rows"] < 200


@pytest.mark.parametrize(
    ("sent", "words", "sealed"),
    [
        (signal.SIGHUP, r"Finishing the rollouts in flight; Ctrl[^$]*next: synth run --r", True),
        (signal.SIGQUIT, "What has finished is kept. Go on with: synth run --resume", False),
    ],
)
def test_a_hangup_drains_and_a_quit_stops_at_once(tmp_path: Path, sent, words, sealed):
    process = begun(tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.send_signal(sent)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.search(words, said)
    assert (tmp_path / "run" / "manifest.json").exists() == sealed
