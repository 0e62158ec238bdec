"""Extensions by name: built-ins, entry points of installed distributions, and import paths.

A name is looked up in this order: ``package.module:attribute`` is imported as it stands; a built-in
short name; an entry point of the group. The metadata of installed distributions is read only for a
name that is not built in, and nothing is imported before it is chosen.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from envs.errors import EnvsError


class PluginError(EnvsError):
    """An extension that does not exist, cannot be imported, or is claimed by two distributions."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One extension, not imported yet.

    ``target`` is ``package.module:attribute``. ``distribution`` and ``version`` name the installed
    package that offers it as an entry point; both are empty for built-ins and import paths.
    """

    kind: str
    name: str
    target: str
    distribution: str = ""
    version: str = ""

    def load(self) -> Any:
        """Import the extension. Raises :class:`PluginError`."""
        return resolve(self.target)


@dataclass(frozen=True, slots=True)
class ExtensionPoint:
    """A kind of extension: the entry-point group that adds to it and the names that ship.

    ``aliases`` maps further names of built-ins to the names that they are known by.
    """

    kind: str
    group: str
    builtin: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    def find(self, name: str) -> Extension:
        """The extension of that name or import path, not imported.

        Raises :class:`PluginError` for an unknown name, with the nearest known one, and for a name
        that two distributions claim.
        """
        if ":" in name:
            return Extension(self.kind, name, name)
        name = self.aliases.get(name, name)
        if name in self.builtin:
            return Extension(self.kind, name, self.builtin[name])
        found = [entry for entry in entry_points(group=self.group) if entry.name == name]
        if not found:
            raise PluginError(self._unknown(name))
        if len(found) > 1:
            raise PluginError(_duplicate(self.kind, name, found))
        return _from_entry_point(self.kind, found[0])

    def load(self, name: str) -> Any:
        """Find the extension and import it. Raises :class:`PluginError`."""
        return self.find(name).load()

    def all(self) -> Iterator[Extension]:
        """Every known extension: built-ins first, then entry points by name.

        Raises :class:`PluginError` where two distributions claim one name, or one claims the name
        of a built-in.
        """
        for name, target in self.builtin.items():
            yield Extension(self.kind, name, target)
        offered: dict[str, list[EntryPoint]] = {}
        for entry in sorted(entry_points(group=self.group), key=lambda entry: entry.name):
            offered.setdefault(entry.name, []).append(entry)
        for name, entries in offered.items():
            builtin = name in self.builtin or name in self.aliases
            if len(entries) > 1 or builtin:
                raise PluginError(_duplicate(self.kind, name, entries, builtin))
            yield _from_entry_point(self.kind, entries[0])

    def shipped(self) -> Iterator[Extension]:
        """The built-ins that are there: one whose capability was taken out is not."""
        for name, target in self.builtin.items():
            found = None
            with contextlib.suppress(PluginError):  # the package above it is not there either
                found = find_module(target.partition(":")[0])
            if found is not None:
                yield Extension(self.kind, name, target)

    def _unknown(self, name: str) -> str:
        known = [*self.builtin, *sorted({entry.name for entry in entry_points(group=self.group)})]
        close = difflib.get_close_matches(name, [*known, *self.aliases], n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        listed = ", ".join(known) or "none are installed"
        return (
            f"unknown {self.kind} {name!r}{hint} (known: {listed}; an extension of your own is"
            " named package.module:attribute)"
        )


class Contract:
    """The base of classes that extensions derive from: a method of a subclass takes what every call
    of the contract's method gives, or the subclass is refused with TypeError where it is defined.

    >>> class Greeter(Contract):
    ...     def greet(self, name, *, loudly): ...
    >>> class Short(Greeter):
    ...     def greet(self, name): ...
    Traceback (most recent call last):
    TypeError: Short.greet(self, name) must take what Greeter.greet(self, name, *, loudly) takes
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, own in vars(cls).items():
            base = next((base for base in cls.__mro__[1:] if name in vars(base)), None)
            wanted = None if base is None or name.startswith("_") else vars(base)[name]
            if inspect.isfunction(own) and inspect.isfunction(wanted):
                _check_parameters(own, wanted)


def _check_parameters(own: Any, wanted: Any) -> None:
    """Raise TypeError if ``own`` cannot be called as ``wanted`` is."""
    every = inspect.signature(wanted).parameters.values()
    asked = [one for one in every if one.default is one.empty]
    placed = [one for one in asked if one.kind <= one.POSITIONAL_OR_KEYWORD]
    named = {one.name: one for one in asked if one.kind == one.KEYWORD_ONLY}
    try:
        inspect.signature(own).bind(*placed, **named)
    except TypeError:
        message = f"{_shown(own)} must take what {_shown(wanted)} takes"
        raise TypeError(message) from None


def _shown(function: Any) -> str:
    """A method as it is defined, without annotations."""
    defined = inspect.signature(function)
    bare = [one.replace(annotation=one.empty) for one in defined.parameters.values()]
    shown = defined.replace(parameters=bare, return_annotation=defined.empty)
    return f"{function.__qualname__}{shown}"


def resolve(target: str) -> Any:
    """Import the object that ``package.module:attribute`` names; dots in the attribute are allowed.

    Raises :class:`PluginError` when the path is malformed, the module cannot be imported or fails
    while it is imported, or the attribute is missing.
    """
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute or module_name.startswith("."):
        raise PluginError(f"{target!r} is not of the form package.module:attribute")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        raise PluginError(
            f"cannot import {module_name!r} for {target!r}: {error}; is it installed, or is its"
            " folder on PYTHONPATH?"
        ) from error
    except Exception as error:
        # Somebody else's module runs here: whatever it raises is the operator's to read.
        raise PluginError(
            f"importing {module_name!r} failed: {type(error).__name__}: {error}"
        ) from error
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise PluginError(f"{target!r}: {module_name} has no attribute {attribute!r}") from None
    return found


def find_module(name: str) -> ModuleSpec | None:
    """Find a module or package without importing it; only the packages above it are imported.

    None if there is none. Raises :class:`PluginError` if a package above it cannot be imported.
    """
    try:
        return find_spec(name)
    except (ImportError, ValueError) as error:
        raise PluginError(f"cannot find {name!r}: {error}") from error


def _from_entry_point(kind: str, entry: EntryPoint) -> Extension:
    name, version = _source(entry)
    return Extension(kind, entry.name, entry.value.partition("[")[0].strip(), name, version)


def _source(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("", "")


def _duplicate(kind: str, name: str, entries: list[EntryPoint], builtin: bool = False) -> str:
    owners = [" ".join(_source(entry)).strip() for entry in entries]
    if builtin:
        owners.insert(0, "synth itself")
    return f"the {kind} {name!r} is defined twice: by {' and by '.join(owners)}; uninstall one"


ENGINES = ExtensionPoint(
    "engine",
    "envs.engines",
    {
        "sqlite": "envs.sandboxes.sqlite.engine:ENGINE",
        "postgresql": "envs.sandboxes.server.engine:POSTGRES",
        "mariadb": "envs.sandboxes.server.engine:MARIADB",
        "attached": "envs.sandboxes.attached.engine:ENGINE",
    },
    {"postgres": "postgresql", "mysql": "mariadb"},
)
"""Databases that sandboxes live in; the contract is :class:`envs.sandboxes.base.Engine`."""

ENVIRONMENTS = ExtensionPoint("environment", "envs.environments", {})
"""Environments that a world.yaml names; the contract is
:class:`envs.environments.external.ExternalExecutableEnvironment`.
"""

TOOLS = ExtensionPoint("tool", "envs.tools", {"sql": "envs.tools.sql.tool_set:sql_tools"})
"""Sets of tools that a world's tools.yaml switches on by ``builtin: NAME``."""
