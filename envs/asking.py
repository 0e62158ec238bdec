"""A query asked of a sandbox for its whole answer: read-only, under the guards, where free SQL runs, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from envs.database import DatabaseExecutableEnvironment
from envs.errors import ToolError
from envs.processes import Pool
from envs.sandboxes.base import Sandbox
from envs.sql_tools.running import execute, json_value
from envs.tool import Tool
from envs.toolbox import Toolbox
from envs.types import ErrorCategory, Json, Limits, Table, ToolCall, ToolResult

ANSWER_LIMITS = Limits(True, 30_000, 100_000, 64_000_000)
"""What an answer that is to be compared may take: more rows and bytes than a tool would show."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query in their order, as the SQL tools show them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]


def ask(
    sandbox: Sandbox,
    tables: Mapping[str, Table],
    sql: str,
    limits: Limits = ANSWER_LIMITS,
    apart: Pool | None = None,
) -> Answer | ToolResult:
    """The answer to one query, executed as it stands; a failed result, with its category, where it has none.

    It goes the way of any tool call, so that what guards a tool guards this: with ``apart``, the processes of the
    sandbox's world, a query that nothing breaks off is killed, and has failed.
    """
    environment = DatabaseExecutableEnvironment(ASKING, sandbox, tables, limits, apart)
    try:
        result = environment.call(ToolCall.of(_TOOL.name, {"sql": sql})).result
    except UnicodeEncodeError:
        return ToolResult.failure("The query is not valid Unicode.", category=ErrorCategory.SYNTAX_ERROR)
    if not result.ok:
        return result
    return Answer(tuple(result.output["columns"]), tuple(tuple(row) for row in result.output["rows"]))


def _answer(arguments: dict[str, Json], db: Connection) -> ToolResult:
    result = execute(db, arguments["sql"])
    if not result.returns_rows:
        raise ToolError("The statement is no query: it gives no rows.", category=ErrorCategory.SYNTAX_ERROR)
    columns = list(result.keys())
    return ToolResult({"columns": columns, "rows": [[json_value(each) for each in row] for row in result]})


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
"""What has to be loaded where queries are asked, beside a world's own tools; none of those may have its tool's name."""
