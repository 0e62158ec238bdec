"""tasks.parquet: the tasks of a run, with random access for a driver whose plan does not fit in
memory.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from synth.core.dataset.arrow_schema import column_array, make_schema
from synth.core.dataset.columns import Kind
from synth.core.dataset.store.parquet_shard import check_file_version, open_parquet, write_parquet
from synth.core.dataset.store.wire import RowError, json_text
from synth.core.types.checks import Gate
from synth.core.types.difficulty import work
from synth.core.types.steps import steps_from_json
from synth.errors import DatasetError

ROWS_PER_GROUP: Final = 1024

TASK_COLUMNS: Final[tuple[tuple[str, Kind, bool], ...]] = (
    ("task_id", "str", False),
    ("family", "str", False),
    ("case", "str", True),
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
"""Name, kind and nullability."""

TASKS_SCHEMA: Final = make_schema((name, kind) for name, kind, _ in TASK_COLUMNS)
_NAMES: Final = frozenset(name for name, _, _ in TASK_COLUMNS)


def _stored(name: str, kind: Kind, value: Any, *, null: bool) -> Any:
    if value is None:
        if null:
            return None
        raise RowError("must not be null", name)
    if kind == "json":
        return json_text(value)
    return [json_text(item) for item in value] if kind == "list<json>" else value


def _group(rows: list[Mapping[str, Any]]) -> pa.Table:
    for row in rows:
        odd = row.keys() ^ _NAMES
        if odd:
            raise RowError(f"missing or unknown columns: {', '.join(sorted(odd))}")
    arrays: list[pa.Array | pa.ChunkedArray] = []
    for name, kind, null in TASK_COLUMNS:
        try:
            arrays.append(
                column_array([_stored(name, kind, row[name], null=null) for row in rows], kind)
            )
        except (pa.ArrowException, TypeError, UnicodeEncodeError, OverflowError) as error:
            raise RowError(str(error), name) from error
    return pa.table(arrays, schema=TASKS_SCHEMA)


def write_tasks(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write the tasks in their order (JSON columns as Python values) and return their number.

    Only one row group is in memory at a time. Raises
    :class:`~synth.core.dataset.store.wire.RowError` for a row that does not fit,
    :class:`~synth.errors.OperatorError` if the disk fails; the file is written completely or not at
    all.
    """
    stream = iter(rows)
    groups: Iterator[pa.Table] = (
        _group(batch) for batch in iter(lambda: list(islice(stream, ROWS_PER_GROUP)), [])
    )
    low = [
        "family",
        "case",
        "env",
        "env_digest",
        "split",
        "universe",
        "system",
        "tools.list.element",
        "now",
    ]
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
    """Tasks by their position in tasks.parquet. Only the requested row group is read, and the last
    few are cached.

    Raises :class:`~synth.errors.DatasetError` if the file is missing, damaged or of an unreadable
    schema version.
    """

    def __init__(self, path: Path, *, keep: int = 4) -> None:
        self.path = Path(path)
        with open_parquet(self.path) as file:
            check_file_version(file, self.path)
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        self._keep = keep
        self._cache: OrderedDict[tuple[int, str], list[Any]] = OrderedDict()

    def __len__(self) -> int:
        return self._starts[-1]

    def _column(self, group: int, name: str) -> list[Any]:
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

    def task(self, index: int) -> dict[str, Any]:
        """Return the task as JSON, for ``Task.from_json``. Raises IndexError outside the table."""
        if not 0 <= index < len(self):
            raise IndexError(f"no task {index} among {len(self)}")
        group = bisect_right(self._starts, index) - 1
        text = self._column(group, "task")[index - self._starts[group]]
        try:
            return json.loads(text)
        except ValueError as error:
            raise DatasetError(f"{self.path}: task {index} is not JSON: {error}") from error

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all tasks in order with all columns, JSON as Python values."""
        texts = {name for name, kind, _ in TASK_COLUMNS if kind == "json"}
        lists = {name for name, kind, _ in TASK_COLUMNS if kind == "list<json>"}
        with open_parquet(self.path) as file:
            for group in range(file.num_row_groups):
                for stored in file.read_row_group(group).to_pylist():
                    row = {name: stored[name] for name in _NAMES}
                    for name in texts:
                        row[name] = None if row[name] is None else json.loads(row[name])
                    for name in lists:
                        row[name] = [json.loads(item) for item in row[name]]
                    yield row


def _stored_rows(path: Path, *columns: str) -> Iterator[dict[str, Any]]:
    """Columns of the tasks as they are stored; one row group is in memory at a time."""
    with open_parquet(path) as file:
        if missing := {*columns} - {*file.schema_arrow.names}:
            raise DatasetError(
                f"{path} is not a table of tasks: it lacks {', '.join(sorted(missing))}"
            )
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=list(columns)).to_pylist()


def read_gold_ends(path: Path, wanted: AbstractSet[str]) -> Iterator[tuple[str, object]]:
    """The ids of the tasks wanted and what gold leaves behind there, as far as it was proved."""
    for row in _stored_rows(path, "task_id", "checks"):
        end = json.loads(row["checks"])["end"] if row["task_id"] in wanted else None
        if end is not None:
            yield row["task_id"], end


def read_gate_names(path: Path) -> set[str]:
    """The names of all gates of the tasks."""
    names: set[str] = set()
    for row in _stored_rows(path, "task"):
        try:
            names |= {Gate.from_json(gate).name for gate in json.loads(row["task"])["gates"]}
        except (ValueError, TypeError, KeyError) as error:
            raise DatasetError(f"{path}: a task cannot be read: {error!r}") from error
    return names


def read_prompts(path: Path) -> dict[str, str]:
    """Each task's opening request by its id; empty where there is no such file."""
    rows = _stored_rows(path, "task_id", "prompt") if path.is_file() else ()
    return {row["task_id"]: row["prompt"] for row in rows}


@dataclass(frozen=True, slots=True)
class TaskOrigin:
    """The origin of a task. ``slots`` and ``key`` are JSON texts; a key is null where the
    family has none. ``work`` is the task's difficulty by kind.
    """

    family: str
    universe: int
    key: str | None
    slots: str
    work: Mapping[str, int]


def read_origins(path: Path) -> Iterator[tuple[str, TaskOrigin]]:
    """The ids of the tasks and what they were made from; nothing where there is no such file."""
    names = ("task_id", "family", "universe", "key", "slots", "gold", "checks")
    for row in _stored_rows(path, *names) if path.is_file() else ():
        known = _work(row.pop("gold"), row.pop("checks"))
        yield row.pop("task_id"), TaskOrigin(**row, work=known)


def _work(gold: str, checks: str) -> Mapping[str, int]:
    """The work of a task by kind, counted from its steps where the proof did not keep it."""
    end: Mapping[str, Any] | None = json.loads(checks).get("end")
    known = None if end is None else end.get("work")
    return work(steps_from_json(json.loads(gold))) if known is None else known


def read_levels(path: Path) -> dict[str, str | int]:
    """Each task's difficulty by its id: the word of its author, or the number of gold's calls where
    it was proved. Tasks without either, or of a missing file, are left out.
    """
    levels: dict[str, str | int] = {}
    for row in _stored_rows(path, "task_id", "task", "checks") if path.is_file() else ():
        declared = json.loads(row["task"])["extras"].get("difficulty")
        end = json.loads(row["checks"])["end"]
        if declared is not None:
            levels[row["task_id"]] = str(declared)
        elif end is not None and end.get("played") is not None:
            levels[row["task_id"]] = len(end["played"])
    return levels


def read_tasks(path: Path) -> Iterator[dict[str, Any]]:
    """The tasks as JSON, each with gold's end as far as it was proved."""
    for row in _stored_rows(path, "task", "checks"):
        yield {**json.loads(row["task"]), "end": json.loads(row["checks"])["end"]}
