"""Which rows of a SQLite sandbox changed, exactly, in time proportional to the changes.

SQLite calls a hook before it writes a row, for triggers, cascades and REPLACE too. The hook keeps the image
that a row had when it was first touched; what the row has become is read when it is asked for, so savepoints and
failed statements need no bookkeeping. This is how SQLite's session extension works inside. We do it here because
the extension overlooks rows with NULL in their key, and costs ten times more for the few rows of a tool call.
(The two cannot share a connection: a session on it would crash the process.)
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# apsw's stubs leave the type of buffers unknown.

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import apsw

from envs.sandboxes.sqlite_schema import Shape
from envs.state import ROWID, canonical_order, row_change
from envs.types import RowChange

Identity = tuple[str, Any]
"""(table, rowid), or (table, key values) in a WITHOUT ROWID table."""

Images = dict[Identity, tuple[Any, ...] | None]
"""The stored columns that a row had at first; None where there was no such row."""


class ChangeRecorder:
    """The images of the rows that one call touches, and of those that all committed calls did."""

    def __init__(self, shapes: Mapping[str, Shape], total: Images | None = None) -> None:
        self._shapes = shapes
        self.touched: Images = {}
        self.total: Images = dict(total or {})
        self._whole = {table for table, identity in self.total if identity is None}
        self.failed: Exception | None = None
        """Why an image could not be kept; the call must not be committed then."""

    def install(self, raw: apsw.Connection) -> None:
        raw.preupdate_hook(self._touch)

    def start(self) -> None:
        self.touched = {}
        self.failed = None

    def keep(self) -> None:
        """The call was committed: what it touched belongs to the sandbox's changes from now on."""
        for identity, image in self.touched.items():
            # Of a table that was kept as a whole, a row that was not there then has come since.
            self.total.setdefault(identity, None if identity[0] in self._whole else image)
        self._whole |= {table for table, identity in self.touched if identity is None}
        self.touched = {}

    def _touch(self, update: apsw.PreUpdate) -> None:
        try:
            shape = self._shapes.get(update.table_name)
            if shape is None:
                return
            if shape.rowid is None:
                self._touch_keyed(shape, update)
                return
            identity = (shape.name, update.rowid)
            inserted = update.opcode == apsw.SQLITE_INSERT
            if identity not in self.touched:
                if inserted:
                    self.touched[identity] = None
                elif shape.generated:
                    # apsw cannot give the image of a row with generated columns; the row itself still stands.
                    self.touched[identity] = _read(update.connection, shape, update.rowid)
                else:
                    self.touched[identity] = update.old
            if not inserted and update.rowid_new != update.rowid:
                self.touched.setdefault((shape.name, update.rowid_new), None)
        except Exception as error:
            self.failed = error
            raise

    def _touch_keyed(self, shape: Shape, update: apsw.PreUpdate) -> None:
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

    def changes(self, raw: apsw.Connection, images: Images) -> tuple[RowChange, ...]:
        """Net changes from the images to the rows as they are now.

        A row is known by its primary key. Without one, or with NULL in it, it is known by its rowid.
        UnicodeDecodeError for a text that is not valid UTF-8.
        """
        ends: dict[tuple[str, Hashable], list[tuple[Any, ...] | None]] = {}
        for (table, identity), old in self._every(raw, images).items():
            shape = self._shapes[table]
            new = _read(raw, shape, identity)
            if old == new:
                continue
            for row, side in ((old, 0), (new, 1)):
                if row is not None:
                    ends.setdefault((table, _known_by(shape, identity, row)), [None, None])[side] = row
        found: list[RowChange] = []
        for (table, known), (old, new) in ends.items():
            shape = self._shapes[table]
            change = row_change(table, shape.columns, _key_columns(shape, known), old, new)
            if change is not None:
                found.append(change)
        return canonical_order(found) if len(found) > 1 else tuple(found)

    def _every(self, raw: apsw.Connection, images: Images) -> Images:
        """The images, with the new rows of the tables that were kept as a whole."""
        whole = [table for table, identity in images if identity is None]
        if not whole:
            return images
        every = {key: image for key, image in images.items() if key[1] is not None}
        for table in whole:
            shape = self._shapes[table]
            for row in list(raw.execute(shape.select)):
                every.setdefault((table, shape.key_of(row)), None)
        return every


def _read(raw: apsw.Connection, shape: Shape, identity: Any) -> tuple[Any, ...] | None:
    """The row of that identity as it is now."""
    if shape.rowid is not None:
        return raw.execute(shape.select_one, (identity,)).fetchone()
    row = raw.execute(shape.select_one, identity).fetchone()
    # A key compares by its column's collation: the row that was found may be another one.
    return row if row is not None and shape.key_of(row) == identity else None


def _known_by(shape: Shape, identity: Any, row: tuple[Any, ...]) -> Hashable:
    """The key's values, or the bare rowid of a row that has no key of its own."""
    if shape.rowid is None:
        return identity
    key = shape.key_of(row)
    return identity if not key or None in key else key


def _key_columns(shape: Shape, known: Any) -> dict[str, Any]:
    return dict(zip(shape.key_names, known, strict=True)) if isinstance(known, tuple) else {ROWID: known}
