"""The tasks of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks

EXAMPLES = Path(__file__).parents[4] / "examples"


@pytest.fixture(scope="module")
def world() -> World:
    return load_world(EXAMPLES / "library")


@pytest.fixture(scope="module")
def template(world: World) -> Iterator[Template]:
    with world.template("sqlite", 0) as template:
        yield template


@pytest.fixture(scope="module")
def pool(world: World, template: Template) -> FamilyTasks:
    return FamilyTasks(world, template)
