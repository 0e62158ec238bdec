"""Keep a script's hands off the tables of a MariaDB or MySQL database that it does not make.

DDL commits there, so that what a script has done cannot be taken back: it must be hindered. Reading
the statements does not tell what a procedure, a prepared statement, a view or an update of several
tables writes to. Hence a second session locks every table that is to stay as it is: others may read
them, and the script's attempt to write waits until it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from envs.quoting import backticked
from envs.reseed.base import ReseedRefused

_PATIENCE_S = 10
"""How long to wait for sessions that are writing to the tables."""


class Guard:
    """Holds the locks while the block runs. ``tables`` are (database, table, kind); without any
    nothing is opened.
    """

    def __init__(self, connect: Callable[[], Any], tables: Iterable[tuple[str, str, str]]) -> None:
        self._connect = connect
        # a sequence gives out numbers to whoever may read it
        self._wanted = [
            f"{backticked(database)}.{backticked(name)} {'WRITE' if kind == 'SEQUENCE' else 'READ'}"
            for database, name, kind in sorted(tables)
        ]
        self._pooled: Any = None

    def __enter__(self) -> Self:
        if self._wanted:
            self._pooled = self._connect()
            raw = self._pooled.driver_connection
            try:
                run(raw, f"SET lock_wait_timeout = {_PATIENCE_S}, wait_timeout = 86400")
                run(raw, f"LOCK TABLES {', '.join(self._wanted)}")
            except raw.Error as error:
                self._pooled.close()
                raise ReseedRefused(
                    "the tables that synth did not make cannot be locked against the scripts while"
                    " they run"
                    f" ({error.args[-1]}); use a database of its own"
                ) from error
            except BaseException:
                self._pooled.close()
                raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._pooled is None:
            return
        raw = self._pooled.driver_connection
        try:
            run(raw, "UNLOCK TABLES")
        except raw.Error as error:
            if kind is None:
                raise ReseedRefused(
                    "the session that guarded other tables was lost while the scripts ran"
                    f" ({error.args[-1]})"
                ) from error
        finally:
            self._pooled.close()


def run(connection: Any, statement: str, *parameters: Any) -> Sequence[tuple[Any, ...]]:
    """A statement's rows, on PyMySQL."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall()
