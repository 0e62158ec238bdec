"""Statements of right names and wrong shape: joins without a condition, ungrouped columns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from envs.tools.sql.critic.frame import (
    Frame,
    conditions,
    inside,
    is_always_true,
    joins_of,
    local_columns,
)

_AGGREGATES = frozenset(
    {"total", "json_group_object", "jsonb_group_array", "jsonb_group_object", "median"}
)
"""Aggregates that sqlglot takes for unknown functions."""


def cartesian(select: exp.Select, frame: Frame) -> list[str]:
    """Tables of which every row meets every row of another.

    Subqueries, CTEs and functions count as joined (many have one row), and so does a table that a
    condition compares with a value, or with a name that this reader cannot resolve.
    """
    aliases = [source.alias for source in frame.sources if source.relation is not None]
    if len(aliases) < 2 or _joined_by_name(select):
        return []
    if any(source.relation is None and source.columns is None for source in frame.sources):
        return []  # a function over the columns of the others
    groups = _Groups(aliases)
    for condition in conditions(select):
        if is_always_true(condition):
            continue
        mentioned = _mentioned(condition, frame)
        if not mentioned:  # a column that is not resolved may join anything
            return []
        groups.add(condition, mentioned)
    loose = groups.unjoined()
    if len(loose) < 2:
        return []
    finding = (
        f"`{loose[0]}` and `{loose[1]}` are joined without a condition, so that every row of one"
        " meets every row of the other; join them on a column"
    )
    return [finding]


class _Groups:
    """Tables of one SELECT in groups that its conditions join, each named by its first alias."""

    def __init__(self, aliases: list[str]) -> None:
        self._group = {alias: alias for alias in aliases}
        self._pinned: set[str] = set()

    def add(self, condition: exp.Expr, mentioned: set[str]) -> None:
        """Join the tables that a condition mentions; it pins one that it compares with a value."""
        tables = [alias for alias in mentioned if alias in self._group]
        compared = isinstance(condition, exp.EQ | exp.In | exp.Is) and len(mentioned) == 1
        if len(tables) < len(mentioned) or compared:
            self._pinned.update(tables)
        merged = {self._group[alias] for alias in tables}
        for alias, group in self._group.items():
            if group in merged:
                self._group[alias] = min(merged)

    def reached(self, start: set[str]) -> set[str]:
        """Tables of the groups that hold a table of ``start``, or a pinned one."""
        begun = {self._group[alias] for alias in self._pinned | start if alias in self._group}
        return {alias for alias, group in self._group.items() if group in begun}

    def unjoined(self) -> list[str]:
        return sorted({*self._group.values()} - {self._group[alias] for alias in self._pinned})


def _joined_by_name(select: exp.Select) -> bool:
    """True for NATURAL JOIN and USING: which tables they join is not worth finding out."""
    return any(join.args.get("using") or join.args.get("method") for join in joins_of(select))


def _mentioned(condition: exp.Expr, frame: Frame) -> set[str] | None:
    """Aliases of this frame that a condition speaks of; None where a column cannot be placed."""
    found: set[str] = set()
    for item in condition.find_all(exp.Column):
        source = frame.holding(item)
        if source is not None:
            found.add(source.alias)
        elif not item.table:
            return None
    return found


def ungrouped(select: exp.Select, frame: Frame, *, loose: bool) -> list[str]:
    """Plain columns beside aggregates that no GROUP BY assigns to one row.

    With ``loose`` (SQLite) a column beside one lone min() or max() is that row's, as documented. A
    column whose table is pinned by a key, a value or GROUP BY counts as determined.
    """
    group = select.args.get("group")
    grouped = isinstance(group, exp.Group)
    if any(source.relation is None for source in frame.sources) or (
        grouped and group.args.get("all")
    ):
        return []
    if not _gathers(select, loose=loose):
        return []
    determined = _determined(select, frame, group if grouped else None)
    for column in (column for item in select.expressions for column in _bare_columns(item)):
        source = frame.holding(column)
        if source is not None and source.alias not in determined:
            return [_not_grouped(column.sql(), grouped=grouped)]
    return []


def _gathers(select: exp.Select, *, loose: bool) -> bool:
    """Whether the rows of a SELECT become one, so that a plain column has no value of its own."""
    aggregates = [call for item in select.expressions for call in _aggregates(item)]
    windowed = any(
        isinstance(node, exp.Window) for item in select.expressions for node in inside(item)
    )
    lone = len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max)
    return bool(aggregates) and not windowed and not (loose and lone)


def _not_grouped(name: str, *, grouped: bool) -> str:
    if grouped:
        return f"`{name}` is neither aggregated nor in GROUP BY; group by it or aggregate it"
    return (
        f"`{name}` stands beside an aggregate without GROUP BY; add GROUP BY {name},"
        " or aggregate it"
    )


def _determined(select: exp.Select, frame: Frame, group: exp.Group | None) -> set[str]:
    """Sources with a column that is grouped by, or equals a value or such a source's column."""
    groups = _Groups([source.alias for source in frame.sources])
    for condition in conditions(select):
        if isinstance(condition, exp.EQ) and (mentioned := _mentioned(condition, frame)):
            groups.add(condition, mentioned)
    found = groups.reached(_grouped_by(select, frame, group) if group is not None else set())
    if found and _joined_by_name(select):
        return {source.alias for source in frame.sources}
    return found


def _grouped_by(select: exp.Select, frame: Frame, group: exp.Group) -> set[str]:
    """Sources of the columns that GROUP BY names, by themselves, by alias or by position."""
    projected = {
        item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)
    }
    found: set[str] = set()

    def add(columns: Iterator[exp.Column]) -> None:
        for column in columns:
            source = frame.holding(column)
            if source is not None:
                found.add(source.alias)
            elif not column.table and column.name.lower() in projected:
                add(local_columns(projected[column.name.lower()]))

    add(local_columns(group))
    for item in group.expressions:
        if isinstance(item, exp.Literal) and item.is_int:
            position = int(item.name)
            if 0 < position <= len(select.expressions):
                add(local_columns(select.expressions[position - 1]))
    return found


def _aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregate calls that gather this SELECT's rows."""
    for item in inside(node):
        if isinstance(item, exp.AggFunc) or (
            isinstance(item, exp.Anonymous) and item.name.lower() in _AGGREGATES
        ):
            yield item


def _bare_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """Columns outside every aggregate, and outside functions that may be one."""

    def closed(each: exp.Expr) -> bool:
        return isinstance(
            each, exp.AggFunc | exp.Anonymous | exp.Filter | exp.WithinGroup | exp.Query
        )

    for item in node.walk(prune=closed):
        if isinstance(item, exp.Column) and not isinstance(item.this, exp.Star):
            yield item
