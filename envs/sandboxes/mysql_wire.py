"""PyMySQL's connection, which reads no more than it may."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# What is overridden here is private to PyMySQL: its stubs do not know it.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import err
from pymysql.cursors import SSCursor

if TYPE_CHECKING:
    _Connection = pymysql.Connection[Any]
else:
    _Connection = pymysql.Connection  # generic in its stubs only

UNBOUNDED = float("inf")


def too_large_error() -> err.Error:
    return err.OperationalError(1153, "the statement gives more bytes than a call may take in")


class BoundedConnection(_Connection):
    """Reads ``allowance`` bytes, until it is allowed more: a row is one packet, of whatever size the server likes.

    Past it the connection is closed, since there is no other way not to read on.
    """

    allowance: float = UNBOUNDED

    def _read_bytes(self, num_bytes: int) -> bytes:
        self.allowance -= num_bytes
        if self.allowance < 0:
            self._force_close()
            raise too_large_error()
        return super()._read_bytes(num_bytes)


def abandon(cursor: SSCursor) -> None:
    """Let go of a cursor whose connection is gone: closing it would try to read on."""
    result = cursor._result  # noqa: SLF001
    if result is not None:
        result.unbuffered_active = False
