"""``synth check`` proves the shipped world, and fails when a gold call or a verifier is broken."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.connection import parse_url
from synth import open as open_episode
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from tests.e2e.command import COMMAND, synth
from tests.servers import server
from tests.unit import small_world

ROOT = Path(__file__).parents[2]
EHR = ROOT / "examples" / "ehr_db"


def check(families: list[str]) -> dict[str, FamilyReport]:
    """The proofs in this process, so that a verifier can be broken."""
    report = check_world(EHR, Options(families=tuple(families), per_case=2), lambda _: None)
    return {each.family: each for each in report.families}


SOME = "--families=record_heart_rate,which_patient,daily_dose_limit,followup_already_open"


@pytest.mark.parametrize("some", [[SOME], pytest.param([], marks=pytest.mark.long)])
def test_each_family_of_the_shipped_world_proves_itself(tmp_path: Path, some: list[str]):
    words = ("check", "ehr_db", "--universes", "1", "--tasks", "1", "--json", *some)
    report = json.loads(synth(*words, cwd=tmp_path, timeout=550).stdout)
    assert report["ok"]
    assert len(report["families"]) >= (4 if some else 45)
    for family in report["families"]:
        assert family["tasks_proved"] >= 1
        assert {"silence", "dump reads"} <= set(family["lazy_agents_caught"])
        assert sum(family["mutants_killed"].values()) > 2
        assert family["mutants_surviving"] == []


STUCK = """\
def stuck():
    import os, pathlib, time
    mark = pathlib.Path(os.environ["SYNTH_TEST_MARK"])
    mark.with_suffix(f".{os.getpid()}").touch()
    while True:
        time.sleep(0.05)


"""


@pytest.mark.parametrize(
    ("workers", "number"), [("1", signal.SIGINT), ("2", signal.SIGINT), ("2", signal.SIGKILL)]
)
def test_nothing_goes_on_when_a_check_is_ended(
    tmp_path: Path, workers: str, number: signal.Signals
):
    """A tool that hangs in each process; Ctrl-C reaches them all, a SIGKILL the parent alone."""
    old = 'found = db.execute(text("SELECT * FROM items WHERE instr'
    folder = small_world.make(tmp_path / "world", executors=(old, f"stuck()\n    {old}"))
    code = (folder / "executors.py").read_text("utf-8")
    (folder / "executors.py").write_text(code.replace("@tool", f"{STUCK}@tool", 1), "utf-8")
    process = subprocess.Popen(
        [*COMMAND, "check", str(folder), "--workers", workers],
        env=os.environ | {"SYNTH_TEST_MARK": str(tmp_path / "mark")},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stuck = until(lambda: list(tmp_path.glob("mark.*")), int(workers))
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, told = process.communicate(timeout=60)
        assert process.returncode == (130 if number is signal.SIGINT else -number)
        assert told.splitlines()[2:] == ["interrupted"] or number is signal.SIGKILL
        for mark in stuck:
            until(lambda pid=int(mark.suffix[1:]): [] if alive(pid) else [pid], 1)
    finally:
        process.kill()


def until(look: Callable[[], list[Any]], count: int) -> list[Any]:
    """What is found once there is enough of it; the test's own timeout ends a wait for nothing."""
    while len(found := look()) < count:
        time.sleep(0.02)
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and waits for its parent to notice does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("agent", "outcome"),
    [("says_goodbye", "won"), ("drop write", "lost"), ("change argument", "lost")],
)
def test_a_rollout_of_an_agent_is_shown_with_its_diff(tmp_path: Path, agent: str, outcome: str):
    done = synth("check", "library", "--tasks", "1", "--show", f"lend_book:{agent}", cwd=tmp_path)
    assert re.search(rf"^{agent}.* on task lend_book-\w+: {outcome}$", done.stdout, re.MULTILINE)
    assert "user: Ada Kern would like to borrow Walden." in done.stdout
    assert 'call: find_member {"name": "Ada Kern"}' in done.stdout
    assert ("missing: insert loans (loan_id=44)" in done.stdout) == (outcome == "lost")


def test_a_lie_that_is_left_to_a_judge_is_no_finding(tmp_path: Path):
    """Issue 38: `--show` said "20 of 20 such rollouts are findings" where the check had none."""
    done = synth(
        "check", "library", "--tasks", "1", "--show", "renew_all:embroiderer", cwd=tmp_path
    )
    assert ": won, what it said is left to a judge\n" in done.stdout
    assert re.search(r"^0 of \d+ such rollouts are findings$", done.stdout, re.MULTILINE)


def test_an_agent_that_nobody_knows_is_refused_with_the_nearest(tmp_path: Path):
    done = synth("check", "library", "--show", "lend_book:drp write", cwd=tmp_path, code=2)
    assert "no agent 'drp write' plays lend_book; did you mean 'drop write'?" in done.stderr


def test_a_watched_world_is_checked_again_after_a_change(tmp_path: Path):
    folder = tmp_path / "library"
    shutil.copytree(ROOT / "examples" / "library", folder)
    command = [sys.executable, "-m", "synth", "check", str(folder), "--tasks", "1", "--watch"]
    command += ["--no-cache", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as watching:
        assert watching.stdout is not None
        lines = iter(watching.stdout.readline, "")
        try:
            seen = [next(line for line in lines if "prove themselves" in line)]
            next(line for line in lines if "watching" in line)
            tasks = folder / "tasks.yaml"
            good = tasks.read_text("utf-8")
            tasks.write_text(good.replace("say: Renewed", "sya: Renewed"), "utf-8")
            seen.append(next(line for line in lines if "error: " in line))
            next(line for line in lines if "watching" in line)
            tasks.write_text(good, "utf-8")
            seen.append(next(line for line in lines if "prove themselves" in line))
        finally:
            watching.terminate()
    assert "did you mean 'say'?" in seen[1]


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_server_is_described_field_by_field(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check`, `synth.check` and `synth.open` take the section `database` of a run's config."""
    url = parse_url(server(engine))
    monkeypatch.setenv("MY_PASSWORD", url.password or "none")
    fields: dict[str, Any] = {
        "driver": {"postgresql": "postgresql+psycopg", "mariadb": "mariadb+pymysql"}[engine],
        "host": url.host,
        "port": url.port,
        "username": url.username,
        "database": url.database,
        "pool_size": 2,
        **({"password_env_var": "MY_PASSWORD"} if url.password else {}),
    }
    given = [f"database.connection.{name}={value}" for name, value in fields.items()]
    base = f"database={'postgres' if engine == 'postgresql' else engine}"
    options = ["--families", "where_is_my_parcel", "--no-cache", "--tasks", "1", "--universes", "1"]
    synth("check", "shop", *options, base, *given, cwd=ROOT)
    section = {"engine": engine, "connection": fields}
    with open_episode("shop", "where_is_my_parcel", database=section) as episode:
        assert episode.tools
    refused = synth("check", "shop", "tasks.count=3", cwd=ROOT, code=2)
    assert "tasks.count=3: check takes overrides of `database`" in refused.stderr
