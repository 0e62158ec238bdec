"""The library, the smallest complete world, proves itself and ships under its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.foundation.shipped import configs_dir, examples_dir, find_world
from tests.e2e.command import synth

LIBRARY = Path(__file__).parents[3] / "examples" / "library"


@pytest.mark.slow
def test_the_library_proves_itself(tmp_path: Path):
    done = synth("check", "library", cwd=tmp_path)
    for family in ("lend_book", "renew_all", "lend_unread"):
        assert f"ok   {family}: " in done.stdout
    assert "proving 3 families\n" in done.stderr
    assert "3 families prove themselves; capacity 80 tasks" in done.stdout


def test_the_library_ships_by_its_name():
    assert find_world("library") == LIBRARY == (examples_dir() / "library").resolve()
    assert (configs_dir() / "env" / "library.yaml").is_file()


def test_the_library_is_the_smallest_complete_world():
    """Every kind of file, and few enough lines to be read at once."""
    names = {file.name for file in LIBRARY.iterdir() if file.is_file()}
    assert names >= {
        "schema.sql",
        "seed.sql",
        "policy.md",
        "executors.py",
        "tools.yaml",
        "tasks.yaml",
        "tasks.py",
    }
    lines = [line for name in names for line in (LIBRARY / name).read_text("utf-8").splitlines()]
    assert len(lines) <= 180
