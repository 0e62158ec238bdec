"""The state of the process that Python code changes for all: kept from one tool call to the next.

An executor that changes the directory, an environment variable, the locale, the recursion limit,
warning filters, a signal handler and the like changes them for every other rollout of its process.
They are noted when a call begins while no other runs, and set back after each call. A timer that it
starts is stopped.
"""

from __future__ import annotations

import _locale
import _signal  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
import _socket
import dis
import locale
import logging
import os
import signal
import sys
import threading
import time
import warnings
from types import CodeType, TracebackType
from typing import Any, NamedTuple, cast

_SIGNALS = tuple(map(int, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}))
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_VARIABLES: dict[bytes, bytes] = getattr(os.environb, "_data")  # noqa: B009
"""Those of the process: to copy ``os.environ`` itself takes 100 times as long."""
_handler: Any = getattr(_signal, "getsignal")  # noqa: B009  it has no stubs
"""That of :mod:`signal` takes 30 times as long, to name the number."""
_RAISE = dis.opmap["RAISE_VARARGS"]


class _State(NamedTuple):
    folder: str | None
    variables: dict[bytes, bytes]
    language: str
    recursion: int
    filters: tuple[Any, ...]
    handlers: tuple[Any, ...]
    timers: tuple[bool, ...]
    socket_timeout: float | None
    log_levels: tuple[int, int]
    path: tuple[str, ...]


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  a Path costs more than the rest
    except OSError:  # it was removed
        return None


def _now() -> _State:
    return _State(
        _folder(),
        _VARIABLES.copy(),
        _locale.setlocale(locale.LC_ALL, None),
        sys.getrecursionlimit(),
        tuple(warnings.filters),
        tuple([_handler(number) for number in _SIGNALS]),
        tuple([signal.getitimer(timer)[0] > 0 for timer in _TIMERS]),
        _socket.getdefaulttimeout(),
        (logging.root.manager.disable, logging.root.level),
        tuple(sys.path),
    )


def _set_back(state: _State, present: _State) -> None:
    if present.folder != state.folder and state.folder is not None:
        os.chdir(state.folder)
    if present.variables != state.variables:
        _set_variables(state.variables)
    if b"TZ" in state.variables or b"TZ" in present.variables:
        time.tzset()
    if present.language != state.language:
        locale.setlocale(locale.LC_ALL, state.language)
    if present.recursion != state.recursion:
        sys.setrecursionlimit(state.recursion)
    if present.filters != state.filters:
        warnings.resetwarnings()
        filters: Any = warnings.filters
        filters[:] = state.filters
    _set_signals(state, present)
    _socket.setdefaulttimeout(state.socket_timeout)
    if present.log_levels != state.log_levels:
        logging.disable(state.log_levels[0])
        logging.root.setLevel(state.log_levels[1])
    if present.path != state.path:
        sys.path[:] = state.path


def _set_signals(state: _State, present: _State) -> None:
    if present.handlers != state.handlers and (
        threading.current_thread() is threading.main_thread()
    ):
        for number, handler in zip(_SIGNALS, state.handlers, strict=True):
            if handler is not None and _handler(number) is not handler:
                signal.signal(number, handler)
    for timer, was, runs in zip(_TIMERS, state.timers, present.timers, strict=True):
        if runs and not was:
            signal.setitimer(timer, 0)


def _set_variables(variables: dict[bytes, bytes]) -> None:
    for name in _VARIABLES.keys() - variables.keys():
        del os.environb[name]
    for name, value in variables.items():
        if _VARIABLES.get(name) != value:
            os.environb[name] = value


class _Thread(threading.local):
    def __init__(self) -> None:
        self.traced: list[tuple[Any, Any]] = []
        """Trace and profile functions outside of this thread's calls, one in the other."""


class ProcessState:
    """The state outside of all tool calls of this process: a context of each call, after which the
    state is as it was outside. Safe for threads, and for calls within calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._outside: _State | None = None
        self._thread = _Thread()

    def __enter__(self) -> None:
        self._thread.traced.append((sys.gettrace(), sys.getprofile()))
        with self._lock:
            if self._calls == 0:
                self._outside = _now()
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        trace, profile = self._thread.traced.pop()
        if sys.gettrace() is not trace and trace is None:
            sys.settrace(None)
        if sys.getprofile() is not profile and profile is None:
            sys.setprofile(None)
        with self._lock:
            self._calls -= 1
            outside, present = self._outside, _now()
            if outside is not None and present != outside:
                _set_back(outside, present)


PROCESS_STATE = ProcessState()


def raised_by_code(error: BaseException) -> bool:
    """Return True where a ``raise`` in Python made the error, and no signal did."""
    trace: TracebackType | None = error.__traceback__
    handler = _code(_handler(signal.SIGINT))
    while trace is not None and trace.tb_next is not None:
        if trace.tb_frame.f_code is handler:
            return False
        trace = trace.tb_next
    if trace is None or isinstance(error.__context__, KeyboardInterrupt):
        return trace is not None and raised_by_code(cast("BaseException", error.__context__))
    code = trace.tb_frame.f_code
    return code is not handler and code.co_code[trace.tb_lasti] == _RAISE


def _code(handler: Any) -> CodeType | None:
    """Return the code of a signal's handler, of a method or a partial one too."""
    while inner := getattr(handler, "func", None) or getattr(handler, "__func__", None):
        handler = inner
    return getattr(handler, "__code__", None)
