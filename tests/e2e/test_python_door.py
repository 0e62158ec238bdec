"""Jobs from Python: in a script, in a running loop, interrupted, on several runs at once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.core.config.compose import compose
from synth.core.dataset.store.run_info import RunFiles
from synth.errors import DatasetError, OperatorError, ResumeRefused, UntrustedCode
from tests.e2e.command import stable_rows
from tests.e2e.command import synth as command
from tests.unit import small_world

SMALL = {"env": "library", "tasks": {"count": 8}, "runtime": "inline"}


def made(folder: Path, **more: Any) -> synth.Run:
    return synth.run(SMALL, output={"dir": folder}, progress=False, **more)


def test_overrides_mappings_keywords_and_a_config_say_the_same(tmp_path: Path):
    lines = ["env=library", "tasks.count=8", "runtime=inline"]
    first = synth.run(*lines, f"output.dir={tmp_path / 'a'}", progress=False)
    assert (first.status, first.rows, first.failed, first.reason) == ("complete", 8, 0, None)
    made(tmp_path / "b")
    synth.run(lines, {"output.dir": tmp_path / "c"}, progress=False)
    config = compose([*lines, f"output.dir={tmp_path / 'd'}"])[0].config
    synth.run(config, progress=False)
    command("run", *lines, "output.dir=e", cwd=tmp_path)
    rows = stable_rows(tmp_path / "a")
    assert len(rows) == 8
    for name in "bcde":
        assert stable_rows(tmp_path / name) == rows


def test_values_of_every_kind_reach_the_config(tmp_path: Path):
    run = synth.run(
        env="shop",
        tasks={"count": 8, "universes": 2, "splits": {"train": [0], "test": (1,)}},
        model={"mistakes": ["wrong_argument"], "mistake_rate": 0.5},
        **{"agent.max_turns": 30, "users.kind": "scripted"},
        runtime="inline",
        output={"dir": tmp_path / "with blank, comma"},
        progress=False,
    )
    assert {row["split"] for row in run.dataset} == {"train", "test"}


def test_a_whole_config_takes_no_other_overrides():
    config = compose(["env=library"])[0].config
    with pytest.raises(OperatorError, match="a RunConfig is the whole config"):
        synth.run(config, seed=3)


async def test_every_function_works_where_a_loop_runs(tmp_path: Path):
    """As in a notebook, whose cells are executed in the loop's own thread."""
    run = made(tmp_path / "run")
    assert (await synth.arun(SMALL, output={"dir": tmp_path / "two"}, progress=False)).rows == 8
    assert synth.replay(run.directory).differences == []
    assert (await synth.areplay(run.dataset)).trajectories == 8
    assert synth.grade(run.directory, where="job_index < 3").same
    assert (await synth.agrade(run.directory, world="library")).same
    assert synth.check("library", ["lend_book"], tasks=1, cache=False).ok
    assert (await synth.acheck("library", ["renew_all"], tasks=1, cache=False)).ok
    report = synth.export(run.directory, "trl-sft", tmp_path / "sft.parquet")
    assert report.examples == 8
    report = await synth.aexport(run.dataset, "openai-jsonl", tmp_path / "api.jsonl")
    assert report.examples == 8
    with await synth.aopen("library") as episode, synth.open("library", index=1) as other:
        assert episode.task.id != other.task.id


def test_a_run_is_resumed_with_a_change(tmp_path: Path):
    first = made(tmp_path / "run", budget={"turns": 12}, **{"runtime.concurrency": 1})
    assert first.status == "partial"
    assert "turns" in (first.reason or "")
    again = synth.run(resume=first.directory, budget={"turns": None}, progress=False)
    assert (again.status, again.rows) == ("complete", 8)
    with pytest.raises(ResumeRefused):
        synth.run(resume=first.directory, seed=9, progress=False)


def test_minutes_are_a_budget(tmp_path: Path):
    run = made(tmp_path / "run", budget={"minutes": 0.0001}, **{"runtime.concurrency": 1})
    assert (run.status, run.reason) == ("partial", "the budget of 0.0001 minutes is spent")


INTERRUPTED = """
import asyncio, sys, synth

async def main():
    run = synth.run(
        env="library", tasks={"count": 80}, runtime="inline", output={"dir": "out"},
        agent={"middleware": ["faults"], "faults": {"rate": 1, "kinds": ["slow"], "slow_s": 0.2}},
        **{"runtime.concurrency": 1},
    )
    print(run.status, run.reason, run.rows)

if sys.argv[1] == "loop":
    asyncio.run(main())
else:
    try:
        main().send(None)
    except StopIteration:
        pass
"""


@pytest.mark.parametrize("thread", ["loop", "main"])
def test_an_interrupt_drains_and_gives_a_partial_run(tmp_path: Path, thread: str):
    """In the main thread, and in the private one of a notebook."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, thread],
        cwd=tmp_path,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    files = RunFiles(tmp_path / "out")
    until = time.monotonic() + 120
    while not any(files.journal.glob("*")) and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    status, reason, rows = out.split()
    assert (status, reason) == ("partial", "interrupted")
    assert 0 < int(rows) < 80
    assert len(synth.load(tmp_path / "out")) == int(rows)


async def test_a_cancelled_arun_seals_what_there_is(tmp_path: Path):
    task = asyncio.create_task(
        synth.arun(
            SMALL,
            {"tasks.count": 80, "runtime.concurrency": 1, "output.dir": tmp_path / "run"},
            agent={
                "middleware": ["faults"],
                "faults": {"rate": 1, "kinds": ["slow"], "slow_s": 0.2},
            },
            progress=False,
        )
    )
    files = RunFiles(tmp_path / "run")
    while not any(files.journal.glob("*")):
        assert not task.done()
        await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert synth.load(tmp_path / "run").status == "partial"


def test_several_runs_are_one_dataset(tmp_path: Path):
    first, second = made(tmp_path / "a"), made(tmp_path / "b", seed=5)
    both = synth.load([first.directory, second.directory])
    assert len(both) == 16
    assert both.status == "complete"
    assert both.query("env = 'library'", ["family"]).num_rows == 16
    assert [row["trajectory_id"] for row in both] == [
        row["trajectory_id"] for run in (first, second) for row in run.dataset
    ]
    assert both[-1] == second.dataset[7]
    assert both.find(both[9]["trajectory_id"]) == both[9]
    shown = command("inspect", "a", "b", "--json", cwd=tmp_path)
    summary = json.loads(shown.stdout)
    assert (summary["rows"], summary["jobs"], summary["sealed"]) == (16, 16, True)
    assert "synth export a b --to trl-sft" in command("inspect", "a", "b", cwd=tmp_path).stdout
    command("export", "a", "b", "--to", "openai-jsonl", "--out", "both.jsonl", cwd=tmp_path)
    assert len((tmp_path / "both.jsonl").read_text("utf-8").splitlines()) == 16
    command("export", "a", "b", "--to", "trl-sft", "--out", "b/data", cwd=tmp_path, code=2)
    with pytest.raises(DatasetError, match="given twice"):
        synth.load([first.directory, tmp_path / "b" / ".." / "a"])
    with pytest.raises(OperatorError, match="one by one"):
        synth.replay(both)


def test_a_dataset_becomes_a_data_frame(tmp_path: Path):
    pytest.importorskip("pandas")
    dataset = made(tmp_path / "a").dataset
    frame = dataset.to_pandas()
    assert len(frame) == 8
    assert list(frame.columns) == list(dataset[0])
    assert frame["messages"][3] == dataset[3]["messages"]
    assert frame["reward"].mean() == 1.0
    assert list(dataset.to_pandas(["family"]).columns) == ["family"]


TO_DATASETS = """
import synth
loaded = synth.load(["a", "b"]).to_datasets()
assert loaded["train"].num_rows == 16, loaded
assert loaded["train"][9]["messages"] == synth.load("b")[1]["messages"]
"""


@pytest.mark.slow
def test_a_dataset_becomes_a_dataset_of_hugging_face(tmp_path: Path):
    made(tmp_path / "a")
    made(tmp_path / "b", seed=5)
    done = subprocess.run(
        [sys.executable, "-c", TO_DATASETS],
        cwd=tmp_path,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_run_in_another_thread_leaves_the_handlers_alone(tmp_path: Path):
    before = signal.getsignal(signal.SIGINT)
    found: list[synth.Run] = []
    thread = threading.Thread(target=lambda: found.append(made(tmp_path / "a")))
    thread.start()
    thread.join()
    assert found[0].status == "complete"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_directory_from_elsewhere_is_executed_with_trust_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """On another machine, whose record of what was made there is empty."""
    world = small_world.make(tmp_path / "world")
    run = synth.run(
        env={"path": world},
        tasks={"count": 4},
        budget={"turns": 2},
        runtime={"kind": "inline", "concurrency": 1},
        output={"dir": tmp_path / "a"},
        progress=False,
    )
    assert run.status == "partial"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    for attempt in (synth.replay, synth.grade):
        with pytest.raises(UntrustedCode, match="trust=True"):
            attempt(run.directory)
    with pytest.raises(UntrustedCode):
        synth.run(resume=run.directory, progress=False)
    assert synth.replay(run.directory, trust=True).differences == []
    assert synth.grade(run.directory, trust=True).same
