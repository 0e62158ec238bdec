"""Run a script's statements through each engine's driver, and restore its session afterwards."""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Self

import apsw
import sqlalchemy

from envs.errors import ScriptError
from envs.scripts.lexis import Dialect, Lexis, rewrite_code

_QUOTED_COLLATION = re.compile(r"(?<!')(\bCOLLATE\s*=?\s*)'(utf8mb4_0900_\w+)'(?!')", re.IGNORECASE)
_CONCURRENTLY = re.compile(
    r"^((?:CREATE\s+(?:UNIQUE\s+)?|DROP\s+)INDEX)\s+CONCURRENTLY\b", re.IGNORECASE
)
"""What cannot be done inside a transaction, and takes none while nobody else is there."""
_IN_TRANSACTION = 1
"""SERVER_STATUS_IN_TRANS of the MySQL protocol; the driver is an extra and is not imported here."""


class ScriptEngine(ABC):
    """One script's use of a connection; leaving the block puts the session's settings back."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        error = getattr(connection, "Error", None)
        self.errors: tuple[type[Exception], ...] = (
            (error,) if error is not None else (sqlite3.Error, apsw.Error)
        )
        self._begun = False

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, kind: object, *_: object) -> None: ...

    def database(self) -> str | None:
        """The database that the connection is in, where its name can occur in statements."""
        return None

    def execute(self, text: str) -> None:
        self.rows(text)

    def rows(self, text: str) -> Sequence[Sequence[Any]]:
        """Run one statement to its end; its rows, if it has any."""
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(text)
            return cursor.fetchall() if cursor.description else ()

    def copy(self, text: str, data: str) -> None:
        raise ScriptError("COPY FROM STDIN is PostgreSQL's")

    @abstractmethod
    def owned(self) -> bool:
        """True where the caller has a transaction that the script must not end."""

    def transaction(self, action: Literal["begin", "commit", "rollback"], text: str) -> None:
        if not self.owned():
            self.execute(text)
            self._begun = action == "begin"
        elif action == "rollback":
            raise ScriptError(
                "ROLLBACK: a script is loaded as a whole and cannot be rolled back in parts"
            )

    def finish(self, path: Path) -> None:
        """The script has ended; ScriptError where it left a transaction open (it would be lost)."""
        if self._begun:
            self.execute("ROLLBACK")
            raise ScriptError("the script begins a transaction and never commits it", path)

    @abstractmethod
    def words(self, error: Exception) -> str:
        """The database's own words for an error."""


class _SqliteScript(ScriptEngine):
    _PRAGMAS = (
        "foreign_keys", "recursive_triggers", "writable_schema", "ignore_check_constraints",
        "legacy_alter_table",
        "query_only", "reverse_unordered_selects", "trusted_schema", "cell_size_check",
    )  # fmt: skip

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        legacy = getattr(connection, "isolation_level", None) is not None
        if legacy and not connection.in_transaction:
            self.rows("BEGIN")
        self._owned = bool(connection.in_transaction)
        self._before = {name: self.rows(f"PRAGMA {name}")[0][0] for name in self._PRAGMAS}

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and self._begun and self.connection.in_transaction:
            self.rows("ROLLBACK")
        for name, before in self._before.items():
            if self.rows(f"PRAGMA {name}")[0][0] != before:
                self.rows(f"PRAGMA {name}={before}")

    def owned(self) -> bool:
        return self._owned

    def rows(self, text: str) -> Sequence[Sequence[Any]]:
        # fetchall runs a statement to its end; apsw's cursors have no description of a finished one
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(text)
            return cursor.fetchall()

    def words(self, error: Exception) -> str:
        return str(error).removeprefix("SQLError: ")


class _PostgresScript(ScriptEngine):
    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._owned = not connection.autocommit
        self._before = self.rows(
            "SELECT name, current_setting(name) FROM pg_settings WHERE source = 'session'"
        )
        if self._owned:
            # As if each statement were its own transaction, whose end checks deferred constraints
            self.rows("SET CONSTRAINTS ALL IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self.connection.closed:
            return
        if self._owned and kind is not None:
            return  # the caller's rollback undoes the settings as well
        if kind is not None:
            self.rows("ROLLBACK")
        self.rows("RESET ALL")
        for name, value_before in self._before:
            cursor = self.connection.cursor()
            cursor.execute("SELECT set_config(%s, %s, false)", (name, value_before))
            cursor.close()

    def owned(self) -> bool:
        return self._owned

    def transaction(self, action: Literal["begin", "commit", "rollback"], text: str) -> None:
        super().transaction(action, text)
        if self._owned:
            self.rows(f"SET CONSTRAINTS ALL {'DEFERRED' if action == 'begin' else 'IMMEDIATE'}")

    def execute(self, text: str) -> None:
        if self._owned:
            text = _CONCURRENTLY.sub(r"\1", text)
        self.rows(text)

    def copy(self, text: str, data: str) -> None:
        with closing(self.connection.cursor()) as cursor, cursor.copy(text) as copy:
            copy.write(data)

    def words(self, error: Exception) -> str:
        diagnosis = getattr(error, "diag", None)
        if diagnosis is not None and diagnosis.message_primary:
            context = str(diagnosis.context or "").split("\n", maxsplit=1)[0]
            parts = (
                diagnosis.message_primary,
                diagnosis.message_detail,
                context if context.startswith("COPY ") else None,
            )
            return "; ".join(str(part) for part in parts if part)
        return str(error).split("\n")[0]


class MySQL(ScriptEngine):
    _VARIABLES = (
        "autocommit", "sql_mode", "foreign_key_checks", "unique_checks", "check_constraint_checks",
        "time_zone",
        "character_set_client", "character_set_connection", "character_set_results",
        "collation_connection",
        "default_storage_engine", "sql_notes", "sql_safe_updates", "sql_auto_is_null",
        "sql_quote_show_create",
        "group_concat_max_len", "lc_time_names", "tx_isolation", "transaction_isolation",
    )  # fmt: skip
    _COLLATIONS = (
        ("utf8mb4_0900_ai_ci", "utf8mb4_uca1400_ai_ci", "utf8mb4_unicode_520_ci"),
        ("utf8mb4_0900_as_ci", "utf8mb4_uca1400_as_ci", "utf8mb4_unicode_520_ci"),
        ("utf8mb4_0900_as_cs", "utf8mb4_uca1400_as_cs", "utf8mb4_bin"),
        ("utf8mb4_0900_bin", "utf8mb4_bin", "utf8mb4_bin"),
    )

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._lexis = Lexis.of("mysql")
        self._before = self._settings()
        self._renamed: dict[str, str] | None = None

    def __exit__(self, kind: object, *_: object) -> None:
        if not self.connection.open:
            return
        if self._begun:
            self.rows("ROLLBACK")
        self.rows("UNLOCK TABLES")
        for name, now in self._settings().items():
            before = self._before[name]
            if before != now:
                self.rows(f"SET SESSION {name} = {self.connection.escape(before)}")

    def owned(self) -> bool:
        return False

    def database(self) -> str | None:
        name = self.rows("SELECT DATABASE()")[0][0]
        return None if name is None else str(name)

    def rows(self, text: str) -> Sequence[Sequence[Any]]:
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(text)
            rows = cursor.fetchall()
            # A CALL may have several results, the last of which may be the error.
            while cursor.nextset():
                pass
            return rows

    def execute(self, text: str) -> None:
        if "utf8mb4_0900_" in text:
            text = _QUOTED_COLLATION.sub(r"\1\2", text)
            text = rewrite_code(text, self._lexis, self._known_collations)
        self.rows(text)

    def transaction(self, action: Literal["begin", "commit", "rollback"], text: str) -> None:
        self.execute(text)
        self._begun = action == "begin"

    def finish(self, path: Path) -> None:
        # DDL has committed what was open before it: only the server knows
        in_transaction = bool(self.connection.server_status & _IN_TRANSACTION)
        if self._begun and in_transaction and self.connection.get_autocommit():
            super().finish(path)
        self._begun = False

    def words(self, error: Exception) -> str:
        return str(error.args[1]) if len(error.args) > 1 else str(error)

    def _settings(self) -> dict[str, Any]:
        names = ", ".join(f"'{name}'" for name in self._VARIABLES)
        switch: dict[str, int] = {"ON": 1, "OFF": 0}
        found = [
            (str(row[0]), str(row[1]))
            for row in self.rows(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({names})")
        ]
        return {
            name: int(value) if value.isdigit() else switch.get(value, value)
            for name, value in found
        }

    def _known_collations(self, code: str) -> str:
        """MySQL 8's collations under MariaDB's names for them (its own aliases since 11.4)."""
        if self._renamed is None:
            known = {
                str(row[0])
                for row in self.rows(
                    (
                        "SELECT FULL_COLLATION_NAME FROM"
                        " information_schema.COLLATION_CHARACTER_SET_APPLICABILITY"
                    )
                    if "MariaDB" in str(self.connection.get_server_info())
                    else "SELECT COLLATION_NAME FROM information_schema.COLLATIONS"
                )
            }
            self._renamed = {
                name: first if first in known else second
                for name, first, second in self._COLLATIONS
                if name not in known
            }
        for name, other in self._renamed.items():
            code = code.replace(name, other)
        return code


def engine_for(dialect: Dialect, connection: Any) -> ScriptEngine:
    """The engine over a driver's own connection, or SQLAlchemy's."""
    engines: dict[Dialect, type[ScriptEngine]] = {
        "sqlite": _SqliteScript,
        "postgresql": _PostgresScript,
        "mysql": MySQL,
    }
    if isinstance(connection, sqlalchemy.Connection):
        connection = connection.connection.dbapi_connection
    return engines[dialect](connection)
