"""The tools of a world: ``@tool`` functions of executors.py, and the entries of tools.yaml."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import cast

from envs.errors import WorldError
from envs.plugins import Extension, PluginError, resolve
from envs.tools.tool import Executor, Tool, kind_of_function
from envs.tools.tools_yaml import DeclaredToolSet, read_tools_yaml
from envs.world.files import read_text
from envs.world.package import WorldPackage


def world_tools(package: WorldPackage) -> tuple[list[Tool], tuple[Extension, ...]]:
    """The tools of a world, first from executors.py, and the sets of tools that it uses.

    Raises :class:`~envs.errors.WorldError` with file and line for the first mistake.
    """
    tools = _decorated(package)
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


def _decorated(package: WorldPackage) -> list[Tool]:
    if not package.has("executors"):
        return []
    return [value for value in vars(package.load("executors")).values() if isinstance(value, Tool)]


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
