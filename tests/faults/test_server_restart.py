"""The database server restarts or ends sessions in the middle of a run; it is the test's own."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from synth.core.dataset.reader import Dataset
from tests.faults.own_server import OwnMariaDB, OwnPostgres, OwnServer, own_server
from tests.faults.promises import promise
from tests.faults.runs import go_on, play, stable
from tests.unit.small_world import make

JOBS, AT, IN_FLIGHT, EVERY = 100, 20, 4, 10
LIST = {
    OwnPostgres: "SELECT pid FROM pg_stat_activity"
    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid",
    OwnMariaDB: "SELECT id FROM information_schema.processlist"
    " WHERE host <> '' AND id <> connection_id() ORDER BY id",
}
END = {OwnPostgres: "SELECT pg_terminate_backend({})", OwnMariaDB: "KILL {}"}


@pytest.fixture(scope="module", params=[OwnPostgres, OwnMariaDB])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[OwnServer, Path]]:
    """A server, whose URL is in OWN_DSN, and the undisturbed run beside its world."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with own_server(request.param) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OWN_DSN", server.url)
        executors = make(folder / "world") / "executors.py"
        if request.param is OwnPostgres:
            executors.write_text(
                executors.read_text().replace("instr(name, :n)", "strpos(name, :n) > 0")
            )
        play(folder / "whole", *plan(request.param, folder))
        yield server, folder


def plan(kind: type[OwnServer], folder: Path) -> tuple[str, ...]:
    """A job on a server whose URL is in OWN_DSN."""
    return (
        f"env.path={folder / 'world'}",
        f"tasks.count={JOBS // 4}",
        "tasks.samples=4",
        "tasks.families=[plan]",
        f"runtime.concurrency={IN_FLIGHT}",
        f"database={'postgres' if kind is OwnPostgres else 'mariadb'}",
        "database.dsn_env_var=OWN_DSN",
    )


@pytest.mark.slow
@promise(
    "A run goes on over a restart of its database server; what was in flight is played by a resume"
)
def test_a_run_goes_on_over_a_restart(
    server: tuple[OwnServer, Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seen: list[int] = []

    def restart(server: OwnServer, run: Path, over: threading.Event) -> None:
        while not run.is_dir() or (rows := _rows(run)) < AT:
            time.sleep(0.02)
        server.restart()
        seen.append(rows)

    lost = lost_in_disturbed_run(*server, tmp_path / "run", restart)
    assert seen[0] < JOBS, "it restarted after the run"
    assert lost <= 3 * IN_FLIGHT, "the run went on with all that was not in flight"
    record_property("figure", f"{type(server[0]).__name__}: {lost} of {JOBS} played by the resume")


@pytest.mark.slow
@promise("A session that the database server ends is never a reward; a resume plays its rollout")
def test_sessions_that_the_server_ends(
    server: tuple[OwnServer, Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One session for each ten rows, whichever it is: those of control connections, too."""
    ended = 0

    def end_sessions(server: OwnServer, run: Path, over: threading.Event) -> None:
        nonlocal ended
        draw = random.Random(3)
        engine = sqlalchemy.create_engine(server.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            while not over.wait(0.01):
                if not run.is_dir() or _rows(run) < EVERY * (ended + 1):
                    continue
                found = connection.execute(sqlalchemy.text(LIST[type(server)])).scalars().all()
                with contextlib.suppress(DBAPIError):  # the session has just ended by itself
                    connection.execute(
                        sqlalchemy.text(END[type(server)].format(draw.choice(found)))
                    )
                    ended += 1
        engine.dispose()

    lost = lost_in_disturbed_run(*server, tmp_path / "run", end_sessions)
    assert ended > 5
    record_property(
        "figure",
        f"{type(server[0]).__name__}: {ended} sessions ended, {lost} of {JOBS} played by the resume",
    )


def lost_in_disturbed_run(
    server: OwnServer,
    undisturbed: Path,
    run: Path,
    disturb: Callable[[OwnServer, Path, threading.Event], None],
) -> int:
    """Play the job again while ``disturb`` is at work, until the event says that the run is over;
    return how many rollouts were lost. A resume then makes the rows of the undisturbed run.
    """
    over = threading.Event()
    thread = threading.Thread(target=disturb, args=(server, run, over))
    thread.start()
    try:
        report = play(run, *plan(type(server), undisturbed))
    finally:
        over.set()
        thread.join()
    whole_after_resume(run, undisturbed / "whole")
    return JOBS - report.totals.rows


def whole_after_resume(run: Path, undisturbed: Path) -> None:
    """What the run lost are errors of the sandbox, and a resume plays them."""
    with Dataset.open(run) as dataset:
        assert {error["error_type"] for error in dataset.errors()} <= {"SandboxError"}
    report, _ = go_on(run)
    assert report.status == "complete"
    assert stable(run) == stable(undisturbed)


def _rows(run: Path) -> int:
    if not (run / ".synth" / "run.json").exists():
        return 0
    with Dataset.open(run) as dataset:
        return dataset.count
