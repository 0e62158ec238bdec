"""A reseed refuses what the templates of a run refuse: broken foreign keys, and a seed without end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs.errors import ScriptError
from envs.reseed import reseed
from envs.sandboxes import load_bounds
from envs.sandboxes.base import DatabaseTarget
from envs.world.loader import load_world
from synth.core.foundation.shipped import examples_dir
from tests.conftest import scratch
from tests.servers import server

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


ON_SERVERS = [
    ("postgresql", "SET session_replication_role = replica", "SELECT pg_sleep(30)"),
    ("mysql", "SET foreign_key_checks = 0", "SELECT SLEEP(30)"),
]


def _with_seed(folder: Path, more: str) -> Path:
    world = shutil.copytree(examples_dir() / "library", folder / "w")
    with (world / "seed.sql").open("a") as seed:
        seed.write(f"{more};\n")
    return world


@pytest.mark.parametrize(("engine", "unchecked", "sleep"), ON_SERVERS)
def test_broken_keys_on_a_server(engine: str, unchecked: str, sleep: str, tmp_path: Path):
    """A reseed and a template refuse the same row, and the database can be filled afterwards."""
    more = f"{unchecked}; INSERT INTO loans VALUES (91, 88, 77, '2026-01-01')"
    world = _with_seed(tmp_path, more)
    words = "a row of (public.)?loans breaks a foreign key: (book_id=88|member_id=77)"
    for url in scratch(engine):
        with pytest.raises(ScriptError, match=words):
            reseed(world, url=url)
        with pytest.raises(ScriptError, match=words):
            name = {"mysql": "mariadb"}.get(engine, engine)
            load_world(world).template(name, 0, DatabaseTarget(server(engine))).close()
        shutil.copy(examples_dir() / "library" / "seed.sql", world / "seed.sql")
        assert reseed(world, url=url).rows["loans"]


@pytest.mark.parametrize(("engine", "unchecked", "sleep"), ON_SERVERS)
def test_a_seed_without_end_on_a_server(
    engine: str, unchecked: str, sleep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load_bounds, "LOAD_S", 1.0)
    world = _with_seed(tmp_path, sleep)
    for url in scratch(engine):
        with pytest.raises(ScriptError, match="the scripts run for more than 1 s") as caught:
            reseed(world, url=url)
        assert caught.value.line is not None
