"""Reading a dataset in every state, and saying what is wrong with a broken one."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.core.dataset.arrow_schema import table
from synth.core.dataset.columns import COLUMNS
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from synth.errors import DatasetError
from tests.unit.dataset.rows import IDENTITY, error, messages, row, values

LAYOUT = Layout((("train", 8), ("test", 2)), 4)
PATHS = ["train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A complete run of ten jobs, one of them broken for good."""
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        for index in range(10):
            if index == 5:
                writer.add_error(index, error(index, retryable=False))
            else:
                writer.add_row(index, row(index, split="train" if index < 8 else "test"))
        writer.seal("complete")
    return tmp_path / "run"


def test_rows_come_back_as_python(run: Path):
    """Exact objects: arguments with their own keys, absent keys absent."""
    with Dataset.open(run) as dataset:
        dataset.verify()
        rows = list(dataset.rows())
        assert (dataset.count, len(rows), dataset.status) == (9, 9, "complete")
        assert rows[1] == {col.name: None for col in COLUMNS} | values(1)
        assert rows[0]["messages"][2]["tool_calls"][0]["function"]["arguments"] == {}
        assert next(dataset.rows(["seed", "family"])) == {"seed": 2**62, "family": "recall"}
        assert dataset.table(["seed", "family"]).column_names == ["seed", "family"]
        assert [e["job_index"] for e in dataset.errors()] == [5]


def test_a_run_that_goes_on(tmp_path: Path):
    """Committed shards and journal together, errors that healed left out, nothing on disk
    changed.
    """
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        for index in (9, 6, 3, 2, 1, 0):
            writer.add_row(index, row(index))
        for index in (4, 7):
            writer.add_error(index, error(index))
        writer.add_row(7, row(7))
        before = {path: path.stat() for path in tmp_path.rglob("*")}
        with Dataset.open(tmp_path / "run") as dataset:
            assert dataset.status == "running"
            assert dataset.manifest is None
            assert dataset.table().equals(table(row(index) for index in (0, 1, 2, 3, 6, 7, 9)))
            assert [(e["job_index"], e["terminal"]) for e in dataset.errors()] == [(4, False)]
            assert dataset.find(6)["messages"] == messages(6)
            assert dataset.query("job_index > 5", ["job_index"])["job_index"].to_pylist() == [
                6,
                7,
                9,
            ]
            # what was open when it was read stays readable when the writer goes on
            for index in (4, 5, 8):
                writer.add_row(index, row(index))
            assert dataset.table(["job_index"])["job_index"].to_pylist()[:6] == [0, 1, 2, 3, 6, 7]
        assert {path for path in before if path.exists()} >= {tmp_path / "run" / ".synth" / "lock"}
        writer.seal("complete")


def test_a_partial_run_that_was_taken_up_again(tmp_path: Path):
    """A shard that has rows in its file and more of them in the journal is read as one."""
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        writer.add_row(1, row(1))
        writer.add_row(3, row(3))
        writer.seal("partial")
    with Dataset.open(tmp_path / "run") as dataset:
        assert (dataset.status, dataset.count) == ("partial", 2)
    with RunWriter.resume(tmp_path / "run", LAYOUT) as writer:
        writer.add_row(2, row(2))
        with Dataset.open(tmp_path / "run") as dataset:
            assert dataset.table().equals(table(row(index) for index in (1, 2, 3)))
    with Dataset.open(tmp_path / "run") as dataset:
        assert (dataset.status, dataset.count) == ("interrupted", 3)


def test_plain_files(run: Path, tmp_path: Path):
    """One shard, a directory of them, and a copy of data/ without the rest."""
    with Dataset.open(run / "data" / f"{PATHS[0]}.parquet") as dataset:
        assert (dataset.count, dataset.errors()) == (4, [])
        assert dataset.find(3)["job_index"] == 3
    with Dataset.open(run / "data") as dataset:
        assert dataset.count == 9
    (run / "manifest.json").unlink()
    with Dataset.open(run) as dataset:
        assert dataset.count == 9
        dataset.verify()


def test_a_file_that_pandas_rewrote(run: Path, tmp_path: Path):
    """Without the metadata and with types of its own it is still read, in the pinned types."""
    path = tmp_path / "again.parquet"
    old = pq.read_table(run / "data" / f"{PATHS[0]}.parquet")
    columns = {}
    for name in old.column_names:
        column = old[name]
        plain = (
            column.cast(pa.list_(pa.string()))
            if "list<" in str(column.type) and "json" in str(column.type)
            else column
        )
        plain = column.cast(pa.string()) if str(column.type) == "extension<arrow.json>" else plain
        columns[name] = pa.nulls(len(old)) if plain.null_count == len(old) else plain
    pq.write_table(pa.table(columns), path)
    with (
        Dataset.open(path) as dataset,
        Dataset.open(run / "data" / f"{PATHS[0]}.parquet") as original,
    ):
        assert dataset.table().equals(original.table())


def test_find(run: Path):
    """By id, by the beginning of one, by job; what is not one says why."""
    with Dataset.open(run) as dataset:
        wanted = values(2)["trajectory_id"]
        for key in (wanted, wanted[:10], 2, "2"):
            assert dataset.find(key)["job_index"] == 2
        with pytest.raises(DatasetError, match=r"unknown trajectory zzz in .*--limit 0"):
            dataset.find("zzz")
        with pytest.raises(DatasetError, match="ModelError: reset"):
            dataset.find(error(5).trajectory_id)
        with pytest.raises(DatasetError, match="unknown trajectory"):
            dataset.find(5_000_000)


def test_a_position_and_a_slice(run: Path):
    with Dataset.open(run) as dataset:
        ids = [row["trajectory_id"] for row in dataset]
        assert [row["trajectory_id"] for row in dataset[1:4]] == ids[1:4]
        assert [row["trajectory_id"] for row in dataset[::-2]] == ids[::-2]
        assert dataset[-1]["trajectory_id"] == ids[-1]
        with pytest.raises(IndexError, match="unknown row 99: the dataset has 9 rows"):
            dataset[99]
        with pytest.raises(TypeError, match=r"a column is in rows\(\['reward'\]\)"):
            dataset["reward"]  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_an_ambiguous_beginning_lists_the_ids(tmp_path: Path):
    """Two ids that begin alike."""
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        for index in (0, 1):
            writer.add_row(index, row(index, trajectory_id=f"aaaa{index}"))
        writer.seal("partial")
    with Dataset.open(tmp_path / "run") as dataset:
        with pytest.raises(DatasetError, match="is the beginning of 2 ids: aaaa0, aaaa1"):
            dataset.find("aaaa")
        assert dataset.find("aaaa1")["job_index"] == 1


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("reward < 1", [0]),
        ("family = 'recall' AND submitted->>'value' = '0'", [0]),
        ("submitted IS NULL", [1, 2, 3, 6, 7, 9]),
        ("len(messages) = 5 AND messages[2]->>'role' = 'user'", [0, 1, 2, 3, 4, 6, 7, 8, 9]),
        ("list_contains(error_categories, 'conflict')", [0]),
        ("state_diff[1].key.id = 3", [3]),
        ("job_index > 5 ORDER BY job_index DESC LIMIT 2", [9, 8]),
        ("created_at >= '2026-01-01 09:00:00' -- a comment", [0, 1, 2, 3, 4, 6, 7, 8, 9]),
        ("JOB_INDEX IN (1, 2)", [1, 2]),
        ("false", []),
    ],
)
def test_conditions_are_sql(run: Path, where: str, found: list[int]):
    """Over every kind of column, JSON as JSON; ORDER BY and LIMIT work as they read."""
    with Dataset.open(run) as dataset:
        result = dataset.query(where, ["job_index", "messages"])
        assert result["job_index"].to_pylist() == found
        assert [json.loads(m[1])["content"] for m in result["messages"].to_pylist()] == [
            f"Note {i}" for i in found
        ]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("rewrd < 1", "rewrd"),
        ("reward <", "(?i)syntax"),
        ("", "(?i)syntax"),
        ("reward < 1; DROP TABLE dataset", "one condition"),
        ("reward < 1 UNION SELECT 99", "not in the dataset"),
        ("CAST(family AS INTEGER) = 1", "(?i)convert"),
        ("family IN (SELECT content FROM read_text('/etc/hostname'))", "(?i)disabled"),
        ("family IN (SELECT * FROM 'https://example.invalid/x.csv')", "(?i)--where"),
        ("family IN (SELECT * FROM COLUMNS_NOT_THERE)", "(?i)--where"),
    ],
)
def test_a_wrong_condition_is_told_in_the_databases_words(run: Path, where: str, says: str):
    """And with the columns there are; nothing outside the dataset can be reached."""
    with Dataset.open(run) as dataset, pytest.raises(DatasetError, match=says):
        dataset.query(where)


def test_a_wrong_column_is_offered_the_right_one(run: Path):
    """The nearest name."""
    with Dataset.open(run) as dataset, pytest.raises(DatasetError, match="did you mean reward"):
        list(dataset.rows(["rewrd"]))


def test_what_is_no_dataset(tmp_path: Path):
    """A path that is not there, an empty directory, a file that is no Parquet, Parquet that is not
    ours.
    """
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("no")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    for name, says in [
        ("nowhere", "does not exist"),
        ("empty", "holds no dataset"),
        ("text.parquet", "text.parquet cannot be read"),
        ("other.parquet", "has no schema version"),
    ]:
        with pytest.raises(DatasetError, match=says):
            Dataset.open(tmp_path / name)


def test_a_broken_dataset_names_the_file(run: Path):
    """A flipped byte, a cut file, a missing one, a stray one, another version, a manifest that is
    none.
    """
    shard = run / "data" / f"{PATHS[1]}.parquet"
    whole = shard.read_bytes()

    for place in (200, len(whole) // 2):
        data = bytearray(whole)
        data[place] ^= 0xFF
        shard.write_bytes(data)
        with pytest.raises(DatasetError, match=PATHS[1]):
            Dataset.open(run).verify()
    shard.write_bytes(whole[:-100])
    with pytest.raises(DatasetError, match=PATHS[1]):
        list(Dataset.open(run).rows())
    shard.unlink()
    with pytest.raises(DatasetError, match=rf"{PATHS[1]}.parquet is missing"):
        Dataset.open(run)
    shard.write_bytes(whole)
    Dataset.open(run).verify()

    stray = run / "data" / "train-00009-of-00010.parquet"
    stray.write_bytes(whole)
    with pytest.raises(DatasetError, match=r"00009-of-00010\.parquet is not in the manifest"):
        Dataset.open(run).verify()
    stray.unlink()

    altered = pq.read_table(shard)
    place = altered.column_names.index("model")
    pq.write_table(
        altered.set_column(place, altered.field(place), pa.array(["x"] * len(altered))), shard
    )
    assert Dataset.open(run).find(6)["model"] == "x", (
        "an altered file is readable: replay has to see it"
    )
    with pytest.raises(DatasetError, match="SHA-256"):
        Dataset.open(run).verify()

    versioned = altered.replace_schema_metadata({b"synth.schema_version": b"4"})
    pq.write_table(versioned, shard)
    with pytest.raises(
        DatasetError, match="has schema version 4, but this version of synth reads schema version 3"
    ):
        list(Dataset.open(run).rows())

    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"sealed_at": "never"}))
    with pytest.raises(DatasetError, match="another checksum"):
        Dataset.open(run)
    del manifest["checksum"]
    for text, says in [
        ("{", "is not JSON"),
        ("[]", "does not hold a JSON object"),
        (json.dumps(manifest | {"schema_version": 4}), "schema version 4"),
        (json.dumps(manifest | {"shards": [{}]}), "is not the manifest"),
        (
            json.dumps(manifest | {"shards": [manifest["shards"][0] | {"path": "../x.parquet"}]}),
            "not a shard of this run",
        ),
    ]:
        (run / "manifest.json").write_text(text)
        with pytest.raises(DatasetError, match=says):
            Dataset.open(run)


def test_a_folder_of_runs_names_them(run: Path):
    """The first guess after a run is its parent: the message says where to look."""
    with pytest.raises(DatasetError, match=r"holds no dataset; runs in it: .*run"):
        Dataset.open(run.parent)


def test_a_run_without_rows_has_run_no_tool(tmp_path: Path):
    with RunWriter.create(tmp_path / "run", LAYOUT, IDENTITY) as writer:
        assert writer.seal("partial")["counts"]["tools"] == {}
