"""Load a world from its folder::

    schema.sql  seed.sql      ``schema.postgresql.sql`` beside it wins for that engine; only a world
                              that is asked of an attached database does without
    world.yaml                the database of another world in their place, personal columns, an
                              environment of its own
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

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import cast

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import WorldError
from envs.plugins import ENVIRONMENTS, Extension, PluginError, resolve
from envs.tools.tool import Executor, Tool, kind_of_function
from envs.tools.toolbox import Toolbox
from envs.tools.tools_yaml import DeclaredToolSet, read_tools_yaml
from envs.world.files import database_folder, read_text, world_digest, world_files
from envs.world.package import WorldPackage
from envs.world.sqlite_files import read_databases
from envs.world.world import SUBPROCESS_SERVICE, World
from envs.world.world_file import WORLD_FILE, read_world_file


def _world_tools(package: WorldPackage) -> tuple[list[Tool], tuple[Extension, ...]]:
    """The tools of a world, first from executors.py, and the sets of tools that it uses.

    Raises :class:`~envs.errors.WorldError` with file and line for the first mistake.
    """
    own = vars(package.load("executors")).values() if package.has("executors") else ()
    tools = [value for value in own if isinstance(value, Tool)]
    extensions: list[Extension] = []
    file = package.folder / "tools.yaml"
    for entry in read_tools_yaml(file, read_text(file)) if file.is_file() else ():
        if isinstance(entry, DeclaredToolSet):
            extensions.append(entry.extension)
        for tool in entry.tools(lambda path: resolve_executor(path, package)):
            if any(tool.name == other.name for other in tools):
                raise WorldError(f"two tools are named {tool.name!r}", file, entry.source.line)
            tools.append(tool)
    return tools, tuple(dict.fromkeys(extensions))


def resolve_executor(path: str, package: WorldPackage) -> Executor:
    """The function that ``module.function`` names: in the world's folder, else on the import path.

    ``package.module:function`` names one on the import path as well. Raises
    :class:`~envs.errors.WorldError`: without a file, unless the module's own code is wrong.
    """
    module, separator, attribute = path.rpartition(":" if ":" in path else ".")
    if not separator or not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise WorldError(f"executor {path!r} must be module.function")
    if package.has(module):
        found: object = getattr(package.load(module), attribute, None)
    else:
        try:
            found = resolve(f"{module}:{attribute}")
        except PluginError as error:
            raise WorldError(f"executor {path!r}: {error}") from None
        except SystemExit as error:
            raise WorldError(f"executor {path!r} cannot be imported: {error}") from None
    if isinstance(found, Tool):
        return found.executor
    if not callable(found):
        raise WorldError(f"{module} has no function {attribute!r}")
    if kind := kind_of_function(found):
        raise WorldError(
            f"executor {path!r} is {kind}; write a plain function that returns a ToolResult"
        )
    _check_signature(path, found)
    return cast("Executor", found)


def _check_signature(path: str, function: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a builtin that does not tell its signature: the call itself will show
        return
    try:
        signature.bind({}, None)
    except TypeError:
        raise WorldError(f"executor {path!r} must take (arguments, db)") from None


def _environment_class(
    named: tuple[str, int] | None, package: WorldPackage, *, shared: bool
) -> tuple[type[DatabaseExecutableEnvironment], tuple[Extension, ...]]:
    """The class that world.yaml names, with its extension where another package has it.

    Raises :class:`~envs.errors.WorldError` with file and line where there is none.
    """
    if named is None:
        return DatabaseExecutableEnvironment, ()
    (name, line), file = named, package.folder / WORLD_FILE
    module, dot, attribute = name.rpartition(".")
    extensions: tuple[Extension, ...] = ()
    try:
        if ":" in name or not dot:
            extension = ENVIRONMENTS.find(name)
            found, extensions = extension.load(), (extension,)
        elif shared:
            raise WorldError(
                f"`environment: {name}` is a file of this world, which a world that shares its"
                " database cannot have; name an importable class, as package.module:Class",
                file,
                line,
            )
        elif package.has(module):
            found = getattr(package.load(module), attribute, None)
        else:
            raise WorldError(f"`environment: {name}`: the folder has no {module}.py", file, line)
    except PluginError as error:
        raise WorldError(f"`environment: {name}`: {error}", file, line) from None
    if not isinstance(found, type) or not issubclass(found, DatabaseExecutableEnvironment):
        raise WorldError(
            f"`environment: {name}` must be a subclass of"
            " envs.environments.external.ExternalExecutableEnvironment",
            file,
            line,
        )
    return found, extensions


__all__ = ["SUBPROCESS_SERVICE", "World", "load_world", "world_digest", "world_files"]


def load_world(path: str | Path) -> World:
    """Load a world's folder, or :class:`~envs.errors.WorldError` with file and line, if known."""
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise WorldError("world folder not found", folder)
    database = database_folder(folder)
    databases = read_databases(database)
    digest = world_digest(folder)
    tools, extensions = _world_tools(WorldPackage(folder, digest))
    described = read_world_file(database)
    environment_class, more = _environment_class(
        described.environment, WorldPackage(database, digest), shared=database != folder
    )
    box = Toolbox(tools, str(folder))
    offered = box.only([tool.name for tool in tools if tool.offered_to == "agent"])
    if not offered.tools:
        raise WorldError(
            "a world needs tools: executors.py with @tool functions, or tools.yaml", folder
        )
    for tool in tools:
        special = tool.free_sql or environment_class is not DatabaseExecutableEnvironment
        if tool.offered_to != "agent" and special:
            whose = "the user's tools" if tool.offered_to == "user" else "tools of nobody"
            message = f"{tool.name}: {whose} run no free SQL, nor outside of the database"
            raise WorldError(message, folder)
    policy = folder / "policy.md"
    return World(
        name=folder.name,
        path=folder,
        digest=digest,
        policy=read_text(policy).strip() if policy.is_file() else "",
        toolbox=offered,
        user_toolbox=box.only([tool.name for tool in tools if tool.offered_to == "user"]),
        whole_toolbox=box,
        database=database,
        databases=databases,
        extensions=(*extensions, *more),
        columns=described.columns,
        environment_class=environment_class,
    )
