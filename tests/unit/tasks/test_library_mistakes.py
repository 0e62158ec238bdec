"""Typical mistakes in the library's tasks.yaml: each is refused with line, cause and nearest word.

The table is library_mistakes.yaml beside this file.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.errors import TaskError

LIBRARY = Path(__file__).parents[3] / "examples" / "library"
TASKS = (LIBRARY / "tasks.yaml").read_text("utf-8")
TABLE = Path(__file__).with_name("library_mistakes.yaml")
MISTAKES: list[Mapping[str, Any]] = yaml.safe_load(TABLE.read_text("utf-8"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("mistakes") / "library"
    shutil.copytree(LIBRARY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return load_world(folder)


def test_there_are_at_least_fifty():
    assert len(MISTAKES) >= 50
    assert all(TASKS.count(mistake["was"]) == 1 for mistake in MISTAKES)


def test_without_a_mistake_the_library_opens(world: World):
    (world.path / "tasks.yaml").write_text(TASKS, "utf-8")
    with world.template() as template:
        assert [family.id for family in FamilyTasks(world, template).families]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: str(mistake["says"])[:50])
def test_a_mistake_is_refused_at_its_line(world: World, mistake: Mapping[str, Any]):
    file = world.path / "tasks.yaml"
    file.write_text(TASKS.replace(mistake["was"], mistake["now"]), "utf-8")
    with world.template() as template, pytest.raises(TaskError) as caught:
        FamilyTasks(world, template)
    assert caught.value.file == str(file)
    assert caught.value.line == mistake["line"]
    assert mistake["says"] in caught.value.message
