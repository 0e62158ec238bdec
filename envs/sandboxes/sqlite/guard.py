"""The permissions of a tool call's SQL, enforced by SQLite itself.

The statement is never parsed here: SQLite asks the authorizer about every part of a statement when
it compiles it, and the progress handler while it runs. Everything that is not on the list is
refused, so a feature of a later SQLite is closed until somebody opens it. An executor is the world
author's own code: it is trusted not to bypass its connection, the SQL that passes through it is
not.
"""

from __future__ import annotations

import time
from collections import Counter

import apsw

READ_ACTIONS = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_RECURSIVE})
WRITE_ACTIONS = frozenset({apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE})

PRAGMAS = frozenset(
    {
        "table_info",
        "table_xinfo",
        "table_list",
        "foreign_key_list",
        "index_list",
        "index_info",
        "index_xinfo",
        "data_version",  # full-text tables ask it themselves
    }
)
"""What reflection needs: they describe the database and change nothing, argument or not."""

FUNCTIONS_DENIED = frozenset(
    {
        "load_extension",  # native code
        "fts3_tokenizer",  # takes a pointer from SQL: a crash of the process
        "readfile",
        "writefile",
        "edit",
        "fsdir",
        "zipfile",
        "sqlite_log",  # writes to the process's log
    }
)

VALUE_BYTES = 250_000
"""Bytes of one value or row, where the world's own data needs no more, and more is not shown to a
model anyway. Nothing breaks an opcode off: ``hex`` took 7 s on a GB. Functions that take long
within this bound are in :mod:`envs.sandboxes.sqlite.bounded_functions`, or COSTLY.
"""

COSTLY = {"json_patch": 4, "json_pretty": 4, "like": 32, "glob": 32}
"""Functions that take a tenth of a second or longer within VALUE_BYTES, and in how many places of
its statements a call may use them: no look comes between two columns of a row.
"""

LIMITS = (
    (apsw.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    # A pattern of 24 KB runs 20 s in one opcode, out of any timeout's reach.
    (apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (apsw.SQLITE_LIMIT_ATTACHED, 0),
    (apsw.SQLITE_LIMIT_TRIGGER_DEPTH, 100),
    (apsw.SQLITE_LIMIT_WORKER_THREADS, 0),
)

HEAP_BYTES = 256 * 2**20
"""Memory that SQLite may take for one call beyond what it had before, and beyond the size of the
world's data (which a call may change as a whole). ``json_group_array`` and its like heed no limit
of a value's length until they are done.
"""

NEVER = float("inf")

PROGRESS_STEPS = 1_000
"""Virtual machine instructions between looks at the clock; costs 2 percent, 0.1 ms late."""

_REASONS = {
    apsw.SQLITE_ATTACH: "attaching databases is not allowed",
    apsw.SQLITE_DETACH: "detaching databases is not allowed",
    apsw.SQLITE_TRANSACTION: (
        "a tool call is one transaction; its statements may not begin or end one"
    ),
    apsw.SQLITE_SAVEPOINT: "a tool call is one transaction; its statements may not set savepoints",
}


class SqliteGuard:
    """A sandbox's guard: installed once, set before each call to the call's permissions."""

    def __init__(self) -> None:
        self.read_only = False
        self.deadline = NEVER
        self.heap_bytes = HEAP_BYTES
        self.ceiling = NEVER
        """Bytes of SQLite's memory, all of the process's, at which a statement is broken off."""
        self.swollen = False
        """True where a statement of this call was broken off for its memory, not for its time."""
        self.trusted = False
        """True while the sandbox itself speaks: BEGIN, COMMIT, SAVEPOINT. What is compiled
        meanwhile must never serve the SQL of a call: apsw keeps it under a mark of its own.
        """
        self._costly = Counter[str]()
        self.reason: str | None = None
        """Why the last statement was refused, for its error message."""

    def install(self, raw: apsw.Connection, value_bytes: int = VALUE_BYTES) -> None:
        """Install limits, authorizer and timeout. Statements that need a PRAGMA come before."""
        raw.limit(apsw.SQLITE_LIMIT_LENGTH, value_bytes)
        for limit, value in LIMITS:
            raw.limit(limit, value)
        raw.config(
            apsw.SQLITE_DBCONFIG_DEFENSIVE, 1
        )  # no direct writes to the tables behind virtual ones
        raw.authorizer = self.authorize
        raw.set_progress_handler(self.overdue, PROGRESS_STEPS)

    def restrict(self, raw: apsw.Connection, *, read_only: bool) -> None:
        """Set the permissions of the next call.

        Setting the authorizer anew expires the statements that SQLite compiled under the old
        permissions: a cached INSERT would run unasked.
        """
        self.ceiling = apsw.memory_used() + self.heap_bytes
        self.swollen = False
        self._costly.clear()
        if read_only != self.read_only:
            self.read_only = read_only
            raw.authorizer = self.authorize

    def overdue(self) -> bool:
        """The progress handler: true interrupts the statement."""
        if apsw.memory_used() > self.ceiling:
            self.swollen = True
            return True
        return time.monotonic() > self.deadline

    def _may_call(self, function: str | None) -> bool:
        name = (function or "").lower()
        if function is None or name in FUNCTIONS_DENIED:
            self.reason = f"the function {function} is not allowed"
            return False
        if name in COSTLY:
            self._costly[name] += 1
            self.reason = f"a call may use {name.upper()} {COSTLY[name]} times at most"
            return self._costly[name] <= COSTLY[name]
        return True

    def authorize(
        self, action: int, first: str | None, second: str | None, schema: str | None, by: str | None
    ) -> int:
        """The authorizer; the action decides ``first`` and ``second``; ``by``: trigger or view."""
        if action in READ_ACTIONS or self.trusted:
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION:
            if self._may_call(second):
                return apsw.SQLITE_OK
        elif action in WRITE_ACTIONS:
            if self.read_only:
                self.reason = "this tool may only read"
            elif schema != "main" or (first or "").lower().startswith("sqlite_"):
                # sqlite_sequence takes plain DML: a counter is state that no row diff shows.
                self.reason = "the table is not one of the world's own"
            else:
                return apsw.SQLITE_OK
        elif action == apsw.SQLITE_PRAGMA:
            if first is not None and first.lower() in PRAGMAS:
                return apsw.SQLITE_OK
            self.reason = f"PRAGMA {first} is not allowed"
        else:
            self.reason = _REASONS.get(action, "changes of the schema are not allowed")
        return apsw.SQLITE_DENY


class Interrupter:
    """Interrupts a statement from the watchdog's thread: SQLite looks for that at each row, and
    calls the progress handler after many of them.
    """

    def __init__(self, raw: apsw.Connection, guard: SqliteGuard) -> None:
        self._raw = raw
        self._guard = guard

    @property
    def deadline(self) -> float | None:
        return self._guard.deadline

    def terminate(self) -> None:
        """Interrupt the statement that runs, if there is one: its end changes the deadline."""
        if time.monotonic() > self._guard.deadline:
            self._raw.interrupt()

    def look(self) -> None:
        """Nothing: the progress handler looks at the memory."""
