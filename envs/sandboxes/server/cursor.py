"""A tool call on a server, as :mod:`envs.sandboxes.contained` has it, and its cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from envs.errors import SandboxError
from envs.sandboxes.contained import ContainedCall, ContainedCursor, ContainedTransactions
from envs.types import Limits

MAX_ROWS_BYTES = 64_000_000
"""Text and bytes that one statement may give, whatever the number of its rows."""

DRAIN_ROWS = 10_000
"""Rows past the limit that are passed over before the statement is cut on the server. A call that
only reads keeps the first rows; one that may have written has failed.
"""


@dataclass
class StatementResult:
    """The result of a statement: its rows up to the limit, and whether there were more."""

    description: Any = None
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    rowcount: int = -1
    lastrowid: int | None = None
    more: bool = False
    cut: bool = False
    """True where the server was told to give no more."""


def text_size(row: Sequence[Any]) -> int:
    return sum(len(value) for value in row if value.__class__ is str or value.__class__ is bytes)


class ServerCursor(ContainedCursor):
    """A cursor as PEP 249 describes it. Subclasses implement :meth:`execute`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._result = StatementResult()
        self._position = 0

    @property
    def description(self) -> Any:
        return self._result.description

    @property
    def rowcount(self) -> int:
        return self._result.rowcount

    @abstractmethod
    def execute(self, operation: str, parameters: Any = ()) -> Self:
        """Execute one statement; its result replaces the present one."""

    @abstractmethod
    def row_limit_error(self, limit: int | None) -> Exception:
        """The driver's error for a fetch past the limit of rows."""

    def executemany(self, operation: str, rows: Sequence[Any]) -> Self:
        total = 0
        for row in rows:
            self.execute(operation, row)
            total += max(0, self._result.rowcount)
        self._result = StatementResult(rowcount=total, lastrowid=self._result.lastrowid)
        return self

    def _take(self, wanted: int | None) -> list[tuple[Any, ...]]:
        rows, start = self._result.rows, self._position
        stop = len(rows) if wanted is None else start + wanted
        if self._result.more and (wanted is None or stop > len(rows)):
            raise self.row_limit_error(self._limits.max_rows)
        self._position = min(stop, len(rows))
        return rows[start : self._position]

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self._take(1)
        return rows[0] if rows else None

    def close(self) -> None:
        self._result = StatementResult(
            rowcount=self._result.rowcount, lastrowid=self._result.lastrowid
        )


class ServerCall(ContainedCall):
    """A call over a session with a server."""

    def rollback_to(self, savepoint: str) -> None:
        if not isinstance(self.broken, SandboxError):
            self.speak(f"ROLLBACK TO SAVEPOINT {savepoint}")
            self.broken = None


class ServerTransactions(ContainedTransactions):
    """Dialect mixin for a server: its transactions, and no opinion about lost connections."""

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return False  # a session that is lost is the sandbox's affair
