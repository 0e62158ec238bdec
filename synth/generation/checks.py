"""Check constraints as choices and bounds of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

Cell = str | int | float


@dataclass
class ColumnRules:
    """The rules that checks state for one column."""

    choices: tuple[Cell, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass
class CheckRules:
    """ColumnRules by column, and the checks that say something else."""

    columns: dict[str, ColumnRules] = field(default_factory=dict[str, ColumnRules])
    others: list[str] = field(default_factory=list[str])


def read_checks(texts: list[str], dialect: str = "sqlite") -> CheckRules:
    """Read the conditions of check constraints; conditions of several columns are kept as text."""
    rules = CheckRules()
    for text in texts:
        try:
            tree = sqlglot.parse_one(text, read=dialect)
        except SqlglotError:
            rules.others.append(text)
            continue
        for part in _parts(tree):
            if not _take(part, rules.columns):
                rules.others.append(part.sql())
    return rules


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    bare = tree.unnest()
    if isinstance(bare, exp.And):
        yield from _parts(bare.left)
        yield from _parts(bare.right)
    else:
        yield bare


def _take(part: exp.Expr, rules: dict[str, ColumnRules]) -> bool:
    if isinstance(part, exp.Or):  # status IS NULL OR status IN (...)
        sides = [part.left.unnest(), part.right.unnest()]
        kept = [side for side in sides if not isinstance(side, exp.Is)]
        return len(kept) == 1 and _take(kept[0], rules)
    subject = part.this
    if not isinstance(subject, exp.Column):
        return False
    rule = rules.setdefault(subject.name, ColumnRules())
    if isinstance(part, exp.In):
        values = [_literal(item) for item in part.expressions]
        rule.choices = tuple(value for value in values if value is not None)
        return bool(rule.choices)
    if isinstance(part, exp.Between):
        return _bound(rule, part.args.get("low"), part.args.get("high"))
    if isinstance(part, exp.GTE | exp.GT):
        strict = 1 if isinstance(part, exp.GT) else 0
        return _bound(rule, part.expression, None, strict)
    if isinstance(part, exp.LTE | exp.LT):
        strict = 1 if isinstance(part, exp.LT) else 0
        return _bound(rule, None, part.expression, strict)
    return False


def _bound(rule: ColumnRules, low: object, high: object, strict: int = 0) -> bool:
    lowest, highest = _literal(low), _literal(high)
    if isinstance(lowest, int | float):
        rule.low = lowest + strict
    if isinstance(highest, int | float):
        rule.high = highest - strict
    return isinstance(lowest, int | float) or isinstance(highest, int | float)


def _literal(node: object) -> Cell | None:
    if isinstance(node, exp.Neg):
        value = _literal(node.this)
        return -value if isinstance(value, int | float) else None
    if not isinstance(node, exp.Literal):
        return None
    text = str(node.this)
    if node.is_string:
        return text
    return float(text) if "." in text else int(text)


_PORTABLE = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Null,
    exp.Is,
    exp.In,
    exp.Between,
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
)


def translated(text: str, server: str) -> str | None:
    """A check of SQLite for a server, with all names quoted; None if it uses more than comparisons
    and sums.
    """
    try:
        tree = sqlglot.parse_one(text, read="sqlite")
    except SqlglotError:
        return None
    if not all(isinstance(node, _PORTABLE) for node in tree.walk()):
        return None
    dialect = "postgres" if server == "postgresql" else "mysql"
    return tree.sql(dialect=dialect, identify=True)
