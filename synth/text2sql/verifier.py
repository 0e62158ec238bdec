"""The gate ``sql``: the rows that the submitted query gives, against those of the right one.

Both are executed, read-only and under the limits of answers: on the rollout's own database in its
end state, and on further databases of the same schema, on which a memorised answer is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs.types import ErrorCategory, ToolResult
from envs.world.query import QueryResult
from synth.errors import TaskError
from synth.rewards.base import Databases, Evidence, Verifier
from synth.tasks.yaml.words import SUBMIT_SQL
from synth.text2sql.result_sets import Rules, same_rows, soft_f1
from synth.types import Verdict

UNFIT = frozenset(
    {ErrorCategory.TIMEOUT, ErrorCategory.LIMIT_EXCEEDED, ErrorCategory.CONNECTION_ERROR}
)
"""Failures of the right query that do not make it wrong: a busy machine, or a database of another
size.
"""


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """``query`` is the right one, ``databases`` the number of further databases that are asked."""

    query: str
    databases: int
    rules: Rules

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SqlOptions:
        rules = Rules(
            raw["ordered"], raw["rows"] == "set", raw["columns"] == "any", raw["tolerance"]
        )
        return cls(raw["query"], raw["databases"], rules)


@dataclass(frozen=True, slots=True)
class SqlFinding:
    """Comparison of two answers on one database.

    ``execution`` is true if they agree, ``f1`` is BIRD's soft F1, ``category`` that of a submitted
    query that fails.
    """

    execution: bool
    f1: float
    reason: str = ""
    category: str | None = None


class SqlVerifier(Verifier):
    """Passes if the query handed in last gives the right answer on every database that is asked.

    ``detail`` holds ``execution`` (execution accuracy on the task's own database), ``f1`` (BIRD's
    soft F1 there), ``databases`` (the number of further databases that were compared), ``suite``
    (true if the query was right on all of them), ``category`` of a query that failed, and the
    task's ``difficulty``. Raises :class:`TaskError` if the right query fails.
    """

    name = "sql"
    asks_databases = True
    validation = "synth.text2sql.validation:SqlValidation"

    def parse_options(self, raw: Mapping[str, Any]) -> SqlOptions:
        return SqlOptions.from_json(raw)

    def verify(self, evidence: Evidence, options: SqlOptions) -> Verdict:
        databases = evidence.databases
        if databases is None:
            return Verdict(self.name, None, "the database is gone: no query can be asked of it")
        submissions = [call for call in evidence.calls if call.name == SUBMIT_SQL]
        sql = (submissions[-1].arguments or {}).get("sql") if submissions else None
        if not isinstance(sql, str):
            reason = (
                "the last query was not handed in as the tool wants it"
                if submissions
                else "no query was handed in"
            )
            return self._verdict(evidence, SqlFinding(False, 0.0, reason), None, 0)
        right = databases.own(options.query)
        if isinstance(right, ToolResult) and right.category in UNFIT:
            return Verdict(
                self.name, None, f"the right query did not get through: {right.category}"
            )
        due = _right(right, evidence)
        finding = compared(due, databases.own(sql), options.rules)
        if not finding.execution:
            return self._verdict(evidence, finding, None, 0)
        count, reason = _elsewhere(evidence, databases, due, sql, options)
        if reason:
            return self._verdict(evidence, SqlFinding(True, finding.f1, reason), False, count)
        return self._verdict(evidence, finding, True, count)

    def _verdict(
        self, evidence: Evidence, finding: SqlFinding, suite: bool | None, count: int
    ) -> Verdict:
        right = finding.execution and suite is not False
        detail = {
            "execution": finding.execution,
            "f1": round(finding.f1, 6),
            "suite": suite,
            "databases": count,
            "category": finding.category,
            "difficulty": evidence.task.difficulty,
        }
        reason = finding.reason or "the submitted query gives the right answer"
        return Verdict(self.name, 1.0 if right else 0.0, reason[:1000], detail=detail)


def compared(due: QueryResult, given: QueryResult | ToolResult, rules: Rules) -> SqlFinding:
    """Compare the answer of a submitted query with the right one on the same database."""
    if isinstance(given, ToolResult):
        message = (given.message or "").rstrip(".")
        reason = f"the submitted query fails: {message} ({given.category})"
        return SqlFinding(False, 0.0, reason, given.category)
    f1 = soft_f1(due.rows, given.rows)
    width, given_width = len(due.columns), len(given.columns)
    if same_rows(due.rows, given.rows, width, given_width, rules):
        return SqlFinding(True, f1)
    if width != given_width:
        return SqlFinding(False, f1, f"the answer has {given_width} columns, not {width}")
    if len(due.rows) != len(given.rows):
        return SqlFinding(False, f1, f"the answer has {len(given.rows)} rows, not {len(due.rows)}")
    loose = Rules(False, rules.set_of_rows, rules.any_columns, rules.tolerance)
    if rules.ordered and same_rows(due.rows, given.rows, width, given_width, loose):
        return SqlFinding(False, f1, "the rows are in another order")
    first = f"{list(given.rows[0])!r:.200}"
    return SqlFinding(False, f1, f"the answer has other rows, the first of them {first}")


def _elsewhere(
    evidence: Evidence, databases: Databases, due: QueryResult, sql: str, options: SqlOptions
) -> tuple[int, str]:
    """Compare the answers on other databases.

    Returns the number of databases that were compared, and the fault on the first where the answers
    differ (empty if there is none).
    """
    if options.databases:
        turned = compared(due, databases.turned(sql), options.rules)
        if not turned.execution:
            words = "with its rows in another order the database gives another answer"
            return 0, f"{words}: {turned.reason}"
    count = 0
    for ask in databases.others(options.databases):
        right = ask(options.query)
        if isinstance(right, ToolResult):
            if right.category in UNFIT:
                continue
            _right(right, evidence)
        elif not (finding := compared(right, ask(sql), options.rules)).execution:
            words = "right here by chance: on another database of this schema"
            return count + 1, f"{words} {finding.reason}"
        count += 1
    return count, ""


def _right(answer: QueryResult | ToolResult, evidence: Evidence) -> QueryResult:
    if isinstance(answer, ToolResult):
        message = f"the right query of the gate `sql` fails: {answer.message} ({answer.category})"
        raise TaskError(message, family=evidence.task.family)
    return answer
