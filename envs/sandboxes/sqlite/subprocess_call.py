"""A tool call on a SQLite sandbox in another process: the question, the reply, and the end of a
process that takes too long.

The other process holds no lasting state. It receives the template once, the sandbox's own pages
where it does not hold them from the call before, and the call; it returns the outcome, the pages
that the call wrote and the rows that it changed. So a process that is killed loses its present
call, and nothing else.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw
from sqlalchemy.exc import DBAPIError

from envs.audit import AuditedStatement
from envs.processes import Child, ChildLost, Pool
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.change_recorder import Ends
from envs.sandboxes.sqlite.pages import Base
from envs.sandboxes.sqlite.schema import SqliteTable
from envs.sql_errors import to_result
from envs.types import Limits, Pins, Table, ToolCall, ToolOutcome, ToolResult

STATEMENTS = 10
"""A call in another process is killed after the time of so many statements and a second."""

TEMPLATES = 8
"""Templates that a process is told of; one that knows more is let go."""


@dataclass(frozen=True)
class Plan:
    """The facts about a template's database that its sandboxes need beside its pages."""

    digest: str
    tables: Mapping[str, Table]
    shapes: Mapping[str, SqliteTable]
    loose_quotes: bool
    value_bytes: int
    number: int


@dataclass(frozen=True, slots=True)
class State:
    """The present state of a sandbox: its pins, and its own pages."""

    pins: Pins
    unordered: bool
    own: Mapping[int, bytes]
    size: int


@dataclass(frozen=True, slots=True)
class Question:
    """A call on the sandbox of that number and version.

    ``state`` and ``plan`` are None where they are known already; with a plan comes the descriptor
    of its pages. ``traced`` asks for the statements.
    """

    sandbox: int
    version: int
    state: State | None
    position: int
    plan: Plan | None
    call: ToolCall
    limits: Limits
    template: int = -1
    traced: bool = False


@dataclass(frozen=True, slots=True)
class SubprocessReply:
    """The call's outcome, the pages it wrote and the file's size, and the rows it changed."""

    outcome: ToolOutcome
    pages: Mapping[int, bytes]
    size: int
    position: int
    ends: Ends
    whole: frozenset[str]
    statements: Sequence[AuditedStatement] = ()


def ask(pool: Pool, question: Question, base: Base) -> SubprocessReply:
    """Let a process answer. Raises :class:`ChildLost`, and the errors of the call there."""
    plan = question.plan
    assert plan is not None, "what may be left out is left out here"
    held = (question.sandbox, question.version)

    def holds(child: Child) -> bool:
        return child.knows.get("sandbox") == held

    timeout = question.limits.statement_timeout_ms
    seconds = None if timeout is None else STATEMENTS * timeout / 1000 + 1

    def put(child: Child) -> SubprocessReply:
        templates: set[int] = child.knows.setdefault("templates", set())
        asked = replace(
            question,
            template=plan.number,
            plan=None if plan.number in templates else plan,
            state=None if holds(child) else question.state,
        )
        child.knows.pop("sandbox", None)  # until the answer is there
        answer: SubprocessReply = child.ask(asked, [base.share()] if asked.plan else (), seconds)
        templates.add(plan.number)
        child.knows["sandbox"] = (question.sandbox, question.version + bool(answer.pages))
        child.spent |= len(templates) > TEMPLATES
        return answer

    return pool.ask(put, holds)


def killed(lost: ChildLost, tables: Mapping[str, Table]) -> ToolResult:
    """The result of a call whose process is gone, in the words of SQLite's interrupt or memory."""
    late = lost.late or lost.signal in {signal.SIGALRM, signal.SIGXCPU}
    code, name, words = (
        (apsw.SQLITE_INTERRUPT, "SQLITE_INTERRUPT", "interrupted")
        if late
        else (apsw.SQLITE_NOMEM, "SQLITE_NOMEM", "out of memory")
    )
    error = apsw_dbapi.OperationalError(words, code, name)
    return to_result(DBAPIError("", None, error), "sqlite", tables)
