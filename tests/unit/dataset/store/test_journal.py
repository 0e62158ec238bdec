"""The journal keeps whole frames, drops torn tails, and tells of damage."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from synth.core.dataset.store.journal import ROW, Journal, Segment, segment_numbers
from synth.errors import OperatorError


@pytest.fixture
def journal(tmp_path: Path):
    made = Journal(tmp_path)
    yield made
    made.close()


def fill(journal: Journal, count: int = 5) -> Path:
    path = journal.shard_path(0)
    for index in range(count):
        journal.append(path, ROW, index, b"payload %d" % index * 10)
    return path


def test_frames_come_back(journal: Journal):
    """By job, also after the file is gone: a reader of a living run depends on it."""
    path = fill(journal)
    segment = Segment(path)
    journal.delete(path)
    assert {index: segment.read(index) for index in segment.frames} == {
        index: b"payload %d" % index * 10 for index in range(5)
    }
    assert not path.exists()
    assert list(journal.shards()) == []


def test_a_tail_of_zeros_is_torn(journal: Journal):
    """What a loss of power leaves when the length was written and the data was not."""
    path = fill(journal, 2)
    with path.open("ab") as handle:
        handle.write(bytes(4096))
    segment = journal.repair(path)
    assert (sorted(segment.frames), segment.damaged, segment.end) == (
        [0, 1],
        0,
        path.stat().st_size,
    )


def test_the_last_word_counts(journal: Journal):
    """Errors of one job are kept one after the other."""
    path = journal.errors_path
    for text in (b"first", b"second"):
        journal.append(path, ROW, 3, text)
    assert Segment(path).read(3) == b"second"


def test_many_segments_need_few_handles(journal: Journal):
    """A run with errors in many shards does not run out of file descriptors."""
    handles = Path("/proc/self/fd")
    before = len(list(handles.iterdir())) if handles.exists() else 0
    for number in range(200):
        journal.append(journal.shard_path(number), ROW, number, b"x")
    for number in range(200):
        journal.append(journal.shard_path(number), ROW, number + 1000, b"y")
    if before:
        assert len(list(handles.iterdir())) < before + 40
    journal.sync()
    assert all(len(Segment(journal.shard_path(number)).frames) == 2 for number in journal.shards())


def test_a_disk_that_refuses_is_an_operator_error(tmp_path: Path):
    """With the path, and in words."""
    with pytest.raises(OperatorError, match="nowhere"):
        Journal(tmp_path / "nowhere").append(
            tmp_path / "nowhere" / "shard-000000.log", ROW, 0, b"x"
        )


def test_a_run_may_end_while_its_segments_are_listed(tmp_path: Path):
    path = tmp_path / "journal"
    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(lambda: [(path.mkdir(), path.rmdir()) for _ in range(3000)])
        while not going.done():
            assert segment_numbers(path) == []
