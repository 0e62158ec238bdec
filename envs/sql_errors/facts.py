"""Facts of a driver's error, for every driver and language, wrapped by SQLAlchemy or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy.exc import StatementError

from envs.sql_errors.codes import MYSQL_CODES, SQLITE_CONSTRAINTS, SQLITE_PRIMARY
from envs.types import ErrorCategory

_LITERALS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_KINDS = (
    "IntegrityError",
    "DataError",
    "OperationalError",
    "ProgrammingError",
    "InternalError",
    "NotSupportedError",
    "InterfaceError",
    "DatabaseError",
)
"""PEP 249's classes, the narrow ones first: what a driver derives from them is its own business."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a driver's error.

    ``kind`` is PEP 249's name of its class, ``state`` the SQLSTATE or SQLite's result name,
    ``number`` MySQL's, ``routine`` the function of PostgreSQL that raised it (the same in every
    language of the messages), ``column`` the column that PostgreSQL names apart; ``statement`` the
    SQL without its literals, where SQLAlchemy kept it. ``connecting``: the error arose before there
    was any statement.
    """

    kind: str
    state: str | None
    number: int | None
    words: str
    statement: str
    routine: str = ""
    column: str | None = None
    connecting: bool = False
    named: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """What PostgreSQL names apart from its words: ``constraint``, ``table``, ``column``."""
    detail: str = ""
    category: ErrorCategory | None = None
    """The category of an error that a sandbox raised in the driver's place."""


def family_of(dialect: str) -> str:
    name = dialect.partition("+")[0].lower()
    return {"postgres": "postgresql", "mariadb": "mysql"}.get(name, name)


def read_facts(error: BaseException, dialect: str) -> Facts:
    orig = error.orig if isinstance(error, StatementError) else error
    category = getattr(orig, "category", None)
    if isinstance(category, ErrorCategory):
        return Facts(_kind(error), None, None, str(orig), "", category=category)
    return _facts_of_driver(error, dialect)


def _facts_of_driver(error: BaseException, dialect: str) -> Facts:
    orig: Any = error
    statement = ""
    connecting = False
    if isinstance(error, StatementError):
        orig = error.orig or error
        statement = _LITERALS.sub("''", error.statement or "")
        connecting = error.statement is None
    if type(orig).__module__.startswith("sqlalchemy.") and orig.__cause__ is not None:
        orig = orig.__cause__  # asyncpg, behind SQLAlchemy's own PEP 249 face
    kind = _kind(error)
    match family_of(dialect):
        case "sqlite":
            code = getattr(orig, "extendedresult", None)  # apsw
            state = getattr(orig, "sqlite_errorname", None) or (
                _sqlite_name(code) if isinstance(code, int) else None
            )
            return Facts(kind, state, None, str(orig), statement, connecting=connecting)
        case "postgresql":
            fields = _postgres_fields(orig)
            state = fields.get("C") or None
            words = fields.get("M") or str(orig)
            routine = fields.get("R") or ""
            named = {"constraint": "n", "table": "t", "column": "c"}
            return Facts(
                kind,
                state,
                None,
                words,
                statement,
                routine,
                fields.get("c"),
                connecting,
                {name: fields.get(letter) for name, letter in named.items()},
                fields.get("D") or "",
            )
        case "mysql":
            number, words = _mysql_number(orig)
            if number is None:
                return Facts(kind, None, None, words, statement, connecting=connecting)
            state = getattr(orig, "sqlstate", None) or (
                MYSQL_CODES[number][1] if number in MYSQL_CODES else "HY000"
            )
            return Facts(
                kind, state, number, _mysql_words(words, number), statement, connecting=connecting
            )
        case _:
            return Facts(kind, None, None, str(orig), statement, connecting=connecting)


def _sqlite_name(code: int) -> str | None:
    primary, extended = code & 0xFF, code >> 8
    if primary == SQLITE_PRIMARY.index("CONSTRAINT") and 0 < extended < len(SQLITE_CONSTRAINTS):
        return f"SQLITE_CONSTRAINT_{SQLITE_CONSTRAINTS[extended]}"
    return f"SQLITE_{SQLITE_PRIMARY[primary]}" if primary < len(SQLITE_PRIMARY) else None


def _kind(error: BaseException) -> str:
    names = [item.__name__ for item in type(error).__mro__]
    return next((name for name in names if name in _KINDS), names[0])


def _postgres_fields(orig: Any) -> Mapping[str, str | None]:
    """The fields of PostgreSQL's error report by their letters in its protocol: C, M, R, D for
    the detail, and n, t, c for constraint, table and column.
    """
    args = getattr(orig, "args", ())
    if args and isinstance(args[0], dict):
        return cast("dict[str, str | None]", args[0])  # pg8000 hands the report over as it came
    diag = getattr(orig, "diag", None)
    return {
        "C": getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None),
        "M": getattr(diag, "message_primary", None) or getattr(orig, "message", None),
        "R": getattr(diag, "source_function", None)
        or getattr(orig, "server_source_function", None),
        "D": getattr(diag, "message_detail", None) or getattr(orig, "detail", None),
        "n": getattr(diag, "constraint_name", None) or getattr(orig, "constraint_name", None),
        "t": getattr(diag, "table_name", None) or getattr(orig, "table_name", None),
        "c": getattr(diag, "column_name", None) or getattr(orig, "column_name", None),
    }


def _mysql_number(orig: Any) -> tuple[int | None, str]:
    args = getattr(orig, "args", ())
    if args and isinstance(args[0], int):
        return int(args[0]), str(getattr(orig, "msg", None) or (args[1] if len(args) > 1 else ""))
    number = getattr(orig, "errno", None)
    return (number if isinstance(number, int) else None), str(orig)


def _mysql_words(words: str, number: int) -> str:
    """The words without the database's name, and the statement that a syntax error quotes."""
    words = re.sub(r"'[\w$-]+\.([\w$-]+\.[\w$-]+)'", r"'\1'", words)
    if number in {1051, 1146, 1347, 1356, 1359, 1360, 4091, 4092}:
        words = re.sub(r"(?<=[',`])[\w$-]+\.(?=[^',`.]+[',`])", "", words)
    if number == 1064 and "to use near '" not in words:  # in another language than English
        near = re.search(r"'(?P<token>[^\s']*).*'\D*(?P<line>\d+)?\D*$", words, re.DOTALL)
        head = re.split(r"[.;:。'\n]", words)[0].strip()
        words = f"{head}: '{near['token']}', {near['line'] or 1}" if near else head
    return words
