"""The right answers of a query on one database.

Rows with equal sort keys may come in any order, and where LIMIT takes a part of them, any of them
may be taken. The database itself ranks the rows, so that keys are equal where it says so: text
under its collation, NULL beside NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from envs.plugins import resolve
from envs.types import Table, ToolResult
from envs.world.query import QueryResult
from synth.evidence import Ask
from synth.ext.text2sql.result_sets import Row, Rules, TiedRows, fixed, same_rows

MOST_RANKED = 100_000
"""Rows among which the rows of one rank are looked for."""


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """``answer`` is the query's own. ``blocks`` are its rows by rank; ``ties`` is the number of
    rows that other right answers may put elsewhere or replace.
    """

    answer: QueryResult
    blocks: Sequence[TiedRows]
    ties: int = 0


def right_answers(query: str, ask: Ask, dialect: str, rules: Rules) -> RightAnswers | ToolResult:
    """The right answers of a query; the failed result of one that fails.

    Without an order that counts and without LIMIT there is one, and no ties are looked for.
    """
    answer = ask(query)
    if isinstance(answer, ToolResult):
        return answer
    alone = RightAnswers(answer, fixed(answer.rows))
    reading = resolve("envs.tools.sql.critic:read_query")(query, dialect)
    if reading is None or not answer.rows or not (rules.ordered or reading.cut):
        return alone
    for ranked in reading.ranked:
        blocks = _blocks(ranked, reading.first, answer, ask)
        width = len(answer.columns)
        if blocks is not None and same_rows(blocks, answer.rows, width, width, rules):
            ties = sum(block.take for block in blocks if _is_open(block, rules))
            return RightAnswers(answer, blocks, ties)
    return alone


def unstable(query: str, ask: Ask, dialect: str, widths: Mapping[str, int]) -> str | None:
    """The reason for which the query may answer otherwise on the same rows; None if none is found.

    ``widths`` are the numbers of columns of the tables, by name in lower case.
    """
    reading = resolve("envs.tools.sql.critic:read_query")(query, dialect)
    if reading is not None and reading.random is not None:
        return f"{reading.random} gives another value each time"
    completed = resolve("envs.tools.sql.critic:settled")(query, dialect, widths)
    if completed is None:
        return None
    one, other = map(ask, completed)
    if isinstance(one, ToolResult) or isinstance(other, ToolResult):
        return None
    width = len(one.columns)
    if same_rows(fixed(one.rows), other.rows, width, width, Rules(any_columns=False)):
        return None
    return "a LIMIT or a window within it takes one of several rows with equal sort keys"


def widths_of(tables: Mapping[str, Table]) -> dict[str, int]:
    """The numbers of columns of tables, by name in lower case."""
    return {name.lower(): len(table.columns) for name, table in tables.items()}


def _is_open(block: TiedRows, rules: Rules) -> bool:
    """True if another right answer takes or orders the block's rows otherwise."""
    free = rules.ordered or block.take < len(block.rows)
    return free and len(set(map(repr, block.rows))) > 1


def _blocks(ranked: str, first: int, answer: QueryResult, ask: Ask) -> list[TiedRows] | None:
    """The rows of an answer by rank; None if the database does not rank them."""
    last = first + len(answer.rows)
    for limit in _limits(last):
        found = ask(f"{ranked} LIMIT {limit}")
        if isinstance(found, ToolResult) or len(found.columns) != len(answer.columns) + 1:
            return None
        rows = found.rows
        if len(rows) < limit or (len(rows) > last and rows[-1][-1] != rows[last - 1][-1]):
            return list(_sliced(rows, first, last))
    return None


def _limits(last: int) -> Iterator[int]:
    """Growing limits: most boundaries are settled by the row behind them."""
    limit = last + 1
    while limit <= MOST_RANKED:
        yield limit
        limit *= 8


def _sliced(rows: Sequence[Row], first: int, last: int) -> Iterator[TiedRows]:
    begin = 0
    for _, group in groupby(rows, key=lambda row: row[-1]):
        own = tuple(row[:-1] for row in group)
        end = begin + len(own)
        if (take := min(end, last) - max(begin, first)) > 0:
            yield TiedRows(own, take)
        begin = end
