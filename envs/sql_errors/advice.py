"""What to do about an error, with the names that the schema really has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from envs.sql_errors.facts import Facts
from envs.sql_errors.names import is_missing_from, missing_column, missing_table, required_column, target
from envs.types import ErrorCategory, Table

_ADVICE: Mapping[ErrorCategory, str] = {
    ErrorCategory.SYNTAX_ERROR: "check the statement near the place that the message names",
    ErrorCategory.TYPE_MISMATCH: "give values of the types that the columns and functions take",
    ErrorCategory.JOIN_ERROR: "write table.column or alias.column wherever more than one table has the column",
    ErrorCategory.AGGREGATION_ERROR: "group by every selected column that is not aggregated; filter groups in HAVING",
    ErrorCategory.TIMEOUT: "ask for less at once: filter on indexed columns and limit the rows",
    ErrorCategory.DEADLOCK: "nothing was changed; try the same call again",
    ErrorCategory.UNIQUE_VIOLATION: "a row with these values exists already; change the values or update that row",
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
        near = nearest(column, [each.name for each in named.columns])
        head = f"no column `{column}` in `{named.name}`"
        return f"{head}; did you mean {', '.join(near)}?" if near else f"{head}; it has {_some(named)}"
    used = [each for each in tables.values() if _mentions(facts.statement, each.name)] or list(tables.values())
    if len(used) == 1:
        near = nearest(column, [each.name for each in used[0].columns])
        head = f"no column `{column}` in `{used[0].name}`"
        return f"{head}; did you mean {', '.join(near)}?" if near else f"{head}; it has {_some(used[0])}"
    near = nearest(column, sorted({each.name for table in used for each in table.columns}))
    owners = [f"{table.name}.{name}" for name in near for table in used if any(c.name == name for c in table.columns)]
    head = f"no column `{column}`"
    return (
        f"{head}; did you mean {', '.join(owners[:3])}?"
        if owners
        else f"{head} in {', '.join(t.name for t in used[:5])}"
    )


def _table_advice(facts: Facts, tables: Mapping[str, Table]) -> str | None:
    missing = missing_table(facts)
    if missing is None:
        column = missing_column(facts)
        if column is not None and column[0] is not None:
            return f"`{column[0]}` is no table or alias of this statement; name it in FROM or JOIN"
        return "look the table names up in the schema"
    if is_missing_from(facts):
        return f"`{missing}` is no table or alias of this statement; name it in FROM or JOIN"
    if not tables:
        return "look the table names up in the schema"
    if missing in tables:
        return f"write `{missing}` without a schema or database before it"
    near = nearest(missing, sorted(tables))
    head = f"no table `{missing}`"
    return f"{head}; did you mean {', '.join(near)}?" if near else f"{head}; there are {', '.join(sorted(tables)[:10])}"


def _reference_advice(facts: Facts, tables: Mapping[str, Table]) -> str:
    table = _table_called(target(facts.statement), "", tables)
    references = [
        f"{each.name} ({each.references[0]}.{each.references[1]})"
        for each in (table.columns if table else ())
        if each.references is not None
    ]
    if references and not re.match(r"\s*delete\b", facts.statement, re.IGNORECASE):
        return f"the row that it refers to must exist: check {', '.join(references)}"
    return "the row that it refers to must exist, and a row that others refer to cannot go before them"


def _table_called(name: str | None, statement: str, tables: Mapping[str, Table]) -> Table | None:
    """The table of that name, or the one that the statement gives that alias."""
    if name is None:
        return None
    folded = {each.lower(): table for each, table in tables.items()}
    if name.lower() in folded:
        return folded[name.lower()]
    for found in re.finditer(rf"(\w+)[\"`\]]?\s+(?:as\s+)?{re.escape(name)}\b", statement, re.IGNORECASE):
        if found[1].lower() in folded:
            return folded[found[1].lower()]
    return None


def _mentions(statement: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", statement, re.IGNORECASE) is not None


def _some(table: Table) -> str:
    return ", ".join(each.name for each in table.columns[:8])


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """Up to three of the names, the most similar first; a name that contains the other counts as similar."""
    wanted = name.lower()

    def score(candidate: str) -> float:
        other = candidate.lower()
        ratio = difflib.SequenceMatcher(None, wanted, other).ratio()
        contained = wanted in other.split("_") or wanted in other or (len(other) > 2 and other in wanted)
        return max(ratio, 0.7 + ratio / 10) if contained else ratio

    scored = sorted((-score(each), each) for each in candidates)
    return [each for value, each in scored[:3] if value <= -0.6]
