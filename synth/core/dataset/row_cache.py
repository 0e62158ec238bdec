"""Rows of a dataset by their places, for readers that come back to the same shards."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.wire import to_values

OPEN_PARTS = 4
"""Shards in memory at once."""


class RowCache:
    """Reads ``columns`` of rows, a whole shard at a time; the shards that were used last stay in
    memory.
    """

    def __init__(self, dataset: Dataset, columns: Sequence[str]) -> None:
        self._dataset, self._columns = dataset, list(columns)
        self._open: OrderedDict[int, list[dict[str, Any]]] = OrderedDict()

    def row(self, part: int, place: int) -> dict[str, Any]:
        """The row at a place (from 0) of a part, with JSON columns as Python values."""
        if part not in self._open:
            tables = self._dataset.parts[part].tables(self._columns)
            self._open[part] = [row for table in tables for row in table.to_pylist()]
            while len(self._open) > OPEN_PARTS:
                self._open.popitem(last=False)
        self._open.move_to_end(part)
        return to_values(self._open[part][place])
