"""Files of a run are torn at every byte, as a crash of the machine may leave them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.journal import ROW, Segment, frame
from synth.errors import DatasetError
from tests.faults.promises import promise
from tests.faults.runs import copy, go_on, play, stable
from tests.unit.small_world import make

STRIDE = int(os.environ.get("SYNTH_FAULT_TEAR_STRIDE", "97"))
"""Bytes between two tears that a resume heals; every byte is torn where reading is enough."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("torn")
    world = make(home / "world")
    play(home / "whole", f"env.path={world}", "tasks.count=4", "output.rows_per_shard=2")
    return home / "whole"


@promise("A torn or flipped journal loses the frames that were hit, and no other")
def test_a_journal_torn_at_any_byte_keeps_every_whole_frame(tmp_path: Path) -> None:
    payloads = [bytes([at]) * (at * 37 % 90) for at in range(12)]
    frames = [frame(ROW, at, payload) for at, payload in enumerate(payloads)]
    data, path = b"".join(frames), tmp_path / "segment"
    ends = [len(b"".join(frames[: at + 1])) for at in range(len(frames))]
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        segment = Segment(path)
        kept = sum(end <= size for end in ends)
        assert [segment.read(index) for index in segment.frames] == payloads[:kept]
        assert segment.damaged == 0
        segment.close()


@pytest.mark.long
@promise("A file that is torn at any byte is found")
@pytest.mark.parametrize("name", ["data/train-00001-of-00002.parquet", "manifest.json"])
def test_a_reader_finds_a_file_torn_at_any_byte(
    whole: Path, tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    run = copy(whole, tmp_path / "run")
    data = (run / name).read_bytes()
    for size in range(len(data.rstrip())):  # without its last line end it is whole
        (run / name).write_bytes(data[:size])
        with pytest.raises(DatasetError), Dataset.open(run) as dataset:
            dataset.verify()
    record_property("figure", f"{name}: {len(data.rstrip()):,} tears found")


@pytest.mark.long
@promise("A file that is torn is healed by a resume")
@pytest.mark.parametrize(
    "name",
    [
        "data/train-00001-of-00002.parquet",
        "manifest.json",
        "tasks.parquet",
        "config.yaml",
        "world/*.tar.zst",
    ],
)
def test_a_resume_heals_a_torn_file(
    whole: Path, tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    rows, tears = stable(whole), 0
    path = next(whole.glob(name)).relative_to(whole)
    data = (whole / path).read_bytes()
    for size in range(0, len(data), STRIDE):
        run = copy(whole, tmp_path / str(size))
        (run / path).write_bytes(data[:size])
        report, words = go_on(run)
        assert report.status == "complete"
        assert path.name in words or path.name == "config.yaml"
        assert stable(run) == rows
        tears += 1
    record_property("figure", f"{name}: {tears} tears healed, one in {STRIDE} bytes")
