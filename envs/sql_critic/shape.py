"""Statements whose names are all right and whose shape is not: joins without a condition, aggregates beside plain columns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from envs.sql_critic.frame import Frame, Source, conditions, inside, joins_of, local_columns

_AGGREGATES = frozenset({"total", "json_group_object", "jsonb_group_array", "jsonb_group_object", "median"})
"""Aggregates that sqlglot takes for unknown functions."""


def cartesian(select: exp.Select, frame: Frame) -> list[str]:
    """Tables of which every row meets every row of another.

    Subqueries, CTEs and functions count as joined (many have one row), and so does a table that a condition compares
    with a value, or whatever a condition mentions that this reader cannot place.
    """
    tables = [each for each in frame.sources if each.relation is not None]
    if len(tables) < 2:
        return []
    group = {each.alias: each.alias for each in tables}

    def unite(aliases: list[str]) -> None:
        together = {group[each] for each in aliases}
        for each, own in group.items():
            if own in together:
                group[each] = min(together)

    pinned: set[str] = set()
    for each in conditions(select):
        met = _mentioned(each, frame)
        if isinstance(each, exp.Boolean):
            continue
        if not met:  # ON 1 = 1 is meant; a column that cannot be placed may tie anything
            return []
        tied = [alias for alias in met if alias in group]
        if len(tied) < len(met) or (isinstance(each, exp.EQ | exp.In | exp.Is) and len(met) == 1):
            pinned.update(tied)
        if tied:
            unite(tied)
    for join in joins_of(select):
        if join.args.get("using") or join.args.get("method"):
            return []  # which sides they tie together is not worth telling apart
    if any(each.relation is None and each.columns is None for each in frame.sources):
        return []  # a function over the columns of the others
    loose = {group[each] for each in group} - {group[each] for each in pinned}
    if len(loose) < 2:
        return []
    first, second = sorted(loose)[:2]
    told = (
        "are joined without a condition, so that every row of one meets every row of the other; join them on a column"
    )
    return [f"`{first}` and `{second}` {told}"]


def _mentioned(condition: exp.Expr, frame: Frame) -> set[str] | None:
    """The aliases of this frame that a condition speaks of; None where a column cannot be placed."""
    found: set[str] = set()
    for each in condition.find_all(exp.Column):
        source = frame.holding(each)
        if source is not None:
            found.add(source.alias)
        elif not each.table:
            return None
    return found


def ungrouped(select: exp.Select, frame: Frame, *, loose: bool) -> list[str]:
    """Plain columns beside aggregates, where no GROUP BY says of which row they are to be.

    With ``loose`` (SQLite) a column beside one lone min() or max() is that row's, as documented. A column whose
    table is pinned by a key, a value or GROUP BY is taken to be determined.
    """
    group = select.args.get("group")
    if any(each.relation is None for each in frame.sources) or (isinstance(group, exp.Group) and group.args.get("all")):
        return []
    aggregates = [each for item in select.expressions for each in _aggregates(item)]
    grouped = isinstance(group, exp.Group)
    if not aggregates or any(isinstance(each, exp.Window) for item in select.expressions for each in inside(item)):
        return []
    if loose and len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max):
        return []
    settled = _settled(select, frame, group if grouped else None)
    for item in select.expressions:
        for column in _bare_columns(item):
            source = frame.holding(column)
            if source is not None and source.alias not in settled:
                name = column.sql()
                if grouped:
                    return [f"`{name}` is neither aggregated nor in GROUP BY; group by it or aggregate it"]
                return [f"`{name}` stands beside an aggregate without GROUP BY; add GROUP BY {name}, or aggregate it"]
    return []


def _settled(select: exp.Select, frame: Frame, group: exp.Group | None) -> set[str]:
    """Sources of which a column is grouped by, or equals a value or a column of another such source."""
    projected = {each.alias.lower(): each.this for each in select.expressions if isinstance(each, exp.Alias)}
    out: set[str] = set()

    def settle(columns: Iterator[exp.Column]) -> None:
        for column in columns:
            source = frame.holding(column)
            if source is not None:
                out.add(source.alias)
            elif not column.table and column.name.lower() in projected:
                settle(local_columns(projected[column.name.lower()]))

    if group is not None:
        settle(local_columns(group))
        for each in group.expressions:
            if isinstance(each, exp.Literal) and each.is_int and 0 < int(each.name) <= len(select.expressions):
                settle(local_columns(select.expressions[int(each.name) - 1]))
    links: list[tuple[Source | None, Source | None]] = []
    for each in conditions(select):
        if isinstance(each, exp.EQ):
            sides = [
                frame.holding(side) if isinstance(side, exp.Column) else None for side in (each.this, each.expression)
            ]
            links.append((sides[0], sides[1]))
    before = -1
    while len(out) > before:
        before = len(out)
        for one, other in links:
            for source, partner in ((one, other), (other, one)):
                if source is not None and (partner is None or partner.alias in out):
                    out.add(source.alias)
    for join in joins_of(select):
        if join.args.get("using") or join.args.get("method"):
            return {each.alias for each in frame.sources} if out else out
    return out


def _aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregate calls that gather this SELECT's rows."""
    for each in inside(node):
        if isinstance(each, exp.AggFunc) or (isinstance(each, exp.Anonymous) and each.name.lower() in _AGGREGATES):
            yield each


def _bare_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """Columns outside every aggregate, and outside functions that may be one."""

    def closed(each: exp.Expr) -> bool:
        return isinstance(each, exp.AggFunc | exp.Anonymous | exp.Filter | exp.WithinGroup | exp.Query)

    for each in node.walk(prune=closed):
        if isinstance(each, exp.Column) and not isinstance(each.this, exp.Star):
            yield each
