"""Facts about an error as data: which constraint, table and column, and the shape of the value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy.exc import StatementError

from envs.sql_errors.facts import Facts
from envs.sql_errors.names import missing_column, missing_table, required_column, target
from envs.types import ErrorCategory, Json

_VIOLATIONS = frozenset(
    {
        ErrorCategory.UNIQUE_VIOLATION,
        ErrorCategory.FK_VIOLATION,
        ErrorCategory.NOT_NULL_VIOLATION,
        ErrorCategory.CHECK_VIOLATION,
    }
)
_BROKEN = _VIOLATIONS | {ErrorCategory.TYPE_MISMATCH, ErrorCategory.LIMIT_EXCEEDED}

_CONSTRAINTS = (
    re.compile(r"CHECK constraint failed: (?P<constraint>.+)$"),
    re.compile(r"constraint failed: (?P<table>\w+)\.(?P<column>\w+)"),
    re.compile(
        r"`(?P<table>[^`]+)`, CONSTRAINT `(?P<constraint>[^`]+)` FOREIGN KEY \(`(?P<column>[^`]+)`"
    ),
    re.compile(r"CONSTRAINT `(?P<constraint>[^`]+)` failed for (?:`[^`]+`\.)?`(?P<table>[^`]+)`"),
    re.compile(r"Duplicate entry '.*' for key '(?:\w+\.)?(?P<constraint>[^']+)'$", re.DOTALL),
    re.compile(r"for column (?:`[^`]+`\.)?`(?P<table>[^`]+)`\.`(?P<column>[^`]+)`"),
    re.compile(r"for column '(?P<column>[^']+)'"),
)
"""How SQLite and MariaDB say what was broken; PostgreSQL sends it beside its words."""

_KEY = re.compile(r"\((?P<columns>[^()]+)\)=\(")
"""The columns of a key in PostgreSQL's details, in whatever language."""

_PLACEHOLDER = re.compile(
    r"(?:\b(?P<column>\w+)[\"`]?\s*=\s*)?"
    r"(?P<mark>\?|%s|\$\d+|%\((?P<name>\w+)\)s|(?<![:\w]):(?P<bare>\w+))"
)
_INSERT = re.compile(
    r"\binto\s+[\w\"`.]+\s*\((?P<columns>[^()]*)\)\s*"
    r"values\s*\((?P<values>[^()]*(?:\(\w+\)s[^()]*)*)\)",
    re.IGNORECASE,
)


def details_of(
    facts: Facts, category: ErrorCategory, error: BaseException
) -> dict[str, Json] | None:
    """The facts that are known of ``constraint``, ``table``, ``column`` and ``value``: the type
    and length of the value that broke the constraint, never the value. None where there is none.
    """
    found: dict[str, Json] = dict(_named(facts, category))
    column = found.get("column")
    if category in _BROKEN and isinstance(column, str):
        shape = _bound(error, facts, column)
        if shape is not None:
            found["value"] = shape
    return found or None


def _named(facts: Facts, category: ErrorCategory) -> Iterator[tuple[str, str]]:
    names: dict[str, str | None] = {}
    if category in _BROKEN:
        names = _of_violation(facts, category)
    elif category is ErrorCategory.COLUMN_NOT_FOUND and (missing := missing_column(facts)):
        names = {"column": missing[1], "table": missing[0]}
    elif category is ErrorCategory.TABLE_NOT_FOUND:
        names = {"table": missing_table(facts)}
    for name in ("constraint", "table", "column"):
        if (value := names.get(name)) is not None:
            yield name, value


def _of_violation(facts: Facts, category: ErrorCategory) -> dict[str, str | None]:
    sent = {name: value for name, value in facts.named.items() if value is not None}
    names: dict[str, str | None] = {**_by_words(facts), **sent}
    if category is ErrorCategory.NOT_NULL_VIOLATION and (column := required_column(facts)):
        names["column"] = column.rpartition(".")[2]
    if "column" not in names and (key := _KEY.search(facts.detail)):
        names["column"] = key["columns"]
    if "table" not in names and category in _VIOLATIONS:
        names["table"] = target(facts.statement)
    return names


def _by_words(facts: Facts) -> dict[str, str]:
    for pattern in _CONSTRAINTS:
        if found := pattern.search(facts.words):
            return {name: value for name, value in found.groupdict().items() if value}
    return {}


def _bound(error: BaseException, facts: Facts, column: str) -> dict[str, Json] | None:
    """The shape of the value that the statement binds to the column."""
    values: Any = error.params if isinstance(error, StatementError) else None
    if isinstance(values, Mapping):
        names = dict(_placeholders(facts.statement))
        name = names.get(column, column)
        return _shape_of(values[name]) if name in values else None
    if not isinstance(values, Sequence):
        return None
    places = [name for name, _ in _placeholders(facts.statement)]
    if column not in places or len(places) != len(cast("Sequence[object]", values)):
        return None
    return _shape_of(values[places.index(column)])


def _placeholders(statement: str) -> Iterator[tuple[str, str]]:
    """The column, if known, and the name, if any, of each placeholder of a statement."""
    inserted = _INSERT.search(statement)
    columns = re.findall(r"\w+", inserted["columns"]) if inserted else []
    begin, end = inserted.span("values") if inserted else (0, 0)
    for found in _PLACEHOLDER.finditer(statement):
        column = found["column"] or ""
        if begin <= found.start("mark") < end:
            place = statement.count(",", begin, found.start("mark"))
            column = columns[place] if place < len(columns) else ""
        yield column, found["name"] or found["bare"] or ""


def _shape_of(value: Any) -> dict[str, Json]:
    """The type of a value, and its length where it has one: ``{"type": "str", "length": 12}``."""
    shape: dict[str, Json] = {"type": "null" if value is None else type(value).__name__}
    if isinstance(value, str | bytes):
        shape["length"] = len(value)
    return shape
