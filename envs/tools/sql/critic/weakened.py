"""A query with one thing wrong: what a question has to tell from the right one."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from envs.tools.sql.critic.critic import DIALECTS, parse
from envs.tools.sql.critic.frame import conjuncts


def weakened(sql: str, dialect: str = "sqlite") -> Iterator[tuple[str, str]]:
    """The query with one thing wrong, each with what it is: a condition left out, DISTINCT left
    out, another aggregate, another direction of the order, a wider LIMIT.
    """
    name = DIALECTS.get(dialect, dialect)
    statement = parse(sql, name)
    if not isinstance(statement, exp.Query):
        return
    for label, changed in _changes(statement):
        yield label, changed.sql(dialect=name)


def _changes(statement: exp.Query) -> Iterator[tuple[str, exp.Expr]]:
    for place in (exp.Where, exp.Having):
        for index, clause in enumerate(statement.find_all(place)):
            terms = list(conjuncts(clause.this))
            for number, term in enumerate(terms):
                copy = statement.copy()
                found = list(copy.find_all(place))[index]
                rest = [term.copy() for other, term in enumerate(terms) if other != number]
                if rest:
                    found.set("this", exp.and_(*rest))
                else:
                    found.pop()
                yield f"without {term.sql()!r}", copy
    for index, select in enumerate(statement.find_all(exp.Select)):
        if select.args.get("distinct") is not None:
            copy = statement.copy()
            list(copy.find_all(exp.Select))[index].set("distinct", None)
            yield "without DISTINCT", copy
    for index, item in enumerate(statement.find_all(exp.Count)):
        if isinstance(item.this, exp.Distinct):
            copy = statement.copy()
            counted = list(copy.find_all(exp.Count))[index]
            counted.set("this", counted.this.expressions[0])
            yield f"{item.sql()} without DISTINCT", copy
    for old, new in (
        (exp.Sum, exp.Avg),
        (exp.Avg, exp.Sum),
        (exp.Min, exp.Max),
        (exp.Max, exp.Min),
    ):
        for index, item in enumerate(statement.find_all(old)):
            copy = statement.copy()
            found = list(copy.find_all(old))[index]
            found.replace(new(this=found.this.copy()))
            yield f"{new.__name__.upper()} instead of {item.sql()}", copy
    order = statement.args.get("order")
    if isinstance(order, exp.Order):
        copy = statement.copy()
        key = copy.args["order"].expressions[0]
        key.set("desc", not key.args.get("desc"))
        yield "the order turned round", copy
