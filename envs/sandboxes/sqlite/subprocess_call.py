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
from envs.sandboxes.sqlite.schema import Plan, State
from envs.sql_errors.classify import to_result
from envs.types import Limits, Table, ToolCall, ToolOutcome, ToolResult

STATEMENTS = 10
"""A call in another process is killed after the time of so many statements and a second."""

TEMPLATES = 64
"""Templates that a process is told of; one that knows more is let go."""


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

    def asked(self, pool: Pool, base: Base) -> SubprocessReply | ToolOutcome:
        """The reply of a process. A call that is killed has a result: too slow or large. Raises
        the errors of the call there.
        """
        plan, held = self.plan, (self.sandbox, self.version)
        assert plan is not None, "what may be left out is left out here"

        def holds(child: Child) -> bool:
            return child.knows.get("sandbox") == held

        timeout = self.limits.statement_timeout_ms
        seconds = None if timeout is None else STATEMENTS * timeout / 1000 + 1

        def put(child: Child) -> SubprocessReply:
            templates: set[int] = child.knows.setdefault("templates", set())
            asked = replace(
                self,
                template=plan.number,
                plan=None if plan.number in templates else plan,
                state=None if holds(child) else self.state,
            )
            child.knows.pop("sandbox", None)  # until the answer is there
            shared = [base.share()] if asked.plan else ()
            answer: SubprocessReply = child.ask(asked, shared, seconds)
            templates.add(plan.number)
            child.knows["sandbox"] = (self.sandbox, self.version + bool(answer.pages))
            child.spent |= len(templates) > TEMPLATES
            return answer

        try:
            return pool.ask(put, holds)
        except ChildLost as lost:
            return ToolOutcome(self.call, result := _killed(lost, plan.tables), result.content())


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


def _killed(lost: ChildLost, tables: Mapping[str, Table]) -> ToolResult:
    """The result of a call whose process is gone, in the words of SQLite's interrupt or memory."""
    late = lost.late or lost.signal in {signal.SIGALRM, signal.SIGXCPU}
    code, name, words = (
        (apsw.SQLITE_INTERRUPT, "SQLITE_INTERRUPT", "interrupted")
        if late
        else (apsw.SQLITE_NOMEM, "SQLITE_NOMEM", "out of memory")
    )
    error = apsw_dbapi.OperationalError(words, code, name)
    return to_result(DBAPIError("", None, error), "sqlite", tables)
