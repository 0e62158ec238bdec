"""Read from a query's text the tables that it uses, the order of its rows, and what may vary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from sqlglot import exp

from envs.tools.sql.critic.critic import DIALECTS, parse

RANK = "sort_rank_"
"""The name of the column that :attr:`QueryReading.ranked` shows the place of a row in."""

_RANDOM = frozenset(
    {"rand", "random", "randomblob", "uuid", "gen_random_uuid", "random_uuid", "newid", "setseed"}
)

_CLOCKS = frozenset(
    {
        *("current_date", "current_time", "current_timestamp", "current_datetime"),
        *("localtime", "localtimestamp", "now", "today", "getdate", "sysdate", "systimestamp"),
        *("curdate", "curtime", "utc_date", "utc_time", "utc_timestamp", "unix_timestamp"),
        *("transaction_timestamp", "statement_timestamp", "clock_timestamp"),
    }
)
_MOMENTS = frozenset({"now", "today", "yesterday", "tomorrow"})
"""Texts that a date or a timestamp is read from, and that mean the present."""

_DATES = frozenset({"date", "datetime", "time", "julianday", "strftime", "unixepoch"})
"""SQLite's functions, which tell the present time if they are given none."""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """``tables`` are those read, in the order of the text, with their schema where it is written;
    ``ordered`` says whether the outermost query has ORDER BY, ``columns`` names its columns, empty
    for one without a name.

    ``random`` is a function in it whose value is new each time, ``clock`` one that tells the
    present time. ``cut`` is true where LIMIT or OFFSET takes a part of the rows. ``one_row`` is
    true where its text promises one row at most: totals without GROUP BY, LIMIT 1.

    ``ranked`` are forms of the query without LIMIT, whose last column is the rank of a row by the
    sort keys, for finding ties: several since an engine may refuse one, none where nothing is
    sorted or the keys cannot be named. ``first`` is the OFFSET. ``values`` are written values that
    rows are picked by or that stand as cells, with names in quotes, which SQLite may read as texts.
    """

    tables: tuple[str, ...]
    ordered: bool
    random: str | None
    clock: str | None
    ranked: tuple[str, ...]
    cut: bool = False
    first: int = 0
    one_row: bool = False
    columns: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def read_query(sql: str, dialect: str = "sqlite") -> QueryReading | None:
    """Read one SELECT; None for a text that is not a single query, or cannot be parsed."""
    return _reading(parse(sql, DIALECTS.get(dialect, dialect)), dialect)


def read_view(definition: str, dialect: str) -> QueryReading | None:
    """Read the query of a view, with or without ``CREATE VIEW`` before it."""
    statement = parse(definition, DIALECTS.get(dialect, dialect))
    query = statement.expression if isinstance(statement, exp.Create) else statement
    return _reading(query, dialect)


def _reading(statement: exp.Expr | None, dialect: str) -> QueryReading | None:
    name = DIALECTS.get(dialect, dialect)
    if not isinstance(statement, exp.Query):
        return None
    named = {item.alias.lower() for item in statement.find_all(exp.CTE)}
    tables = [
        f"{item.db}.{item.name}" if item.db else item.name
        for item in statement.find_all(exp.Table, bfs=False)
        if isinstance(item.this, exp.Identifier) and (item.db or item.name.lower() not in named)
    ]
    return QueryReading(
        tables=tuple(dict.fromkeys(tables)),
        ordered=statement.args.get("order") is not None,
        random=_random(statement),
        clock=_clock(statement),
        ranked=tuple(query.sql(dialect=name) for query in _ranked(statement)),
        cut=any(statement.args.get(part) is not None for part in ("limit", "offset")),
        first=_number(statement, "offset") or 0,
        one_row=_number(statement, "limit") == 1 or _is_total(statement),
        columns=tuple(statement.named_selects),
        values=frozenset(_values(statement)),
    )


def _values(statement: exp.Query) -> Iterator[str]:
    for node in statement.find_all(exp.Literal, exp.Identifier):
        picks = isinstance(node.parent, exp.EQ | exp.In | exp.Tuple | exp.Select | exp.Alias)
        if picks if isinstance(node, exp.Literal) else node.quoted:
            yield node.name


def _is_total(statement: exp.Query) -> bool:
    """True for a SELECT of values over all rows that it reads, or of no table at all."""
    if not isinstance(statement, exp.Select) or statement.args.get("group") is not None:
        return False
    if not any(isinstance(part, exp.From) for part in statement.args.values()):
        return True
    return any(_holds_aggregate(item) for item in statement.expressions)


def _holds_aggregate(item: exp.Expr) -> bool:
    """True for an aggregate function, but not for one of a window or of a query within."""
    if isinstance(item, exp.Window | exp.Query):
        return False
    return isinstance(item, exp.AggFunc) or any(map(_holds_aggregate, item.iter_expressions()))


def _number(query: exp.Expr, name: str) -> int | None:
    found = query.args.get(name)
    value = found.args.get("expression") if isinstance(found, exp.Expr) else None
    return int(value.name) if isinstance(value, exp.Literal) and not value.is_string else None


def _functions(statement: exp.Expr) -> list[tuple[str, exp.Expr]]:
    found = statement.find_all(exp.Func)
    return [
        (item.name if isinstance(item, exp.Anonymous) else item.sql_name(), item) for item in found
    ]


def _random(statement: exp.Expr) -> str | None:
    names = [name.upper() for name, _ in _functions(statement) if name.lower() in _RANDOM]
    return names[0] if names else None


def _clock(statement: exp.Expr) -> str | None:
    for name, item in _functions(statement):
        arguments = len(list(item.iter_expressions()))
        if (
            name.lower() in _CLOCKS
            or (name.lower() in _DATES and not arguments)
            or (name.lower() == "age" and arguments == 1)
        ):
            return name.upper()
    for literal in statement.find_all(exp.Literal):
        if literal.is_string and literal.name.strip().lower() in _MOMENTS:
            parent = literal.parent
            if isinstance(parent, exp.Cast | exp.Func):
                return f"'{literal.name}'"
    return None


def _ranked(statement: exp.Query) -> list[exp.Query]:
    """The query with a column of ranks: one in its own select list, and one around it."""
    order, distinct = statement.args.get("order"), statement.args.get("distinct")
    if not isinstance(order, exp.Order):
        return []
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        return []
    keys = [cast("exp.Ordered", key) for key in order.expressions]
    bare = statement.copy()
    for name in ("limit", "offset", "order"):
        bare.set(name, None)
    out: list[exp.Query] = []
    if isinstance(bare, exp.Select) and (
        rank := _rank([_meant(key, bare.expressions) for key in keys])
    ):
        out.append(bare.copy().select(rank, copy=False).order_by(RANK, copy=False))
    if rank := _rank([_output(key, statement) for key in keys]):
        source = bare.copy().subquery("answered", copy=False)
        out.append(exp.select("*", rank).from_(source).order_by(RANK))
    return out


def _rank(keys: Sequence[exp.Expr | None]) -> exp.Expr | None:
    """The column of ranks by these keys; None if one of them is not known."""
    if None in keys:
        return None
    window = exp.Window(this=exp.Anonymous(this="RANK"), order=exp.Order(expressions=list(keys)))
    return exp.alias_(window, RANK)


def _with(key: exp.Ordered, meant: exp.Expr) -> exp.Expr:
    again = key.copy()
    again.set("this", meant)
    return again


def _place(key: exp.Expr) -> int | None:
    """The place in the select list that a sort key names, from 0."""
    number = isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit()
    return int(key.name) - 1 if number else None


def _output(key: exp.Ordered, statement: exp.Query) -> exp.Expr | None:
    """A sort key by the name of a column of the answer; None if it names none."""
    select = statement
    while isinstance(select, exp.SetOperation):
        select = select.left
    shown = [_identifier(item) for item in select.selects]
    place = _place(key.this)
    if place is not None:
        found = shown[place : place + 1] if place >= 0 else []
    else:
        plain = isinstance(key.this, exp.Column) and not key.this.table
        name = key.this.name.lower() if plain else ""
        found = [item for item in shown if item is not None and item.name.lower() == name]
    if len(found) != 1 or found[0] is None:
        return None
    return _with(key, exp.Column(this=found[0].copy()))


def _identifier(shown: exp.Expr) -> exp.Identifier | None:
    """The name of a column of the answer, as it is quoted."""
    name = shown.args.get("alias") if isinstance(shown, exp.Alias) else shown.this
    return name if isinstance(name, exp.Identifier) else None


def _meant(key: exp.Ordered, shown: list[exp.Expr]) -> exp.Expr | None:
    """The expression behind a sort key: a place in the select list, a name given there, or it."""
    place = _place(key.this)
    if place is not None:
        starred = any(item.is_star for item in shown)
        known = 0 <= place < len(shown) and not starred
        return _with(key, shown[place].unalias().copy()) if known else None
    names = {item.alias.lower(): item.unalias() for item in shown if item.alias}

    def behind(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in names:
            return exp.paren(names[node.name.lower()].copy())
        return node

    return _with(key, key.this.copy().transform(behind))
