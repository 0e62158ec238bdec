"""``synth reseed --universe``: the database of one universe as a file to look at."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.e2e.command import synth
from tests.e2e.test_universes import SEED
from tests.unit import small_world


def names(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM items ORDER BY item_id")]


def test_a_universe_becomes_a_file_of_its_own(tmp_path: Path):
    (small_world.make(tmp_path / "world") / "seed.py").write_text(SEED, "utf-8")
    synth("reseed", "world", cwd=tmp_path)
    done = synth("reseed", "world", "--universe", "2", cwd=tmp_path)
    assert "world_2.sqlite" in done.stdout
    assert names(tmp_path / "world.sqlite") == ['Lamp "XL"', "Chair", "Desk"]
    assert len(names(tmp_path / "world_2.sqlite")) == 12
    assert all(name.split()[1].startswith("2") for name in names(tmp_path / "world_2.sqlite"))


def test_what_cannot_be_is_one_message(tmp_path: Path):
    world = small_world.make(tmp_path / "world")
    for arguments, words in (
        (("--universe", "1"), "this world has universe 0 only; a seed.py"),
        (("--universe", "-1"), "argument --universe: '-1' must be a whole number of at least 0"),
        (
            ("--universe", "1", "--url", "postgresql://127.0.0.1:1/x"),
            "--universe makes a SQLite file",
        ),
    ):
        done = synth("reseed", str(world), *arguments, cwd=tmp_path, code=None)
        assert done.returncode in {1, 2}
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    (world / "seed.py").write_text(SEED.replace('"items"', '"itemz"'), "utf-8")
    done = synth("reseed", str(world), "--universe", "1", cwd=tmp_path, code=None)
    assert "seed.py:6: no table is called 'itemz'; did you mean items?" in done.stderr
    assert not list(tmp_path.glob("*.sqlite*"))
