"""Properties of a query by which a right answer may still be judged wrong, as tags, and mistakes in
a query that the rows of its database show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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


def likely_mistakes(
    sql: str,
    dialect: str,
    columns: Mapping[str, Collection[str]],
    ask: Callable[[str], Sequence[Sequence[object]] | None],
) -> Iterator[str]:
    """Likely mistakes in a query, with the values of the database that show them: a text that no
    row of its column has, and a division of integers that drops the fraction.

    ``columns`` are the names of each table's columns. ``ask`` gives the rows of a query, None where
    it fails.
    """
    name = DIALECTS.get(dialect, dialect)
    statement = parse(sql, name)
    if not isinstance(statement, exp.Query):
        return
    for table, column, text in _compared_texts(statement, columns):
        spot, place = (exp.to_identifier(one, quoted=True).sql(name) for one in (column, table))
        literal = exp.Literal.string(text).sql(name)
        found = ask(f"SELECT {spot} FROM {place} WHERE {spot} = {literal} LIMIT 1")
        same = f"LOWER(TRIM({spot})) = LOWER(TRIM({literal}))"
        near = ask(f"SELECT {spot} FROM {place} WHERE {same} LIMIT 1")
        if found is not None and near is not None and not found:
            beside = f", but some have {near[0][0]!r}" if near else ""
            yield f"no row has {text!r} in {table}.{column}{beside}"
    if any(statement.find_all(exp.Div)):
        exact = statement.copy()
        for one in list(exact.find_all(exp.Div)):
            one.set("this", exp.cast(exp.paren(one.this), "REAL"))
        for row, whole in zip(ask(sql) or (), ask(exact.sql(dialect=name)) or (), strict=False):
            if row != whole:
                yield f"a division of integers drops the fraction: {row} instead of {whole}"
                return


def _compared_texts(
    statement: exp.Query, columns: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str, str]]:
    """The texts that a column has to be equal to: table, column, text. A column of several tables
    of the query, or of a subquery, is left out.
    """
    aliases = {one.alias_or_name.lower(): one.name.lower() for one in statement.find_all(exp.Table)}
    known = {table.lower(): (table, own) for table, own in columns.items()}
    for test in statement.find_all(exp.EQ, exp.In):
        literals = [test.expression] if isinstance(test, exp.EQ) else test.expressions
        column = test.this
        if not isinstance(column, exp.Column):
            continue
        names = {aliases.get(column.table.lower())} if column.table else {*aliases.values()}
        owners = [
            (known[name][0], own)
            for name in names
            if name in known
            for own in known[name][1]
            if own.lower() == column.name.lower()
        ]
        for literal in literals if len(owners) == 1 else ():
            if isinstance(literal, exp.Literal) and literal.is_string:
                yield *owners[0], literal.name


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
