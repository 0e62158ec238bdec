"""tasks.parquet: what was asked, readable at random by a driver whose plan is larger than its memory."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from synth.dataset.columns import SCHEMA_VERSION, Kind
from synth.dataset.record import column_array, make_schema
from synth.dataset.shard import check_version, open_parquet, write_parquet
from synth.dataset.wire import RowError, json_text
from synth.errors import DatasetError

Json = Any

ROWS_PER_GROUP: Final = 1024

TASK_COLUMNS: Final[tuple[tuple[str, Kind, bool], ...]] = (
    ("task_id", "str", False),
    ("family", "str", False),
    ("branch", "str", True),
    ("env", "str", False),
    ("env_digest", "str", False),
    ("split", "str", False),
    ("universe", "int32", False),
    ("key", "json", True),
    ("slots", "json", False),
    ("prompt", "str", False),
    ("system", "str", False),
    ("messages", "list<json>", False),
    ("tools", "list<json>", False),
    ("answer", "json", True),
    ("gold", "json", False),
    ("checks", "json", False),
    ("task", "json", False),
    ("now", "str", False),
    ("seed", "int64", False),
)
"""Name, kind and whether it may be null."""

TASKS_SCHEMA: Final = make_schema((name, kind) for name, kind, _ in TASK_COLUMNS)
_NAMES: Final = frozenset(name for name, _, _ in TASK_COLUMNS)


def _stored(name: str, kind: Kind, value: Json, *, null: bool) -> Json:
    if value is None:
        if null:
            return None
        raise RowError("must not be null", name)
    if kind == "json":
        return json_text(value)
    return [json_text(item) for item in value] if kind == "list<json>" else value


def _group(rows: list[Mapping[str, Json]]) -> pa.Table:
    for row in rows:
        odd = row.keys() ^ _NAMES
        if odd:
            raise RowError(f"missing or unknown columns: {', '.join(sorted(odd))}")
    arrays: list[pa.Array | pa.ChunkedArray] = []
    for name, kind, null in TASK_COLUMNS:
        try:
            arrays.append(column_array([_stored(name, kind, row[name], null=null) for row in rows], kind))
        except (pa.ArrowException, TypeError, UnicodeEncodeError, OverflowError) as error:
            raise RowError(str(error), name) from error
    return pa.table(arrays, schema=TASKS_SCHEMA)


def write_tasks(path: Path, rows: Iterable[Mapping[str, Json]]) -> int:
    """Write the tasks (JSON columns as Python values) in their order; returns how many there were.

    Streams: a row group is all that is in memory. Raises :class:`~synth.dataset.wire.RowError` for a row that does not
    fit, OperatorError where the disk refuses; the file is there as a whole or not at all.
    """
    stream = iter(rows)
    groups: Iterator[pa.Table] = (_group(batch) for batch in iter(lambda: list(islice(stream, ROWS_PER_GROUP)), []))
    low = ["family", "branch", "env", "env_digest", "split", "universe", "system", "tools.list.element", "now"]
    count, _ = write_parquet(
        path,
        groups,
        TASKS_SCHEMA,
        path.with_name(f".{path.stem}.part"),
        dictionary=low,
        statistics=["task_id", "family"],
    )
    return count


class TaskTable:
    """Tasks by their place in tasks.parquet. Reads only the row group that is asked for and keeps the last few.

    Raises :class:`~synth.errors.DatasetError` where the file is missing, damaged or of another schema version.
    """

    def __init__(self, path: Path, *, keep: int = 4) -> None:
        self.path = Path(path)
        with open_parquet(self.path) as file:
            check_version(file, self.path, SCHEMA_VERSION)
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        self._keep = keep
        self._cache: OrderedDict[tuple[int, str], list[Json]] = OrderedDict()

    def __len__(self) -> int:
        return self._starts[-1]

    def _column(self, group: int, name: str) -> list[Json]:
        known = self._cache.get((group, name))
        if known is not None:
            self._cache.move_to_end((group, name))
            return known
        with open_parquet(self.path) as file:
            values = file.read_row_group(group, columns=[name])[name].to_pylist()
        self._cache[group, name] = values
        while len(self._cache) > self._keep:
            self._cache.popitem(last=False)
        return values

    def task(self, index: int) -> dict[str, Json]:
        """The task as JSON, for ``Task.from_json``; IndexError outside the table."""
        if not 0 <= index < len(self):
            raise IndexError(f"no task {index} among {len(self)}")
        group = bisect_right(self._starts, index) - 1
        text = self._column(group, "task")[index - self._starts[group]]
        try:
            return json.loads(text)
        except ValueError as error:
            raise DatasetError(f"{self.path}: task {index} is no JSON: {error}") from error

    def rows(self) -> Iterator[dict[str, Json]]:
        """All tasks in order with all columns, JSON as Python values."""
        texts = {name for name, kind, _ in TASK_COLUMNS if kind == "json"}
        lists = {name for name, kind, _ in TASK_COLUMNS if kind == "list<json>"}
        with open_parquet(self.path) as file:
            for group in range(file.num_row_groups):
                for row in file.read_row_group(group).to_pylist():
                    for name in texts:
                        row[name] = None if row[name] is None else json.loads(row[name])
                    for name in lists:
                        row[name] = [json.loads(item) for item in row[name]]
                    yield row
