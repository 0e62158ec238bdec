"""Proof and attacks of the gate `sql`: one answer, which nobody gets without the right query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.plugins import resolve
from envs.quoting import backticked, quoted
from envs.types import ToolResult
from envs.world.query import QueryResult
from synth.core.tasks.yaml.template import sql_literal
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, acts
from synth.core.validation.base import GateValidation
from synth.evidence import Ask, Evidence
from synth.ext.text2sql.right_answers import right_answers, unstable, widths_of
from synth.ext.text2sql.verifier import SqlOptions, other_databases
from synth.task import Task

MOST_ROWS = 200
"""The most rows of an answer that are written out as constants."""

BY_HEART = "answer by heart"
WEAKER = "weaker query"


def lazy_queries(
    gold: Sequence[Move], answer: QueryResult, evidence: Evidence, ask: Ask, tool: str
) -> Iterator[Attack]:
    """Queries that need no thought; ``answer`` is the right answer on the task's own database,
    which ``ask`` queries, and ``tool`` takes the agent's.
    """
    quote = backticked if evidence.engine in ("mysql", "mariadb") else quoted
    yield _asking(tool, gold, "no query", "the request as a query", evidence.task.prompt)
    yield _asking(tool, gold, "no query", "one row of NULL", "SELECT NULL")
    known = evidence.tables
    looked_at = {act.arguments["table"] for act in acts(gold) if act.name == "describe_table"}
    tables = {
        name: known[name].written(quote) if name in known else quote(name)
        for name in sorted(looked_at)
    }
    for table, source in tables.items():
        yield _asking(tool, gold, "whole table", f"all of {table}", f"SELECT * FROM {source}")
        counting = f"SELECT COUNT(*) FROM {source}"
        yield _asking(tool, gold, "whole table", f"the count of {table}", counting)
    if len(answer.rows) <= MOST_ROWS and all(_plain(cell) for row in answer.rows for cell in row):
        rows = ["SELECT " + ", ".join(map(sql_literal, row)) for row in answer.rows]
        constants = " UNION ALL ".join(rows)
        yield _asking(tool, gold, BY_HEART, "the right rows as constants", constants)
        for table, source in tables.items():
            counting = f"SELECT COUNT(*) FROM {source}"
            if isinstance(counted := ask(counting), QueryResult):
                count = counted.rows[0][0]
                label = f"the right rows while {table} has {count}"
                guarded = f"SELECT * FROM ({constants}) AS known WHERE ({counting}) = {count}"
                yield _asking(tool, gold, BY_HEART, label, guarded)


def _plain(cell: object) -> bool:
    return cell is None or isinstance(cell, (bool, int, float, str))


def _asking(tool: str, gold: Sequence[Move], kind: str, label: str, sql: str) -> Attack:
    """The moves of gold with another query at their end."""
    kept = [move for move in gold if isinstance(move, SayStep) or move.name != tool]
    last = [move for move in kept if isinstance(move, SayStep) and move.closing]
    before = [move for move in kept if move not in last]
    return Attack(kind, label, [*before, ToolStep(tool, {"sql": sql}), *last], tool)


class SqlValidation(GateValidation):
    """Validation of tasks with the gate `sql`."""

    key = "sql"
    submits = frozenset({SUBMIT_SQL})

    def open_question(self, options: Mapping[str, Any], evidence: Evidence) -> str | None:
        """The query fails, finds nothing, or takes one of several rows that are equally right."""
        if evidence.databases is None:
            return None
        query, ask = options["query"], evidence.databases.own
        answer = ask(query)
        if isinstance(answer, ToolResult):
            return f"the query fails: {(answer.message or '').rstrip('.')} ({answer.category})"
        if not answer.rows:
            return "the query gives no row: let `ground` leave such slots out"
        if all(cell is None for row in answer.rows for cell in row):
            return "the query gives nothing but NULL: let `ground` leave such slots out"
        return unstable(query, ask, evidence.engine, widths_of(evidence.tables))

    def known_answer_possible(self, options: Mapping[str, Any], evidence: Evidence) -> bool:
        """True if no further database has another answer that is not empty."""
        databases, own = evidence.databases, SqlOptions.from_json(options)
        if databases is None:
            return False
        right = right_answers(own.query, databases.own, evidence.engine, own.rules)
        if isinstance(right, ToolResult):
            return False
        return not any(other.telling for other in other_databases(evidence, databases, right, own))

    def lazy(
        self, task: Task, options: Mapping[str, Any], gold: Sequence[Move], evidence: Evidence
    ) -> Iterator[Attack]:
        """Constants are an attack only where there is another database on which they are wrong."""
        databases = evidence.databases
        answer = databases.own(options["query"]) if databases is not None else None
        if databases is None or not isinstance(answer, QueryResult):
            return
        known = self.known_answer_possible(options, evidence)
        for attack in lazy_queries(gold, answer, evidence, databases.own, options["tool"]):
            if attack.kind != BY_HEART or not known:
                yield attack

    def weaker(self, options: Mapping[str, Any], gold: Sequence[Move]) -> Iterator[Attack]:
        """The right query with one thing wrong."""
        for label, sql in resolve("envs.tools.sql.critic:weakened")(options["query"]):
            yield _asking(options["tool"], gold, WEAKER, label, sql)
