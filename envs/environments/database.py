"""An environment over a live database: a tool call is one transaction on the rollout's sandbox."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

from sqlalchemy.exc import DBAPIError

from envs.environments.executable import ExecutableEnvironment, ExecutionContext
from envs.metrics import TRACE
from envs.plugins import resolve
from envs.sandboxes.base import Sandbox, Transaction
from envs.sandboxes.row_changes import changes_since
from envs.tools.sql import BUILTIN, TABLES
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import (
    ErrorCategory,
    Limits,
    RowChange,
    StateDiff,
    Table,
    ToolCall,
    ToolOutcome,
    ToolResult,
)

if TYPE_CHECKING:
    from envs.audit import Audit
    from envs.processes import Pool


class _InTransaction(ExecutionContext):
    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction
        self.resource = transaction.connection

    @property
    def changes(self) -> tuple[RowChange, ...]:
        return self.transaction.changes

    def rollback(self) -> None:
        self.transaction.rollback()


class DatabaseExecutableEnvironment(ExecutableEnvironment):
    """Executors get a live :class:`sqlalchemy.Connection` inside the call's transaction.

    The call commits as a whole or leaves nothing behind. An error of the database that an executor
    lets through becomes a structured result without SQL text, parameters or URLs.

    ``subprocess_pool`` are the processes that run tools of free SQL where the sandbox cannot
    interrupt every statement; they have this toolbox loaded. None: everything runs in place.
    """

    dialects: ClassVar[frozenset[str] | None] = None
    """The SQL of the engines that it runs on; None: any."""

    def __init__(
        self,
        toolbox: Toolbox,
        sandbox: Sandbox,
        tables: Mapping[str, Table],
        limits: Limits | None = None,
        subprocess_pool: Pool | None = None,
        audit: Audit | None = None,
    ) -> None:
        super().__init__(toolbox, audit)
        self._engine = sandbox.dialect
        self.sandbox = sandbox
        self.in_place = sandbox.in_place
        self.concurrent_reads = sandbox.concurrent_reads
        self._tables = tables
        self._environment = environment = limits or Limits()
        self.subprocess_pool = subprocess_pool
        self._free = (
            _free(toolbox)
            if subprocess_pool is not None and sandbox.out_of_process
            else frozenset[str]()
        )
        self._limits = _limits(toolbox, environment)
        self._start = StateDiff()

    def call(self, call: ToolCall) -> ToolOutcome:
        if self.subprocess_pool is not None and call.name in self._free:
            self.subprocess_pool.wait()  # no tool takes the time in which a process starts
        return super().call(call)

    def _execute(self, call: ToolCall) -> ToolOutcome:
        if self.subprocess_pool is None or call.name not in self._free:
            return super()._execute(call)
        outcome = self.sandbox.subprocess_call(self.subprocess_pool, call, self._environment)
        if outcome.arguments is None and not isinstance(
            parsed := self.toolbox.parse(call), ToolResult
        ):
            outcome = replace(outcome, arguments=parsed[1])  # of a call that was killed
        return outcome

    def beside(self, toolbox: Toolbox) -> Self:
        """The same sandbox with other tools; their calls are not among ``executions`` here."""
        sandbox, tables = self.sandbox, self._tables
        return type(self)(toolbox, sandbox, tables, self._environment, None, self.audit)

    @property
    def offered(self) -> Toolbox:
        """The toolbox as an agent is shown it: tools that take SQL say which SQL."""
        sandbox = self.sandbox
        usual = DIALECT_NAMES.get(sandbox.dialect, sandbox.dialect)
        return _with_dialect(self.toolbox, sandbox.sql_name or usual)

    @property
    def tools(self) -> Sequence[Tool]:
        return self.offered.tools

    def _names(self) -> Collection[str]:
        columns = (column.name for table in self._tables.values() for column in table.columns)
        return {name.lower() for name in (*self._tables, *columns)}

    def inline(self, tool: str) -> bool:
        return self.in_place and tool not in self._free

    @contextmanager
    def _build_execution_context(self, tool: Tool) -> Generator[ExecutionContext]:
        with self.sandbox.transaction(self._limits[tool.name]) as transaction:
            if (trace := TRACE.get()) is not None:
                trace.listen(transaction.connection.connection)
            if tool.name in BUILTIN:  # they name tables in what they tell
                transaction.connection.execution_options(**{TABLES: self._tables})
            yield _InTransaction(transaction)

    def _limits_of(self, tool: Tool) -> Limits:
        return self._limits[tool.name]

    def _error_result(self, error: Exception) -> ToolResult | None:
        if isinstance(error, MemoryError):
            return ToolResult.failure(
                "The call needs more memory than it may take.",
                category=ErrorCategory.LIMIT_EXCEEDED,
                error="OutOfMemory",
            )
        if isinstance(error, DBAPIError):
            to_result = resolve("envs.sql_errors.classify:to_result")
            return to_result(error, self.sandbox.dialect, self._tables)
        return None

    def start_diff(self) -> None:
        """Let the diff begin in the present state, by default the template's."""
        self._start = self.sandbox.diff()

    def diff(self) -> StateDiff:
        return changes_since(self._start, self.sandbox.diff())

    def state_hash(self) -> str:
        return self.sandbox.state_hash()

    def close(self) -> None:
        self.sandbox.close()


DIALECT_NAMES = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "mysql": "MariaDB",
    "duckdb": "DuckDB",
    "hive": "Hive",
    "mssql": "Microsoft SQL Server",
    "oracle": "Oracle",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "redshift": "Amazon Redshift",
    "databricks": "Databricks SQL",
    "trino": "Trino",
    "clickhouse": "ClickHouse",
    "clickhousedb": "ClickHouse",
    "cockroachdb": "CockroachDB",
}
"""The names of SQL dialects as a model knows them."""


@lru_cache(maxsize=64)
def _with_dialect(toolbox: Toolbox, name: str) -> Toolbox:
    """The toolbox whose tools of free SQL have the name of their SQL in their descriptions."""
    return Toolbox(
        replace(tool, description=f"{tool.description.rstrip()} The database is {name}.")
        if tool.free_sql and name.lower() not in tool.description.lower()
        else tool
        for tool in toolbox.tools
    )


@lru_cache(maxsize=64)
def _free(toolbox: Toolbox) -> frozenset[str]:
    return frozenset(tool.name for tool in toolbox.tools if tool.free_sql)


@lru_cache(maxsize=64)
def _limits(toolbox: Toolbox, environment: Limits) -> Mapping[str, Limits]:
    """Limits of a call by tool; the same for all rollouts."""
    return {tool.name: environment.tightened(tool.limits) for tool in toolbox.tools}
