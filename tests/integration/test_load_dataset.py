"""A run directory loads with Hugging Face `datasets` as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.task_table import write_tasks
from tests.unit.dataset.rows import IDENTITY, error, messages, row
from tests.unit.dataset.store.test_task_table import task_row

# in a process of its own: the library reads its settings at import and leaves files open behind it
LOAD = """
import json, sys
from datasets import load_dataset
loaded = load_dataset(*sys.argv[1:])
print(json.dumps({split: [row for row in rows] for split, rows in loaded.items()}, default=str))
"""


def load(tmp_path: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "TQDM_DISABLE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "hopeless",
    [(), (4, 5, 6, 7), (8, 9)],
    ids=["rows everywhere", "a shard without rows", "a split without rows"],
)
def test_load_dataset(tmp_path: Path, hopeless: tuple[int, ...]):
    """Arguments are exact objects, absent keys are absent, splits are the plan's, a shard without
    rows does no harm.
    """
    layout = Layout((("train", 8), ("test", 2)), 4)
    with RunWriter.create(
        tmp_path / "run",
        layout,
        IDENTITY,
        prepare=lambda directory: write_tasks(
            directory / "tasks.parquet", [task_row(0), task_row(1)]
        ),
    ) as writer:
        for index in range(10):
            if index in hopeless:
                writer.add_error(index, error(index, retryable=False))
            else:
                writer.add_row(index, row(index))
        writer.seal("complete")
    loaded = load(tmp_path, str(tmp_path / "run"))
    expected = {"train": range(8), "test": range(8, 10)}
    left = {
        split: [index for index in jobs if index not in hopeless]
        for split, jobs in expected.items()
    }
    found = {split: [r["job_index"] for r in rows] for split, rows in loaded.items()}
    assert found == {split: jobs for split, jobs in left.items() if jobs}
    assert [r["messages"] for r in loaded["train"]][:2] == [messages(0), messages(1)]
    assert loaded["train"][0]["submitted"] == {"value": 0}
    assert loaded["train"][1]["submitted"] is None
    tasks = load(tmp_path, str(tmp_path / "run"), "tasks")["train"]
    assert [r["key"] for r in tasks] == [{"id": 0}, {"id": 1}]


def test_a_partial_run_loads(tmp_path: Path):
    """Only the splits that have a file are in the card: a pattern without files would break the
    loading.
    """
    layout = Layout((("train", 8), ("test", 2)), 4)
    with RunWriter.create(tmp_path / "run", layout, IDENTITY) as writer:
        writer.add_row(5, row(5))
        writer.seal("partial")
    loaded = load(tmp_path, str(tmp_path / "run"))
    assert {split: [r["job_index"] for r in rows] for split, rows in loaded.items()} == {
        "train": [5]
    }
    card = (tmp_path / "run" / "README.md").read_text()
    assert card.startswith("---\n")
    assert "can be resumed" in card
    assert str(tmp_path) not in card
