"""``synth new``: a copy of the smallest world, and a world from SQL that proves itself."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy

from tests.e2e.command import synth
from tests.servers import server

SCHEMATA = Path(__file__).parents[1] / "schemata"
LARGE = sorted(path.stem for path in SCHEMATA.glob("*.sql") if path.stem not in {"kiosk", "traps"})


def test_a_copy_of_the_smallest_world_proves_itself(tmp_path: Path):
    made = synth("new", "mine", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = synth("check", "mine", "--families", "lend_unread", "--workers", "1", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_a_world_from_a_script_proves_itself_and_runs(tmp_path: Path):
    script = str(SCHEMATA / "kiosk.sql")
    made = synth("new", "kiosk", "--from", script, "--patterns", QUICK, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "1 families of 1 patterns prove themselves" in made.stdout
    assert sorted(path.name for path in (tmp_path / "kiosk").iterdir()) == FILES
    done = synth(
        "run",
        "env.path=kiosk",
        "tasks.count=12",
        "tasks.universes=3",
        "runtime=inline",
        "output.dir=out",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(synth("inspect", "out", "--json", cwd=tmp_path).stdout)
    assert shown["rewards"] == {"mean": 1.0, "scored": 12, "unscored": 0, "successes": 12}


QUICK = "change"
FILES = [
    "executors.py",
    "policy.md",
    "schema.mariadb.sql",
    "schema.postgresql.sql",
    "schema.sql",
    "seed.py",
    "seed.sql",
    "tasks.yaml",
    "world.yaml",
]


def test_a_dry_run_writes_nothing(tmp_path: Path):
    shown = synth("new", "kiosk", "--from", str(SCHEMATA / "kiosk.sql"), "--dry-run", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "drafts of families" in shown.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["there"], "exists already"),
        (["w", "--from", "missing.sql"], "cannot be read"),
        (["w", "--from", "broken.sql"], "SQLite cannot run this script"),
        (["w", "--from", "empty.sql"], "has no tables"),
        (
            ["w", "--from", "rows.sql", "--patterns", "nonsense"],
            "unknown task generator 'nonsense'",
        ),
    ],
)
def test_bad_input_is_one_message(tmp_path: Path, arguments: list[str], message: str):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    (tmp_path / "broken.sql").write_text("CREATE TABLE (")
    (tmp_path / "empty.sql").touch()
    (tmp_path / "rows.sql").write_text("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x');")
    before = sorted(tmp_path.iterdir())
    shown = synth("new", *arguments, cwd=tmp_path)
    assert shown.returncode == 2
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_server_is_read_and_never_written(engine: str, tmp_path: Path):
    with scratch(engine) as url:
        before = content(url)
        made = synth(
            "new", "w", "--dsn-env-var", "LIVE", "--dry-run", cwd=tmp_path, env={"LIVE": url}
        )
        assert made.returncode == 0, made.stderr
        assert "guests.email: email, masked" in made.stdout
        assert "guests.remark: kept" in made.stdout
        assert "look_up" in made.stdout
        assert content(url) == before


HOTEL = """
CREATE TABLE guests (guest_id INTEGER PRIMARY KEY, name VARCHAR(60) NOT NULL, email VARCHAR(60), remark VARCHAR(60));
CREATE TABLE stays (
  stay_id INTEGER PRIMARY KEY, guest_id INTEGER NOT NULL REFERENCES guests (guest_id), price NUMERIC(8, 2) NOT NULL,
  nights INTEGER NOT NULL CHECK (nights BETWEEN 1 AND 60), began DATE NOT NULL);
INSERT INTO guests VALUES (1, 'Ada Kern', 'ada@firm.example', 'x'), (2, 'Bo Lind', 'bo@firm.example', NULL);
INSERT INTO stays VALUES (1, 1, 80.5, 2, '2026-01-02'), (2, 2, 99, 3, '2026-01-05');
"""


@contextmanager
def scratch(engine: str) -> Generator[str]:
    """A database of its own on the test server, with a small schema; yields its URL."""
    home = sqlalchemy.make_url(server(engine))
    name = f"synth_new_{uuid.uuid4().hex[:12]}"
    admin = sqlalchemy.create_engine(home, isolation_level="AUTOCOMMIT")
    with admin.connect() as db:
        db.exec_driver_sql(f"CREATE DATABASE {name}")
    own = sqlalchemy.create_engine(home.set(database=name))
    try:
        with own.begin() as db:
            for statement in HOTEL.split(";\n"):
                if statement.strip():
                    db.exec_driver_sql(statement)
        yield own.url.render_as_string(hide_password=False)
    finally:
        own.dispose()
        with admin.connect() as db:
            db.exec_driver_sql(f"DROP DATABASE {name}")
        admin.dispose()


def content(url: str) -> list[object]:
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as db:
        tables = sorted(sqlalchemy.inspect(db).get_table_names())
        found = [db.exec_driver_sql(f"SELECT * FROM {name}").fetchall() for name in tables]
    engine.dispose()
    return [tables, found]


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_every_schema_proves_many_families(name: str, tmp_path: Path):
    script = str(SCHEMATA / f"{name}.sql")
    made = synth("new", name, "--from", script, cwd=tmp_path, timeout=1800)
    assert made.returncode == 0, made.stdout + made.stderr
    found = re.search(r"(\d+) families of (\d+) patterns prove themselves", made.stdout)
    assert found is not None
    assert int(found[1]) >= 15
    assert int(found[2]) >= 8
    run = [f"env.path={name}", "tasks.count=300", "tasks.universes=4", "output.dir=out"]
    done = synth("run", *run, cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    shown = json.loads(synth("inspect", "out", "--json", cwd=tmp_path).stdout)
    assert shown["rewards"] == {"mean": 1.0, "scored": 300, "unscored": 0, "successes": 300}
    replayed = synth("replay", "out", cwd=tmp_path, timeout=1800)
    assert replayed.returncode == 0, replayed.stdout
