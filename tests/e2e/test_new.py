"""``synth new``: a copy of the smallest world, and a world from SQL that proves itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import sqlalchemy

from tests.e2e.command import synth
from tests.live_schema import live_database, own_database
from tests.servers import VARIABLES

SCHEMATA = Path(__file__).parents[1] / "schemata"
LARGE = sorted(path.stem for path in SCHEMATA.glob("*.sql") if path.stem not in {"kiosk", "traps"})


def test_a_copy_of_the_smallest_world_proves_itself(tmp_path: Path):
    synth("new", "mine", cwd=tmp_path)
    synth("check", "mine", "--families", "lend_unread", "--workers", "1", cwd=tmp_path)


def test_a_world_from_a_script_proves_itself_and_runs(tmp_path: Path):
    script = str(SCHEMATA / "kiosk.sql")
    made = synth("new", "kiosk", "--from", script, "--patterns", QUICK, cwd=tmp_path)
    assert "1 families of 1 patterns prove themselves" in made.stdout
    assert sorted(path.name for path in (tmp_path / "kiosk").iterdir()) == FILES
    synth(
        "run",
        "env.path=kiosk",
        "tasks.count=12",
        "tasks.universes=3",
        "runtime=inline",
        "output.dir=out",
        cwd=tmp_path,
    )
    shown = json.loads(synth("inspect", "out", "--json", cwd=tmp_path).stdout)
    assert shown["rewards"] == {"mean": 1.0, "scored": 12, "unscored": 0, "successes": 12}


def test_a_database_without_a_family_has_its_account(tmp_path: Path):
    (tmp_path / "log.sql").write_text("CREATE TABLE log (at TEXT); INSERT INTO log VALUES ('now');")
    made = synth("new", "log", "--from", "log.sql", "--json", cwd=tmp_path, code=None)
    assert "no pattern suits its tables" in made.stderr
    counts = json.loads(made.stdout.splitlines()[-1])["account"]["counts"]
    assert counts["file"] == {"found": 2, "used": 1, "changed": 0, "left_out": 1}


QUICK = "change"
FILES = [
    "README.md", "executors.py", "policy.md", "roles.yaml", "schema.mariadb.sql",
    "schema.postgresql.sql", "schema.sql", "seed.py", "seed.sql", "tasks.yaml", "world.yaml",
]  # fmt: skip


def test_a_dry_run_writes_nothing(tmp_path: Path):
    shown = synth("new", "kiosk", "--from", str(SCHEMATA / "kiosk.sql"), "--dry-run", cwd=tmp_path)
    count = re.search(r"(\d+) drafts of families, to be proved:\n((?:  .*\n)+)", shown.stdout)
    assert count is not None, shown.stdout
    families = re.findall(r"[:,] (\w+)", count[2])
    assert len(families) == int(count[1]) > 1, "issue 38: a dry run names the families"
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
    shown = synth("new", *arguments, cwd=tmp_path, code=2)
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_server_is_read_and_never_written(engine: str, tmp_path: Path):
    with own_database(engine, HOTEL) as url:
        before = content(url)
        made = synth(
            "new", "w", "--dsn-env-var", "LIVE", "--dry-run", cwd=tmp_path, env={"LIVE": url}
        )
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
    make_large_world(tmp_path, name, "--from", script)
    play_and_replay(tmp_path, name)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
@pytest.mark.parametrize("name", LARGE)
def test_every_live_database_proves_many_families(
    name: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with live_database(engine, SCHEMATA / f"{name}.sql") as url:
        monkeypatch.setenv("LIVE", url)
        make_large_world(tmp_path, name, "--dsn-env-var", "LIVE")
    play_and_replay(tmp_path, name)
    play_and_replay(tmp_path, name, *database_of(engine))


PUBLIC = "SYNTH_TEST_PUBLIC_SCRIPTS"
"""A folder with scripts of lerocha/chinook-database (``chinook-sqlite/chinook.sql``), of jOOQ/sakila
(``sakila-postgresql``) and of dalers/mywind (``northwind-mysql``), each of these two as ``schema.sql``
and ``seed.sql``.
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["chinook-sqlite", "sakila-postgresql", "northwind-mysql"])
def test_public_databases_prove_many_families(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = Path(os.environ.get(PUBLIC) or pytest.skip(f"set {PUBLIC} to a folder of scripts"))
    world, _, kind = name.partition("-")
    if kind == "sqlite":
        make_large_world(tmp_path, world, "--from", str(folder / name / "chinook.sql"))
        play_and_replay(tmp_path, world)
        return
    engine = "mariadb" if kind == "mysql" else kind
    with own_database(engine) as url:
        load = psql if engine == "postgresql" else mariadb
        for script in ("schema.sql", "seed.sql"):
            load(sqlalchemy.make_url(url), folder / name / script)
        monkeypatch.setenv("LIVE", url)
        make_large_world(tmp_path, world, "--dsn-env-var", "LIVE")
    play_and_replay(tmp_path, world)
    play_and_replay(tmp_path, world, *database_of(engine))


def psql(url: sqlalchemy.URL, script: Path) -> None:
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    subprocess.run(["psql", "-q", "-f", script, plain], check=True, capture_output=True)


def mariadb(url: sqlalchemy.URL, script: Path) -> None:
    """The script into the URL's database, in the place of the one that it names."""
    text = script.read_text("utf-8").replace("`northwind`", f"`{url.database}`")
    address = [f"--host={url.host}", f"--port={url.port or 3306}", f"--user={url.username}"]
    command = ["mariadb", *address, *([f"--password={url.password}"] if url.password else [])]
    subprocess.run([*command, str(url.database)], input=text.encode(), check=True)


def database_of(engine: str) -> tuple[str, str]:
    """The overrides of a run on the test server."""
    kind = "postgres" if engine == "postgresql" else engine
    return f"database={kind}", f"database.dsn_env_var={VARIABLES[engine]}"


def make_large_world(cwd: Path, name: str, *source: str) -> None:
    """``synth new`` of a whole schema, which proves at least 15 families of 8 patterns."""
    made = synth("new", name, *source, cwd=cwd, timeout=1800)
    found = re.search(r"(\d+) families of (\d+) patterns prove themselves", made.stdout)
    assert found is not None
    assert int(found[1]) >= 15
    assert int(found[2]) >= 8


def play_and_replay(cwd: Path, name: str, *database: str) -> None:
    """300 tasks of the world, all of reward 1.0, and their replay. Sakila has one universe: its
    tables refer to each other in a circle.
    """
    more = ["tasks.universes=4"] if (cwd / name / "seed.py").exists() else []
    run = [f"env.path={name}", "tasks.count=300", *more, *database]
    out = "out-server" if database else "out"
    synth("run", *run, f"output.dir={out}", cwd=cwd, timeout=1800)
    shown = json.loads(synth("inspect", out, "--json", cwd=cwd).stdout)
    assert shown["rewards"] == {"mean": 1.0, "scored": 300, "unscored": 0, "successes": 300}
    synth("replay", out, cwd=cwd, timeout=1800)
