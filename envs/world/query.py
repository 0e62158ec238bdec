"""A query asked of a sandbox for its whole answer: read-only, guarded, where free SQL runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ToolError
from envs.sandboxes.base import Sandbox
from envs.tools.sql.statements import execute, json_value
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ANSWER_LIMITS, ErrorCategory, Limits, Table, ToolCall, ToolResult

if TYPE_CHECKING:
    from envs.processes import Pool


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query in their order, as the SQL tools show them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def ask(
    sandbox: Sandbox,
    tables: Mapping[str, Table],
    sql: str,
    limits: Limits = ANSWER_LIMITS,
    subprocess_pool: Pool | None = None,
) -> QueryResult | ToolResult:
    """The answer to one query, executed as it stands; a failed result, with its category, where it
    has none.

    It runs like any tool call, under the same guards: with ``subprocess_pool``, the processes of
    the sandbox's world, a query that nothing else interrupts is killed, and has failed.
    """
    environment = DatabaseExecutableEnvironment(ASKING, sandbox, tables, limits, subprocess_pool)
    try:
        result = environment.call(ToolCall.of(_TOOL.name, {"sql": sql})).result
    except UnicodeEncodeError:
        return ToolResult.failure(
            "The query is not valid Unicode.", category=ErrorCategory.SYNTAX_ERROR
        )
    if not result.ok:
        return result
    return QueryResult(
        tuple(result.output["columns"]), tuple(tuple(row) for row in result.output["rows"])
    )


def _answer(arguments: dict[str, str], db: Connection) -> ToolResult:
    result = execute(db, arguments["sql"])
    if not result.returns_rows:
        raise ToolError(
            "The statement must be a query that returns rows.", category=ErrorCategory.SYNTAX_ERROR
        )
    columns = list(result.keys())
    return ToolResult(
        {"columns": columns, "rows": [[json_value(item) for item in row] for row in result]}
    )


_TOOL = Tool(
    name="answer-of-a-query",
    description="Answer a query with all of its rows.",
    parameters={
        "type": "object",
        "properties": {"sql": {"type": "string", "description": "One query."}},
        "required": ["sql"],
        "additionalProperties": False,
    },
    executor=_answer,
    read_only=True,
    free_sql=True,
)
ASKING = Toolbox([_TOOL])
"""To be loaded where queries are asked, beside a world's own tools, none of its tool's name."""
