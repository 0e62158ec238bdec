"""A schema linker: which tables of which databases a question is about.

Each table is a document of SQLite's full-text search (FTS5, with Porter's stemmer): its name, the
names of its columns and of the tables that they refer to, what their authors say of them, and texts
from its rows. BM25 ranks the documents, without a model and the same each time::

    with SchemaLinker() as linker:
        linker.add("shop", template.tables, sampled_texts(sandbox, template.tables))
        linker.tables("Which orders were paid in March?")[0].table
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy

from envs.closing import Closing
from envs.sandboxes.base import Sandbox
from envs.types import Limits, Table

FIRST = 5
"""Tables that are given unless another number is asked for."""

LONGEST = 500
"""Different words of a question that are looked up."""

BEST = 2
"""Tables by which a database counts: of more, the largest database would win."""

SAMPLED_ROWS = 300
SAMPLED_CHARACTERS = 60
"""Rows of a table whose texts are indexed, and the longest text that is."""

WEIGHTS = {"name": 8.0, "columns": 2.0, "about": 1.0, "samples": 3.0}
"""What a word counts by the place where it is found."""

SPREAD = 0.3
"""The part of a table's score that the tables behind its foreign keys get, on either side."""

_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
a about all also am an and any are as at be been but by can could did do does each every
for from get give had has have her here him his how i if in into is it its list many me
more most much my no not of on one or our out over please say she he show since so some
tell than that the their them then there these they this those to up us want was we were
what when where which who whom whose why will with would you your find need like let look
know
""",
    )
)
"""Words that say nothing about a table; together they would outweigh those that do."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _RankedTable:
    """A table that a question may be about; a higher ``score`` is better, and comparable only in
    one answer.
    """

    database: str
    table: str
    score: float


class SchemaLinker(Closing):
    """An index of the tables of databases, in memory. Close it, or use it as a context manager."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        columns = ", ".join(WEIGHTS)
        self._db.execute(
            f"CREATE VIRTUAL TABLE tables USING fts5(database UNINDEXED, own UNINDEXED, {columns},"
            " tokenize = 'porter unicode61')"
        )
        self._linked = defaultdict[tuple[str, str], set[str]](set)
        self._rank = ", ".join(str(weight) for weight in (0.0, 0.0, *WEIGHTS.values()))

    def add(
        self,
        database: str,
        tables: Mapping[str, Table],
        samples: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Add the tables of a database; ``samples`` are texts from the rows of each."""
        for name, table in tables.items():
            columns = [column.name for column in table.columns]
            referred = {item.references[0] for item in table.columns if item.references}
            for other in referred:
                self._linked[database, name].add(other)
                self._linked[database, other].add(name)
            found = (
                _words([name]),
                _words([*columns, *referred]),
                " ".join(column.about for column in table.columns),
                " ".join((samples or {}).get(name, ())),
            )
            self._db.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?)", (database, name, *found)
            )

    def tables(
        self, question: str, limit: int | None = FIRST, database: str | None = None
    ) -> list[_RankedTable]:
        """The tables that the question may be about, the best first; of one ``database``, or of
        all.
        """
        scores = self._scores(question, database)
        spread = defaultdict[tuple[str, str], float](float, scores)
        for (where, table), score in scores.items():
            for other in self._linked[where, table]:
                spread[where, other] += SPREAD * score
        ranked = sorted(spread.items(), key=lambda item: (-item[1], item[0]))
        return [_RankedTable(*place, score) for place, score in ranked[:limit]]

    def _scores(self, question: str, database: str | None) -> dict[tuple[str, str], float]:
        """The score of each table that has a word of the question."""
        if not (query := _query(question)):
            return {}
        found = self._db.execute(
            f"SELECT database, own, -bm25(tables, {self._rank}) FROM tables"
            " WHERE tables MATCH ? AND (? IS NULL OR database = ?)",
            (query, database, database),
        )
        return {(where, table): score for where, table, score in found}

    def databases(self, question: str) -> list[str]:
        """The databases that the question may be about, the best first: each counts by its best
        tables.
        """
        scores: dict[str, list[float]] = {}
        for (database, _), score in self._scores(question, None).items():
            scores.setdefault(database, []).append(score)
        best = {name: sum(sorted(found)[-BEST:]) for name, found in scores.items()}
        return sorted(best, key=lambda name: (-best[name], name))

    def close(self) -> None:
        self._db.close()


def _words(names: Sequence[str]) -> str:
    """Names of tables and columns as words: order_items, OrderItems and orderItems are two."""
    return " ".join(_CAMEL.sub(" ", name) for name in names)


def _query(question: str) -> str:
    """The words of a question as a query of FTS5, each as a string: none is an operator of it."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(_CAMEL.sub(" ", question)))
    kept = [word for word in words if word not in _COMMON][:LONGEST]
    return " OR ".join(f'"{word}"' for word in kept)


def sampled_texts(sandbox: Sandbox, tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """The different short texts in the first rows of each table.

    Raises what a read-only transaction of the sandbox raises.
    """
    found: dict[str, list[str]] = {}
    for name, table in tables.items():
        own = name if table.schema is None else name.removeprefix(f"{table.schema}.")
        everything = cast("sqlalchemy.ColumnElement[Any]", sqlalchemy.literal_column("*"))
        rows = sqlalchemy.select(everything).select_from(sqlalchemy.table(own, schema=table.schema))
        with sandbox.transaction(_READING) as transaction:
            given = transaction.connection.execute(rows.limit(SAMPLED_ROWS)).all()
        texts = (value for row in given for value in row if isinstance(value, str))
        found[name] = list(dict.fromkeys(text for text in texts if len(text) <= SAMPLED_CHARACTERS))
    return found


_READING = Limits(True, 10_000, None, None)
