"""Load a world from its folder::

    schema.sql  seed.sql      ``schema.postgresql.sql`` beside it wins for that engine; only a world
                              that is asked of an attached database does without
    world.yaml                the database of another world in their place, personal columns
                              (:mod:`envs.world.world_file`)
    databases.json            SQLite files in their place (:mod:`envs.world.sqlite_files`)
    seed.py                   rows of more universes than seed.sql's (:mod:`envs.world.seed_rows`)
    policy.md                 the rules that the agent works under
    executors.py              tools under ``@tool``, and functions that tools.yaml names
    tools.yaml                tools as data, and sets of tools (:mod:`envs.tools.tools_yaml`)
    tasks.yaml                task families; read by the pipeline, not here

The folder's Python is a package of its own with a unique name (:mod:`envs.world.package`).
"""

from __future__ import annotations

from pathlib import Path

from envs.errors import WorldError
from envs.tools.toolbox import Toolbox
from envs.world.executors import world_tools
from envs.world.files import database_folder, read_text, world_digest, world_files
from envs.world.package import WorldPackage
from envs.world.sqlite_files import read_databases
from envs.world.world import SUBPROCESS_SERVICE, World
from envs.world.world_file import read_world_file

__all__ = ["SUBPROCESS_SERVICE", "World", "load_world", "world_digest", "world_files"]


def load_world(path: str | Path) -> World:
    """Load a world's folder, or :class:`~envs.errors.WorldError` with file and line, if known."""
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise WorldError("world folder not found", folder)
    database = database_folder(folder)
    databases = read_databases(database)
    digest = world_digest(folder)
    tools, extensions = world_tools(WorldPackage(folder, digest))
    if not tools:
        raise WorldError(
            "a world needs tools: executors.py with @tool functions, or tools.yaml", folder
        )
    policy = folder / "policy.md"
    return World(
        name=folder.name,
        path=folder,
        digest=digest,
        policy=read_text(policy).strip() if policy.is_file() else "",
        toolbox=Toolbox(tools, str(folder)),
        database=database,
        databases=databases,
        extensions=extensions,
        columns=read_world_file(database).columns,
    )
