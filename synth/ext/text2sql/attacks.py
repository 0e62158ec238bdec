"""Attacks on a question that a query answers: queries without a thought behind them, and the right
query with one thing wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envs.plugins import resolve
from envs.quoting import backticked, quoted
from envs.world.query import QueryResult
from synth.core.tasks.yaml.template import sql_literal
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, acts
from synth.evidence import Ask, Evidence

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
            counted = ask(f"SELECT COUNT(*) FROM {source}")
            if not isinstance(counted, QueryResult):
                continue
            count = counted.rows[0][0]
            guard = f"(SELECT COUNT(*) FROM {source}) = {count}"
            guarded = f"SELECT * FROM ({constants}) AS known WHERE {guard}"
            yield _asking(
                tool, gold, BY_HEART, f"the right rows while {table} has {count}", guarded
            )


def weaker_queries(gold: Sequence[Move], query: str, tool: str) -> Iterator[Attack]:
    """The right query with one thing wrong."""
    for label, sql in resolve("envs.tools.sql.critic:weakened")(query):
        yield _asking(tool, gold, WEAKER, label, sql)


def _plain(cell: object) -> bool:
    return cell is None or isinstance(cell, (bool, int, float, str))


def _asking(tool: str, gold: Sequence[Move], kind: str, label: str, sql: str) -> Attack:
    """The moves of gold with another query at their end."""
    kept = [move for move in gold if isinstance(move, SayStep) or move.name != tool]
    last = [move for move in kept if isinstance(move, SayStep) and move.closing]
    before = [move for move in kept if move not in last]
    return Attack(kind, label, [*before, ToolStep(tool, {"sql": sql}), *last], tool)
