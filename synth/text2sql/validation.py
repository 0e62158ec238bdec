"""Proof and attacks of the gate `sql`: one answer, which nobody gets without the right query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.world.query import QueryResult
from synth.rewards import Evidence
from synth.tasks.yaml.words import SUBMIT_SQL
from synth.text2sql.answer_uniqueness import ambiguity
from synth.text2sql.attacks import BY_HEART, lazy_queries, weaker_queries
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
        return ambiguity(options["query"], evidence.databases.own)

    def lazy(
        self, task: Task, options: Mapping[str, Any], gold: Sequence[Move], evidence: Evidence
    ) -> Iterator[Attack]:
        """Constants are an attack only where there is another database on which they are wrong."""
        databases = evidence.databases
        answer = databases.own(options["query"]) if databases is not None else None
        if databases is None or not isinstance(answer, QueryResult):
            return
        others = any(True for _ in databases.others(options["databases"]))
        for attack in lazy_queries(task, gold, answer):
            if attack.kind != BY_HEART or others:
                yield attack

    def weaker(self, options: Mapping[str, Any], gold: Sequence[Move]) -> Iterator[Attack]:
        return weaker_queries(gold, options["query"])
