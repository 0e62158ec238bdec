"""What a run directory accepts, refuses, and holds at its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.arrow_schema import SCHEMA, table
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.journal import Journal
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.manifest import read_manifest
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.wire import RowError
from synth.errors import DatasetError, OperatorError, ResumeRefused
from tests.unit.dataset.rows import IDENTITY, error, row

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
LAYOUT = Layout((("train", 10),), 4)


def begin(directory: Path, layout: Layout = LAYOUT, **options: object) -> RunWriter:
    return RunWriter.create(directory, layout, IDENTITY, **options)  # type: ignore[arg-type]


def jobs(directory: Path) -> list[int]:
    with Dataset.open(directory) as dataset:
        return dataset.table(["job_index"])["job_index"].to_pylist()


def open_shards(writer: RunWriter) -> int:
    return len([*writer.files.journal.glob("shard-*")])


def test_rows_stand_in_the_plans_order(tmp_path: Path):
    """Whatever the order in which they come, and each shard appears when its jobs are done."""
    writer = begin(tmp_path / "run")
    for index in (9, 3, 1, 0):
        assert writer.add_row(index, row(index))
    assert (open_shards(writer), list(writer.still_to_play())) == (2, [2, 4, 5, 6, 7, 8])
    assert not list((tmp_path / "run" / "data").iterdir())
    writer.add_row(2, row(2))
    assert [path.name for path in (tmp_path / "run" / "data").iterdir()] == [
        "train-00000-of-00003.parquet"
    ]
    assert open_shards(writer) == 1
    for index in (8, 7, 6, 5, 4):
        writer.add_row(index, row(index))
    assert (open_shards(writer), list(writer.still_to_play()), writer.progress.rows) == (0, [], 10)
    manifest = writer.seal("complete")
    assert jobs(tmp_path / "run") == list(range(10))
    assert [shard["rows"] for shard in manifest["shards"]] == [4, 4, 2]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "README.md",
        "data",
        "manifest.json",
    ]


def test_a_second_row_is_dropped(tmp_path: Path):
    """A killed worker's batch comes again: the first one counts, before and after the commit."""
    with begin(tmp_path / "run") as writer:
        assert writer.add_row(0, row(0))
        assert not writer.add_row(0, row(0, model="other"))
        for index in (1, 2, 3):
            writer.add_row(index, row(index))
        assert not writer.add_row(0, row(0, model="other"))
        assert not writer.add_error(0, error(0, retryable=False))
        writer.seal("partial")
    with Dataset.open(tmp_path / "run") as dataset:
        assert dataset.find(0)["model"] == "scripted"
        assert dataset.count == 4


def test_rows_go_through_unchanged(tmp_path: Path):
    """The table of a sealed run equals the table of the wire rows, over row groups and shards."""
    layout = Layout((("train", 600),), 300)
    rows = [row(index) for index in range(600)]
    with begin(tmp_path / "run", layout) as writer:
        for index in reversed(range(600)):
            writer.add_row(index, rows[index])
        writer.seal("complete")
    with Dataset.open(tmp_path / "run") as dataset:
        assert dataset.table().equals(table(rows))
    file = pq.ParquetFile(tmp_path / "run" / "data" / "train-00001-of-00002.parquet")
    assert file.schema_arrow.equals(SCHEMA)
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [256, 44]


def test_a_row_must_be_its_jobs(tmp_path: Path):
    """A row under the wrong index, or outside the plan, is a bug that must not reach the
    journal.
    """
    with begin(tmp_path / "run") as writer:
        with pytest.raises(RowError):
            writer.add_row(1, row(2))
        with pytest.raises(RowError):
            writer.add_error(1, error(2))
        for index in (-1, 10):
            with pytest.raises(IndexError):
                writer.add_row(index, row(0))
        assert not list((tmp_path / "run" / ".synth" / "journal").iterdir())


def test_errors_become_terminal_after_their_attempts(tmp_path: Path):
    """Attempts are counted over sessions; a hopeless job does not keep a shard open, a retried one
    can still succeed.
    """
    directory = tmp_path / "run"
    with begin(directory, max_attempts=2) as writer:
        assert not writer.add_error(0, error(0))
        assert not writer.add_error(1, error(1))
        assert writer.add_error(2, error(2, retryable=False))
        writer.add_row(3, row(3))
        assert writer.seal("partial")["counts"]["errors"] == 3
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert [writer.attempts(index) for index in range(4)] == [1, 1, 1, 0]
        assert list(writer.still_to_play()) == [0, 1, *range(4, 10)]
        assert writer.add_error(0, error(0, message="again \ud800\x00"))
        assert writer.add_row(1, row(1))
        assert not writer.add_error(5, error(5))
        writer.seal("partial")
    with Dataset.open(directory) as dataset:
        assert [(e["job_index"], e["attempts"], e["terminal"]) for e in dataset.errors()] == [
            (0, 2, True),
            (2, 1, True),
            (5, 1, False),
        ]
        assert dataset.errors()[0]["message"] == r"again \ud800\u0000"
        dataset.verify()
    assert jobs(directory) == [1, 3]


def test_a_complete_run_with_errors_can_be_given_more_attempts(tmp_path: Path):
    """A higher limit reopens what could heal, and only that; errors.parquet goes when there are
    none left.
    """
    directory = tmp_path / "run"
    with begin(directory, max_attempts=1) as writer:
        for index in range(10):
            if index in {2, 9}:
                writer.add_error(index, error(index))
            else:
                writer.add_row(index, row(index))
        counts = writer.seal("complete")["counts"]
        assert (counts["rows"], counts["errors"], counts["terminal_errors"], counts["missing"]) == (
            8,
            2,
            2,
            0,
        )
    assert (directory / "errors.parquet").exists()
    with RunWriter.resume(directory, LAYOUT, max_attempts=2) as writer:
        assert list(writer.still_to_play()) == [2, 9]
        assert read_manifest(directory)["status"] == "complete", (
            "no change yet: the claim still stands"
        )
        writer.add_row(2, row(2))
        assert not (directory / "manifest.json").exists()
        writer.add_row(9, row(9))
        writer.seal("complete")
    assert jobs(directory) == list(range(10))
    assert not (directory / "errors.parquet").exists()


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path):
    """Not a byte, and nothing is left behind."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        for index in range(10):
            writer.add_row(index, row(index))
        writer.seal("complete")
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert list(writer.still_to_play()) == []
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before


def test_a_late_row_beats_a_terminal_error(tmp_path: Path):
    """A finished rollout is never thrown away, also where its shard was committed without it."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        for index in (0, 1, 2):
            writer.add_row(index, row(index))
        assert writer.add_error(3, error(3, retryable=False))
        assert writer.add_row(3, row(3))
        assert writer.seal("partial")["counts"]["errors"] == 0
    assert jobs(directory) == [0, 1, 2, 3]


def test_a_complete_run_must_be(tmp_path: Path):
    """The writer does not lie for its caller, and extra keys do not overwrite its own."""
    with begin(tmp_path / "run") as writer:
        writer.add_row(0, row(0))
        with pytest.raises(ValueError, match="9 jobs"):
            writer.seal("complete")
        with pytest.raises(ValueError, match="counts"):
            writer.seal("partial", {"counts": {}})
        writer.seal("partial", {"stopped_by": "SIGINT"})
        with pytest.raises(ValueError, match="closed"):
            writer.add_row(1, row(1))
        with pytest.raises(ValueError, match="closed"):
            writer.seal("partial")
    assert read_manifest(tmp_path / "run")["stopped_by"] == "SIGINT"


def test_an_empty_plan_is_complete(tmp_path: Path):
    """No jobs, no shards, no division by zero."""
    with begin(tmp_path / "run", Layout((("train", 0),), 4)) as writer:
        writer.seal("complete")
    with Dataset.open(tmp_path / "run") as dataset:
        assert (dataset.count, list(dataset.rows()), dataset.status) == (0, [], "complete")


def test_the_counts_are_true(tmp_path: Path):
    """Per outcome, family and split, with unknown costs null and unscored rows out of the mean."""
    with begin(tmp_path / "run", Layout((("train", 7), ("test", 3)), 4)) as writer:
        for index in range(10):
            unscored = {"outcome": "unscored", "reward": None} if index == 1 else {}
            writer.add_row(index, row(index, **unscored))
        counts = writer.seal("complete")["counts"]
    assert counts["outcomes"] == {"failure": 2, "success": 7, "unscored": 1}
    assert counts["mean_reward"] == pytest.approx(7 / 9)
    assert counts["families"]["vitals"]["outcomes"] == {"failure": 1, "success": 4, "unscored": 1}
    assert counts["families"]["vitals"]["mean_reward"] == pytest.approx(4 / 5)
    assert [(name, split["jobs"], split["rows"]) for name, split in counts["splits"].items()] == [
        ("train", 7, 7),
        ("test", 3, 3),
    ]
    assert counts["input_tokens"] == sum(range(100, 110))
    assert counts["cost_usd"] is None


def test_a_directory_with_a_run_is_refused(tmp_path: Path):
    """Running, left behind or sealed: the message says how to go on."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        with pytest.raises(OperatorError, match=rf"--resume {directory}"):
            begin(directory)
        writer.add_row(0, row(0))
    with pytest.raises(OperatorError, match="--resume"):
        begin(directory)
    with RunWriter.resume(directory, LAYOUT) as writer:
        writer.seal("partial")
    with pytest.raises(OperatorError, match="--resume"):
        begin(directory)


def test_other_places_are_refused(tmp_path: Path):
    """A file, somebody's directory, a place below a file, and nothing to resume: one message each,
    nothing touched.
    """
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(OperatorError, match="is a file"):
        begin(tmp_path / "file")
    with pytest.raises(OperatorError, match="is not empty and holds no run"):
        begin(tmp_path / "full")
    with pytest.raises(OperatorError, match="cannot create"):
        begin(tmp_path / "file" / "below")
    for name in ("full", "nowhere"):
        with pytest.raises(OperatorError, match="holds no run to resume"):
            RunWriter.resume(tmp_path / name, LAYOUT)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "thesis.tex"]


def test_another_layout_is_refused(tmp_path: Path):
    """Rows would land in the wrong shards."""
    with begin(tmp_path / "run") as writer:
        writer.seal("partial")
    with pytest.raises(ResumeRefused, match="rows_per_shard"):
        RunWriter.resume(tmp_path / "run", Layout((("train", 10),), 5))
    assert not (tmp_path / "run" / ".synth").exists()


def test_another_schema_version_is_refused(tmp_path: Path):
    """A journal of another version would be misread."""
    begin(tmp_path / "run").close()
    path = tmp_path / "run" / ".synth" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99}))
    with pytest.raises(DatasetError, match="schema version 99"):
        RunWriter.resume(tmp_path / "run", LAYOUT)


HOLDER = """
import sys, time
from pathlib import Path
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from tests.unit.dataset.rows import IDENTITY, row
writer = RunWriter.create(Path(sys.argv[1]), Layout((("train", 10),), 4), IDENTITY)
writer.add_row(0, row(0))
print("ready", flush=True)
time.sleep(600)
"""


def test_one_writer_at_a_time(tmp_path: Path):
    """A living writer is named; a killed one leaves no lock; a reader sees the difference."""
    directory = tmp_path / "run"
    command = [sys.executable, "-c", HOLDER, str(directory)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(ResumeRefused, match=f"is being written by process {child.pid}"):
            RunWriter.resume(directory, LAYOUT)
        with Dataset.open(directory) as dataset:
            assert (dataset.status, dataset.count) == ("running", 1)
        child.send_signal(signal.SIGKILL)
    with Dataset.open(directory) as dataset:
        assert (dataset.status, dataset.count) == ("interrupted", 1)
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert list(writer.still_to_play()) == list(range(1, 10))


def test_a_run_that_was_not_begun_can_be_begun_again(tmp_path: Path):
    """Where preparing fails (a broken world, a full disk), the same output.dir serves the next
    attempt.
    """

    def fails(directory: Path) -> None:
        (directory / "config.yaml").write_text("half")
        raise OperatorError("broken world")

    with pytest.raises(OperatorError, match="broken world"):
        begin(tmp_path / "run", prepare=fails)
    with pytest.raises(OperatorError, match="holds no run"):
        RunWriter.resume(tmp_path / "run", LAYOUT)
    begin(
        tmp_path / "run", prepare=lambda directory: (directory / "config.yaml").write_text("whole")
    ).close()
    assert (tmp_path / "run" / "config.yaml").read_text() == "whole"


def test_a_damaged_journal_is_told_and_heals(tmp_path: Path):
    """The lost job runs again, nothing else does."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        for index in (0, 1, 2):
            writer.add_row(index, row(index))
    path = Journal(directory / ".synth" / "journal").shard_path(0)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert "damaged" in writer.warnings[0]
        assert list(writer.still_to_play()) == [1, *range(3, 10)]
        for index in (1, 3):
            writer.add_row(index, row(index))
        writer.seal("partial")
    assert jobs(directory) == [0, 1, 2, 3]


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("status", ["partial", None], ids=["sealed", "interrupted"])
def test_a_damaged_shard_is_named_and_set_aside(tmp_path: Path, status: Literal["partial"] | None):
    """It is never deleted: it may be all there is of a paid run. Its jobs wait again."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        for index in range(4):
            writer.add_row(index, row(index))
        if status is not None:
            writer.seal(status)
    path = directory / "data" / "train-00000-of-00003.parquet"
    damaged = path.read_bytes()[:-10]
    path.write_bytes(damaged)
    with RunWriter.resume(directory, LAYOUT) as writer:
        aside = directory / ".synth" / "damaged" / path.name
        assert "train-00000-of-00003.parquet is damaged" in writer.warnings[0]
        assert str(aside) in writer.warnings[0]
        assert aside.read_bytes() == damaged
        assert list(writer.still_to_play()) == list(range(10))
        writer.seal("partial")
    Dataset.open(directory).verify()


def test_what_can_be_read_of_a_damaged_shard_stays(tmp_path: Path):
    """One of its row groups is broken: only that one's jobs wait again."""
    directory, layout = tmp_path / "run", Layout((("train", 600),), 600)
    with begin(directory, layout) as writer:
        for index in range(600):
            writer.add_row(index, row(index))
        writer.seal("complete")
    path = directory / "data" / "train-00000-of-00001.parquet"
    with pq.ParquetFile(path) as file:
        column = file.metadata.row_group(1).column(SCHEMA.names.index("seed"))
        flip(path, column.data_page_offset + column.total_compressed_size // 2)
    with RunWriter.resume(directory, layout) as writer:
        assert "344 rows in it are kept" in writer.warnings[0]
        assert list(writer.still_to_play()) == list(range(256, 512))
        for index in list(writer.still_to_play()):
            writer.add_row(index, row(index))
        writer.seal("complete")
    Dataset.open(directory).verify()
    assert jobs(directory) == list(range(600))


def test_a_flip_that_no_row_group_shows_loses_the_shard(tmp_path: Path):
    """In a footer it could alter any row: nothing in the file is trusted."""
    directory = tmp_path / "run"
    with begin(directory) as writer:
        for index in range(4):
            writer.add_row(index, row(index))
        writer.seal("partial")
    path = directory / "data" / "train-00000-of-00003.parquet"
    flip(path, len(path.read_bytes()) - 40)
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert "is damaged" in writer.warnings[0]
        assert list(writer.still_to_play()) == list(range(10))


def test_damaged_errors_are_set_aside_and_their_jobs_tried_again(tmp_path: Path):
    directory = tmp_path / "run"
    with begin(directory) as writer:
        writer.add_error(3, error(3, retryable=False))
        writer.seal("partial")
    flip(directory / "errors.parquet", 40)
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert "errors.parquet" in writer.warnings[0]
        assert list(writer.still_to_play()) == list(range(10))


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from synth.errors import OperatorError
from tests.unit.dataset.rows import IDENTITY, row
directory, limit = Path(sys.argv[1]), int(sys.argv[2])
layout = Layout((("train", 40),), 40)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = RunWriter.create(directory, layout, IDENTITY)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
try:
    for index in range(40):
        writer.add_row(index, row(index, family=f"{index:032x}" * 20))
    writer.seal("complete")
except OperatorError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("limit", "where"), [(50_000, "shard-000000.log"), (8_000, "shard-000000.log")]
)
def test_a_full_disk_in_the_journal(tmp_path: Path, limit: int, where: str):
    """The path is named, the half frame is taken back, and the run goes on when there is room."""
    directory = tmp_path / "run"
    command = [sys.executable, "-c", FULL_DISK, str(directory), str(limit)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert where in done.stdout
    assert done.stdout.startswith("cannot write")
    layout = Layout((("train", 40),), 40)
    with RunWriter.resume(directory, layout) as writer:
        assert not writer.warnings
        waiting = list(writer.still_to_play())
        assert 0 < len(waiting) < 40
        for index in waiting:
            writer.add_row(index, row(index))
        writer.seal("complete")
    assert jobs(directory) == list(range(40))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_in_a_shard(tmp_path: Path):
    """A shard that cannot be written whole is not there at all; the journal keeps its rows until it
    can.
    """
    directory = tmp_path / "run"
    writer = begin(directory)
    for index in range(3):
        writer.add_row(index, row(index))
    (directory / ".synth" / "tmp" / "train-00000-of-00003.part").symlink_to("/dev/full")
    with pytest.raises(
        OperatorError, match=r"cannot write .*train-00000-of-00003\.parquet: No space left"
    ):
        writer.add_row(3, row(3))
    writer.close()
    assert not list((directory / "data").iterdir())
    assert not list((directory / ".synth" / "tmp").iterdir())
    with Dataset.open(directory) as dataset:
        assert (dataset.status, dataset.count) == ("interrupted", 4)
    with RunWriter.resume(directory, LAYOUT) as writer:
        assert list(writer.still_to_play()) == list(range(4, 10))
    assert [path.name for path in (directory / "data").iterdir()] == [
        "train-00000-of-00003.parquet"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written(tmp_path: Path):
    """One message with the path."""
    tmp_path.chmod(0o500)
    with pytest.raises(OperatorError, match=str(tmp_path)):
        begin(tmp_path / "run")
