"""The state of the process that Python code changes for all: kept from one tool call to the next.

An executor that changes the directory, the time zone, the locale, the recursion limit, warning
filters or a signal handler changes them for every other rollout of its process. They are noted when
a call begins while no other runs, and set back after each call.
"""

from __future__ import annotations

import _locale
import _signal  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
import dis
import locale
import os
import signal
import sys
import threading
import time
import warnings
from types import FrameType, TracebackType
from typing import Any, NamedTuple

_SIGNALS = tuple(map(int, (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)))
_handler: Any = getattr(_signal, "getsignal")  # noqa: B009  it has no stubs
"""That of :mod:`signal` takes 30 times as long, to name the number."""
_RAISE = dis.opmap["RAISE_VARARGS"]


class _State(NamedTuple):
    folder: str | None
    zone: str | None
    language: str
    recursion: int
    filters: tuple[Any, ...]
    handlers: tuple[Any, ...]


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  a Path costs more than the rest
    except OSError:  # it was removed
        return None


def _now() -> _State:
    return _State(
        _folder(),
        os.environ.get("TZ"),
        _locale.setlocale(locale.LC_ALL, None),
        sys.getrecursionlimit(),
        tuple(warnings.filters),
        tuple([_handler(number) for number in _SIGNALS]),
    )


def _set_back(state: _State, present: _State) -> None:
    if present.folder != state.folder and state.folder is not None:
        os.chdir(state.folder)
    if present.zone != state.zone:
        if state.zone is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = state.zone
    if present.zone != state.zone or state.zone is not None:
        time.tzset()
    if present.language != state.language:
        locale.setlocale(locale.LC_ALL, state.language)
    if present.recursion != state.recursion:
        sys.setrecursionlimit(state.recursion)
    if present.filters != state.filters:
        warnings.resetwarnings()
        filters: Any = warnings.filters
        filters[:] = state.filters
    if present.handlers != state.handlers and (
        threading.current_thread() is threading.main_thread()
    ):
        for number, handler in zip(_SIGNALS, state.handlers, strict=True):
            if handler is not None and _handler(number) is not handler:
                signal.signal(number, handler)


class ProcessState:
    """The state outside of all tool calls of this process: a context of each call, after which the
    state is as it was outside. Safe for threads, and for calls within calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._outside: _State | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._calls == 0:
                self._outside = _now()
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            outside, present = self._outside, _now()
            if outside is not None and present != outside:
                _set_back(outside, present)


PROCESS_STATE = ProcessState()


def raised_by(error: BaseException, file: str | None) -> bool:
    """Return True where a ``raise`` in that file made the error, and no signal did."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    frame: FrameType = trace.tb_frame
    code = frame.f_code
    return code.co_filename == file and code.co_code[trace.tb_lasti] == _RAISE
