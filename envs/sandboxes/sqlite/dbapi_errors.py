"""The errors of :mod:`envs.sandboxes.sqlite.dbapi`: the exception tree of PEP 249, and the mapping
of apsw's errors to it.
"""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from envs.sandboxes.sqlite.guard import SqliteGuard

MISMATCH = (apsw.SQLITE_MISMATCH, "SQLITE_MISMATCH")
"""Code and name of a value that SQLite cannot store."""


class Error(Exception):
    """Root of PEP 249's exceptions, with the attributes of the standard library's sqlite3."""

    def __init__(
        self, message: str, code: int = apsw.SQLITE_ERROR, name: str = "SQLITE_ERROR"
    ) -> None:
        super().__init__(message, code, name)
        self.message = message
        self.sqlite_errorcode = code
        self.sqlite_errorname = name

    def __str__(self) -> str:
        return self.message


class InterfaceError(Error): ...


class DatabaseError(Error): ...


class DataError(DatabaseError): ...


class OperationalError(DatabaseError): ...


class IntegrityError(DatabaseError): ...


class InternalError(DatabaseError): ...


class ProgrammingError(DatabaseError): ...


class NotSupportedError(DatabaseError): ...


class RowLimitError(OperationalError):
    """A statement gave more rows than its call may fetch."""


_TREE: Mapping[int, type[Error]] = {
    apsw.SQLITE_CONSTRAINT: IntegrityError,
    apsw.SQLITE_MISMATCH: IntegrityError,
    apsw.SQLITE_TOOBIG: DataError,
    apsw.SQLITE_RANGE: InterfaceError,
    apsw.SQLITE_MISUSE: InterfaceError,
    apsw.SQLITE_INTERNAL: InternalError,
    apsw.SQLITE_NOTFOUND: InternalError,
    apsw.SQLITE_CORRUPT: DatabaseError,
    apsw.SQLITE_NOTADB: DatabaseError,
    apsw.SQLITE_AUTH: DatabaseError,
}
"""Primary result code -> class, as the standard library has it; every other code is an
OperationalError.
"""


def result_name(code: int) -> str:
    """The name of an extended result code, for example SQLITE_CONSTRAINT_UNIQUE."""
    named = apsw.mapping_extended_result_codes.get(code) or apsw.mapping_result_codes.get(
        code & 0xFF
    )
    return str(named or "SQLITE_ERROR")


def translate(error: BaseException, guard: SqliteGuard | None = None) -> Error | None:
    """The PEP 249 error for an error of apsw or of a binding; None where it is not an error of the
    database.
    """
    if isinstance(error, apsw.BindingsError | KeyError):
        return ProgrammingError(
            "the number of parameters does not match the statement"
            if isinstance(error, apsw.BindingsError)
            else f"no value for the parameter :{error.args[0]}"
        )
    if isinstance(error, apsw.Error):
        result: int = getattr(error, "result", apsw.SQLITE_ERROR)
        extended: int = getattr(error, "extendedresult", result)
        message = str(error)
        if result == apsw.SQLITE_AUTH and guard is not None and guard.reason is not None:
            message = f"not authorized: {guard.reason}"
        kind = _TREE.get(result, OperationalError)
        return kind(message, extended, result_name(extended))
    if isinstance(error, OverflowError):
        return DataError(
            "an integer is out of the range of 64 bits", apsw.SQLITE_RANGE, "SQLITE_RANGE"
        )
    if isinstance(error, ValueError) and "null character" in str(error):
        return ProgrammingError("a statement cannot hold a null character")
    if isinstance(error, UnicodeError):
        return DataError("a text is not valid Unicode", *MISMATCH)
    if isinstance(error, TypeError) and "inding" in str(error):
        return DataError("a parameter has a type that the database does not know", *MISMATCH)
    return None
