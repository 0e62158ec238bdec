"""Advice on an error, with the names that the schema really has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from envs.sql_errors.facts import Facts
from envs.sql_errors.names import (
    is_missing_from,
    missing_column,
    missing_table,
    required_column,
    target,
)
from envs.sql_errors.nearest import nearest
from envs.types import ErrorCategory, Table

_ADVICE: Mapping[ErrorCategory, str] = {
    ErrorCategory.SYNTAX_ERROR: "check the statement near the place that the message names",
    ErrorCategory.TYPE_MISMATCH: "give values of the types that the columns and functions take",
    ErrorCategory.JOIN_ERROR: (
        "write table.column or alias.column wherever more than one table has the column"
    ),
    ErrorCategory.AGGREGATION_ERROR: (
        "group by every selected column that is not aggregated; filter groups in HAVING"
    ),
    ErrorCategory.TIMEOUT: "ask for less at once: filter on indexed columns and limit the rows",
    ErrorCategory.DEADLOCK: "nothing was changed; try the same call again",
    ErrorCategory.UNIQUE_VIOLATION: (
        "a row with these values exists already; change the values or update that row"
    ),
    ErrorCategory.CHECK_VIOLATION: "give a value that the constraint allows",
    ErrorCategory.LIMIT_EXCEEDED: "ask for less: filter, aggregate or limit the rows",
}


def advice_for(facts: Facts, category: ErrorCategory, tables: Mapping[str, Table]) -> str | None:
    match category:
        case ErrorCategory.COLUMN_NOT_FOUND:
            return _column_advice(facts, tables)
        case ErrorCategory.TABLE_NOT_FOUND:
            return _table_advice(facts, tables)
        case ErrorCategory.FK_VIOLATION:
            return _reference_advice(facts, tables)
        case ErrorCategory.NOT_NULL_VIOLATION:
            return f"give a value for {required_column(facts) or 'every required column'}"
        case ErrorCategory.PERMISSION_DENIED:
            return "use another tool or statement: this one is not allowed here"
        case _:
            return _ADVICE.get(category)


def _column_advice(facts: Facts, tables: Mapping[str, Table]) -> str | None:
    missing = missing_column(facts)
    if missing is None or not tables:
        return "look the column names up in the schema"
    qualifier, column = missing
    named = _table_called(qualifier, facts.statement, tables) if qualifier else None
    if named is not None:
        return no_column(column, [_columns(named)])
    used = [
        table
        for table in tables.values()
        if re.search(rf"\b{re.escape(table.name)}\b", facts.statement, re.IGNORECASE)
    ]
    return no_column(column, list(map(_columns, used or tables.values())))


def no_column(column: str, sources: Sequence[tuple[str, Sequence[str]]]) -> str:
    """On a column that none of the sources has, by their names (empty: a subquery) and columns."""
    head = f"no column `{column}`"
    if len(sources) == 1:
        ((name, columns),) = sources
        near = nearest(column, columns)
        head = f"{head} in {f'`{name}`' if name else 'the subquery'}"
        known = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(columns[:8])}"
        return f"{head}; {known}"
    near = nearest(column, sorted({item for _, columns in sources for item in columns}))
    owners = [
        f"{name}.{item}".lstrip(".")
        for item in near
        for name, columns in sources
        if item in columns
    ]
    if owners:
        return f"{head}; did you mean {', '.join(owners[:3])}?"
    return f"{head} in {', '.join(name for name, _ in sources[:5] if name)}"


def no_table(table: str, names: Iterable[str], others: Iterable[str] = ()) -> str:
    """On a table that is not there; ``others`` are names that only this statement knows."""
    near = nearest(table, sorted({*names, *others}))
    there = ", ".join(sorted(names)[:10])
    known = f"did you mean {', '.join(near)}?" if near else f"there are {there}"
    return f"no table `{table}`; {known}"


def _table_advice(facts: Facts, tables: Mapping[str, Table]) -> str | None:
    missing = missing_table(facts)
    if missing is None:
        column = missing_column(facts)
        if column is not None and column[0] is not None:
            return f"unknown table or alias `{column[0]}`; name it in FROM or JOIN"
        return "look the table names up in the schema"
    if is_missing_from(facts):
        return f"unknown table or alias `{missing}`; name it in FROM or JOIN"
    if not tables:
        return "look the table names up in the schema"
    if missing in tables:
        return f"write `{missing}` without a schema or database before it"
    return no_table(missing, tables)


def _reference_advice(facts: Facts, tables: Mapping[str, Table]) -> str:
    table = _table_called(target(facts.statement), "", tables)
    references = [
        f"{column.name} ({column.references[0]}.{column.references[1]})"
        for column in (table.columns if table else ())
        if column.references is not None
    ]
    if references and not re.match(r"\s*delete\b", facts.statement, re.IGNORECASE):
        return f"the row that it refers to must exist: check {', '.join(references)}"
    return (
        "the row that it refers to must exist, and a row that others refer to cannot go before them"
    )


def _table_called(name: str | None, statement: str, tables: Mapping[str, Table]) -> Table | None:
    """The table of that name, or the one that the statement gives that alias."""
    if name is None:
        return None
    folded = {name.lower(): table for name, table in tables.items()}
    if name.lower() in folded:
        return folded[name.lower()]
    for found in re.finditer(
        rf"(\w+)[\"`\]]?\s+(?:as\s+)?{re.escape(name)}\b", statement, re.IGNORECASE
    ):
        if found[1].lower() in folded:
            return folded[found[1].lower()]
    return None


def _columns(table: Table) -> tuple[str, Sequence[str]]:
    return table.name, [column.name for column in table.columns]
