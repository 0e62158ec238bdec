"""The value types of `envs`: frozen, picklable, plain data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from envs.json_text import compact, lenient

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""

ErrorStyle = Literal["plain", "structured", "advice"]
"""How much of an error a model is shown."""


class ErrorCategory(StrEnum):
    """Category of a failed tool call, in words that a model and a histogram can use."""

    COLUMN_NOT_FOUND = "column_not_found"
    TABLE_NOT_FOUND = "table_not_found"
    SYNTAX_ERROR = "syntax_error"
    TYPE_MISMATCH = "type_mismatch"
    JOIN_ERROR = "join_error"
    AGGREGATION_ERROR = "aggregation_error"
    TIMEOUT = "timeout"
    DEADLOCK = "deadlock"
    PERMISSION_DENIED = "permission_denied"
    CONNECTION_ERROR = "connection_error"
    UNIQUE_VIOLATION = "unique_violation"
    FK_VIOLATION = "fk_violation"
    NOT_NULL_VIOLATION = "not_null_violation"
    CHECK_VIOLATION = "check_violation"
    LIMIT_EXCEEDED = "limit_exceeded"
    MALFORMED_CALL = "malformed_call"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as the model emitted it: ``arguments`` is untouched, and may not be JSON."""

    id: str
    name: str
    arguments: str

    @classmethod
    def of(cls, name: str, arguments: Mapping[str, Json], call_id: str = "call_0") -> ToolCall:
        return cls(call_id, name, lenient(arguments))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Return value of an executor.

    ``output`` is a JSON value. ``updated_state`` exists only to be refused: a database world keeps
    its state in the database, so an executor that fills it in has a bug
    (:class:`~envs.errors.ExecutorError`).

    ``error_details`` are facts about an error as data: constraint, table, column and the shape of
    the value that broke it, or a critic's verdict. They hold no value of a row.
    """

    output: Json = None
    status: Literal["ok", "error"] = "ok"
    error: str | None = None
    category: str | None = None
    message: str | None = None
    sql_state: str | None = None
    advice: str | None = None
    updated_state: Json = None
    error_details: Mapping[str, Json] | None = None

    @classmethod
    def failure(
        cls,
        message: str,
        *,
        category: str,
        error: str = "ToolError",
        sql_state: str | None = None,
        advice: str | None = None,
        error_details: Mapping[str, Json] | None = None,
    ) -> ToolResult:
        """Make an error result: one sentence for the model, a category for the statistics."""
        return cls(
            status="error",
            error=error,
            category=str(category),
            message=message,
            sql_state=sql_state,
            advice=advice,
            error_details=error_details,
        )

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def payload(self, style: ErrorStyle = "advice") -> Json:
        """The JSON value that stands for this result: the output, or the error with its filled
        fields.

        ``plain`` is the error's sentence alone, ``structured`` adds names and codes, ``advice``
        adds what to try, and the details.
        """
        if self.ok:
            return self.output
        if style == "plain":
            return f"Error: {self.message}"
        named = {
            "error": self.error,
            "category": self.category,
            "message": self.message,
            "sql_state": self.sql_state,
            "advice": self.advice if style == "advice" else None,
            "error_details": self.error_details if style == "advice" else None,
        }
        return {
            "status": "error",
            **{key: value for key, value in named.items() if value is not None},
        }

    def content(self, style: ErrorStyle = "advice") -> str:
        """The text of the tool message: a string as it is, everything else as compact JSON, a
        blank string too, because no endpoint takes a message without text.

        Raises TypeError or ValueError for an output that is not JSON.
        """
        payload = self.payload(style)
        if isinstance(payload, str) and payload.strip():
            return payload
        return compact(payload)


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row's net change: ``before`` and ``after`` hold whole rows for delete and insert, for an
    update only the columns that differ. ``key`` holds the primary key's columns (``{"rowid": n}``
    without one). Values are JSON: bytes as ``{"$bytes": base64}``, NaN and infinities as
    ``{"$float": name}``, integers past 64 bits and decimals as strings. Generated columns are left
    out: they follow from the others.
    """

    table: str
    op: Literal["insert", "update", "delete"]
    key: Mapping[str, Json]
    before: Mapping[str, Json] | None = None
    after: Mapping[str, Json] | None = None

    def to_json(self) -> dict[str, Json]:
        out: dict[str, Json] = {"table": self.table, "op": self.op, "key": dict(self.key)}
        if self.before is not None:
            out["before"] = dict(self.before)
        if self.after is not None:
            out["after"] = dict(self.after)
        return out

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> RowChange:
        return cls(raw["table"], raw["op"], raw["key"], raw.get("before"), raw.get("after"))


@dataclass(frozen=True, slots=True)
class StateDiff:
    """Net row changes against the template, by table, key and operation; nothing undone."""

    changes: tuple[RowChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    def to_json(self) -> list[dict[str, Json]]:
        return [change.to_json() for change in self.changes]

    @classmethod
    def from_json(cls, raw: list[dict[str, Json]]) -> StateDiff:
        return cls(tuple(RowChange.from_json(change) for change in raw))


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """One executed call: result, text shown to the model, and committed changes of rows."""

    call: ToolCall
    result: ToolResult
    content: str
    arguments: Mapping[str, Json] | None = None  # as parsed; None where they could not be
    changes: tuple[RowChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the live database describes it; ``references`` is the (table, column) that a
    foreign key, of this column or of several, looks its value up in, ``about`` what its author says
    that it holds.
    """

    name: str
    type: str
    nullable: bool = True
    primary_key: bool = False
    references: tuple[str, str] | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """``schema`` is set for a table outside of the default schema; its name begins with it."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    schema: str | None = None

    def written(self, quote: Callable[[str], str]) -> str:
        """The table as a statement names it, quoted, with its schema where it needs one."""
        if self.schema is None:
            return quote(self.name)
        return f"{quote(self.schema)}.{quote(self.name.removeprefix(f'{self.schema}.'))}"

    def column(self, name: str) -> Column:
        """The column of that name; KeyError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one tool call; None means no limit of that kind."""

    read_only: bool = False
    statement_timeout_ms: int | None = 30_000
    max_rows: int | None = 10_000
    max_result_bytes: int | None = 1_000_000

    def __post_init__(self) -> None:
        for name in ("statement_timeout_ms", "max_rows", "max_result_bytes"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be positive, not {value}")

    def tightened(self, other: Limits) -> Limits:
        """Both limits at once: a tool can only tighten what its environment allows."""

        def least(left: int | None, right: int | None) -> int | None:
            return right if left is None else left if right is None else min(left, right)

        return Limits(
            read_only=self.read_only or other.read_only,
            statement_timeout_ms=least(self.statement_timeout_ms, other.statement_timeout_ms),
            max_rows=least(self.max_rows, other.max_rows),
            max_result_bytes=least(self.max_result_bytes, other.max_result_bytes),
        )


ANSWER_LIMITS = Limits(True, 30_000, 100_000, 64_000_000)
"""What an answer that is to be compared may take: more rows and bytes than a tool would show."""


@dataclass(frozen=True, slots=True)
class Pins:
    """A sandbox's clock and randomness: ``now`` is ISO 8601 without offset, taken as UTC."""

    now: str = "2026-01-01T09:00:00"
    seed: int = 0

    @property
    def moment(self) -> dt.datetime:
        """``now`` as a datetime in UTC, without offset. ValueError for what is not ISO 8601."""
        moment = dt.datetime.fromisoformat(self.now)
        return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)
