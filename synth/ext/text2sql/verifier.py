"""The gate ``sql``: the rows of the submitted query against the rows of the right one.

Both are executed, read-only and under the limits of answers: on the rollout's own database in its
end state, and on further databases of the same schema, on which a memorised answer is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from envs.plugins import resolve
from envs.types import ErrorCategory, ToolResult
from envs.world.query import QueryResult
from synth.core.rewards.reply.facts import Spoken
from synth.core.rewards.reply.says import mentions
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.checks import CLOCK, TIE
from synth.errors import TaskError
from synth.evidence import Ask, Databases, Evidence, Verifier
from synth.ext.text2sql.result_sets import Rules, nearest, same_rows, soft_f1
from synth.ext.text2sql.right_answers import RightAnswers, right_answers
from synth.verdict import Verdict

UNFIT = frozenset(
    {ErrorCategory.TIMEOUT, ErrorCategory.LIMIT_EXCEEDED, ErrorCategory.CONNECTION_ERROR}
)
"""Failures of the right query that do not make it wrong: a busy machine, or a database of another
size.
"""


UNTOLD = "untold"
NOTES = {
    TIE: "LIMIT or ORDER BY leaves a choice among equal rows, and another choice is as right",
    CLOCK: "the answer depends on the present time",
    "null_first": "the first row has NULL as its sort key",
    "text_number": "numbers are compared or sorted as text",
    "float_sum": "floats are added up, and another order gives other last digits",
    "date_forms": "a date is written in a form that does not sort",
    "joined_text": "texts are joined in no given order",
    "unread": "the right query cannot be read by the rules for the other notes",
    UNTOLD: "the last words have no value of the answer",
}
"""What a note says of the right query, or of a rollout."""

SOUGHT = 1000
"""Rows of the answer whose values are sought in the last words."""


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """``query`` is the right one, ``tool`` the one whose last query is judged, ``databases`` the
    number of further databases with another answer on which a query has to be right. ``notes`` are
    tags of the question, for the verdict.
    """

    query: str
    tool: str
    databases: int
    rules: Rules
    notes: Sequence[str] = ()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SqlOptions:
        any_columns, notes = raw["columns"] == "any", tuple(raw.get("notes") or ())
        rules = Rules(raw["ordered"], raw["rows"] == "set", any_columns, raw["tolerance"])
        return cls(raw["query"], raw["tool"], raw["databases"], rules, notes)


@dataclass(frozen=True, slots=True)
class _SqlFinding:
    """Comparison of two answers on one database.

    ``execution`` is true if they agree, ``f1`` is BIRD's soft F1, ``agrees`` tells under which
    rules they agree: as sets, as bags, in order. ``category`` is the error's if the submitted
    query fails.
    """

    execution: bool
    f1: float
    reason: str = ""
    agrees: Mapping[str, bool] = field(default_factory=dict[str, bool])
    category: str | None = None


class SqlVerifier(Verifier):
    """Passes if the query handed in last gives a right answer on every database that is asked; the
    query executed last, where none is handed in.

    ``detail`` holds ``execution`` (execution accuracy on the task's own database), ``agrees``
    (under which rules the answers agree there: ``set``, ``bag``, ``order``), ``ties`` (rows that
    another right answer may have elsewhere or not at all), ``f1`` (BIRD's soft F1 there),
    ``databases`` (the number of further databases that were compared), ``suite`` (true if the query
    was right on all of them), ``known_answer_possible`` (true if none of them has another answer,
    so that a constant would be right on all), ``category`` of a query that failed, and the task's
    ``difficulty``, ``family`` and ``notes``. Raises :class:`TaskError` if the right query fails.
    """

    name = "sql"
    asks_databases = True
    validation = "synth.ext.text2sql.validation:SqlValidation"

    def parse_options(self, raw: Mapping[str, Any]) -> SqlOptions:
        return SqlOptions.from_json(raw)

    def verify(self, evidence: Evidence, options: SqlOptions) -> Verdict:
        databases = evidence.databases
        if databases is None:
            return Verdict(self.name, None, "the database is gone: no query can be asked of it")
        submissions = [
            call
            for call in evidence.calls
            if call.name == options.tool and (call.ok or options.tool == SUBMIT_SQL)
        ]
        sql = (submissions[-1].arguments or {}).get("sql") if submissions else None
        if not isinstance(sql, str):
            unlike = "the last query was not handed in as the tool wants it"
            reason = unlike if submissions else "no query was handed in"
            return self._verdict(evidence, options, _SqlFinding(False, 0.0, reason))
        right = right_answers(options.query, databases.own, evidence.engine, options.rules)
        if isinstance(right, ToolResult) and right.category in UNFIT:
            why = f"the right query did not get through: {right.category}"
            return Verdict(self.name, None, why)
        due = _right(right, evidence)
        finding = compared(due, _given(sql, databases.own, due, options), options.rules)
        suite = None
        if finding.execution:
            suite = _elsewhere(evidence, databases, due, sql, options)
            if suite.reason:
                finding = replace(finding, reason=suite.reason)
        return self._verdict(evidence, options, finding, suite, due)

    def _verdict(
        self,
        evidence: Evidence,
        options: SqlOptions,
        finding: _SqlFinding,
        suite: _SuiteFinding | None = None,
        due: RightAnswers | None = None,
    ) -> Verdict:
        right = finding.execution and (suite is None or not suite.reason)
        notes = [*options.notes]
        if right and due is not None and not _told(evidence, due):
            notes.append(UNTOLD)
        detail = {
            "execution": finding.execution,
            "agrees": dict(finding.agrees),
            "ties": 0 if due is None else due.ties,
            "f1": round(finding.f1, 6),
            "suite": None if suite is None else not suite.reason,
            "databases": 0 if suite is None else suite.compared,
            "known_answer_possible": None if suite is None else suite.known_answer_possible,
            "category": finding.category,
            "difficulty": evidence.task.extras.get("difficulty"),
            "family": evidence.task.family,
            "notes": [{"check": one, "words": NOTES[one], "evidence": ""} for one in notes],
        }
        reason = finding.reason or "the submitted query gives the right answer"
        return Verdict(self.name, 1.0 if right else 0.0, reason[:1000], detail=detail)


def _told(evidence: Evidence, due: RightAnswers) -> bool:
    """True if the words after the last call have a value of the answer, or it has no rows."""
    rows = due.answer.rows[:SOUGHT]
    last = [words.text for words in evidence.spoken if words.after >= len(evidence.calls)]
    said = Spoken("\n".join(last))
    return not rows or any(said.holds(cell) for row in rows for cell in row)


def compared(due: RightAnswers, given: QueryResult | ToolResult, rules: Rules) -> _SqlFinding:
    """Compare the answer of a submitted query with the right ones on the same database."""
    if isinstance(given, ToolResult):
        message = (given.message or "").rstrip(".")
        reason = f"the submitted query fails: {message} ({given.category})"
        return _SqlFinding(False, 0.0, reason, category=given.category)
    width, given_width = len(due.answer.columns), len(given.columns)
    placed = replace(rules, ordered=True)
    rows = nearest(due.blocks, given.rows, placed) if width == given_width else due.answer.rows
    f1 = soft_f1(rows, given.rows)

    def same(rules: Rules) -> bool:
        return same_rows(due.blocks, given.rows, width, given_width, rules)

    own = same(rules)
    agrees = {
        "set": same(replace(rules, set_of_rows=True, ordered=False)),
        "bag": same(replace(rules, set_of_rows=False, ordered=False)),
        "order": same(replace(rules, set_of_rows=False, ordered=True)),
    }
    if own:
        return _SqlFinding(True, f1, agrees=agrees)
    if width != given_width:
        reason = f"the answer has {given_width} columns, not {width}"
    elif len(rows) != len(given.rows):
        reason = f"the answer has {len(given.rows)} rows, not {len(rows)}"
    elif rules.ordered and agrees["bag"]:
        reason = "the rows are in another order"
    elif same(replace(rules, any_columns=True)):
        reason = "the columns are in another order"
    else:
        reason = f"the answer has other rows, the first of them {list(given.rows[0])!r:.200}"
    return _SqlFinding(False, f1, reason, agrees)


@dataclass(frozen=True, slots=True)
class _OtherDatabase:
    """A further database: its queries, its right answers, and whether those are answers at all and
    not the ones of the task's own database.
    """

    ask: Ask
    right: RightAnswers
    telling: bool


def other_databases(
    evidence: Evidence, databases: Databases, due: RightAnswers, options: SqlOptions
) -> Iterator[_OtherDatabase]:
    """The further databases that a query is judged on: the first ``options.databases``, and of
    those behind them the telling ones until there are as many of these.

    Raises :class:`TaskError` if the right query fails on one.
    """
    telling = 0
    for index, ask in enumerate(databases.others() if options.databases else ()):
        right = right_answers(options.query, ask, evidence.engine, options.rules)
        if isinstance(right, ToolResult) and right.category in UNFIT:
            continue
        right = _right(right, evidence)
        empty = all(cell is None for row in right.answer.rows for cell in row)
        another = not empty and not compared(due, right.answer, options.rules).execution
        telling += another
        if another or index < options.databases:
            yield _OtherDatabase(ask, right, another)
        if telling == options.databases:
            return


@dataclass(frozen=True, slots=True)
class _SuiteFinding:
    """Comparison on further databases: their number, the fault on the first where the answers
    differ (empty if there is none), and whether none of them tells a constant from the right query.
    """

    compared: int
    reason: str = ""
    known_answer_possible: bool | None = None


def _elsewhere(
    evidence: Evidence, databases: Databases, due: RightAnswers, sql: str, options: SqlOptions
) -> _SuiteFinding:
    """Compare the answers on other databases."""
    if options.databases:
        turned = compared(due, databases.turned(sql), options.rules)
        if not turned.execution:
            words = "with its rows in another order the database gives another answer"
            return _SuiteFinding(0, f"{words}: {turned.reason}")
    if options.databases and databases.copied and _picks(sql, evidence, options):
        options = replace(options, databases=sys.maxsize)
    count, telling = 0, False
    for other in other_databases(evidence, databases, due, options):
        finding = compared(other.right, _given(sql, other.ask, other.right, options), options.rules)
        count += 1
        telling = telling or other.telling
        if not finding.execution:
            words = "right here by chance: on another database of this schema"
            return _SuiteFinding(count, f"{words} {finding.reason}")
    return _SuiteFinding(count, known_answer_possible=not telling)


def _picks(sql: str, evidence: Evidence, options: SqlOptions) -> bool:
    """True for a query with a value of its own: it may pick rows that were seen before."""
    read = resolve("envs.tools.sql.critic:read_query")(sql, evidence.engine)
    known = f"{evidence.task.system}\n{evidence.task.prompt}\n{options.query}"
    return read is None or not all(mentions(known, value) for value in read.values)


def _given(sql: str, ask: Ask, due: RightAnswers, options: SqlOptions) -> QueryResult | ToolResult:
    """The answer of the submitted query, which may be the right one word for word."""
    return due.answer if sql == options.query else ask(sql)


def _right(answer: RightAnswers | ToolResult, evidence: Evidence) -> RightAnswers:
    if isinstance(answer, ToolResult):
        message = f"the right query of the gate `sql` fails: {answer.message} ({answer.category})"
        raise TaskError(message, family=evidence.task.family)
    return answer
