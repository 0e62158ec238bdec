"""Read from a query's text the tables that it uses, the order of its rows, and what may vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from envs.tools.sql.critic.critic import DIALECTS, parse

SORT_KEY = "sort_key_"
"""How the columns are called that :attr:`QueryReading.ranked` shows the sort keys in, with a number
behind.
"""

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


@dataclass(frozen=True, slots=True)
class QueryReading:
    """``tables`` are those read, in the order of the text; ``ordered`` says whether the outermost
    query has ORDER BY.

    ``unsettled`` says why the answer is not the same each time (None where nothing says so).
    ``one_row`` is true where its text promises one row at most: totals without GROUP BY, LIMIT 1.
    ``ranked`` is the query without LIMIT and with its sort keys as further columns, for finding
    ties: None where it sorts nothing or its keys cannot be shown. ``first`` and ``many`` are OFFSET
    and LIMIT. ``clock`` is a function in it that tells the present time.
    """

    tables: tuple[str, ...]
    ordered: bool
    unsettled: str | None
    ranked: str | None
    first: int = 0
    many: int | None = None
    one_row: bool = False
    clock: str | None = None


def read_query(sql: str, dialect: str = "sqlite") -> QueryReading | None:
    """Read one SELECT; None for a text that is not a single query, or cannot be parsed."""
    statement = parse(sql, DIALECTS.get(dialect, dialect))
    if not isinstance(statement, exp.Query):
        return None
    named = {item.alias.lower() for item in statement.find_all(exp.CTE)}
    tables = [
        item.name
        for item in statement.find_all(exp.Table, bfs=False)
        if isinstance(item.this, exp.Identifier) and (item.db or item.name.lower() not in named)
    ]
    first, many = _number(statement, "offset"), _number(statement, "limit")
    ranked = _ranked(statement)
    return QueryReading(
        tables=tuple(dict.fromkeys(tables)),
        ordered=statement.args.get("order") is not None,
        unsettled=_unsettled(statement),
        ranked=None if ranked is None else ranked.sql(dialect=DIALECTS.get(dialect, dialect)),
        first=first or 0,
        many=many,
        one_row=many == 1 or _is_total(statement),
        clock=_clock(statement),
    )


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


def _unsettled(statement: exp.Expr) -> str | None:
    for item in statement.find_all(exp.Query):
        cut = item.args.get("limit") is not None or item.args.get("offset") is not None
        if cut and item.args.get("order") is None and not isinstance(item.parent, exp.Exists):
            return "LIMIT without ORDER BY takes any rows"
    for item in statement.find_all(exp.Func):
        name = item.name if isinstance(item, exp.Anonymous) else item.sql_name()
        if name.lower() in _RANDOM:
            return f"{name.upper()} gives another value each time"
    return None


def _clock(statement: exp.Expr) -> str | None:
    for item in statement.find_all(exp.Func):
        name = item.name if isinstance(item, exp.Anonymous) else item.sql_name()
        if name.lower() in _CLOCKS:
            return name.upper()
    return None


def _ranked(statement: exp.Query) -> exp.Query | None:
    order = statement.args.get("order")
    if not isinstance(order, exp.Order):
        return None
    query = statement.copy()
    for name in ("limit", "offset"):
        query.set(name, None)
    keys = [cast("exp.Ordered", expression).this.copy() for expression in order.expressions]
    if isinstance(query, exp.Select):
        if query.args.get("distinct") is not None or any(
            expression.is_star for expression in query.expressions
        ):
            return None
        shown = query.expressions
        for index, key in enumerate(keys):
            meant = _meant(key, shown)
            if meant is None:
                return None
            query = query.select(exp.alias_(meant, f"{SORT_KEY}{index}"), copy=False)
        return query
    return None


def _meant(key: exp.Expr, shown: list[exp.Expr]) -> exp.Expr | None:
    """The expression behind a sort key: a place in the select list, a name given there, or the key
    itself.
    """
    if isinstance(key, exp.Literal):
        index = int(key.name) - 1 if not key.is_string and key.name.isdigit() else -1
        return shown[index].unalias().copy() if 0 <= index < len(shown) else None
    names = {item.alias.lower(): item.unalias() for item in shown if item.alias}

    def behind(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in names:
            return exp.paren(names[node.name.lower()].copy())
        return node

    return key.copy().transform(behind)
