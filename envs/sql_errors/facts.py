"""What a driver's error says, whichever driver it is, wrapped by SQLAlchemy or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import StatementError

from envs.sql_errors.codes import MYSQL_CODES

_LITERALS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a driver's error says: class name, SQLSTATE or SQLite's result name, MySQL's number, words, and the SQL."""

    kind: str
    state: str | None
    number: int | None
    words: str
    statement: str


def family_of(dialect: str) -> str:
    name = dialect.partition("+")[0].lower()
    return {"postgres": "postgresql", "mariadb": "mysql"}.get(name, name)


def read_facts(error: BaseException, dialect: str) -> Facts:
    orig: Any = error
    statement = ""
    if isinstance(error, StatementError):
        orig = error.orig or error
        statement = _LITERALS.sub("''", error.statement or "")
    args = getattr(orig, "args", ())
    number: int | None = None
    state: str | None = None
    words = str(orig)
    match family_of(dialect):
        case "sqlite":
            state = getattr(orig, "sqlite_errorname", None)
        case "postgresql":
            state = getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None)
            words = getattr(getattr(orig, "diag", None), "message_primary", None) or words
        case "mysql":
            if args and isinstance(args[0], int):
                number = int(args[0])
                state = MYSQL_CODES[number][1] if number in MYSQL_CODES else "HY000"
                words = str(args[1]) if len(args) > 1 else ""
        case _:
            pass
    return Facts(type(error).__name__, state, number, words, statement)


_COLUMN_WORDS = (
    re.compile(r"table (?P<table>\S+) has no column named (?P<column>\S+)"),
    re.compile(r"no such column: (?P<column>.+?)(?: - should this be.*)?$"),
    re.compile(r'column "?(?P<column>[^"]+?)"? of relation "(?P<table>[^"]+)" does not exist'),
    re.compile(r'column "?(?P<column>[^"]+?)"? does not exist'),
    re.compile(r"Unknown column '(?P<column>[^']+)'"),
)
_TABLE_WORDS = (
    re.compile(r"no such (?:table|view): (?P<table>\S+)"),
    re.compile(r'(?:relation|table) "(?P<table>[^"]+)" does not exist'),
    re.compile(r'FROM-clause entry for table "(?P<table>[^"]+)"'),
    re.compile(r"Table '(?P<table>[^']+)' doesn't exist"),
    re.compile(r"Unknown table '(?P<table>[^']+)'"),
)


def missing_column(words: str) -> tuple[str | None, str] | None:
    """(table or alias, column) that the words say is unknown."""
    for pattern in _COLUMN_WORDS:
        if found := pattern.search(words):
            qualifier, _, column = found["column"].strip('"`').rpartition(".")
            table = found.groupdict().get("table") or qualifier.rpartition(".")[2]
            return table.strip('"`') or None, column.strip('"`')
    return None


def missing_table(words: str) -> str | None:
    for pattern in _TABLE_WORDS:
        if found := pattern.search(words):
            return found["table"].rpartition(".")[2].strip("\"'`")
    return None
