"""The tutorial from a PostgreSQL dump to a dataset: its commands, and that no person is left."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from synth.core.dataset.reader import Dataset
from tests.documents import ROOT, marked
from tests.e2e.command import synth
from tests.servers import server as server_url

DUMP = ROOT / "examples" / "dump" / "repairs.sql"
NAME = "synth_tutorial_repairs"


def shown(name: str) -> list[str]:
    """The words after `synth` of a command on the page."""
    return shlex.split(marked("dump", name))[1:]


def people() -> set[str]:
    """Names, addresses, telephone numbers and days of birth in the dump."""
    rows = re.findall(
        r"^\t\(\d+, '(.+?)', '(\S+@\S+)', '(\+.+?)', '(.+?)', '", DUMP.read_text(), re.MULTILINE
    )
    assert len(rows) == 40
    return {value for row in rows for value in row}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The dump, restored by psql as on the page."""
    server = sqlalchemy.make_url(server_url("postgresql"))
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed")
    engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE IF EXISTS {NAME}"))
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {NAME}"))
    plain = server.set(drivername="postgresql", database=NAME)
    address = plain.render_as_string(hide_password=False)
    words = shlex.split(marked("dump", "restore").splitlines()[1])[1:-1]
    words = [str(DUMP) if word == "repairs.sql" else word for word in words]
    subprocess.run([psql, *words, address], check=True, capture_output=True)
    yield address
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE {NAME} WITH (FORCE)"))
    engine.dispose()


def test_the_page_shows_the_decision_on_every_column(url: str, tmp_path: Path) -> None:
    done = synth(*shown("new"), "--dry-run", cwd=tmp_path, env={"REPAIRS_URL": url})
    said = done.stdout + done.stderr
    assert marked("dump", "decisions") in said
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_walk_ends_in_a_dataset_without_a_person(url: str, tmp_path: Path) -> None:
    """Two patterns only, as a proof of all takes a minute."""
    env = {"REPAIRS_URL": url}
    few = ["--patterns", "look_up,change"]
    for name, more in (("new", few), ("check", []), ("run", ["runtime=inline"]), ("export", [])):
        synth(*shown(name), *more, cwd=tmp_path, env=env)
    assert (tmp_path / "repairs.parquet").is_file()
    with Dataset.open(tmp_path / "out" / "repairs") as dataset:
        rows = str(list(dataset.rows()))
        assert dataset.count == 40
    world = "".join(
        file.read_text("utf-8")
        for file in (tmp_path / "repairs").rglob("*")
        if file.is_file() and file.suffix in {".sql", ".py", ".yaml", ".md"}
    )
    left = {value for value in people() if value in rows or value in world}
    assert not left
    assert os.fspath(DUMP) not in world
