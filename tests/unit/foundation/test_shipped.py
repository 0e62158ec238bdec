"""Finding the configs and the worlds."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from synth.core.foundation.shipped import configs_dir, find_world, version, world_at, world_names
from synth.errors import OperatorError

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_an_installed_wheel_uses_what_it_carries(tmp_path):
    """Laid out as the wheel lays it out, without a checkout around it, the package finds its
    configs and worlds.
    """
    for package in ("synth", "envs"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copytree(ROOT / "configs", tmp_path / "synth" / "_shipped" / "configs")
    (tmp_path / "synth" / "_shipped" / "examples" / "shop").mkdir(parents=True)
    (tmp_path / "synth" / "_shipped" / "examples" / "shop" / "schema.sql").touch()
    code = (
        "from synth.core.foundation.shipped import configs_dir, find_world; from synth.core.config.compose"
        " import compose; "
        "compose(['experiment=smoke']); print(configs_dir()); print(find_world('shop'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    shipped = tmp_path / "synth" / "_shipped"
    assert done.stdout.split() == [str(shipped / "configs"), str(shipped / "examples" / "shop")]


@pytest.fixture
def worlds(tmp_path):
    for name, file in (
        ("shop", "tasks.yaml"),
        ("ehr_db", "schema.sql"),
        ("bank", "schema.postgresql.sql"),
    ):
        (tmp_path / "worlds" / name).mkdir(parents=True)
        (tmp_path / "worlds" / name / file).touch()
    (tmp_path / "worlds" / "not_a_world").mkdir()
    return tmp_path / "worlds"


def test_a_checkout_uses_its_own_configs():
    assert configs_dir() == ROOT / "configs"


def test_the_version_is_the_projects():
    assert version() == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_a_world_by_name_and_by_path(worlds, monkeypatch):
    assert world_names(worlds) == ["bank", "ehr_db", "shop"]
    assert find_world("shop", worlds) == worlds / "shop"
    assert find_world(str(worlds / "shop"), worlds) == worlds / "shop"
    monkeypatch.chdir(worlds)
    assert find_world("./ehr_db", worlds) == world_at("ehr_db") == worlds / "ehr_db"


def test_a_shipped_name_wins_over_a_folder_of_the_same_name(worlds, tmp_path, monkeypatch):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "schema.sql").touch()
    monkeypatch.chdir(tmp_path)
    assert find_world("shop", worlds) == worlds / "shop"
    assert find_world("./shop", worlds) == tmp_path / "shop"


def test_an_unknown_name_gets_the_nearest_and_the_list(worlds):
    with pytest.raises(
        OperatorError, match=r"'shpo'.*did you mean shop\? \(shipped worlds: bank, ehr_db, shop;"
    ):
        find_world("shpo", worlds)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere/at/all", "folder not found"),
        ("not_a_world", "no world here"),
        ("shop/tasks.yaml", "this is a file"),
    ],
)
def test_a_path_without_a_world_says_what_is_wrong(worlds, path, words):
    with pytest.raises(OperatorError, match=words):
        find_world(str(worlds / path), worlds)


def test_both_packages_say_that_they_are_typed():
    """Without the marker a type checker takes an installed wheel for untyped, whatever the
    classifiers say.
    """
    root = Path(__file__).parents[3]
    assert [wing for wing in ("envs", "synth") if not (root / wing / "py.typed").is_file()] == []
