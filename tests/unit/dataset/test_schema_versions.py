"""Files of another schema version are refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.columns import SCHEMA_VERSION
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from synth.errors import DatasetError
from tests.unit.dataset.rows import IDENTITY, row

LAYOUT = Layout((("train", 8),), 4)
READS = f"but this version of synth reads schema version {SCHEMA_VERSION}; "


def begun(tmp_path: Path) -> RunWriter:
    writer = RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY)
    for index in range(6):  # one shard, and two rows in the journal
        writer.add_row(index, row(index, case="allow"))
    return writer


def sealed(tmp_path: Path) -> Path:
    with begun(tmp_path) as writer:
        for index in (6, 7):
            writer.add_row(index, row(index, case="allow"))
        writer.seal("complete")
    return tmp_path / "run"


def state_version(file: Path, version: object) -> None:
    raw = json.loads(file.read_text()) | {"schema_version": version}
    del raw["checksum"]
    file.write_text(json.dumps(raw))


@pytest.mark.parametrize(
    ("version", "advice"),
    [(SCHEMA_VERSION - 1, "record the run again"), (SCHEMA_VERSION + 1, "upgrade synth")],
)
def test_another_version_is_refused_with_advice(tmp_path: Path, version: int, advice: str):
    run = sealed(tmp_path)
    state_version(run / "manifest.json", version)
    with pytest.raises(DatasetError, match=f"schema version {version}, {READS}{advice}"):
        Dataset.open(run)


@pytest.mark.parametrize("version", [0, -1, "2", None, True, 1.0])
def test_what_is_no_version_is_refused(tmp_path: Path, version: object):
    run = sealed(tmp_path)
    state_version(run / "manifest.json", version)
    with pytest.raises(DatasetError, match="has no valid schema version"):
        Dataset.open(run)


def test_a_file_of_another_version_is_refused(tmp_path: Path):
    [first, _] = sorted((sealed(tmp_path) / "data").iterdir())
    table = pq.read_table(first).replace_schema_metadata({b"synth.schema_version": b"1"})
    pq.write_table(table, first)
    with pytest.raises(DatasetError, match=f"{first.name} has schema version 1, {READS}"):
        Dataset.open(first)


def test_an_interrupted_run_of_another_version_is_neither_read_nor_resumed(tmp_path: Path):
    with begun(tmp_path):
        pass
    state_version(tmp_path / "run" / ".synth" / "run.json", 1)
    for attempt in (
        lambda: Dataset.open(tmp_path / "run"),
        lambda: RunWriter.resume(tmp_path / "run", LAYOUT),
    ):
        with pytest.raises(DatasetError, match=f"run.json has schema version 1, {READS}"):
            attempt()


def test_a_condition_on_the_column_case_says_that_it_needs_quotes(tmp_path: Path):
    dataset = Dataset.open(sealed(tmp_path))
    assert dataset.query("\"case\" = 'allow'").num_rows == 8
    with pytest.raises(DatasetError, match='write the column `case` in double quotes: "case"'):
        dataset.query("case = 'allow'")
