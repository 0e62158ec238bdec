"""Whether a question has one answer: its query gives rows, and no tie leaves their order, or which of them, open."""

from __future__ import annotations

import importlib
from typing import Any

from envs.asking import Answer
from synth.verifiers.base import Ask
from synth.verifiers.result_sets import plain

Json = Any


def unsettled(query: str, ask: Ask) -> str | None:
    """Why the answer of the right query does not settle the question on this database; None where it does."""
    answer = ask(query)
    if not isinstance(answer, Answer):
        return f"the query fails: {(answer.message or '').rstrip('.')} ({answer.category})"
    if not answer.rows:
        return "the query gives no row, as any that finds nothing would: let `ground` leave such slots out"
    if all(cell is None for row in answer.rows for cell in row):
        return "the query gives nothing but NULL: let `ground` leave such slots out"
    reading = importlib.import_module("envs.sql_critic").read_query(query)
    if reading is None or reading.ranked is None:
        return None
    ranked = ask(reading.ranked)
    return _tie(ranked, len(answer.columns), reading.first, reading.many) if isinstance(ranked, Answer) else None


def _tie(ranked: Answer, width: int, first: int, many: int | None) -> str | None:
    """Two neighbours in the sorted rows that have equal keys and are not alike, where that shows in the answer."""
    rows = [tuple(map(plain, row)) for row in ranked.rows]
    last = len(rows) if many is None else first + many
    for at in range(max(0, first - 1), min(last, len(rows) - 1)):
        one, other = rows[at], rows[at + 1]
        if one[width:] == other[width:] and one[:width] != other[:width]:
            shown = " or ".join(f"{list(ranked.rows[place][:width])!r:.100}" for place in (at, at + 1))
            return f"ORDER BY leaves open which comes first, {shown}: add a column to it"
    return None
