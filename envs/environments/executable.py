"""Environments whose tools are Python functions: validation around them, and the lifecycle."""

from __future__ import annotations

import _locale
import _signal  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
import _socket
import dis
import json
import locale
import logging
import os
import signal
import sys
import threading
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from envs.closing import Closing
from envs.environments.deadline import DEADLINE, CallTimeoutError
from envs.errors import EnvsError, ExecutorError, SandboxBusyError, ToolError
from envs.metrics import Execution, ExecutionMetrics, metrics_of
from envs.plugins import resolve
from envs.sandboxes.row_changes import plain
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, Limits, RowChange, ToolCall, ToolOutcome, ToolResult

if TYPE_CHECKING:
    from envs.audit import Audit, Mask

_SIGNALS = tuple(map(int, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}))
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_VARIABLES: dict[bytes, bytes] = getattr(os.environb, "_data")  # noqa: B009
"""Those of the process: to copy ``os.environ`` itself takes 100 times as long."""
_handler: Callable[[int], Any] = getattr(_signal, "getsignal")  # noqa: B009  it has no stubs
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
        tuple(map(_handler, _SIGNALS)),
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


class _ProcessState:
    """The state outside of all tool calls of this process: a context of each call, after which the
    state is as it was outside. Safe for threads, and for calls within calls.

    An executor that changes the directory, an environment variable, the locale, the recursion
    limit, warning filters, a signal handler and the like changes them for every other rollout of
    its process. They are noted when a call begins while no other runs, and set back after each
    call. A timer that it starts is stopped.
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


PROCESS_STATE = _ProcessState()


def _raised_by_code(error: BaseException) -> bool:
    """Return True where a ``raise`` in Python made the error, and no signal did."""
    trace: TracebackType | None = error.__traceback__
    handler = _code(_handler(signal.SIGINT))
    while trace is not None and trace.tb_next is not None:
        if trace.tb_frame.f_code is handler:
            return False
        trace = trace.tb_next
    if trace is None or isinstance(error.__context__, KeyboardInterrupt):
        return trace is not None and _raised_by_code(cast("BaseException", error.__context__))
    code = trace.tb_frame.f_code
    return code is not handler and code.co_code[trace.tb_lasti] == _RAISE


def _code(handler: Any) -> CodeType | None:
    """Return the code of a signal's handler, of a method or a partial one too."""
    while inner := getattr(handler, "func", None) or getattr(handler, "__func__", None):
        handler = inner
    return getattr(handler, "__code__", None)


class BaseEnvironment(Closing):
    """A world alive, for one rollout.

    It is single-use: opened, called, closed; there is no reset. A call never raises for what the
    model did: a malformed call, an unknown tool and a refused statement are results. It raises
    :class:`~envs.errors.ExecutorError` for a bug of the world's author and
    :class:`~envs.errors.SandboxError` for broken infrastructure.
    """

    in_place: bool = True
    """True where a call takes microseconds in this process: an event loop may run it inline."""

    concurrent_reads: bool = False
    """True where calls of tools that only read may overlap, each on a connection of its own."""

    def inline(self, tool: str) -> bool:
        """True if a call of this tool is short enough to run inline."""
        return self.in_place

    @property
    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools, in the order in which a model is shown them."""

    @abstractmethod
    def call(self, call: ToolCall) -> ToolOutcome:
        """Execute one tool call."""


MASKED = "envs.tools.sql.critic.masked:masked"
"""Removes the values from a statement that the audit logs. Imported on first use: sqlglot is heavy.
"""


class ExecutionContext:
    """Context of one execution: the executor's second argument, and the changes of the call."""

    resource: Any = None

    @property
    def changes(self) -> tuple[RowChange, ...]:
        """The rows that the call changed, known once its effects are kept."""
        return ()

    def rollback(self) -> None:
        """Undo what the executor did, at the end of the call."""


class ExecutableEnvironment(BaseEnvironment):
    """Runs executors between two validations. Subclasses say what an executor is given.

    A subclass implements :meth:`_build_execution_context`, a context manager around one call, and
    may translate its resource's own errors into results by :meth:`_error_result`. ``audit`` logs
    each call.
    """

    _engine = ""
    """The SQL that statements are in, where there are any."""

    def __init__(self, toolbox: Toolbox, audit: Audit | None = None) -> None:
        self.toolbox = toolbox
        self.audit = audit
        self.executions: list[Execution] = []
        """The calls so far that came to a result, in the order in which they did."""

    @property
    def metrics(self) -> Mapping[str | None, ExecutionMetrics]:
        """The :attr:`executions` per tool; calls without a tool name are under None."""
        return metrics_of(self.executions)

    def _mask(self) -> Mask:
        """Return the function that removes the values from a statement that is logged."""
        return partial(resolve(MASKED), dialect=self._engine, names=self._names())

    def _names(self) -> Collection[str]:
        """Names of the schema, in lower case: those that an audit may show."""
        return ()

    @property
    def tools(self) -> Sequence[Tool]:
        return self.toolbox.tools

    @abstractmethod
    def _build_execution_context(self, tool: Tool) -> AbstractContextManager[ExecutionContext]:
        """Context manager around one execution; leaving it normally keeps the call's effects."""

    def _error_result(self, error: Exception) -> ToolResult | None:
        """The result that stands for an error of the resource, or None where the error is a bug."""
        return None

    def call(self, call: ToolCall) -> ToolOutcome:
        return self._timed(call) if self.audit is None else self._audited(call, self.audit)

    def _timed(self, call: ToolCall) -> ToolOutcome:
        began = time.perf_counter()
        outcome = self._execute(call)
        ms = (time.perf_counter() - began) * 1000
        tool = call.name if call.name in self.toolbox else None
        category = None if outcome.result.ok else outcome.result.category
        self.executions.append(Execution(call.id, tool, category, ms, len(outcome.changes)))
        return outcome

    def _audited(self, call: ToolCall, audit: Audit) -> ToolOutcome:
        """The outcome of a call that is logged, also where it raises."""
        began = time.perf_counter()
        known = call.name in self.toolbox
        arguments: Mapping[str, object] | None = None
        changed, end = 0, "ok"
        with audit.listening() as trace:
            try:
                outcome = self._timed(call)
                arguments, changed = outcome.arguments, len(outcome.changes)
                end = "ok" if outcome.result.ok else outcome.result.category or "unknown"
            except BaseException as error:
                end = type(error).__name__
                raise
            finally:
                audit.call(
                    call,
                    call.name if known else None,
                    arguments,
                    secret=self.toolbox[call.name].secret if known else (),
                    ms=(time.perf_counter() - began) * 1000,
                    outcome=end,
                    trace=trace,
                    rows_changed=changed,
                    mask=self._mask,
                )
        return outcome

    def _execute(self, call: ToolCall) -> ToolOutcome:
        parsed = self.toolbox.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        found, arguments = parsed
        context: ExecutionContext | None = None
        try:
            with PROCESS_STATE, self._build_execution_context(found) as context:
                returned = self._returned(found, arguments, context.resource)
                result, content = self._checked(found, returned)
                limit = self._limits_of(found).max_result_bytes
                if (
                    result.ok
                    and limit is not None
                    and len(content.encode("utf-8", "surrogatepass")) > limit
                ):
                    result = ToolResult.failure(
                        f"The result is larger than {limit} bytes; ask for less.",
                        category=ErrorCategory.LIMIT_EXCEEDED,
                        error="ResultTooLarge",
                    )
                    content = result.content()
                if not result.ok:
                    context.rollback()
        except ToolError as error:
            refusal = ToolResult(
                status="error", error="ToolError", category=error.category, message=error.message
            )
            result, content = self._checked(found, refusal)
            return ToolOutcome(call, result, content, arguments)
        except SandboxBusyError as error:
            busy = ToolResult.failure(
                str(error), category=ErrorCategory.TIMEOUT, error="OperationalError"
            )
            return ToolOutcome(call, busy, busy.content(), arguments)
        except EnvsError:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt) and not _raised_by_code(error):
                raise
            translated = self._error_result(error) if isinstance(error, Exception) else None
            if translated is None:
                text = (
                    str(getattr(error, "orig", None) or error)
                    .partition("\n")[0]
                    .partition(" (Background on")[0]
                )
                # SQLAlchemy says more
                message = f"tool {found.name} raised {type(error).__name__}: {text}"
                raise ExecutorError(message, *self.toolbox.scene(error)) from error
            return ToolOutcome(call, translated, translated.content(), arguments)
        return ToolOutcome(call, result, content, arguments, context.changes)

    def _returned(self, tool: Tool, arguments: dict[str, Any], resource: Any) -> object:
        """What the executor returns in time."""
        limit = self._limits_of(tool).statement_timeout_ms
        began = time.monotonic()
        try:
            return DEADLINE.call(limit, tool.executor, arguments, resource)
        except CallTimeoutError as error:
            message = f"tool {tool.name} has not returned after {time.monotonic() - began:.0f} s"
            raise ExecutorError(message, *self.toolbox.scene(error)) from error

    def _limits_of(self, tool: Tool) -> Limits:
        return tool.limits

    def _checked(self, tool: Tool, result: object) -> tuple[ToolResult, str]:
        """The result as promised, and its text; ExecutorError where the author's code broke its
        word.

        The output is read back from the text: what is recorded is what the model was shown, and an
        object that the executor keeps and changes later is not in it.
        """
        if not isinstance(result, ToolResult):
            raise ExecutorError(
                f"tool {tool.name} returned {type(result).__name__}, not a ToolResult"
            )
        if result.updated_state is not None:
            raise ExecutorError(
                f"tool {tool.name} returned updated_state: the database is the state"
            )
        if problem := _malformed(result):
            raise ExecutorError(f"tool {tool.name} {problem}")
        try:
            result, content = _with_text(result)
            if result.ok and not isinstance(result.output, str):
                result = replace(result, output=json.loads(content))
        except (TypeError, ValueError, RecursionError) as error:
            raise ExecutorError(f"tool {tool.name} must return JSON: {error}") from None
        if result.ok and (problem := self.toolbox.output_problem(tool.name, result.output)):
            raise ExecutorError(
                f"tool {tool.name} returned what its output_schema forbids: {problem}"
            )
        return result, content


def _with_text(result: ToolResult) -> tuple[ToolResult, str]:
    """The result and its text; NaN, UUID, decimal or date are written as in a row's changes."""
    try:
        return result, result.content()
    except (TypeError, ValueError):
        converted = replace(result, output=plain(result.output))
        return converted, converted.content()


def _malformed(result: ToolResult) -> str:
    """Say which field of a result is wrong, its output aside; empty if none is."""
    if result.status not in {"ok", "error"}:
        return f"returned the status {result.status!r}; it is ok or error"
    if result.ok:
        return ""
    for name in ("message", "category"):
        value = getattr(result, name)
        if not isinstance(value, str) or not value.strip():
            return f"failed with the {name} {value!r}; a failure needs a {name}, a text"
    for name in ("error", "sql_state", "advice"):
        value = getattr(result, name)
        if value is not None and not isinstance(value, str):
            return f"failed with the {name} {value!r}, which must be a text"
    return ""
