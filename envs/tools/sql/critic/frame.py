"""Name scopes of a statement: the sources of one SELECT, and the source of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view of the database. ``columns`` is None where they are not known."""

    name: str
    columns: tuple[str, ...] | None
    primary_key: tuple[str, ...] = ()


Columns = frozenset[str] | None
"""Folded names of columns; None where any name may be one."""


@dataclass(frozen=True, slots=True)
class Source:
    """One item of FROM. ``relation``: a table or view, not a subquery, CTE or function."""

    alias: str
    columns: Columns
    relation: Relation | None = None


@dataclass(slots=True)
class Frame:
    """The sources one SELECT, UPDATE or DELETE sees, and the names its select list gives."""

    sources: list[Source] = field(default_factory=list[Source])
    named: set[str] = field(default_factory=set[str])
    open: bool = False
    """Whether there is a source whose alias is not known."""

    def called(self, alias: str) -> Source | None:
        return next((source for source in self.sources if source.alias == alias), None)

    def holding(self, column: exp.Column) -> Source | None:
        """The one source of this frame that the column is known to come from."""
        if column.table:
            return self.called(column.table.lower())
        name = column.name.lower()
        found = [
            source
            for source in self.sources
            if source.columns is not None and name in source.columns
        ]
        return (
            found[0]
            if len(found) == 1 and all(source.columns is not None for source in self.sources)
            else None
        )


IMPLICIT = frozenset({
    "rowid", "oid", "_rowid_", "rank", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid",
    "current_user", "session_user", "system_user", "user", "current_role", "current_catalog",
    "current_schema", "current_date", "current_time", "current_timestamp", "localtime",
    "localtimestamp", "utc_date", "utc_time", "utc_timestamp", "default", "true", "false",
    "unknown", "null", "sysdate",
})  # fmt: skip
"""Words like columns that no table has: hidden columns, functions without parentheses."""

SPOKEN_OF = frozenset({"excluded", "new", "old", "inserted"})
"""Qualifiers that stand for a row of the statement itself."""


def folded(relations: Mapping[str, Relation]) -> dict[str, Relation]:
    return {name.lower(): relation for name, relation in relations.items()}


def inside(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is below; of a nested query only its root: in it, names are others."""
    walk = node.walk(prune=lambda below: isinstance(below, exp.Query))
    yield from walk  # pyright: ignore[reportReturnType]


def local_columns(node: exp.Expr) -> Iterator[exp.Column]:
    return (item for item in inside(node) if isinstance(item, exp.Column))


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that must all hold."""
    if isinstance(node, exp.And):
        for side in (node.this, node.expression):
            yield from conjuncts(side)
    elif isinstance(node, exp.Paren):
        yield from conjuncts(node.this)
    else:
        yield node


def conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions of WHERE and of every ON, one by one."""
    where = select.args.get("where")
    if isinstance(where, exp.Where):
        yield from conjuncts(where.this)
    for join in joins_of(select):
        on = join.args.get("on")
        if isinstance(on, exp.Expr):
            yield from conjuncts(on)


def joins_of(select: exp.Expr) -> Iterator[exp.Join]:
    """All joins of a SELECT, also those inside the parentheses of its FROM."""
    start = select.args.get("from_")
    pending: list[exp.Expr] = [
        *([start.this] if isinstance(start, exp.From) else []),
        *select.args.get("joins", ()),
    ]
    while pending:
        item = pending.pop(0)
        if isinstance(item, exp.Join):
            yield item
            item = item.this
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
            pending.append(item.this)
        if isinstance(item, exp.Table | exp.Subquery):
            pending += item.args.get("joins") or []


def is_always_true(condition: exp.Expr) -> bool:
    """Whether a condition is a constant but false, 0, NULL, or compares columns with themselves."""
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
