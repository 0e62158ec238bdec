"""Properties of a query by which a right answer may still be judged wrong, as tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from envs.tools.sql.critic.critic import DIALECTS, parse

_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*")
_FLOAT = re.compile(r"real|double|float", re.IGNORECASE)
_OTHER_DATE = re.compile(r"%?\d{1,2}[/.]\d{1,2}[/.]\d{2,4}%?")
_COMPARES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)


def doubts(
    sql: str, dialect: str, types: Mapping[str, str], rows: Sequence[Sequence[object]]
) -> list[str]:
    """The tags of a query: what may set apart two answers that a person takes for one.

    ``types`` are the types of columns by name in lower case, ``rows`` the query's own answer.

    - ``unread``: the query cannot be read.
    - ``null_first``: the first row has NULL as its sort key.
    - ``text_number``: numbers are compared or sorted as text.
    - ``float_sum``: floats are added up, in whatever order.
    - ``date_forms``: a date is written in a form that does not sort.
    - ``joined_text``: texts are joined in no given order.
    """
    statement = parse(sql, DIALECTS.get(dialect, dialect))
    if not isinstance(statement, exp.Query):
        return ["unread"]
    keys = list(_shown_keys(statement))
    found = {
        "null_first": bool(rows) and any(rows[0][key] is None for key in keys),
        "text_number": _compares_text(statement)
        or any(len(rows) > 1 and all(_is_number(row[key]) for row in rows) for key in keys),
        "float_sum": _adds_floats(statement, types),
        "date_forms": any(
            literal.is_string and _OTHER_DATE.fullmatch(literal.name)
            for literal in statement.find_all(exp.Literal)
        ),
        "joined_text": any(
            joined.find(exp.Order) is None
            and not isinstance(joined.parent, exp.WithinGroup | exp.Order)
            for joined in statement.find_all(exp.GroupConcat, exp.ArrayAgg)
        ),
    }
    return [tag for tag, there in found.items() if there]


def _adds_floats(statement: exp.Expr, types: Mapping[str, str]) -> bool:
    return any(
        _FLOAT.search(types.get(column.name.lower(), ""))
        for total in statement.find_all(exp.Sum, exp.Avg)
        for column in total.find_all(exp.Column)
    )


def _shown_keys(statement: exp.Query) -> Iterator[int]:
    """The places in the select list of the sort keys that are shown."""
    order = statement.args.get("order")
    shown = list(statement.selects)
    if not isinstance(order, exp.Order) or any(item.is_star for item in shown):
        return
    texts = [item.unalias().sql() for item in shown]
    names = [item.alias_or_name.lower() for item in shown]
    for key in order.expressions:
        inner = key.this
        if isinstance(inner, exp.Literal) and inner.name.isdigit():
            place = int(inner.name) - 1
            if 0 <= place < len(shown):
                yield place
        elif inner.sql() in texts:
            yield texts.index(inner.sql())
        elif isinstance(inner, exp.Column) and inner.name.lower() in names:
            yield names.index(inner.name.lower())


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value) is not None


def _compares_text(statement: exp.Expr) -> bool:
    """True for an order between a column and a number in quotes."""
    return any(
        any(isinstance(part, exp.Column) for part in compared.iter_expressions())
        and any(
            isinstance(part, exp.Literal) and part.is_string and _is_number(part.name)
            for part in compared.iter_expressions()
        )
        for compared in statement.find_all(*_COMPARES)
    )
