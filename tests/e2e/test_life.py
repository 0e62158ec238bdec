"""A run meets people who press Ctrl-C, tools that do not return, and budgets that are spent."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from synth.config import from_dict
from synth.core.dataset.reader import Dataset
from synth.core.foundation.archive import pack_world
from synth.core.runner.interrupts import SAME_S
from synth.core.runner.runtimes.ray import RayOptions, RayRuntime
from synth.core.runner.worker_messages import Assignment
from synth.errors import WorkerHeld
from synth.plan import job
from synth.prepare import prepare
from synth.task import Task
from synth.worker import Worker
from tests.e2e.command import synth
from tests.e2e.misbehaving import Place, interrupt, wait_for_words
from tests.e2e.test_kill import command_line, group_of


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()


def end_of(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a process that ends within seconds."""
    out, said = process.communicate(timeout=60)
    return process.returncode, out, said


def test_the_second_interrupt_ends_a_tool_that_does_not_return(place: Place):
    """Inline the tool has the only thread there is; what had finished is kept."""
    process = place.start(
        "runtime=inline", "runtime.concurrency=1", "output.dir=out", WHO="item7", HOW="sleep"
    )
    while place.calls.read_text().count("item7 Alpha\n") < 2:
        assert process.poll() is None, process.communicate()
    interrupt(process)
    time.sleep(0.03)
    interrupt(process)
    time.sleep(1)  # two at once are one: nothing says that the first has arrived
    assert process.poll() is None
    interrupt(process)
    code, _, said = end_of(process)
    assert code == 130, said
    assert "Traceback" not in said
    assert "synth run --resume" in said
    before, kept = place.count(), Dataset.open(place.home / "out").count
    assert kept > 0
    code, _, said = place.run("--resume", "out")
    assert code == 0, said
    assert Dataset.open(place.home / "out").count == 60
    assert place.count() == before + 60 - kept, "what is kept is not run again"


@pytest.mark.parametrize("samples", [1, 2])
def test_a_rollout_of_the_expert_is_the_proof_of_its_task(place: Place, samples: int):
    code, _, said = place.run(
        *("runtime=inline", "budget.minutes=60", "output.dir=out", f"tasks.samples={samples}")
    )
    assert code == 0, said
    assert Dataset.open(place.home / "out").count == 60 * samples
    assert place.count() == 60 * samples, "each call of gold is made once for each rollout"


@pytest.mark.ray
def test_two_interrupts_stop_at_once_without_a_traceback(place: Place):
    process = place.start("output.dir=out", "runtime.workers=1", PACE="0.2")
    place.wait_for_calls(process, 70)
    interrupt(process)
    wait_for_words(process, "once more")
    time.sleep(SAME_S)
    interrupt(process)
    code, _, said = end_of(process)
    assert code == 130
    assert "Traceback" not in said
    assert "interrupted" in said
    code, _, said = place.run("--resume", "out", "runtime=inline")
    assert code == 0, said
    assert [row["job_index"] for row in Dataset.open(place.home / "out").rows()] == list(range(60))


@pytest.mark.ray
def test_an_interrupt_while_ray_starts_leaves_nothing_behind(place: Place):
    process = place.start("runtime=ray", "output.dir=out")
    while not any(b"gcs_server" in command_line(pid) for pid in group_of(process.pid)):
        assert process.poll() is None, process.communicate()
    interrupt(process)
    code, _, said = end_of(process)
    assert code == 130
    assert "Traceback" not in said
    assert not (place.home / "out").exists()


SWALLOWING = """
import os, signal, sys
import synth.coordinator
from synth.__main__ import main

real = synth.coordinator.make_runtime

def make_runtime(config):
    runtime = real(config)
    opened = runtime.open

    async def swallow(setup):
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            pass
        await opened(setup)

    runtime.open = swallow
    return runtime

synth.coordinator.make_runtime = make_runtime
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_that_somebody_swallows_while_the_run_starts_is_heard_all_the_same(
    tmp_path: Path,
):
    job = ("run", "tasks.count=4", "runtime=inline", "output.dir=out")
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWING, *job],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 130, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("how", ["sys.exit", "interrupt", "cancel", "base", "recursion"])
async def test_whatever_an_extension_raises_is_data(
    place: Place, how: str, monkeypatch: pytest.MonkeyPatch
):
    """Raised in a thread that is not the main one, as in a Ray worker; the worker goes on."""
    monkeypatch.setenv("CALLS", str(place.calls))
    monkeypatch.setenv("WHO", "item7")
    monkeypatch.setenv("HOW", how)
    run = prepare(from_dict({"env": {"path": str(place.world)}, "tasks": {"count": 60}}))

    async def play_all() -> list[tuple[int, str]]:
        worker = Worker(run.worker_setup(pack_world(place.world)))
        await worker.start()
        out: list[tuple[int, str]] = []
        proved: list[Task] = []
        await worker.lease([Assignment(at, task=run.plan.task(at)) for at in range(60)])
        while len(proved) < 60:
            proved += [
                each.task for each in (await worker.collect(1)).deliveries if each.task is not None
            ]
        proved.sort(key=lambda task: task.id)
        await worker.lease(
            [Assignment(at, job=job(at, task, 1, 0)) for at, task in enumerate(proved)]
        )
        while len(out) < 60:
            out += [(each.index, each.kind) for each in (await worker.collect(1)).deliveries]
        await worker.close()
        return out

    out = await asyncio.to_thread(lambda: asyncio.run(play_all()))
    assert sorted(index for index, _ in out) == list(range(60))
    assert sorted(kind for _, kind in out) == ["error"] + ["row"] * 59


@pytest.mark.ray
async def test_a_tool_that_does_not_return_is_named_and_its_worker_given_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CALLS", str(place.calls))
    monkeypatch.setenv("WHO", "item7")
    monkeypatch.setenv("HOW", "loop")
    place.calls.write_text("".join(f"item{at} Alpha\n" for at in range(60)))
    run = prepare(from_dict({"env": {"path": str(place.world)}, "tasks": {"count": 60}}))
    guilty = next(at for at in range(60) if run.plan.task(at).slots["name"] == "item7")
    runtime = RayRuntime(RayOptions(silence_s=4, look_s=2))
    await runtime.open(run.worker_setup(pack_world(place.world)))
    try:
        worker = await runtime.spawn()
        await worker.start()
        with pytest.raises(WorkerHeld) as held:
            await worker.lease([Assignment(at, task=run.plan.task(at)) for at in range(60)])
            while True:
                await worker.collect(0.25)
        assert held.value.index == guilty
        await worker.close()
    finally:
        await runtime.close()


def test_an_address_where_nobody_listens_is_said_at_once(place: Place):
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))  # taken, and not listened on
        port = ours.getsockname()[1]
        code, _, said = place.run("output.dir=out", f"runtime.address=127.0.0.1:{port}")
    assert code == 2
    assert "runtime.address: cannot use 127.0.0.1" in said
    assert not (place.home / "out").exists()


class TestSweep:
    def test_what_can_be_known_of_a_job_is_found_before_the_first_starts(self, place: Place):
        code, _, said = place.run("-m", "runtime=inline", "tasks.count=5,6000", "output.dir=out")
        assert code == 2
        assert "tasks_count-6000" in said or "tasks.count-6000" in said
        assert not (place.home / "out").exists()

    def test_a_job_that_fails_does_not_stop_the_others(self, place: Place):
        """Its gold cannot be proved: a task's author has work, the other jobs go on."""
        other = Place(place.home / "other")
        text = (other.world / "tasks.yaml").read_text()
        (other.world / "tasks.yaml").write_text(
            text.replace(
                "- say:", "- rename: {item: none, name: none}\n    fails: conflict\n  - say:"
            )
        )
        worlds = f"env.path={other.world},{place.world}"
        done = synth(
            "run",
            "-m",
            worlds,
            "tasks.count=60",
            "runtime=inline",
            "output.dir=swept",
            cwd=place.home,
            code=1,
        )
        assert "1 of 2 jobs failed" in done.stderr
        complete = [
            each for each in (place.home / "swept").iterdir() if (each / "manifest.json").exists()
        ]
        assert len(complete) == 1
        assert Dataset.open(complete[0]).count == 60
