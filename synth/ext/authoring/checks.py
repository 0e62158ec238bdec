"""Check constraints as choices and bounds of columns, and in the SQL of SQLite."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from synth.ext.authoring.names import quoted

Cell = str | int | float


@dataclass
class ColumnRules:
    """The rules that checks state for one column. ``low`` and ``high`` are bounds of whole numbers,
    which may be reached; ``above`` and ``below`` those as they stand, which may not.
    """

    choices: tuple[Cell, ...] = ()
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None


def read_checks(texts: Iterable[str]) -> dict[str, ColumnRules]:
    """The rules that the conditions of check constraints state for single columns."""
    rules = dict[str, ColumnRules]()
    for tree in (parse(text, "sqlite") for text in texts):
        for part in () if tree is None else _parts(tree):
            _take(part, rules)
    return rules


def parse(text: str, dialect: str) -> exp.Expr | None:
    """The tree of an expression; None if it has none. At the start of a text, sqlglot takes a
    column ``lock`` for a command.
    """
    try:
        return sqlglot.parse_one(f"({text}\n)", read=dialect).this
    except SqlglotError:
        return None


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    bare = tree.unnest()
    if isinstance(bare, exp.And):
        yield from _parts(bare.left)
        yield from _parts(bare.right)
    else:
        yield bare


def _take(part: exp.Expr, rules: dict[str, ColumnRules]) -> None:
    if isinstance(part, exp.Or):  # status IS NULL OR status IN (...)
        sides = [part.left.unnest(), part.right.unnest()]
        kept = [side for side in sides if not isinstance(side, exp.Is)]
        return _take(kept[0], rules) if len(kept) == 1 else None
    subject = part.this
    if not isinstance(subject, exp.Column):
        return None
    rule = rules.setdefault(subject.name, ColumnRules())
    if isinstance(part, exp.In):
        values = [_literal(item) for item in part.expressions]
        rule.choices = tuple(value for value in values if value is not None)
    elif isinstance(part, exp.Between):
        _bound(rule, part.args.get("low"), part.args.get("high"))
    elif isinstance(part, exp.GTE | exp.GT):
        _bound(rule, part.expression, None, int(isinstance(part, exp.GT)))
    elif isinstance(part, exp.LTE | exp.LT):
        _bound(rule, None, part.expression, int(isinstance(part, exp.LT)))
    return None


def _bound(rule: ColumnRules, low: object, high: object, strict: int = 0) -> None:
    lowest, highest = _literal(low), _literal(high)
    if isinstance(lowest, int | float):
        rule.low = lowest + strict
        rule.above = lowest if strict else None
    if isinstance(highest, int | float):
        rule.high = highest - strict
        rule.below = highest if strict else None


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


PORTABLE = (
    exp.Boolean,
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
    tree = parse(text, "sqlite")
    if tree is None or not all(isinstance(node, PORTABLE) for node in tree.walk()):
        return None
    return tree.sql(dialect="postgres" if server == "postgresql" else "mysql", identify=True)


_HOLDABLE = (*PORTABLE, exp.DPipe)
_PLAIN = (exp.Literal, exp.Boolean, exp.Neg, exp.Null, exp.Paren)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_EXACT = frozenset({exp.DataType.Type.DECIMAL, exp.DataType.Type.DOUBLE})
"""Types that keep every number as it is."""

_OTHER_TEXTS = frozenset({exp.DataType.Type.BPCHAR, exp.DataType.Type.USERDEFINED})
"""Types of texts beside those that sqlglot lists: CHAR as PostgreSQL writes it, an ENUM."""


def condition(
    text: str, dialect: str, columns: Collection[str], value: str | None = None
) -> str | None:
    """A condition or a sum in SQLite; None if SQLite would not decide it alike, or if it names a
    column beside ``columns``. ``value`` is the column that VALUE of a domain stands for.
    """
    tree = _parsed(text, dialect)
    if tree is None:
        return None
    for name in list(tree.find_all(exp.Column)):
        if value is not None and name.name.upper() == "VALUE":
            name.replace(exp.column(value))
    if not all(isinstance(node, _HOLDABLE) for node in tree.walk()):
        return None
    if not {name.name for name in tree.find_all(exp.Column)} <= set(columns):
        return None
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("quoted", quoted(identifier.name) != identifier.name)
    return tree.unnest().sql(dialect="sqlite")


def default(text: str, dialect: str) -> str | None:
    """A default in SQLite that is a plain value or the time; None for others and bytes of zero."""
    tree = _parsed(text, dialect)
    bare = tree and tree.unnest()
    if isinstance(bare, exp.CurrentTimestamp | exp.CurrentDate | exp.Localtimestamp):
        return "CURRENT_DATE" if isinstance(bare, exp.CurrentDate) else "CURRENT_TIMESTAMP"
    if tree is None or not all(isinstance(node, _PLAIN) for node in tree.walk()):
        return None
    written = tree.unnest().sql(dialect="sqlite")
    return None if "\0" in written else written


def columns_of(text: str) -> set[str]:
    """The columns that a condition of SQLite names; none if it cannot be read."""
    tree = parse(text, "sqlite")
    return set() if tree is None else {column.name for column in tree.find_all(exp.Column)}


def qualified(text: str, alias: str) -> str:
    """A condition of SQLite about the row of an alias."""
    tree = sqlglot.parse_one(f"({text})", read="sqlite").this
    for column in tree.find_all(exp.Column):
        column.set("table", exp.to_identifier(alias))
    return tree.sql(dialect="sqlite")


def _parsed(text: str, dialect: str) -> exp.Expr | None:
    """The tree of an expression without casts that change nothing, in parentheses."""
    bare = parse(text, dialect)
    if bare is None:
        return None
    tree: exp.Expr = exp.Paren(this=bare)
    for node in reversed(list(tree.find_all(exp.Cast, exp.Introducer))):
        bare = node.expression if isinstance(node, exp.Introducer) else _without_cast(node)
        if bare is not None:
            node.replace(bare)
    for node in list(tree.find_all(exp.EQ)):
        listed = node.expression.this.unnest() if isinstance(node.expression, exp.Any) else None
        if isinstance(listed, exp.Array):
            node.replace(exp.In(this=node.this.unnest(), expressions=listed.expressions))
    return tree


def _without_cast(cast: exp.Cast) -> exp.Expr | None:
    """The operand of a cast, if SQLite gives the same without it."""
    inner, target = cast.this.unnest(), cast.to
    if isinstance(inner, exp.Null):
        return inner
    if not (isinstance(inner, exp.Literal) and inner.is_string):
        text = target.is_type(*exp.DataType.TEXT_TYPES) or target.is_type("array")
        return inner if text or target.this in _EXACT else None
    literal = str(inner.this)
    if target.is_type(*exp.DataType.NUMERIC_TYPES):
        return sqlglot.parse_one(literal) if _NUMBER.fullmatch(literal) else None
    if target.is_type(*exp.DataType.TEMPORAL_TYPES):
        return inner if _MOMENT.fullmatch(literal) else None
    if target.is_type(*exp.DataType.TEXT_TYPES) or target.this in _OTHER_TEXTS:
        return inner
    return None
