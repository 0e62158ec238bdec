"""Proof and attacks of the gate `sql`: one answer, which nobody gets without the right query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.world.query import QueryResult
from synth.rewards import Evidence
from synth.tasks.yaml.words import SUBMIT_SQL
from synth.text2sql.answer_uniqueness import ambiguity
from synth.text2sql.attacks import BY_HEART, lazy_queries, weaker_queries
from synth.text2sql.verifier import SqlOptions, other_databases
from synth.types import Task
from synth.validation.attacks.steps import Attack, Move
from synth.validation.base import GateValidation


class SqlValidation(GateValidation):
    """Validation of tasks with the gate `sql`."""

    key = "sql"
    submits = frozenset({SUBMIT_SQL})

    def open_question(self, options: Mapping[str, Any], evidence: Evidence) -> str | None:
        if evidence.databases is None:
            return None
        return ambiguity(options["query"], evidence.databases.own, evidence.engine)

    def known_answer_possible(self, options: Mapping[str, Any], evidence: Evidence) -> bool:
        """True if no further database has another answer that is not empty."""
        databases = evidence.databases
        answer = databases.own(options["query"]) if databases is not None else None
        if databases is None or not isinstance(answer, QueryResult):
            return False
        others = other_databases(evidence, databases, answer, SqlOptions.from_json(options))
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
        for attack in lazy_queries(task, gold, answer, databases.own):
            if attack.kind != BY_HEART or not known:
                yield attack

    def weaker(self, options: Mapping[str, Any], gold: Sequence[Move]) -> Iterator[Attack]:
        return weaker_queries(gold, options["query"])
