"""Helpers for tools over a database: rows as dicts, the rollout's clock, folded names.

::

    from envs.tools.records import change, first, rows, timestamp

    @tool(read_only=True)
    def get_customer(db: Connection, customer_id: int) -> dict:
        ...
        found = first(db, "SELECT name FROM customers WHERE customer_id = :id", id=customer_id)
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import sqlalchemy

from envs import clock
from envs.errors import ToolError
from envs.sandboxes.contained import executed, fetched

if TYPE_CHECKING:
    from sqlalchemy import Connection, TextClause

Row = dict[str, Any]
"""One row: columns by their names."""

MAX_WORDS = 8
"""Words of a search that :func:`words_condition` looks at."""

_APOSTROPHES = str.maketrans("", "", "'`\u2019\u02bc")

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
"""Latin letters that Unicode does not decompose into a base letter and a mark."""


def rows(db: Connection, sql: str, **binds: object) -> list[Row]:
    """All rows of a query; whole numbers are integers, and no value is a Decimal.

    Raises ValueError for two columns of one name, of which a dict could hold one only.
    """
    quick = fetched(db, sql, binds)
    if quick is None:
        result = db.execute(_statement(sql), binds)
        quick = list(result.keys()), result.fetchall()
    names, found = quick
    if len({*names}) < len(names):
        raise ValueError(f"two columns have the same name; rename one with AS: {names}")
    plain = (row if _PLAIN.issuperset(map(type, row)) else map(_number, row) for row in found)
    return [dict(zip(names, row, strict=True)) for row in plain]


def first(db: Connection, sql: str, **binds: object) -> Row | None:
    """The first row of a query, or None."""
    return next(iter(rows(db, sql, **binds)), None)


def change(db: Connection, sql: str, **binds: object) -> None:
    """Run a statement that writes."""
    if not executed(db, sql, binds):
        db.execute(_statement(sql), binds)


def now(db: Connection) -> dt.datetime:
    """The rollout's clock in UTC, to the second."""
    return clock.now(db).replace(microsecond=0)


def timestamp(db: Connection) -> str:
    """The rollout's clock as text: ``2026-03-02 09:00:00``."""
    return now(db).isoformat(sep=" ")


def today(db: Connection) -> str:
    """The rollout's date as text: ``2026-03-02``."""
    return now(db).date().isoformat()


def fold(name: str) -> str:
    """The form in which names compare: lower case, no accents or apostrophes, other punctuation as
    one blank.

    ``"  Siobhán O'Brien-Núñez "`` becomes ``"siobhan obrien nunez"``. A table keeps it in a column
    of its own, such as ``name_folded``.
    """
    letters = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
    if not letters.isascii():
        letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", letters.translate(_APOSTROPHES)))


def words_condition(
    column: str, words: str, refusal: str = "Give at least one letter to search for."
) -> tuple[str, dict[str, str]]:
    """SQL that holds where each word begins a word of a folded column, and its parameters.

    Raises :class:`~envs.errors.ToolError` with the text ``refusal`` for a text without any letter.
    """
    wanted = fold(words).split()[:MAX_WORDS]
    if not wanted:
        raise ToolError(refusal, category="invalid")
    parts = [
        f"({column} LIKE :begin{index} OR {column} LIKE :inside{index})"
        for index in range(len(wanted))
    ]
    binds = {f"begin{index}": f"{word}%" for index, word in enumerate(wanted)}
    return " AND ".join(parts), binds | {
        f"inside{index}": f"% {word}%" for index, word in enumerate(wanted)
    }


@cache
def _statement(sql: str) -> TextClause:
    return sqlalchemy.text(sql)


_PLAIN = frozenset({int, str, type(None)})


def _number(value: Any) -> Any:
    """A whole number as an integer, whatever the driver makes of a SUM."""
    if isinstance(value, Decimal):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
