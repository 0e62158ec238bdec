"""An endpoint that does something else wrong at every sixth request, with hundreds in flight."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import TaskTable
from synth.task import Task
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.faults.promises import promise
from tests.loopback import in_a_thread
from tests.unit.models.openai import faults
from tests.unit.models.openai.faults import Scene
from tests.unit.models.openai.raw_endpoint import Wire, read_request

JOBS = int(os.environ.get("SYNTH_FAULT_ROLLOUTS", "2000"))
IN_FLIGHT = 256
SHARE = 1 / 6
"""The share of the requests that meet a fault."""

SCENES: dict[str, Scene] = {
    name: scene
    for table in (faults.CONNECTION, faults.PROTOCOL, faults.STATUS, faults.BODY)
    for name, scene in table.items()
    if scene.end in {"retry", "final"} and scene.options is not faults.SMALL_CAP
}
"""Faults after which a rollout goes on, or is left without a row. Those that an agent would hear as
an answer are no faults, and a refused key ends the run.
"""


class Proxy:
    """Passes requests on to the expert's endpoint, or plays a scene on their connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._random = random.Random(1)
        self._names = sorted(SCENES)
        self.played: Counter[str] = Counter()
        self.requests = 0
        self.healthy = False
        self._open: set[object] = set()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(asyncio.current_task())  # the loop itself keeps tasks by weak references
        wire = Wire(reader, writer)
        with contextlib.suppress(ConnectionError):
            scene = self._scene()
            if (scene is not None and scene.at_once) or await read_request(wire):
                self.requests += 1
                await (self._pass_on(wire) if scene is None else scene.act(wire))
        writer.close()
        self._open.discard(asyncio.current_task())

    def _scene(self) -> Scene | None:
        if self.healthy or self.requests < 2 or self._random.random() > SHARE:
            return None  # the list of models and the first question
        name = self._random.choice(self._names)
        self.played[name] += 1
        return SCENES[name]

    async def _pass_on(self, wire: Wire) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        head, _, body = wire.raw.partition(b"\r\n\r\n")
        writer.write(head + b"\r\nConnection: close\r\n\r\n" + body)
        while piece := await reader.read(1 << 16):
            await wire.send(piece)
        writer.close()


@contextlib.asynccontextmanager
async def proxy(port: int) -> AsyncGenerator[tuple[Proxy, str]]:
    """Serve the proxy; gives it and its base URL."""
    between = Proxy(port)
    server = await asyncio.start_server(
        between.connection, "127.0.0.1", 0, limit=1 << 24, backlog=1024
    )
    async with server:
        yield between, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.mark.long
@promise(
    "No fault of an endpoint becomes a reward; what it did not refuse for good, a resume plays"
)
@pytest.mark.parametrize("stream", [False, True])
def test_faults_in_mixture(
    tmp_path: Path, record_property: Callable[[str, object], None], stream: bool
) -> None:
    job = ("env=ehr_db", f"tasks.count={JOBS}", "seed=5")
    alone = ("runtime=inline", f"runtime.concurrency={IN_FLIGHT}")
    synth("run", *job, *alone, "output.dir=whole", cwd=tmp_path)
    whole = {row["trajectory_id"]: row["messages"] for row in stable_rows(tmp_path / "whole")}
    table = TaskTable(tmp_path / "whole" / "tasks.parquet")
    expert = Expert([Task.from_json(table.task(at)) for at in range(len(table))])
    with (
        endpoint(expert) as url,
        in_a_thread(proxy(int(url.split(":")[2].partition("/")[0]))) as (between, far),
    ):
        model = (
            *("model=openai", "model.name=expert", "model.api_key_env=null", "model.timeout_s=20"),
            *(f"model.base_url={far}", f"model.stream={str(stream).lower()}"),
            *(f"model.{name}_concurrency={IN_FLIGHT}" for name in ("min", "start", "max")),
        )
        run = tmp_path / "faulty"
        done = synth(
            "run", *job, *alone, *model, "output.dir=faulty", cwd=tmp_path, timeout=3600, code=None
        )
        assert done.returncode in {0, 3}, done.stderr
        rows = stable_rows(run)
        lost = Dataset.open(run).errors()
        assert {row["trajectory_id"] for row in rows} <= whole.keys()
        assert all(row["reward"] == 1.0 for row in rows)
        assert all(row["messages"] == whole[row["trajectory_id"]] for row in rows)
        met, asked = sum(between.played.values()), between.requests
        between.healthy = True
        synth("run", "--resume", "faulty", cwd=tmp_path, timeout=3600)
    rows = stable_rows(run)
    given_up = {error["trajectory_id"] for error in Dataset.open(run).errors()}
    assert given_up == {error["trajectory_id"] for error in lost if not error["retryable"]}
    assert {row["trajectory_id"]: row["messages"] for row in rows} == {
        name: messages for name, messages in whole.items() if name not in given_up
    }
    kinds = Counter(error["error_type"] for error in lost)
    record_property(
        "figure",
        f"{'streamed' if stream else 'whole'}: {met:,} of {asked:,} requests met one of"
        f" {len(between.played)} faults; {len(rows):,} rows equal, {len(given_up)} refused for good,"
        f" {len(lost) - len(given_up)} played by the resume ({kinds.most_common()})",
    )
