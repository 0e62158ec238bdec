"""Error messages of each engine for transient failures.

The categories, codes and words are those that :mod:`envs.sql_errors` derives from the real drivers'
errors; tests provoke them on the real servers and compare. SQLite has one lock for everything:
deadlocks and serialization failures appear as locks there.
"""

from __future__ import annotations

from collections.abc import Mapping

from envs.types import ErrorCategory, ToolResult

AGAIN = "nothing was changed; try the same call again"
LOST = "the connection to the database failed"


def _says(category: ErrorCategory, message: str, state: str | None) -> ToolResult:
    return ToolResult.failure(
        message, category=category, error="OperationalError", sql_state=state, advice=AGAIN
    )


_TIMEOUT, _DEADLOCK, _LOST = (
    ErrorCategory.TIMEOUT,
    ErrorCategory.DEADLOCK,
    ErrorCategory.CONNECTION_ERROR,
)
_MYSQL_DEADLOCK = "Deadlock found when trying to get lock; try restarting transaction"

FAULTS: Mapping[str, Mapping[str, ToolResult]] = {
    "sqlite": {
        "lock_timeout": _says(_TIMEOUT, "database is locked", "SQLITE_BUSY"),
        "deadlock": _says(_TIMEOUT, "database table is locked", "SQLITE_LOCKED"),
        "serialization_failure": _says(_TIMEOUT, "database is locked", "SQLITE_BUSY_SNAPSHOT"),
        "connection_dropped": _says(_LOST, LOST, "SQLITE_IOERR"),
        "service_unavailable": _says(_LOST, LOST, "SQLITE_CANTOPEN"),
    },
    "postgresql": {
        "lock_timeout": _says(_TIMEOUT, "canceling statement due to lock timeout", "55P03"),
        "deadlock": _says(_DEADLOCK, "deadlock detected", "40P01"),
        "serialization_failure": _says(
            _DEADLOCK, "could not serialize access due to concurrent update", "40001"
        ),
        "connection_dropped": _says(_LOST, LOST, "57P01"),
        "service_unavailable": _says(_LOST, LOST, "53300"),
    },
    "mysql": {
        "lock_timeout": _says(
            _TIMEOUT, "Lock wait timeout exceeded; try restarting transaction", "HY000"
        ),
        "deadlock": _says(_DEADLOCK, _MYSQL_DEADLOCK, "40001"),
        "serialization_failure": _says(_DEADLOCK, _MYSQL_DEADLOCK, "40001"),
        "connection_dropped": _says(_LOST, LOST, "HY000"),
        "service_unavailable": _says(_LOST, LOST, "08004"),
    },
}
"""Messages by engine and kind. MySQL reports a serialization failure as a deadlock."""


def said_by(engine: str, kind: str) -> ToolResult:
    """Return an engine's words for a fault; MariaDB's are MySQL's."""
    return FAULTS["mysql" if engine == "mariadb" else engine][kind]
