"""The audit: one line per tool call, and at debug level one per statement, as JSON on the logger
``envs.audit``.

No line holds a value. Arguments appear as a digest, and those that a world declares secret do not
go into it; a statement appears without its parameters, its literals and whatever else is not the
schema's; of an error its category is told.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from envs.metrics import TRACE
from envs.types import ToolCall

LOGGER = logging.getLogger("envs.audit")

_CLIPPED = 100
"""Characters of an id or a category, which others choose."""

Mask = Callable[[str], str | None]
"""Removes the values from a statement; None for one that cannot be read."""


@dataclass(slots=True)
class AuditedStatement:
    """One statement of a call as the driver got it; ``ms`` counts executing and fetching."""

    sql: str
    ms: float = 0.0
    read: int = 0
    changed: int = 0
    failed: bool = False


@dataclass(slots=True)
class Trace:
    """The statements of one call, in order. It travels."""

    statements: list[AuditedStatement] = field(default_factory=list[AuditedStatement])

    @property
    def rows_read(self) -> int:
        return sum(statement.read for statement in self.statements)

    def listen(self, connection: Any) -> None:
        """Hear all cursors of a call's DBAPI connection. The connection ends with its call."""
        cursor = connection.cursor

        def heard(*args: Any, **kwargs: Any) -> _Cursor:
            return _Cursor(cursor(*args, **kwargs), self)

        connection.cursor = heard


@contextmanager
def traced() -> Generator[Trace]:
    token = TRACE.set(trace := Trace())
    try:
        yield trace
    finally:
        TRACE.reset(token)


class _Cursor:
    """A DBAPI cursor that tells what passes through it."""

    def __init__(self, cursor: Any, trace: Trace) -> None:
        self._cursor, self._trace = cursor, trace
        self._now = AuditedStatement("")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    @contextmanager
    def _timed(self) -> Generator[None]:
        began = time.perf_counter()
        try:
            yield
        except BaseException:
            self._now.failed = True
            raise
        finally:
            self._now.ms += (time.perf_counter() - began) * 1000

    def _begin(self, sql: object) -> None:
        self._now = AuditedStatement(str(sql))
        self._trace.statements.append(self._now)

    def execute(self, operation: Any, *parameters: Any) -> Any:
        self._begin(operation)
        with self._timed():
            self._cursor.execute(operation, *parameters)
        self._count_changed()
        return self

    def executemany(self, operation: Any, rows: Any) -> Any:
        self._begin(operation)
        with self._timed():
            self._cursor.executemany(operation, rows)
        self._count_changed()
        return self

    def _count_changed(self) -> None:
        if self._cursor.description is None:
            self._now.changed = max(0, self._cursor.rowcount)

    def fetchone(self) -> Any:
        with self._timed():
            row = self._cursor.fetchone()
        self._now.read += row is not None
        return row

    def fetchmany(self, size: int | None = None) -> Any:
        with self._timed():
            rows = self._cursor.fetchmany(size)
        self._now.read += len(rows)
        return rows

    def fetchall(self) -> Any:
        with self._timed():
            rows = self._cursor.fetchall()
        self._now.read += len(rows)
        return rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchone, None)


class Audit:
    """The audit of one rollout. ``about`` stands in each of its lines; ``step`` is asked for the
    turn of each call.

    Calls are logged at INFO to ``logger``, statements at DEBUG.
    """

    def __init__(
        self,
        logger: logging.Logger = LOGGER,
        about: Mapping[str, object] | None = None,
        step: Callable[[], int] | None = None,
    ) -> None:
        self._logger = logger
        self._about = dict(about or {})
        self.step = step

    def listening(self) -> AbstractContextManager[Trace]:
        """A context in which the statements of a call are heard."""
        return traced()

    def call(
        self,
        call: ToolCall,
        tool: str | None,
        arguments: Mapping[str, object] | None,
        *,
        ms: float,
        secret: Collection[str] = (),
        outcome: str = "ok",
        trace: Trace | None = None,
        rows_changed: int = 0,
        mask: Callable[[], Mask] = lambda: lambda _: None,
    ) -> None:
        """Log a call, after its statements.

        ``secret`` are the names of arguments that do not count in the digest of them; a call of no
        ``tool`` has none. ``outcome`` is ok, an error's category, or the type of the exception
        that ended the call.
        ``mask`` is called once if statements are logged, and returns what removes their values.
        """
        step = {} if self.step is None else {"step": self.step()}
        place = {**self._about, **step, "id": call.id[:_CLIPPED], "tool": tool}
        if trace is not None and self._logger.isEnabledFor(logging.DEBUG):
            masked = mask()
            for index, statement in enumerate(trace.statements):
                entry = {
                    "event": "statement",
                    **place,
                    "nth": index,
                    "sql": masked(statement.sql),
                    "ms": round(statement.ms, 3),
                    "ok": not statement.failed,
                    "rows_read": statement.read,
                    "rows_changed": statement.changed,
                }
                self._write(logging.DEBUG, entry)
        digest = None if tool is None else digest_of(call, arguments, secret)
        rows = {"rows_read": 0 if trace is None else trace.rows_read, "rows_changed": rows_changed}
        end = {"ok": outcome == "ok", "outcome": outcome[:_CLIPPED]}
        self._write(
            logging.INFO,
            {"event": "tool_call", **place, "arguments": digest, "ms": round(ms, 3), **rows, **end},
        )

    def _write(self, level: int, entry: Mapping[str, object]) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._logger.log(level, "%s", json.dumps({"at": time, **entry}))


def digest_of(
    call: ToolCall, arguments: Mapping[str, object] | None, secret: Collection[str]
) -> str | None:
    """16 hexadecimal digits of the canonical arguments without the secret ones, or of the text of
    what could not be parsed (None where that may hold a secret). Equal arguments have equal
    digests.
    """
    if arguments is not None:
        kept = {name: None if name in secret else value for name, value in arguments.items()}
        text = json.dumps(kept, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    elif secret:
        return None
    else:
        text = call.arguments
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
