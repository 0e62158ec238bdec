"""What a killed driver left behind is ended; what a living driver has is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from synth.core.runner.runtimes import orphans

DRIVER = """
import subprocess
from synth.core.runner.runtimes.orphans import inherited

with inherited():
    helper = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(helper.pid, flush=True)
helper.wait()
"""

Start = Callable[[], tuple[subprocess.Popen[str], int]]

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def start() -> Generator[Start]:
    """Start a driver; returns it and the PID of its helper."""
    drivers: list[subprocess.Popen[str]] = []

    def begin() -> tuple[subprocess.Popen[str], int]:
        command = [sys.executable, "-c", DRIVER]
        drivers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert drivers[-1].stdout is not None
        return drivers[-1], int(drivers[-1].stdout.readline())

    yield begin
    for driver in drivers:
        driver.kill()
        driver.wait()
    orphans.end_orphans()  # their output ends with them
    for driver in drivers:
        driver.communicate()


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not lives(pid)


def test_helpers_of_a_dead_driver_are_ended(start: Start):
    driver, helper = start()
    driver.kill()
    driver.wait()
    orphans.end_orphans()  # or that of another test, which runs at the same time
    assert ends(helper)


def test_helpers_of_a_living_driver_go_on(start: Start):
    _, helper = start()
    assert helper not in orphans.end_orphans()
    assert lives(helper)


def test_a_driver_that_nobody_has_reaped_is_dead(start: Start):
    driver, helper = start()
    driver.kill()
    deadline = time.monotonic() + 30
    while lives(driver.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    orphans.end_orphans()
    assert ends(helper)


def test_the_mark_is_only_for_what_starts_inside(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(orphans.DRIVER, raising=False)
    with orphans.inherited():
        assert orphans.DRIVER in os.environ
    assert orphans.DRIVER not in os.environ
