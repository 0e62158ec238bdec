"""The contract of a family reader: families from one file of a world's folder.

A reader is a function that takes a :class:`ReaderContext` and returns :class:`FileFamilies`. It is
found by the name of the file that it reads (:data:`synth.plugins.FAMILY_READERS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.ledger import Ledger
from envs.world.loader import World
from synth.core.tasks.queries import Queries
from synth.core.tasks.yaml.body import WorldRules
from synth.core.tasks.yaml.scope import FOR_USER
from synth.errors import TaskError, raise_task_errors
from synth.plugins import FAMILY_READERS
from synth.source import TaskFamily

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_FILE = "tasks.yaml"
"""The file that a world without any file of families is told to write."""


@dataclass(frozen=True)
class ReaderContext:
    """The world, the file and the database that a reader reads.

    ``rules`` are those that an earlier file gave, ``taken`` the ids of its families; ``queries``
    ask the template of the universe.
    """

    world: World
    file: Path
    universe: int
    queries: Queries
    rules: WorldRules
    taken: frozenset[str] = frozenset()

    @cached_property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The JSON Schema of each tool's parameters, by its name; the user's are marked."""
        own, users = self.world.tools, self.world.user_toolbox.tools
        marked = {tool.name: {**tool.parameters, FOR_USER: True} for tool in users}
        return marked | {tool.name: tool.parameters for tool in own}


@dataclass(frozen=True)
class FileFamilies:
    """The families of one file.

    ``rules`` hold for all families of the world (None: as they were), ``account`` says what of the
    file is asked, changed or left out. ``absent`` maps the families that have no task in
    this universe to the reason; in universe 0 every family has tasks. ``unasked`` says of each
    family that cannot be asked of an attached database, why.
    """

    families: Sequence[TaskFamily]
    rules: WorldRules | None = None
    absent: Mapping[str, str] = field(default_factory=dict[str, str])
    account: Ledger = field(default_factory=Ledger)


def read_families(world: World, universe: int, queries: Queries) -> FileFamilies:
    """The families of all files in a world's folder that a reader reads.

    Raises :class:`~synth.errors.TaskError` for the mistakes in them.
    """
    rules = WorldRules()
    families: list[TaskFamily] = []
    account = Ledger()
    absent: dict[str, str] = {}
    errors: list[TaskError] = []
    for name in _files(world.path):
        read: Callable[[ReaderContext], FileFamilies] = FAMILY_READERS.load(name)
        taken = frozenset(family.id for family in families)
        try:
            found = read(ReaderContext(world, world.path / name, universe, queries, rules, taken))
        except TaskError as error:
            errors.append(error)
            continue
        rules = found.rules or rules
        families += found.families
        account.add(found.account)
        absent |= found.absent
    raise_task_errors(errors)
    return FileFamilies(families, rules, absent, account)


def _files(folder: Path) -> list[str]:
    """The files of a folder that hold families, in the order in which they are read."""
    built_in = [name for name in FAMILY_READERS.builtin if (folder / name).is_file()]
    if built_in:
        return built_in
    offered = [item.name for item in FAMILY_READERS.all() if (folder / item.name).is_file()]
    return offered or [DEFAULT_FILE]
