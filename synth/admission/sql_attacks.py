"""What must not earn a question's reward: answers without a query behind them, and the right query with one thing wrong."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from envs.asking import Answer
from synth.admission.moves import Act, Attack, Move, Say, acts
from synth.tasks.template import sql_literal
from synth.tasks.words import SUBMIT_SQL
from synth.types import Task

Json = Any

MOST_ROWS = 200
"""Rows of an answer that are still written out as a constant."""

BY_HEART = "answer by heart"
WEAKER = "weaker query"


def lazy_queries(task: Task, gold: Sequence[Move], answer: Answer) -> Iterator[Attack]:
    """Queries that nobody had to think about; ``answer`` is the right one on the task's own database."""
    yield _handing_in(gold, "no query", "the request as a query", task.prompt)
    yield _handing_in(gold, "no query", "one row of NULL", "SELECT NULL")
    for table in sorted({act.arguments["table"] for act in acts(gold) if act.name == "describe_table"}):
        quoted = str(table).replace('"', '""')
        yield _handing_in(gold, "whole table", f"all of {table}", f'SELECT * FROM "{quoted}"')
        yield _handing_in(gold, "whole table", f"the count of {table}", f'SELECT COUNT(*) FROM "{quoted}"')
    if len(answer.rows) <= MOST_ROWS and all(_plain(cell) for row in answer.rows for cell in row):
        rows = ["SELECT " + ", ".join(map(sql_literal, row)) for row in answer.rows]
        yield _handing_in(gold, BY_HEART, "the right rows as constants", " UNION ALL ".join(rows))


def weaker_queries(gold: Sequence[Move], query: str) -> Iterator[Attack]:
    """The right query with one thing wrong."""
    for label, sql in importlib.import_module("envs.sql_critic").weakened(query):
        yield _handing_in(gold, WEAKER, label, sql)


def _plain(cell: Json) -> bool:
    return cell is None or isinstance(cell, (bool, int, float, str))


def _handing_in(gold: Sequence[Move], kind: str, label: str, sql: str) -> Attack:
    """Gold's way with another query at its end."""
    kept = [move for move in gold if isinstance(move, Say) or move.name != SUBMIT_SQL]
    last = [move for move in kept if isinstance(move, Say) and move.closing]
    before = [move for move in kept if move not in last]
    return Attack(kind, label, [*before, Act(SUBMIT_SQL, {"sql": sql}), *last], SUBMIT_SQL)
