"""The world of a module's ``FOLDER``, and its database."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.world.loader import World, load_world


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest) -> World:
    folder: Path = request.module.FOLDER
    return load_world(folder)
