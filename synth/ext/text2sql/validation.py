"""Proof and attacks of the gate `sql`: one answer, which nobody gets without the right query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.types import ToolResult
from envs.world.query import QueryResult
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.validation.attacks.steps import Attack, Move
from synth.core.validation.base import GateValidation
from synth.ext.text2sql.attacks import BY_HEART, lazy_queries, weaker_queries
from synth.ext.text2sql.right_answers import right_answers, unstable, widths_of
from synth.ext.text2sql.verifier import SqlOptions, other_databases
from synth.rewards import Evidence
from synth.task import Task


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
            return (
                "the query gives no row, as any that finds nothing would: let `ground` leave such"
                " slots out"
            )
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
        others = other_databases(evidence, databases, right, own)
        return not any(other.telling for other in others)

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
        return weaker_queries(gold, options["query"], options["tool"])
