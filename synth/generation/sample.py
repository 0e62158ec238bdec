"""A sample of rows in which every reference leads to a row of the sample."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Text,
    and_,
    cast,
    func,
    or_,
    select,
    tuple_,
)

from synth.generation.snapshot import LiveTable, Rows, Value, plain

ALL_ROWS = 1_000_000_000
"""More rows than a sample takes."""

MOST_PARENTS = 500
"""The most parents by which children are chosen."""


def sample(engine: Engine, tables: Sequence[LiveTable], most: int) -> Rows:
    """About ``most`` rows, evenly from all tables, and the rows that these refer to."""
    rows = Rows()
    with engine.connect() as db:
        counts = {table.name: _count(db, table) for table in tables}
        share = _share(list(counts.values()), most)
        for table in tables:
            rows.by_table[table.name] = _some(db, table, rows, share)
        _close(db, {table.name: table for table in tables}, rows)
    for table in tables:
        rows.by_table[table.name] = _parents_first(table, rows.by_table[table.name])
    return rows


def _count(db: Connection, table: LiveTable) -> int:
    return int(db.execute(select(func.count()).select_from(table.table)).scalar_one())


def _share(counts: Sequence[int], most: int) -> int:
    """The rows that each table may have, so that small tables leave their rest to large ones."""
    share, left = 0, most
    for index, count in enumerate(ordered := sorted(counts)):
        share = max(1, left // (len(ordered) - index))
        left -= min(count, share)
    return share


def _some(db: Connection, table: LiveTable, rows: Rows, share: int) -> list[dict[str, Value]]:
    """Rows of a table, those first whose parents are in the sample."""
    related: list[ColumnElement[bool]] = []
    for columns, target, there in table.links:
        parents = rows.by_table.get(target)
        if parents is None or len(columns) != 1 or target == table.name:
            continue
        column, named = table.table.c[next(iter(columns))], next(iter(there))
        values = [row[named] for row in parents[:MOST_PARENTS] if named in row]
        related.append(or_(column.is_(None), column.in_(values)))
    found = _read(db, table, and_(*related) if related else None, share)
    return found or _read(db, table, None, share)


def _read(
    db: Connection, table: LiveTable, where: ColumnElement[bool] | None, most: int | None
) -> list[dict[str, Value]]:
    columns = [
        cast(table.table.c[column.name], Text) if column.as_text else table.table.c[column.name]
        for column in table.columns
    ]
    query = select(*columns).order_by(*(table.table.c[name] for name in table.key or table.names))
    if where is not None:
        query = query.where(where)
    if most is not None:
        query = query.limit(most)
    return [
        {name: plain(value) for name, value in zip(table.names, row, strict=True)}
        for row in db.execute(query)
    ]


def _close(db: Connection, tables: dict[str, LiveTable], rows: Rows) -> None:
    """Add the rows that are referred to and missing, until none is."""
    queue = list(tables)
    while queue:
        table = tables[queue.pop()]
        for columns, target, there in table.links:
            have = {tuple(row[c] for c in there) for row in rows.by_table[target]}
            need = {tuple(row[c] for c in columns) for row in rows.by_table[table.name]}
            missing = sorted((n for n in need - have if None not in n), key=repr)
            if not missing:
                continue
            parent = tables[target]
            own = [parent.table.c[name] for name in there]
            for start in range(0, len(missing), MOST_PARENTS):
                part = missing[start : start + MOST_PARENTS]
                where = (
                    own[0].in_([one[0] for one in part])
                    if len(own) == 1
                    else tuple_(*own).in_(part)
                )
                rows.by_table[target] += _read(db, parent, where, None)
            queue.append(target)


def _parents_first(table: LiveTable, rows: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """The rows of a table that refers to itself in an order in which they can be inserted."""
    own = [(columns, there) for columns, target, there in table.links if target == table.name]
    if not own:
        return rows
    ordered, placed, left = list[dict[str, Value]](), set[tuple[object, ...]](), rows
    while left:
        later = list[dict[str, Value]]()
        for row in left:
            keys = [(index, *(row[c] for c in columns)) for index, (columns, _) in enumerate(own)]
            me = {(index, *(row[c] for c in there)) for index, (_, there) in enumerate(own)}
            if all(None in key or key in placed or key in me for key in keys):
                ordered.append(row)
                placed |= me
            else:
                later.append(row)
        if len(later) == len(left):
            return ordered + later
        left = later
    return ordered
