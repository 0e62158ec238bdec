"""A tool's changes of the process end with its call, and its exits are its own."""

from __future__ import annotations

import locale
import logging
import os
import signal
import socket
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from envs.errors import ExecutorError
from envs.types import Pins, ToolCall
from envs.world.loader import load_world

EXECUTORS = '''
import locale, logging, os, signal, socket, sys, time, warnings
from sqlalchemy import Connection
from envs import tool

@tool
def meddle(db: Connection, how: str) -> dict:
    """Change the process.

    Args:
        how: What to change.
    """
    if how == "folder":
        os.chdir("/")
    elif how == "zone":
        os.environ["TZ"] = "Asia/Tokyo"
        time.tzset()
    elif how == "recursion":
        sys.setrecursionlimit(4321)
    elif how == "filters":
        warnings.simplefilter("ignore")
    elif how == "locale":
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    elif how == "handler":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif how == "other handlers":
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    elif how == "alarm":
        signal.alarm(100)
    elif how == "timer":
        signal.setitimer(signal.ITIMER_PROF, 100)
    elif how == "variables":
        os.environ["SYNTH_LEAK"] = "1"
        os.environ.pop("SYNTH_KEPT", None)
    elif how == "socket":
        socket.setdefaulttimeout(0.001)
    elif how == "logging":
        logging.disable(logging.CRITICAL)
        logging.root.setLevel(1)
    elif how == "trace":
        sys.settrace(lambda *_: None)
    elif how == "profile":
        sys.setprofile(lambda *_: None)
    elif how == "path":
        sys.path.insert(0, "/leak")
    elif how == "executed interrupt":
        exec("raise KeyboardInterrupt")
    elif how == "interrupt":
        raise KeyboardInterrupt
    elif how == "exit":
        sys.exit(3)
    elif how == "a signal":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    return {"done": how}
'''


def state() -> tuple[Any, ...]:
    return (
        str(Path.cwd()),
        time.tzname,
        sys.getrecursionlimit(),
        list(warnings.filters),
        locale.setlocale(locale.LC_ALL),
        [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)],
        [signal.getitimer(timer)[0] > 0 for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)],
        dict(os.environ),
        os.getenv("SYNTH_KEPT"),
        socket.getdefaulttimeout(),
        (logging.root.level, logging.root.manager.disable),
        sys.gettrace(),
        sys.getprofile(),
        list(sys.path),
    )


@pytest.fixture
def meddle(tmp_path: Path):
    folder = tmp_path / "meddler"
    folder.mkdir()
    (folder / "schema.sql").write_text("CREATE TABLE t (id integer PRIMARY KEY);")
    (folder / "seed.sql").write_text("")
    (folder / "executors.py").write_text(EXECUTORS)
    world = load_world(folder)
    with world.template() as template, world.environment(template, Pins()) as environment:
        yield lambda how: environment.call(ToolCall.of("meddle", {"how": how}))


CHANGES = (
    "folder zone recursion filters locale handler alarm timer variables socket logging trace profile"
    " path"
)


@pytest.mark.parametrize("how", [*CHANGES.split(), "other handlers"])
def test_what_a_tool_does_to_the_process_ends_with_its_call(
    meddle: Any, how: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SYNTH_KEPT", "1")
    before = state()
    assert meddle(how).result.ok
    assert state() == before


@pytest.mark.parametrize("how", ["interrupt", "executed interrupt", "exit"])
def test_an_exit_of_a_tool_is_a_bug_of_its_own(meddle: Any, how: str):
    with pytest.raises(ExecutorError, match=r"raised (KeyboardInterrupt|SystemExit)"):
        meddle(how)


def test_the_persons_interrupt_is_no_bug_of_the_tool(meddle: Any):
    """Ctrl-C while a tool runs reaches whoever runs it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            meddle("a signal")
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_a_handler_raises_is_the_persons(meddle: Any):
    def handle(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        with pytest.raises(KeyboardInterrupt):
            meddle("a signal")
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_environment_of_the_process_is_the_callers(meddle: Any):
    os.environ.pop("TZ", None)
    assert meddle("zone").result.ok
    assert "TZ" not in os.environ
