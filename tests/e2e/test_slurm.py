"""examples/deploy/slurm.sh: a run drains before its time limit and goes on in the next job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import COMMAND
from tests.unit import small_world

SCRIPT = Path(__file__).parents[2] / "examples" / "deploy" / "slurm.sh"
JOBS = 400


@pytest.mark.skipif(sys.platform == "win32", reason="a script of bash")
def test_a_job_goes_on_after_its_time_limit(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    commands = {"synth": " ".join(COMMAND) + ' "$@"', "scontrol": f'echo "$@" >> {tmp_path}/queue'}
    for name, line in commands.items():
        (programs / name).write_text(f"#!/bin/bash\nexec {line}\n".replace("exec echo", "echo"))
        (programs / name).chmod(0o755)
    run = tmp_path / "run"
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SLURM_JOB_ID": "17",
        "SYNTH_RUN": str(run),
    }
    world = small_world.make(tmp_path / "world")
    overrides = [f"env.path={world}", "tasks.count=12", f"tasks.samples={JOBS // 12}"]

    def job() -> subprocess.Popen[bytes]:
        words = ["bash", str(SCRIPT), *overrides, "runtime=inline", "output.rows_per_shard=8"]
        return subprocess.Popen(words, env=environment, cwd=tmp_path)

    first = job()
    deadline = time.monotonic() + 120
    while not list(run.glob("data/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGTERM)  # as Slurm does to the batch script, before the limit
    assert first.wait(120) != 0
    assert (tmp_path / "queue").read_text() == "requeue 17\n"
    assert json.loads((run / "manifest.json").read_text())["status"] == "partial"
    second = job()
    assert second.wait(240) == 0
    with Dataset.open(run) as dataset:
        assert dataset.status == "complete"
        assert len(list(dataset.rows(["job_index"]))) == JOBS // 12 * 12
    assert (tmp_path / "queue").read_text() == "requeue 17\n"
