"""Conditions that are the same for every row."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify


def is_always_true(condition: exp.Expr) -> bool:
    """Tell whether a condition is a constant other than false, 0 and NULL, or compares each column
    with itself only.
    """
    same = condition.transform(_same)
    try:
        folded = simplify(same)
    except Exception:  # a condition that cannot be folded; other advice on the statement stays
        return False
    return _truth(folded) is True


def _same(node: exp.Expr) -> exp.Expr:
    """Replace what compares equal to itself, and numbers where a truth value is expected."""
    if isinstance(node, exp.EQ | exp.GTE | exp.LTE) and node.this == node.expression:
        return exp.true()
    if isinstance(node, exp.Not | exp.And | exp.Or | exp.Paren):
        for key, value in node.args.items():
            truth = _truth(value)
            if truth is not None:
                node.set(key, exp.true() if truth else exp.false())
    return node


def _truth(node: object) -> bool | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal) and not node.is_string:
        try:
            return float(node.this) != 0
        except ValueError:
            return None
    return None
