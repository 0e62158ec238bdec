"""PyMySQL's connection, which reads no more than it may."""

# pyright: reportAttributeAccessIssue=false
# What is overridden here is private to PyMySQL: its stubs do not
# know it.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import err
from pymysql.cursors import SSCursor

from envs.connection import connect_in_time

if TYPE_CHECKING:
    _Connection = pymysql.Connection[Any]
else:
    _Connection = pymysql.Connection  # generic in its stubs only

UNBOUNDED = float("inf")

LOST = frozenset({0, 1053, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2055, 4031})
"""Errors after which a connection is unusable: PyMySQL's, shutdown, network, a killed session."""

TOO_LARGE = 1153


def too_large_error() -> err.Error:
    return err.OperationalError(TOO_LARGE, "the statement gives more bytes than a call may take in")


class BoundedConnection(_Connection):
    """Reads ``allowance`` bytes, until it is allowed more: a row is one packet, of whatever size
    the server likes.

    Past it the connection is closed, since there is no other way not to read on.
    """

    allowance: float = UNBOUNDED

    def _read_bytes(self, num_bytes: int) -> bytes:
        self.allowance -= num_bytes
        if self.allowance < 0:
            self._force_close()
            raise too_large_error()
        return super()._read_bytes(num_bytes)

    def connect(self, sock: Any = None) -> None:
        """Connect. The time to connect covers the server's greeting and the login, too."""
        connect_in_time(self, lambda: super(BoundedConnection, self).connect(sock))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self.cursor()
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())

    def drop(self) -> None:
        """Close the connection, also one that is lost or closed."""
        if self.open:
            self.close()

    def fileno(self) -> int:
        """The descriptor of the socket, -1 where the connection is closed."""
        return self._sock.fileno() if self.open else -1


def abandon(cursor: SSCursor) -> None:
    """Let go of a cursor whose connection is gone: closing it would try to read on."""
    result = cursor._result  # noqa: SLF001
    if result is not None:
        result.unbuffered_active = False
