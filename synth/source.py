"""The contract of a task source: where the tasks of a run come from.

``tasks=NAME`` names a :class:`TaskSource`, by the short name of a built-in, an entry point of the
group ``synth.task_sources``, or ``package.module:attribute``. A source is opened once for a run,
and gives a :class:`TaskPool` for each universe of the world that its tasks are about. Everything
here is a function of the world, the options and an index: nothing depends on the engine, the model
or the number of workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from envs.ledger import Ledger
from envs.plugins import Contract
from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.plugins import NoOptions
from synth.task import Task


@dataclass(frozen=True)
class TaskFamily:
    """A family of tasks. ``file`` and ``line`` say where its author would change it."""

    id: str
    file: str
    line: int
    about: str

    published: ClassVar[bool] = False
    """Whether somebody published the tasks, so that one that fails its proof is left out. The
    author of any other family mends it."""

    @property
    def talks(self) -> bool:
        """True if the agent has to be answered in some task of the family."""
        return False

    @property
    def calls(self) -> Collection[str]:
        """Names of the tools that gold may call."""
        return ()

    @property
    def honest_except(self) -> Mapping[str, str]:
        """The honest agents that the family may refuse, each with the reason."""
        return {}

    def inferred(self, task: Task) -> Collection[tuple[str, object]]:
        """Values of gold's arguments, each with the tool, that an agent works out from what it
        knows; a proof does not look for their origin.
        """
        return ()


class TaskPool(ABC):
    """The tasks of one universe of a world.

    ``account`` says what of the source is asked, changed or left out. ``identity`` is a
    digest of what decides the tasks beside the world and the family's name; it is empty where the
    world's folder holds everything. It goes into the digest of the plan. ``all_families`` are the
    names of all families, those that the run does not ask for included; empty if they are unknown.
    ``absent`` maps families that have no task in this universe to the reason; they are not among
    ``families``. ``notes`` are for the operator.
    """

    world: World
    universe: int
    families: Sequence[TaskFamily]
    account: Ledger = Ledger()
    identity: str = ""
    all_families: Collection[str] = ()
    absent: Mapping[str, str] = {}
    notes: Sequence[str] = ()

    def phrasing_names(self) -> Mapping[str, Sequence[str]]:
        """The names of the wordings of each family whose requests may be held out."""
        return {}

    def without_phrasings(self, names: Mapping[str, Collection[str]]) -> TaskPool:
        """The pool with all but these wordings of families, of those in :meth:`phrasing_names`."""
        raise NotImplementedError(f"{type(self).__name__} has no names of phrasings: {names}")

    def without(self, families: Collection[str]) -> TaskPool:
        """The pool with all but these families."""
        pool = copy(self)
        pool.families = [family for family in self.families if family.id not in families]
        return pool

    @abstractmethod
    def capacity(self, family: str) -> int:
        """The number of distinct tasks that the family can supply."""

    @abstractmethod
    def cases(self, family: str) -> list[str | None]:
        """The family's cases; ``[None]`` for a family without cases."""

    @abstractmethod
    def task(self, family: str, index: int, seed: int) -> Task:
        """The ``index``-th task of a family under a run's seed.

        Distinct indices below the capacity give distinct tasks. Raises IndexError beyond it and
        :class:`~synth.errors.TaskError` for a task that cannot be made.
        """

    @abstractmethod
    def find(self, family: str, slots: Mapping[str, object]) -> list[Task]:
        """The family's tasks about these slots; empty if there are none."""


class TaskSource(Contract, ABC):
    """The origin of the tasks of a run. Built with its options, an instance of ``Options``.

    ``Options`` is a pydantic model or a dataclass. Its fields are the keys of ``tasks.options``;
    a field that is called ``path`` or ``suite`` takes the value of ``tasks.path`` or
    ``tasks.suite`` instead.
    """

    Options: ClassVar[type] = NoOptions
    path_is: ClassVar[str] = ""
    """What ``tasks.path`` names, with an example; empty for a source that reads no such path."""

    writes_world: ClassVar[bool] = False
    """Whether the source writes the world that its tasks are about, so that ``env`` is not read.

    The world is named after the last part of ``tasks.path``, or after ``env`` without one.
    """

    makes_universes: ClassVar[bool] = False
    """Whether the source decides what the universes are, so that ``tasks.universes`` and
    ``tasks.splits`` must be left alone."""

    asks_attached: ClassVar[bool] = False
    """Whether the tasks are about the existing database of ``database=attached``, and about no
    other.
    """

    def __init__(self, options: object) -> None:
        self.options = options

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        """Write the world to a new ``folder`` and return it; called if ``writes_world`` is set.

        ``families`` are the families that the run asks for (None: all). Raises
        :class:`~synth.errors.OperatorError` for what is wrong with the source's own files.
        """
        raise NotImplementedError(f"{type(self).__name__} writes no world ({folder}, {families})")

    @abstractmethod
    def open(
        self,
        world: World,
        template: Template,
        families: Sequence[str] | None = None,
        universe: int = 0,
    ) -> TaskPool:
        """The tasks of one universe, of ``families`` only (None: all).

        The template may be closed afterwards. Raises :class:`~synth.errors.TaskError` with file and
        line for a family that cannot be read, and for an unknown name in ``families``.
        """
