"""A script that never ends, or fills the disk, is refused by file and line on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import ScriptError
from envs.sandboxes import load_bounds
from envs.sandboxes.base import DatabaseTarget
from envs.world.loader import load_world
from tests.servers import VARIABLES, server

pytestmark = pytest.mark.slow

COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
TOOL = '''
from envs import tool
from sqlalchemy import Connection, text

@tool(read_only=True)
def look(db: Connection) -> int:
    """Look."""
    return db.execute(text("SELECT count(*) FROM item")).scalar()
'''


def world(folder: Path, seed: str) -> Path:
    folder.mkdir()
    (folder / "schema.sql").write_text("CREATE TABLE item (id INTEGER, word VARCHAR(2000));")
    (folder / "seed.sql").write_text(f"INSERT INTO item VALUES (1, 'a');\n{seed};\n")
    (folder / "executors.py").write_text(TOOL)
    return folder


def build(folder: Path, engine: str) -> None:
    target = DatabaseTarget(server(engine) if engine in VARIABLES else None)
    load_world(folder).template(engine, 0, target).close()


@pytest.mark.parametrize(
    ("engine", "seed"),
    [
        ("sqlite", COUNT),
        ("postgresql", "SET statement_timeout = 0;\nSELECT pg_sleep(60)"),
        ("mariadb", "SET max_statement_time = 0;\nSELECT SLEEP(60)"),
    ],
)
def test_a_seed_that_never_ends_is_refused(
    engine: str, seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_bounds, "LOAD_S", 2.0)
    with pytest.raises(ScriptError, match="the scripts run for more than 2 s") as caught:
        build(world(tmp_path / "world", seed), engine)
    assert Path(str(caught.value.file)).name == "seed.sql"
    assert caught.value.line in (2, 3)


@pytest.mark.parametrize(
    ("engine", "word", "words"),
    [
        ("sqlite", "hex(randomblob(900))", "database or disk is full"),
        ("postgresql", "repeat('word', 450)", "the scripts fill more than 20,000,000 bytes"),
        ("mariadb", "repeat('word', 450)", "the scripts fill more than 20,000,000 bytes"),
    ],
)
def test_a_seed_that_fills_the_disk_is_refused(
    engine: str, word: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_bounds, "LOAD_BYTES", 20_000_000)
    more = f"INSERT INTO item SELECT a.id, {word} FROM item a, item b LIMIT 10000"
    with pytest.raises(ScriptError, match=words) as caught:
        build(world(tmp_path / "world", ";\n".join([more] * 200)), engine)
    assert Path(str(caught.value.file)).name == "seed.sql"
    assert (caught.value.line or 0) > 2
