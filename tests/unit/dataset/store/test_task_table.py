"""tasks.parquet: written in a stream, read at random."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.store.task_table import TaskTable, write_tasks
from synth.core.dataset.store.wire import RowError
from synth.core.types.steps import ReplyStep
from synth.errors import DatasetError, OperatorError
from synth.task import GoldEnd, Task

TASK = Task(
    id="t0",
    family="vitals",
    env="ehr_db",
    prompt="Note it.",
    gold=[ReplyStep("Noted.")],
    end=GoldEnd(calls=1),
)


def task_row(index: int) -> dict[str, Any]:
    task = replace(TASK, id=f"t{index}", key={"id": index}, seed=index)
    return {
        "task_id": task.id,
        "family": task.family,
        "case": None,
        "env": task.env,
        "env_digest": "beef",
        "split": task.split,
        "universe": 0,
        "key": task.key,
        "slots": {"name": "O'Brien"},
        "prompt": task.prompt,
        "system": "",
        "messages": [{"role": "user", "content": task.prompt}],
        "tools": [],
        "answer": None,
        "gold": task.to_json()["gold"],
        "checks": {"gates": ["state"]},
        "task": task.to_json(),
        "now": task.now,
        "seed": task.seed,
    }


def test_tasks_come_back_from_any_place(tmp_path: Path):
    """Over several row groups, in any order, as tasks; only a few groups stay in memory."""
    path = tmp_path / "tasks.parquet"
    assert write_tasks(path, (task_row(index) for index in range(3000))) == 3000
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [1024, 1024, 952]
    table = TaskTable(path, keep=1)
    assert len(table) == 3000
    for index in (2999, 0, 1024, 1023, 2047, 2048):
        assert table.task(index) == json.loads(json.dumps(task_row(index)["task"]))
    assert Task.from_json(table.task(7)).to_json()["end"]["calls"] == 1
    for bad in (-1, 3000):
        with pytest.raises(IndexError):
            table.task(bad)
    assert next(table.rows()) == task_row(0) | {"task": table.task(0)}


def test_no_tasks(tmp_path: Path):
    """An empty table is a table."""
    assert write_tasks(tmp_path / "tasks.parquet", []) == 0
    assert len(TaskTable(tmp_path / "tasks.parquet")) == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"prompt": None}, "column prompt: must not be null"),
        ({"universe": "x"}, "column universe"),
        ({"gold": {1, 2}}, "not JSON"),
        ({"prompt": "\ud800"}, "column prompt"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_row_that_does_not_fit_leaves_nothing(tmp_path: Path, change: dict[str, Any], says: str):
    """Neither the file nor its temporary name."""
    with pytest.raises(RowError, match=says):
        write_tasks(tmp_path / "tasks.parquet", [task_row(0), task_row(1) | change])
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_read_or_written_is_named(tmp_path: Path):
    """Missing, damaged, in a place that is not there."""
    with pytest.raises(DatasetError, match=r"tasks\.parquet is missing"):
        TaskTable(tmp_path / "tasks.parquet")
    (tmp_path / "tasks.parquet").write_bytes(b"PAR1")
    with pytest.raises(DatasetError, match=r"tasks\.parquet cannot be read"):
        TaskTable(tmp_path / "tasks.parquet")
    with pytest.raises(OperatorError, match="cannot write"):
        write_tasks(tmp_path / "nowhere" / "tasks.parquet", [])
