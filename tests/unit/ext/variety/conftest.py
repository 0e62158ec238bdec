"""The tasks of the library."""

from __future__ import annotations

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
def pool(world: World, template: Template) -> FamilyTasks:
    return FamilyTasks(world, template)
