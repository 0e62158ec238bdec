"""Twenty thousand rollouts in one process: what it holds after two thousand is what it holds at the
end.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from synth.config.schema import from_dict
from synth.dataset.reader import Dataset
from synth.runner.prepare import prepare
from tests.e2e.command import COMMAND
from tests.e2e.expert_endpoint import Expert, endpoint

ROWS = 1_000
SHARDS = 20
LOW = ("agent.compaction.threshold_tokens=800", "agent.offload.max_chars=1400")
GROWTH_MB = 60
"""What the allocator and caches of fixed size may take on the way; a leak of 4 KB a rollout would
take 72.
"""


@dataclass(frozen=True)
class Held:
    """What a process holds: resident memory in MB, open files, threads."""

    mb: float
    files: int
    threads: int


def held(pid: int) -> Held | None:
    """What a process holds at this moment; None where it has just ended."""
    status = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
        if ":" in line
    )
    if "VmRSS" not in status:
        return None
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Held(int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("kind", ["plain", "compaction and offload", "http"])
def test_memory_files_and_threads_do_not_grow_with_the_rollouts(tmp_path: Path, kind: str):
    """Measured from outside when the second shard and when the last but one is sealed."""
    plan = ["env=ehr_db", "tasks.count=500", "tasks.samples=40", f"output.rows_per_shard={ROWS}"]
    command = [*COMMAND, "run", *plan, "runtime=inline", "output.dir=run"]
    with contextlib.ExitStack() as stack:
        if kind == "http":
            run = prepare(from_dict({"env": {"name": "ehr_db"}, "tasks": {"count": 500}}))
            url = stack.enter_context(
                endpoint(Expert(run.plan.task(at) for at in range(run.plan.tasks)))
            )
            command += [
                "model=openai",
                "model.name=expert",
                f"model.base_url={url}",
                "model.api_key_env=null",
            ]
        elif kind != "plain":
            command += ["agent.middleware=[compaction,offload]", *LOW]
        watch(command, tmp_path)


def watch(command: list[str], tmp_path: Path) -> None:
    """Run it to its end, and compare what it held early with what it held late."""
    data = tmp_path / "run" / "data"
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            seen: dict[int, Held] = {}
            while process.poll() is None:
                sealed = len(list(data.glob("*.parquet")))
                now = held(process.pid)
                if sealed >= 2 and now is not None:
                    seen.setdefault(min(sealed, SHARDS - 1), now)
                time.sleep(0.2)
        finally:
            process.kill()
    assert process.returncode == 0
    assert Dataset.open(tmp_path / "run").count == ROWS * SHARDS
    first, last = seen[min(seen)], seen[max(seen)]
    assert max(seen) - min(seen) >= SHARDS // 2
    print(f"\n{first} after {min(seen)},000 rollouts, {last} after {max(seen)},000")
    assert last.mb - first.mb < GROWTH_MB
    assert last.files - first.files < 20
    assert last.threads - first.threads < 10
