"""The database server restarts in the middle of a run; the server is the test's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.dataset.reader import Dataset
from tests.faults.own_server import OwnMariaDB, OwnPostgres, OwnServer, own_server
from tests.faults.promises import promise
from tests.faults.runs import go_on, play, stable
from tests.unit.small_world import make

JOBS, AT, IN_FLIGHT = 200, 20, 4


@pytest.mark.slow
@promise(
    "A run goes on over a restart of its database server; what was in flight is played by a resume"
)
@pytest.mark.parametrize("kind", [OwnPostgres, OwnMariaDB])
def test_a_run_goes_on_over_a_restart(
    kind: type[OwnServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    world = make(tmp_path / "world")
    engine = "postgres" if kind is OwnPostgres else "mariadb"
    if kind is OwnPostgres:
        executors = world / "executors.py"
        executors.write_text(
            executors.read_text().replace("instr(name, :n)", "strpos(name, :n) > 0")
        )
    with own_server(kind) as server:
        monkeypatch.setenv("OWN_DSN", server.url)
        job = (
            f"env.path={world}",
            f"tasks.count={JOBS // 4}",
            "tasks.samples=4",
            "tasks.families=[plan]",
            f"runtime.concurrency={IN_FLIGHT}",
            f"database={engine}",
            "database.dsn_env_var=OWN_DSN",
        )
        play(tmp_path / "whole", *job)
        run = tmp_path / "run"
        seen: list[int] = []

        def restart() -> None:
            while not run.is_dir() or (rows := _rows(run)) < AT:
                time.sleep(0.02)
            server.restart()
            seen.append(rows)

        thread = threading.Thread(target=restart)
        thread.start()
        try:
            report = play(run, *job)
        finally:
            thread.join()
        assert seen[0] < JOBS, "it restarted after the run"
        lost = JOBS - report.totals.rows
        assert lost <= 3 * IN_FLIGHT, "the run went on with all that was not in flight"
        with Dataset.open(run) as dataset:
            assert {error["error_type"] for error in dataset.errors()} <= {"SandboxError"}
        report, _ = go_on(run)
        assert report.status == "complete"
        assert stable(run) == stable(tmp_path / "whole")
        record_property("figure", f"{kind.__name__}: {lost} of {JOBS} played by the resume")


def _rows(run: Path) -> int:
    if not (run / ".synth" / "run.json").exists():
        return 0
    with Dataset.open(run) as dataset:
        return dataset.count
