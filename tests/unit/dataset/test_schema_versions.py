"""Files of schema version 1 are read under the names of version 2; newer files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.dataset.reader import Dataset
from synth.dataset.store.layout import Layout
from synth.dataset.store.task_table import TaskTable, write_tasks
from synth.dataset.store.writer import RunWriter
from synth.errors import DatasetError, RenamedKeyWarning, ResumeRefused
from synth.foundation.renamed_keys import COLUMNS
from tests.unit.dataset.rows import IDENTITY, row
from tests.unit.dataset.store.test_task_table import task_row

LAYOUT = Layout((("train", 8),), 4)
APPROVED = {
    "event": "approver_completion",
    "id": "call_0",
    "content": 'No: "event":"policy_completion" is no reason.',
}
DENIED = {"event": "tool_result", "id": "call_0", "result": '{"event":"policy_completion"}'}


def old(event: dict[str, Any]) -> dict[str, Any]:
    return event | {"event": event["event"].replace("approver_", "policy_")}


def age(path: Path) -> None:
    """Rewrite a Parquet file as schema version 1 had it."""
    table = pq.read_table(path)
    names = {new: name for name, new in COLUMNS.items()}
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    pq.write_table(table.replace_schema_metadata({b"synth.schema_version": b"1"}), path)


def age_json(path: Path) -> None:
    raw = json.loads(path.read_text()) | {"schema_version": 1}
    del raw["checksum"]  # as the version that wrote it
    text = json.dumps(raw, indent=2).replace("approver_", "policy_")
    path.write_text(text)


def add_rows(writer: RunWriter, count: int) -> None:
    for index in range(count):
        events = [old(APPROVED), DENIED]
        writer.add_row(
            index, row(index, case="allow", events=events, approver_cost_usd=0.5, schema_version=1)
        )


def assert_current(dataset: Dataset, count: int) -> None:
    rows = list(dataset.rows())
    assert len(rows) == count
    for values in rows:
        assert values["events"] == [APPROVED, DENIED]
        assert (values["case"], values["approver_cost_usd"]) == ("allow", 0.5)


def sealed(tmp_path: Path) -> Path:
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        add_rows(writer, 8)
        writer.seal("complete")
    for path in (tmp_path / "run" / "data").iterdir():
        age(path)
    age_json(tmp_path / "run" / "manifest.json")
    return tmp_path / "run"


def test_a_sealed_run_is_read_under_the_new_names(tmp_path: Path):
    run = sealed(tmp_path)
    with pytest.warns(RenamedKeyWarning, match="schema version 1: `branch` is now `case`"):
        dataset = Dataset.open(run)
    assert_current(dataset, 8)
    assert dataset.manifest is not None
    counts = dataset.manifest["counts"]
    for sums in (counts, counts["splits"]["train"]):
        assert sums["approver_cost_usd"] == 4.0
        assert "policy_cost_usd" not in sums


def test_a_file_of_its_own_is_read_under_the_new_names(tmp_path: Path):
    run = sealed(tmp_path)
    [first, _] = sorted((run / "data").iterdir())
    with pytest.warns(RenamedKeyWarning, match="schema version 1"):
        assert_current(Dataset.open(first), 4)
    with pytest.warns(RenamedKeyWarning, match="schema version 1"):
        assert_current(Dataset.open(run / "data"), 8)


def test_an_interrupted_run_is_read_and_not_resumed(tmp_path: Path):
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        add_rows(writer, 6)  # one shard, and two rows in the journal
    [shard] = (tmp_path / "run" / "data").iterdir()
    age(shard)
    age_json(tmp_path / "run" / ".synth" / "run.json")
    with pytest.warns(RenamedKeyWarning, match="schema version 1"):
        dataset = Dataset.open(tmp_path / "run")
    with dataset:
        assert dataset.status == "interrupted"
        assert_current(dataset, 6)
    with pytest.raises(ResumeRefused, match="begun with schema version 1, but this version"):
        RunWriter.resume(tmp_path / "run", LAYOUT)


def test_the_warning_is_issued_once_for_a_run(tmp_path: Path, recwarn: pytest.WarningsRecorder):
    run = sealed(tmp_path)
    Dataset.open(run)
    Dataset.open(run)
    [warning] = recwarn
    line = json.dumps({"schema_version": 1})[1:-1]
    assert (run / "manifest.json").read_text().splitlines()[
        warning.lineno - 1
    ].strip() == f"{line},"


def test_tasks_are_read_under_the_new_names(tmp_path: Path):
    fields = {"id": "t", "branch": "allow", "accept": [], "slots": {"branch": "Utrecht"}}
    write_tasks(tmp_path / "tasks.parquet", [task_row(0) | {"case": "allow", "task": fields}])
    age(tmp_path / "tasks.parquet")
    table = TaskTable(tmp_path / "tasks.parquet")
    present = {"id": "t", "case": "allow", "alternatives": [], "slots": {"branch": "Utrecht"}}
    assert table.task(0) == present
    [values] = table.rows()
    assert (values["task"], values["case"]) == (present, "allow")


@pytest.mark.parametrize("version", [3, 99])
def test_a_newer_version_is_refused_in_one_sentence(tmp_path: Path, version: int):
    run = sealed(tmp_path)
    manifest = run / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": version}))
    expected = (
        f"manifest.json has schema version {version}, but this version of synth reads schema"
        " versions up to 2; upgrade synth"
    )
    with pytest.raises(DatasetError, match=expected):
        Dataset.open(run)


@pytest.mark.parametrize("version", [0, -1, "2", None, True, 1.0])
def test_what_is_no_version_is_refused(tmp_path: Path, version: object):
    run = sealed(tmp_path)
    manifest = run / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": version}))
    with pytest.raises(DatasetError, match="has no valid schema version"):
        Dataset.open(run)


def test_an_old_column_name_is_answered_with_the_new_one(tmp_path: Path):
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        add_rows(writer, 8)
        writer.seal("complete")
    dataset = Dataset.open(tmp_path / "run")
    with pytest.raises(DatasetError, match="there is no column branch; it is now `case`"):
        dataset.table(["branch"])
    with pytest.raises(DatasetError, match="`branch` is now `case`"):
        dataset.query("branch = 'allow'")
    assert dataset.query("\"case\" = 'allow'").num_rows == 8
    with pytest.raises(DatasetError, match='write the column `case` in double quotes: "case"'):
        dataset.query("case = 'allow'")
