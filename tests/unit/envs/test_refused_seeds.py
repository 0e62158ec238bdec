"""A seed that breaks a foreign key, never ends or fills the disk is refused by file and line, by the
templates of a run and by a reseed, on every engine.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
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
LOAN = "INSERT INTO loans VALUES (91, 88, 77, '2026-01-01')"
BROKEN = r"a row of (public\.)?loans breaks a foreign key: (book_id=88|member_id=77)"
ENDLESS = "the scripts run for more than 2 s"
FULL = "the scripts fill more than 20,000,000 bytes"


def _filling(word: str) -> str:
    more = f"INSERT INTO w SELECT {word} FROM w a, w b LIMIT 10000;\n"
    return "CREATE TABLE w (t VARCHAR(2000));\nINSERT INTO w VALUES ('a');\n" + more * 200


SEEDS = [
    ("sqlite", f"PRAGMA foreign_keys=OFF;\n{LOAN}", BROKEN),
    ("sqlite", COUNT, ENDLESS),
    ("sqlite", _filling("hex(randomblob(900))"), f"{FULL}|database or disk is full"),
    ("postgresql", f"SET session_replication_role = replica;\n{LOAN}", BROKEN),
    ("postgresql", "SET statement_timeout = 0;\nSELECT pg_sleep(60)", ENDLESS),
    ("postgresql", _filling("repeat('word', 450)"), FULL),
    ("mariadb", f"SET foreign_key_checks = 0;\n{LOAN}", BROKEN),
    ("mariadb", "SET max_statement_time = 0;\nSELECT SLEEP(60)", ENDLESS),
    ("mariadb", _filling("repeat('word', 450)"), FULL),
]


def _template(world: Path, engine: str, url: str | None) -> None:
    load_world(world).template(engine, 0, DatabaseTarget(url and server(engine))).close()


def _reseed(world: Path, engine: str, url: str | None) -> None:
    assert reseed(world, url=url, out=None if url else world.parent / "out.db").rows["loans"]


LOADS = [
    (load, *seed)
    for load in (_template, _reseed)
    for seed in SEEDS
    if (load, *seed[::2]) != (_reseed, "mariadb", FULL)  # it tells sizes to others after 10 s
]


@pytest.mark.slow
@pytest.mark.parametrize(("load", "engine", "more", "words"), LOADS)
def test_a_seed_is_refused_and_leaves_nothing(
    load: Callable[[Path, str, str | None], None],
    engine: str,
    more: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(load_bounds, "LOAD_S", 2.0 if words == ENDLESS else 60.0)
    monkeypatch.setattr(load_bounds, "LOAD_BYTES", 20_000_000)
    world = shutil.copytree(examples_dir() / "library", tmp_path / "w")
    right = (world / "seed.sql").read_text()
    for url in [None] if engine == "sqlite" else scratch(engine):
        (world / "seed.sql").write_text(f"{right}\n{more};\n")
        with pytest.raises(ScriptError, match=words) as caught:
            load(world, engine, url)
        assert Path(str(caught.value.file)).name == "seed.sql"
        if url is None or words != BROKEN:  # servers check all keys of a table at once
            assert (caught.value.line or 0) > right.count("\n")
        assert [path.name for path in tmp_path.iterdir()] == ["w"]
        (world / "seed.sql").write_text(right)
        load(world, engine, url)
