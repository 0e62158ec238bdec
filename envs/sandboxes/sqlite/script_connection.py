"""The connection that builds a template: DBAPI, autocommit, unguarded, at a pinned time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.dbapi import ApswCursor, Call, Session
from envs.sandboxes.sqlite.guard import SqliteGuard
from envs.sandboxes.sqlite.pins import NOW


class ScriptConnection:
    """The argument of ``load`` in :meth:`~envs.sandboxes.sqlite.sandbox.SqliteTemplate.build`.

    It has the methods of the standard library's connection that a loader uses. Statements commit by
    themselves unless a script begins a transaction.
    """

    Error = apsw_dbapi.Error
    isolation_level = None

    def __init__(self, raw: apsw.Connection, now: int) -> None:
        self._raw = raw
        self._now = now
        self._call = Call(Session(raw, SqliteGuard(), now), None, None)
        self._call.in_transaction = False

    @property
    def in_transaction(self) -> bool:
        return self._raw.in_transaction

    def cursor(self) -> ApswCursor:
        self._call.cursors.clear()  # each holds its own; nobody ends a call here
        return ApswCursor(self._call)

    def execute(
        self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> ApswCursor:
        return self.cursor().execute(operation, parameters)

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> ApswCursor:
        return self.cursor().executemany(operation, rows)

    def executescript(self, script: str) -> ApswCursor:
        """Run the statements of a script one after the other."""
        NOW.julian_ms = self._now
        try:
            self._raw.execute(script).fetchall()
        except apsw.Error as error:
            raise apsw_dbapi.translate(error) or error from error
        return self.cursor()

    def commit(self) -> None:
        if self._raw.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self._raw.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        self._raw.close(True)
