"""The parts of a query whose rows come in an order that its keys leave open.

A LIMIT within the query and a window such as ROW_NUMBER take one of several rows with equal sort
keys. :func:`settled` completes each such order by the shown columns, once upwards and once
downwards: a query with one answer gives it both times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sqlglot import exp

from envs.tools.sql.critic.critic import DIALECTS, parse

_BY_ROW = (exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Ntile)
"""Window functions whose value depends on the order of rows with equal sort keys."""


def settled(sql: str, dialect: str, widths: Mapping[str, int]) -> tuple[str, str] | None:
    """The query with all orders within it completed upwards, and completed downwards.

    None if nothing in it is open, as far as the text says. ``widths`` are the numbers of columns of
    the tables, by name in lower case.
    """
    name = DIALECTS.get(dialect, dialect)
    statement = parse(sql, name)
    if not isinstance(statement, exp.Query):
        return None
    if not any(_open_parts(statement)):
        return None
    out: list[str] = []
    for down in (False, True):
        copy = statement.copy()
        for part in list(_open_parts(copy)):
            _complete(part, widths, down=down)
        out.append(copy.sql(dialect=name))
    return (out[0], out[1]) if out[0] != out[1] else None


def _open_parts(statement: exp.Query) -> Iterator[exp.Expr]:
    for query in statement.find_all(exp.Query):
        cut = any(query.args.get(part) is not None for part in ("limit", "offset"))
        outermost = query is statement and query.args.get("order") is not None
        distinct = query.args.get("distinct")
        distinct_on = isinstance(distinct, exp.Distinct) and distinct.args.get("on")
        if (cut and not outermost and not isinstance(query.parent, exp.Exists)) or distinct_on:
            yield query
    for window in statement.find_all(exp.Window):
        frame = window.args.get("spec")
        kind = str(frame.args.get("kind")) if isinstance(frame, exp.WindowSpec) else ""
        if isinstance(_function(window), _BY_ROW) or kind.upper() == "ROWS":
            yield window


def _function(window: exp.Window) -> exp.Expr:
    function = window.this
    while isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
        function = function.this
    return function


def _complete(part: exp.Expr, widths: Mapping[str, int], *, down: bool) -> None:
    if isinstance(part, exp.Window):
        select = part.find_ancestor(exp.Select)
        shown = [] if select is None else select.expressions
        more = [item.copy() for item in _plain([*shown, _function(part).args.get("this")])]
    else:
        query = cast("exp.Query", part)
        more = [exp.Literal.number(place + 1) for place in range(_width(query, widths))]
        distinct = query.args.get("distinct")
        if isinstance(distinct, exp.Distinct) and query.args.get("order") is None:
            on = distinct.args.get("on")
            more = [*([item.copy() for item in on.expressions] if on else []), *more]
    if not more:
        return
    order = part.args.get("order")
    keys = [item.copy() for item in order.expressions] if isinstance(order, exp.Order) else []
    keys += [exp.Ordered(this=item, desc=down, nulls_first=not down) for item in more]
    part.set("order", exp.Order(expressions=keys))


def _plain(shown: Sequence[object]) -> list[exp.Expr]:
    """The expressions over columns, without windows, queries, stars and constants."""
    return [
        item.unalias()
        for item in shown
        if isinstance(item, exp.Expr)
        and not item.is_star
        and item.find(exp.Window, exp.Query) is None
        and item.find(exp.Column) is not None
    ]


def _width(query: exp.Query, widths: Mapping[str, int]) -> int:
    """The number of columns that a query shows; 0 if it is unknown."""
    select = query
    while isinstance(select, exp.SetOperation):
        select = select.left
    if not isinstance(select, exp.Select):
        return 0
    if not any(item.is_star for item in select.expressions):
        return len(select.expressions)
    named = {item.alias.lower() for item in query.root().find_all(exp.CTE)}
    sources = [
        item
        for item in select.find_all(exp.Table, exp.Subquery)
        if item.find_ancestor(exp.Select) is select
    ]
    if len(select.expressions) > 1 or not isinstance(select.expressions[0], exp.Star):
        return 0
    counts = [
        0
        if isinstance(item, exp.Subquery) or (not item.db and item.name.lower() in named)
        else widths.get(item.name.lower(), 0)
        for item in sources
    ]
    return sum(counts) if all(counts) else 0
