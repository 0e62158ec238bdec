"""Temporary folders: gone with their owner, by its own hand or by the next one's."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from synth.core.foundation.tempdirs import Scratch

OWNER = (
    "import sys; from synth.core.foundation.tempdirs import Scratch; print(Scratch('worker').path,"
    " flush=True); sys.stdin.read()"
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory of the system's that is ours alone, for this process and its
    children.
    """
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def owner() -> tuple[subprocess.Popen[str], Path]:
    """Another process that holds a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_it_is_removed_with_all_that_is_in_it(place: Path):
    with Scratch("resume") as scratch:
        (scratch.path / "world").mkdir()
        (scratch.path / "world" / "a").write_text("a")
        assert scratch.path.parent == place
        assert scratch.path.name.startswith("synth-resume-")
    assert list(place.iterdir()) == []
    scratch.remove()


def test_what_a_killed_process_left_is_removed_by_the_next_and_a_living_one_keeps_its_own(
    place: Path,
):
    dead, left = owner()
    alive, kept = owner()
    (left / "world").mkdir()
    end(dead)
    assert left.exists(), "nobody could clean up"
    with Scratch("worker") as ours:
        assert sorted(place.iterdir()) == sorted([kept, ours.path])
    end(alive)


def test_folders_of_others_stay(place: Path):
    (place / "synth-of-somebody").mkdir()
    (place / "synth-file").write_text("")
    with Scratch("worker"):
        pass
    assert sorted(each.name for each in place.iterdir()) == ["synth-file", "synth-of-somebody"]
