"""The sql gate: what the submitted query gives, against what the right one gives.

Both are executed, read-only and under the guards: on the rollout's own database in its end state, and on further
databases of the same schema, on which an answer that was known by heart is another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from envs.asking import Answer
from envs.types import ErrorCategory, ToolResult
from synth.errors import TaskError
from synth.tasks.words import SUBMIT_SQL
from synth.types import Verdict
from synth.verifiers.base import Evidence, Verifier
from synth.verifiers.result_sets import Rules, same_rows, soft_f1

Json = Any

UNFIT = frozenset({ErrorCategory.TIMEOUT, ErrorCategory.LIMIT_EXCEEDED, ErrorCategory.CONNECTION_ERROR})
"""What may befall the right query though nothing is wrong with it: a busy machine, a database of another size."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``execution`` says whether the answers agree; ``category`` is that of a query that fails."""

    execution: bool
    f1: float
    reason: str = ""
    category: str | None = None


class SqlVerifier(Verifier):
    """1.0 exactly when the query handed in last gives the right answer wherever it is asked.

    ``option`` holds ``query`` (the right one), ``ordered``, ``rows``, ``columns``, ``databases`` and ``tolerance``.
    ``detail`` holds ``execution`` (execution accuracy on the task's own database), ``f1`` (BIRD's soft F1 there),
    ``databases`` (on how many others the answer was compared), ``suite`` (whether it was right on all), ``category`` of
    a query that failed, and the task's ``difficulty``. Raises :class:`TaskError` where the right query fails.
    """

    name = "sql"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        databases = evidence.databases
        if databases is None:
            return Verdict(self.name, None, "the database is gone: no query can be asked of it")
        rules = Rules(option["ordered"], option["rows"] == "set", option["columns"] == "any", option["tolerance"])
        handed_in = [call for call in evidence.calls if call.name == SUBMIT_SQL]
        sql = (handed_in[-1].arguments or {}).get("sql") if handed_in else None
        if not isinstance(sql, str):
            why = "the last query was not handed in as the tool wants it" if handed_in else "no query was handed in"
            return self._verdict(evidence, Finding(False, 0.0, why), None, 0)
        right = databases.own(option["query"])
        if isinstance(right, ToolResult) and right.category in UNFIT:
            return Verdict(self.name, None, f"the right query did not get through: {right.category}")
        due = _right(right, evidence)
        finding = compared(due, databases.own(sql), rules)
        if not finding.execution:
            return self._verdict(evidence, finding, None, 0)
        count, reason = _elsewhere(evidence, due, sql, option, rules)
        if reason:
            return self._verdict(evidence, Finding(True, finding.f1, reason), False, count)
        return self._verdict(evidence, finding, True, count)

    def _verdict(self, evidence: Evidence, finding: Finding, suite: bool | None, count: int) -> Verdict:
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


def compared(due: Answer, given: Answer | ToolResult, rules: Rules) -> Finding:
    """What one answer says of a query on one database."""
    if isinstance(given, ToolResult):
        reason = f"the submitted query fails: {(given.message or '').rstrip('.')} ({given.category})"
        return Finding(False, 0.0, reason, given.category)
    f1 = soft_f1(due.rows, given.rows)
    if same_rows(due.rows, given.rows, len(due.columns), len(given.columns), rules):
        return Finding(True, f1)
    if len(due.columns) != len(given.columns):
        return Finding(False, f1, f"the answer has {len(given.columns)} columns, not {len(due.columns)}")
    if len(due.rows) != len(given.rows):
        return Finding(False, f1, f"the answer has {len(given.rows)} rows, not {len(due.rows)}")
    loose = Rules(False, rules.set_of_rows, rules.any_columns, rules.tolerance)
    if rules.ordered and same_rows(due.rows, given.rows, len(due.columns), len(given.columns), loose):
        return Finding(False, f1, "the rows stand in another order")
    return Finding(False, f1, f"the answer has other rows, the first of them {list(given.rows[0])!r:.200}")


def _elsewhere(evidence: Evidence, due: Answer, sql: str, option: Json, rules: Rules) -> tuple[int, str]:
    """On how many other databases the answers were compared, and what is wrong on the first where they differ."""
    databases = evidence.databases
    assert databases is not None
    turned = compared(due, databases.turned(sql), rules) if option["databases"] else Finding(True, 1.0)
    if not turned.execution:
        return 0, f"with its rows in another order the database gives another answer: {turned.reason}"
    done = 0
    for ask in databases.others(option["databases"]):
        right = ask(option["query"])
        if isinstance(right, ToolResult):
            if right.category in UNFIT:
                continue
            _right(right, evidence)
        elif not (there := compared(right, ask(sql), rules)).execution:
            return done + 1, f"right here by chance: on another database of this schema {there.reason}"
        done += 1
    return done, ""


def _right(answer: Answer | ToolResult, evidence: Evidence) -> Answer:
    if isinstance(answer, ToolResult):
        message = f"the right query of the gate `sql` fails: {answer.message} ({answer.category})"
        raise TaskError(message, family=evidence.task.family)
    return answer
