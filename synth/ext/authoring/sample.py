"""A sample of rows in which every reference leads to a row of the sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Text, and_, cast, func, or_
from sqlalchemy.exc import SQLAlchemyError

from synth.errors import OperatorError
from synth.ext.authoring.snapshot import LiveTable, Rows, Value
from synth.ext.authoring.stored import stored

ALL_ROWS = 1_000_000_000
"""More rows than a sample takes."""

FEWEST, PARTS = 30, 16
"""The rows that a table may have in any case, as fewer make no families, unless they are more than
this part of all.
"""

MOST_PARENTS = 500
"""The most parents by which children are chosen."""


def sample(
    engine: Engine,
    tables: Sequence[LiveTable],
    most: int,
    progress: Callable[[str], None] | None = None,
) -> Rows:
    """About ``most`` rows, evenly from all tables, and the rows that these refer to.

    Raises OperatorError for a table whose rows cannot be read.
    """
    rows = Rows()
    with engine.connect() as db:
        if engine.dialect.name == "postgresql":
            db.execution_options(isolation_level="REPEATABLE READ")
        try:
            _fill(db, tables, rows, most, progress)
        except SQLAlchemyError as error:
            words = str(getattr(error, "orig", None) or error).partition("\n")[0]
            raise OperatorError(f"the rows cannot be read: {words}") from None
    for table in tables:
        rows.by_table[table.name] = _parents_first(table, rows.by_table[table.name])
    return rows


def _fill(
    db: Connection,
    tables: Sequence[LiveTable],
    rows: Rows,
    most: int,
    progress: Callable[[str], None] | None,
) -> None:
    for one in tables:
        query = one.select().with_only_columns(func.count(), maintain_column_froms=True)
        rows.counts[one.name] = int(db.execute(query).scalar_one())
    share = _share(list(rows.counts.values()), most)
    for number, table in enumerate(tables, 1):
        found = rows.by_table[table.name] = _some(db, table, rows, share)
        if progress:
            progress(f"read {table.name}: {len(found):,} rows (table {number} of {len(tables)})")
    _close(db, {table.name: table for table in tables}, rows)


def _share(counts: Sequence[int], most: int) -> int:
    """The rows that each table may have, so that small tables leave their rest to large ones."""
    share, left, least = 0, most, max(1, min(FEWEST, most // PARTS))
    for index, count in enumerate(ordered := sorted(counts)):
        share = max(least, left // (len(ordered) - index))
        left -= min(count, share)
    return share


def _some(db: Connection, table: LiveTable, rows: Rows, share: int) -> list[dict[str, Value]]:
    """Rows of a table, those first whose parents are in the sample."""
    if rows.counts[table.name] <= share:
        return _read(db, table, rows, None, None)
    related: list[ColumnElement[bool]] = []
    for columns, target, there in table.links:
        parents = rows.by_table.get(target)
        if parents is None or len(columns) != 1 or target == table.name:
            continue
        column, named = table.source.c[next(iter(columns))], next(iter(there))
        values = [row[named] for row in parents[:MOST_PARENTS]]
        related.append(or_(column.is_(None), column.in_(_bound(table, columns, [values])[0])))
    found = _read(db, table, rows, and_(*related), share) if related else []
    return found or _read(db, table, rows, None, share)


def _bound(
    table: LiveTable, columns: Sequence[str], values: Sequence[Sequence[Value]]
) -> list[Any]:
    """Values of columns as the database compares them, for each column: PostgreSQL has truth
    values.
    """
    types = {column.name: column.type for column in table.columns}
    return [
        [bool(one) if types[column] == "BOOLEAN" and one in (0, 1) else one for one in found]
        for column, found in zip(columns, values, strict=True)
    ]


def _read(
    db: Connection,
    table: LiveTable,
    rows: Rows,
    where: ColumnElement[bool] | None,
    most: int | None,
) -> list[dict[str, Value]]:
    """Rows in the order of the key, or of the texts of all columns, which every type has."""
    own = table.source.c
    texts = [cast(own[name], Text) for name in table.names]
    query = table.select().order_by(*([own[name] for name in table.key] or texts))
    if where is not None:
        query = query.where(where)
    if most is not None:
        query = query.limit(most)
    out = list[dict[str, Value]]()
    for row in db.execute(query):
        one = dict[str, Value]()
        for name, value in zip(table.names, row, strict=True):
            one[name], lost = stored(value)
            if lost:
                rows.changed[f"{table.name}.{name}", lost] += 1
        out.append(one)
    return out


def _close(db: Connection, tables: dict[str, LiveTable], rows: Rows) -> None:
    """Add the rows that are referred to, until none is missing that the database has."""
    queue = list(tables)
    while queue:
        table = tables[queue.pop()]
        for columns, target, there in table.links:
            have = {tuple(row[c] for c in there) for row in rows.by_table[target]}
            need = {tuple(row[c] for c in columns) for row in rows.by_table[table.name]}
            missing = sorted((n for n in need - have if None not in n), key=repr)
            if not missing:
                continue
            parent, before = tables[target], len(rows.by_table[target])
            own = [parent.source.c[name] for name in there]
            for start in range(0, len(missing), MOST_PARENTS):
                part = missing[start : start + MOST_PARENTS]
                values = _bound(parent, there, list(zip(*part, strict=True)))
                each = zip(*values, strict=True)
                where = or_(
                    *(and_(*(c == v for c, v in zip(own, one, strict=True))) for one in each)
                )
                rows.by_table[target] += _read(db, parent, rows, where, None)
            if len(rows.by_table[target]) > before:
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
