"""The changed rows of a SQLite sandbox, exactly, in time proportional to the changes.

SQLite calls a hook before it writes a row, for triggers, cascades and REPLACE too. The hook keeps
the image of a row at its first touch; its new state is read when the call is about to be committed,
so savepoints and failed statements need no bookkeeping. SQLite's session extension works like this
inside. It is done here because the extension overlooks rows with NULL in their key, and costs ten
times more for the few rows of a tool call. (The two cannot share a connection: a session on it
would crash the process.)
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import Any

import apsw

from envs.sandboxes.row_changes import ROWID, Place, place, row_change
from envs.sandboxes.sqlite.schema import SqliteTable
from envs.types import RowChange

Row = tuple[Any, ...]
"""The stored columns of a row, in the order of the shape's."""

Identity = tuple[str, Any]
"""(table, rowid), or (table, key values) in a WITHOUT ROWID table."""

Ends = dict[Identity, tuple[Row | None, Row | None]]
"""What rows were at first and what they have become; None where there was, or is, no such row."""

Found = dict[Identity, tuple[Row | None, Row | None, Place, RowChange]]
"""Changes made out already: a rollout's diff is mostly its calls' changes again."""


class ChangeRecorder:
    """First images of the rows a call touches, and both ends of those committed calls changed."""

    def __init__(
        self,
        shapes: Mapping[str, SqliteTable],
        total: Ends | None = None,
        whole: frozenset[str] = frozenset(),
    ) -> None:
        self._shapes = shapes
        self.touched: dict[Identity, Row | None] = {}
        self.total: Ends = dict(total or {})
        self.found: Found = {}
        self.whole = whole
        """Tables that were kept whole: a row of theirs that is not in ``total`` is new."""
        self.failed: Exception | None = None
        """Why an image could not be kept; the call must not be committed then."""

    def install(self, raw: apsw.Connection) -> None:
        raw.preupdate_hook(self._touch)

    def copy(self) -> ChangeRecorder:
        return ChangeRecorder(self._shapes, self.total, self.whole)

    def start(self) -> None:
        self.touched = {}
        self.failed = None

    def _touch(self, update: apsw.PreUpdate) -> None:
        try:
            shape = self._shapes.get(update.table_name)
            if shape is None:
                return
            if shape.rowid is None:
                self._touch_keyed(shape, update)
                return
            touched, rowid = self.touched, update.rowid
            identity = (shape.name, rowid)
            inserted = update.opcode == apsw.SQLITE_INSERT
            if identity not in touched:
                if inserted:
                    touched[identity] = None
                elif shape.generated:
                    # apsw cannot give the image of a row with generated columns; the row itself
                    # still stands.
                    touched[identity] = _read(update.connection, shape, rowid)
                else:
                    touched[identity] = update.old
            if not inserted and update.rowid_new != rowid:
                touched.setdefault((shape.name, update.rowid_new), None)
        except Exception as error:
            self.failed = error
            raise

    def _touch_keyed(self, shape: SqliteTable, update: apsw.PreUpdate) -> None:
        """A row of a WITHOUT ROWID table: its identity is its key."""
        if shape.generated:  # neither image nor key can be had: keep the whole table, once per call
            if (shape.name, None) not in self.touched:
                self.touched[shape.name, None] = None
                for row in list(update.connection.execute(shape.select)):
                    self.touched[shape.name, shape.key_of(row)] = row
            return
        if update.old is not None:
            self.touched.setdefault((shape.name, shape.key_of(update.old)), update.old)
        if update.new is not None:
            self.touched.setdefault((shape.name, shape.key_of(update.new)), None)

    def ends(self, raw: apsw.Connection) -> tuple[Ends, frozenset[str]]:
        """Return both ends of the rows that the present call has touched, and the tables that it
        kept as a whole.

        Raises UnicodeDecodeError for a text that is not valid UTF-8.
        """
        shapes, ends, whole = self._shapes, Ends(), set[str]()
        for known, old in self.touched.items():
            table, identity = known
            if identity is None:
                whole.add(table)
            else:
                ends[known] = (old, _read(raw, shapes[table], identity))
        for table in whole:
            shape = shapes[table]
            for row in list(raw.execute(shape.select)):
                ends.setdefault((table, shape.key_of(row)), (None, row))
        return ends, frozenset(whole)

    def keep(self, ends: Ends, whole: frozenset[str] = frozenset()) -> None:
        """Add the ends of a committed call to the sandbox's changes."""
        total = self.total
        for known, (old, new) in ends.items():
            if known in total:
                total[known] = (total[known][0], new)
            else:
                total[known] = (None if known[0] in self.whole else old, new)
        self.whole |= whole


def net_changes(
    shapes: Mapping[str, SqliteTable], ends: Ends, found: Found
) -> tuple[RowChange, ...]:
    """The changes between the two ends of rows, in canonical order; ``found`` remembers them.

    A row is known by its primary key. Without one, or with NULL in it, it is known by its rowid.
    """
    changes: list[tuple[Place, RowChange]] = []
    by_key: dict[tuple[str, Hashable], list[Row | None]] = {}
    for known, (old, new) in ends.items():
        before = found.get(known)
        if before is not None and before[0] is old and before[1] is new:
            changes.append(before[2:])
            continue
        if old == new:
            continue
        table, identity = known
        shape = shapes[table]
        if shape.aliased:
            change = row_change(table, shape.columns, {shape.key_names[0]: identity}, old, new)
            if change is not None:
                found[known] = (old, new, where := place(change), change)
                changes.append((where, change))
            continue
        # The same key may have gone from one row and come to another.
        for row, side in ((old, 0), (new, 1)):
            if row is not None:
                key = table, _known_by(shape, identity, row)
                by_key.setdefault(key, [None, None])[side] = row
    for (table, known), (old, new) in by_key.items():
        shape = shapes[table]
        change = row_change(table, shape.columns, _key_columns(shape, known), old, new)
        if change is not None:
            changes.append((place(change), change))
    changes.sort(key=operator.itemgetter(0))
    return tuple([change for _, change in changes])


def _read(raw: apsw.Connection, shape: SqliteTable, identity: Any) -> Row | None:
    if shape.rowid is not None:
        return raw.execute(shape.select_one, (identity,)).fetchone()
    row = raw.execute(shape.select_one, identity).fetchone()
    # A key compares by its column's collation: the row that was found may be another one.
    return row if row is not None and shape.key_of(row) == identity else None


def _known_by(shape: SqliteTable, identity: Any, row: Row) -> Hashable:
    """The key's values, or the bare rowid of a row that has no key of its own."""
    if shape.rowid is None:
        return identity
    key = shape.key_of(row)
    return identity if not key or None in key else key


def _key_columns(shape: SqliteTable, known: Any) -> dict[str, Any]:
    return (
        dict(zip(shape.key_names, known, strict=True))
        if isinstance(known, tuple)
        else {ROWID: known}
    )
