"""A reseed refuses what the templates of a run refuse: broken foreign keys, and a seed without end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs.errors import ScriptError
from envs.reseed import reseed
from envs.sandboxes import load_bounds
from synth.core.foundation.shipped import examples_dir

COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
BROKEN = "PRAGMA foreign_keys=OFF; INSERT INTO loans VALUES (91, 88, 77, '2026-01-01')"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (BROKEN, "a row of loans breaks a foreign key: member_id=77"),
        (f"CREATE TABLE z AS {COUNT}", "the scripts run for more than 1 s"),
    ],
)
def test_what_a_template_refuses_makes_no_file(
    more: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load_bounds, "LOAD_S", 1.0)
    world = shutil.copytree(examples_dir() / "library", tmp_path / "w")
    with (world / "seed.sql").open("a") as seed:
        seed.write(f"{more};\n")
    with pytest.raises(ScriptError, match=words) as caught:
        reseed(world, out=tmp_path / "out.db")
    assert Path(str(caught.value.file)).name == "seed.sql"
    assert caught.value.line is not None
    assert [path.name for path in tmp_path.iterdir()] == ["w"]
