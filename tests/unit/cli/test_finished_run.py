"""``--resume`` of a complete run says so without opening anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from synth.__main__ import main
from synth.core.cli.finished_run import say_if_complete
from tests.sample_rows import error_row, row, write_run


def test_a_complete_run_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = write_run(tmp_path / "run", [row(0), row(1)])
    assert main(["run", "--resume", str(run)]) == 0
    assert capsys.readouterr().out.startswith("complete already: 2 of 2 rollouts in ")
    assert main(["run", "--resume", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "complete"


@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "flipped"])
def test_a_damaged_shard_is_something_to_go_on_with(tmp_path: Path, damage: str):
    run = write_run(tmp_path / "run", [row(0), row(1)])
    (shard,) = (run / "data").glob("*.parquet")
    if damage == "gone":
        shard.unlink()
    elif damage == "flipped":
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)
    else:
        os.truncate(shard, 0 if damage == "empty" else shard.stat().st_size - 10)
    assert not say_if_complete(run, as_json=False)


def test_so_is_a_rollout_without_a_row(tmp_path: Path):
    assert not say_if_complete(
        write_run(tmp_path / "a", [row(0)], errors=[error_row(1)]), as_json=False
    )
    assert not say_if_complete(tmp_path, as_json=False)
