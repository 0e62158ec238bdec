"""Engines by name, alias and import path, and the scripts that each of them reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.plugins import ENGINES, PluginError
from envs.sandboxes.base import Engine, find_engine
from envs.world.files import find_script


@pytest.mark.parametrize(
    ("name", "known_as", "dialect", "needs_server"),
    [
        ("sqlite", "sqlite", "sqlite", False),
        ("postgresql", "postgresql", "postgresql", True),
        ("postgres", "postgresql", "postgresql", True),
        ("mariadb", "mariadb", "mysql", True),
        ("mysql", "mariadb", "mysql", True),
    ],
)
def test_every_shipped_engine_has_its_name_and_its_aliases(
    name: str, known_as: str, dialect: str, needs_server: bool
):
    assert ENGINES.find(name).name == known_as
    engine = find_engine(name)
    assert isinstance(engine, Engine)
    assert (engine.dialect, engine.needs_server) == (dialect, needs_server)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mariadbb", "unknown engine 'mariadbb'; did you mean mariadb"),
        ("pathlib:Path", r"engine 'pathlib:Path' must be an object of envs\.sandboxes\.base\.Engi"),
        ("pathlib:Nothing", "has no attribute 'Nothing'"),
    ],
)
def test_what_is_no_engine_is_refused(name: str, words: str):
    with pytest.raises(PluginError, match=words):
        find_engine(name)


@pytest.mark.parametrize(
    ("files", "engine", "expected"),
    [
        (["schema.sql"], "mariadb", "schema.sql"),
        (["schema.sql", "schema.mysql.sql"], "mariadb", "schema.mysql.sql"),
        (["schema.sql", "schema.mysql.sql"], "mysql", "schema.mysql.sql"),
        (["schema.mysql.sql", "schema.mariadb.sql"], "mariadb", "schema.mariadb.sql"),
        (["schema.mysql.sql", "schema.mariadb.sql"], "mysql", "schema.mariadb.sql"),
        (["schema.sql", "schema.mysql.sql"], "sqlite", "schema.sql"),
        (["schema.sql", "schema.postgresql.sql"], "postgres", "schema.postgresql.sql"),
        (["schema.mysql.sql"], "sqlite", None),
    ],
)
def test_the_script_of_an_engine(
    files: list[str], engine: str, expected: str | None, tmp_path: Path
):
    for name in files:
        (tmp_path / name).touch()
    found = find_script(tmp_path, "schema", engine)
    assert (None if found is None else found.name) == expected
