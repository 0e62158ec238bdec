"""A hundred thousand rollouts in one process: what it holds early is what it holds at the end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from synth.config import from_dict
from synth.core.dataset.reader import Dataset
from synth.prepare import prepare
from tests.e2e.command import COMMAND
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.faults.promises import promise

ROWS = 1_000
SHARDS = int(os.environ.get("SYNTH_FAULT_SHARDS", "100"))
"""Shards of a run, of :data:`ROWS` rollouts."""
TASKS = 500
MIDDLEWARE = (
    "agent.middleware=[compaction,offload]",
    "agent.compaction.threshold_tokens=800",
    "agent.offload.max_chars=1400",
)
KINDS = {
    "scripted": ("env=ehr_db",),
    "compaction and offload": ("env=ehr_db", *MIDDLEWARE),
    "free SQL, compaction and offload": ("env=shop_sql", *MIDDLEWARE),
    "HTTP": ("env=ehr_db", "model=openai", "model.name=expert", "model.api_key_env=null"),
}
WINDOW = 3
"""Shards over which an amount is measured: the median, since sealing takes some 20 MB for a moment.
"""
GROWTH_MB = 60
"""What the allocator and caches of fixed size may take on the way, as the tasks come one after the
other; a leak of 1 KB a rollout would take 94 in 96,000.
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
@promise("Memory, files and threads do not grow with the number of rollouts")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_memory_files_and_threads_do_not_grow(
    tmp_path: Path, kind: str, record_property: Callable[[str, object], None]
):
    """Measured from outside, after the second shard and before the end."""
    samples = f"tasks.samples={ROWS * SHARDS // TASKS}"
    plan = (f"tasks.count={TASKS}", samples, f"output.rows_per_shard={ROWS}")
    command = [*COMMAND, "run", *KINDS[kind], *plan, "runtime=inline", "output.dir=run"]
    with contextlib.ExitStack() as stack:
        if kind == "HTTP":
            run = prepare(from_dict({"env": {"name": "ehr_db"}, "tasks": {"count": TASKS}}))
            expert = Expert(run.plan.task(at) for at in range(run.plan.tasks))
            command.append(f"model.base_url={stack.enter_context(endpoint(expert))}")
        record_property("figure", f"{kind}: {watch(command, tmp_path)}")


def watch(command: list[str], tmp_path: Path) -> str:
    """Run it to its end, compare what it held early with what it held late, and say both."""
    data = tmp_path / "run" / "data"
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            seen: dict[int, list[Held]] = defaultdict(list)
            while process.poll() is None:
                sealed = len(list(data.glob("*.parquet")))
                now = held(process.pid)
                if now is not None:
                    seen[sealed].append(now)
                time.sleep(0.2)
        finally:
            process.kill()
    assert process.returncode == 0
    assert Dataset.open(tmp_path / "run").count == ROWS * SHARDS
    first, last = (typical(seen, start) for start in (2, SHARDS - WINDOW))
    assert SHARDS - WINDOW - 2 >= SHARDS // 2, "too few shards between the two measurements"
    assert last.mb - first.mb < GROWTH_MB
    assert last.files - first.files < 20
    assert last.threads - first.threads < 10
    return (
        f"{first.mb:.0f} MB, {first.files} files, {first.threads} threads after {2 * ROWS:,}"
        f" rollouts, {last.mb:.0f}, {last.files}, {last.threads} after"
        f" {(SHARDS - WINDOW) * ROWS:,}"
    )


def typical(seen: Mapping[int, Sequence[Held]], start: int) -> Held:
    """The medians over WINDOW shards, of which ``start`` were sealed at the beginning."""
    window = [now for sealed in range(start, start + WINDOW) for now in seen.get(sealed, ())]
    assert window, f"no measurement from shard {start} on"
    return Held(
        median(now.mb for now in window),
        round(median(now.files for now in window)),
        round(median(now.threads for now in window)),
    )
