"""Uniqueness of a question's answer: its query gives rows, and no tie leaves open their order or
their choice.
"""

from __future__ import annotations

from envs.plugins import resolve
from envs.world.query import QueryResult
from synth.rewards.base import Ask
from synth.text2sql.result_sets import plain


def ambiguity(query: str, ask: Ask, dialect: str) -> str | None:
    """The reason for which the right query has no unique answer on this database; None if it has
    one.
    """
    answer = ask(query)
    if not isinstance(answer, QueryResult):
        return f"the query fails: {(answer.message or '').rstrip('.')} ({answer.category})"
    if not answer.rows:
        return (
            "the query gives no row, as any that finds nothing would: let `ground` leave such"
            " slots out"
        )
    if all(cell is None for row in answer.rows for cell in row):
        return "the query gives nothing but NULL: let `ground` leave such slots out"
    reading = resolve("envs.tools.sql.critic:read_query")(query, dialect)
    if reading is None or reading.ranked is None:
        return None
    ranked = ask(reading.ranked)
    return (
        _tie(ranked, len(answer.columns), reading.first, reading.many)
        if isinstance(ranked, QueryResult)
        else None
    )


def _tie(ranked: QueryResult, width: int, first: int, many: int | None) -> str | None:
    """Describe two neighbours in the sorted rows that have equal keys and differ, if the answer
    depends on their order.
    """
    rows = [tuple(map(plain, row)) for row in ranked.rows]
    last = len(rows) if many is None else first + many
    for index in range(max(0, first - 1), min(last, len(rows) - 1)):
        one, other = rows[index], rows[index + 1]
        if one[width:] == other[width:] and one[:width] != other[:width]:
            choices = " or ".join(
                f"{list(ranked.rows[position][:width])!r:.100}" for position in (index, index + 1)
            )
            return f"ORDER BY leaves open which comes first, {choices}: add a column to it"
    return None
