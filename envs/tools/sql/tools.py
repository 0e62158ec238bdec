"""The tools themselves: what they are called, what the model is told of them, what they give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, cast

import sqlalchemy
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from envs.sql_errors.classify import to_result
from envs.tools.sql.catalog import Catalog
from envs.tools.sql.findings import Finding
from envs.tools.sql.statements import all_rows, execute, first_rows
from envs.tools.tool import Tool, tool
from envs.types import ErrorCategory, Limits, ToolResult

Critic = Callable[[str, Connection, bool], list[Finding]]
"""(statement, connection, whether the tool only reads) -> findings."""


@tool(read_only=True)
def list_tables(db: Connection) -> dict[str, object]:
    """List the tables and views of the database."""
    catalog = Catalog(db)
    return {"tables": sorted(catalog.tables), "views": catalog.views}


@tool(read_only=True)
def describe_table(db: Connection, table: str) -> object:  # noqa: D417 - without db
    """Describe a table or view: its columns, their types, and the keys that tie it to other tables.

    Args:
        table: The name of the table or view.
    """
    catalog = Catalog(db)
    name = catalog.find(table)
    if isinstance(name, ToolResult):
        return name
    if name not in catalog.tables:
        return {"view": name, "columns": [{"name": item} for item in catalog.columns(name)]}
    known = catalog.tables[name]
    columns: list[dict[str, object]] = []
    for item in known.columns:
        column: dict[str, object] = {
            "name": item.name,
            "type": item.type,
            "nullable": item.nullable,
        }
        if item.references is not None:
            column["references"] = ".".join(item.references)
        if item.about:
            column["about"] = item.about
        columns.append(column)
    return {"table": name, "columns": columns, "primary_key": list(known.primary_key)}


@tool(read_only=True)
def sample_rows(  # noqa: D417
    db: Connection, table: str, limit: Annotated[int, {"minimum": 1, "maximum": 20}] = 5
) -> object:
    """Show a few rows of a table or view, the first by primary key where it has one.

    Args:
        table: The name of the table or view.
        limit: How many rows to show; 5 unless given.
    """
    catalog = Catalog(db)
    name = catalog.find(table)
    if isinstance(name, ToolResult):
        return name
    key = catalog.tables[name].primary_key if name in catalog.tables else ()
    query = catalog.rows_of(name).order_by(*map(sqlalchemy.column, key)).limit(limit)
    return {"table": name, **first_rows(db.execute(query), limit).to_json()}


@dataclass(frozen=True, slots=True)
class SqlRunner:
    """Common part of the three tools that take SQL."""

    max_rows: int
    critic: Critic | None = None
    block: frozenset[str] = frozenset()
    """Kinds of findings for which a statement is not executed."""

    def select(self, db: Connection, sql: str) -> object:
        result = execute(db, sql)
        if not result.returns_rows:
            return _no_rows()
        rows = first_rows(result, self.max_rows)
        return {**rows.to_json(), "row_count": rows.count, "truncated": rows.more}

    def mutate(self, db: Connection, sql: str) -> object:
        """run_mutation_query. Rows are read to the end: SQLite checks some constraints there."""
        result = execute(db, sql)
        if not result.returns_rows:
            return {"row_count": max(result.rowcount, 0)}
        rows = all_rows(result, self.max_rows)
        return {"row_count": rows.count, **rows.to_json(), "truncated": rows.more}

    def submit(self, db: Connection, sql: str) -> object:
        result = execute(db, sql)
        if not result.returns_rows:
            return _no_rows()
        rows = all_rows(result, self.max_rows)
        return {
            **rows.to_json(),
            "row_count": rows.count,
            "truncated": rows.more,
            "digest": rows.digest,
        }

    def _blocked(self, findings: Sequence[Finding]) -> ToolResult:
        """The refusal of a statement: its words are the critic's, as the database saw nothing."""
        blocked = [finding for finding in findings if finding.kind in self.block]
        verdicts = [
            {
                "kind": finding.kind,
                "verdict": "block" if finding in blocked else "advise",
                "reason": finding.reason,
            }
            for finding in findings
        ]
        return ToolResult.failure(
            f"not executed: {'; '.join(finding.reason for finding in blocked)}",
            category=blocked[0].category,
            error="BlockedByCritic",
            advice="; ".join(finding.reason for finding in findings if finding not in blocked)
            or "mend the statement and call the tool again",
            error_details={"verdict": "block", "findings": verdicts},
        )

    def tool(self, name: str, limits: Limits) -> Tool:
        description, parameter, work = _TAKING_SQL[name]
        reading = limits.read_only

        def run(arguments: dict[str, str], db: Connection) -> ToolResult:
            sql = arguments["sql"]
            findings = self.critic(sql, db, reading) if self.critic is not None else []
            if "refused_by_engine" in self.block:
                findings += _refused_by_engine(db, sql)
            if any(finding.kind in self.block for finding in findings):
                return self._blocked(findings)
            notes = [finding.reason for finding in findings]
            try:
                output = work(self, db, sql)
            except DBAPIError as error:
                if not notes:
                    raise
                tables = Catalog(db).tables
                failed = to_result(error, db.dialect.name, tables)
                return replace(failed, advice="; ".join(_advice(failed.advice, notes)))
            if isinstance(output, ToolResult):
                return output
            return ToolResult(
                {**cast("Mapping[str, object]", output), "notes": notes} if notes else output
            )

        parameters = {
            "type": "object",
            "properties": {"sql": {"type": "string", "description": parameter}},
            "required": ["sql"],
            "additionalProperties": False,
        }
        return Tool(
            name,
            description,
            parameters,
            run,
            read_only=reading,
            risk=None if reading else "destructive",
            free_sql=True,
            limits=limits,
        )


_TAKING_SQL: Mapping[str, tuple[str, str, Callable[[SqlRunner, Connection, str], object]]] = {
    "run_select_query": (
        (
            "Run one SQL query that reads, and see its first rows; `truncated` says whether there"
            " are more."
        ),
        "The query, one statement.",
        SqlRunner.select,
    ),
    "run_mutation_query": (
        (
            "Run one SQL statement that inserts, updates or deletes rows; `row_count` says how"
            " many. RETURNING shows them."
        ),
        "The statement, one only.",
        SqlRunner.mutate,
    ),
    "submit_sql": (
        "Hand in one SQL query as the answer: what it gives is compared with what was asked for.",
        "The query, one statement that reads.",
        SqlRunner.submit,
    ),
}

NO_SQL: Mapping[str, Tool] = {
    item.name: item for item in (list_tables, describe_table, sample_rows)
}


_UNPLANNED = re.compile(r"[\s(;]*(?:SHOW|EXPLAIN|CALL|DESCRIBE|DESC)\b", re.IGNORECASE)
"""Statements that a tool may execute and that no engine explains."""


def _refused_by_engine(db: Connection, sql: str) -> list[Finding]:
    """What the engine says against a statement when it parses and plans it by EXPLAIN."""
    if db.dialect.name not in {"sqlite", "postgresql", "mysql"} or _UNPLANNED.match(sql):
        return []
    try:
        execute(db, f"EXPLAIN {sql}").close()
    except DBAPIError as error:
        failed = to_result(error, db.dialect.name, Catalog(db).tables)
        said = [failed.message or "the engine cannot plan it", failed.advice or ""]
        category = ErrorCategory(failed.category or ErrorCategory.UNKNOWN)
        return [Finding("refused_by_engine", "; ".join(filter(None, said)), category)]
    return []


def _no_rows() -> ToolResult:
    return ToolResult.failure(
        "The statement must be a query that returns rows.",
        category=ErrorCategory.SYNTAX_ERROR,
        advice="write one statement that begins with SELECT, WITH or VALUES",
    )


def _advice(advice: str | None, notes: list[str]) -> list[str]:
    """The notes, after the advice on the error unless a note names the same: it knows more."""
    if advice is None or any("`" in note and f"`{note.split('`')[1]}`" in advice for note in notes):
        return notes
    return [advice, *notes]
