"""Where a job's row will stand is known before it is made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.core.dataset.store.layout import Layout


def test_files_are_numbered_per_split():
    """Shards run through the plan, file names count within their split."""
    layout = Layout((("train", 5), ("test", 2)), 2)
    assert [shard.path for shard in layout] == [
        "data/train-00000-of-00003.parquet",
        "data/train-00001-of-00003.parquet",
        "data/train-00002-of-00003.parquet",
        "data/test-00000-of-00001.parquet",
    ]
    assert [(shard.start, shard.stop) for shard in layout] == [(0, 2), (2, 4), (4, 5), (5, 7)]


@given(st.lists(st.integers(0, 50), max_size=4), st.integers(1, 9))
def test_shards_tile_the_plan(sizes: list[int], rows: int):
    """Every job is in exactly the shard that says so; a layout survives JSON."""
    layout = Layout(tuple((f"split{i}", size) for i, size in enumerate(sizes)), rows)
    assert [job for shard in layout for job in shard.jobs] == list(range(layout.jobs))
    assert all(layout.shard_of(job) == shard.number for shard in layout for job in shard.jobs)
    assert Layout.from_json(layout.to_json()) == layout


def test_ten_million_jobs_are_no_list():
    """The place of a job is arithmetic."""
    layout = Layout((("train", 10_000_000),), 1024)
    assert layout.shard(layout.shard_of(9_999_999)).path == "data/train-09765-of-09766.parquet"
    for bad in (-1, 10_000_000):
        with pytest.raises(IndexError):
            layout.shard_of(bad)


@pytest.mark.parametrize(
    "splits", [(("../x", 1),), (("a", 1), ("a", 2)), (("a", -1),), (("", 1),), (("all", 1),)]
)
def test_names_that_leave_the_directory_are_refused(splits: tuple[tuple[str, int], ...]):
    """A split's name becomes a file's name, and `datasets` must read it."""
    with pytest.raises(ValueError):
        Layout(splits, 4)
