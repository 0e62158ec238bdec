"""The contract of a sandbox: one rollout's own database, copied from a template.

A :class:`Template` is built once per world, engine and universe. ``open`` copies it into a
:class:`Sandbox`, which is used by one rollout and closed. Nothing here knows tools.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

import sqlalchemy

from envs.processes import Pool
from envs.types import Limits, Pins, RowChange, StateDiff, Table, ToolCall, ToolOutcome


@dataclass(frozen=True, slots=True)
class Place:
    """Where a template is built. ``url`` names a server (None: the one on this machine), ``kind`` what becomes of a
    sandbox on it: ``pooled``, undone and used again, or ``cloned``, dropped. SQLite's are in memory and need neither.
    """

    url: str | None = field(default=None, repr=False)
    kind: Literal["pooled", "cloned"] = "pooled"


class Transaction(ABC):
    """One tool call's transaction, as :meth:`Sandbox.transaction` yields it."""

    connection: sqlalchemy.Connection
    """What the executor gets. Its statements obey the limits of the call."""

    changes: tuple[RowChange, ...] = ()
    """The rows that this call changed; filled in when the block has committed."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo everything when the block ends, also where no exception leaves it."""


class Sandbox(ABC):
    """A database of one's own. Not safe for use by two threads at once, but for what ``concurrent_reads`` says; never
    travels between processes.
    """

    engine: str
    in_place: bool
    """True where a call runs in this process within microseconds, so that an event loop may run it inline."""

    apart: bool = False
    """True where nothing here can break off every statement: SQL that an agent wrote then goes to :meth:`call_apart`."""

    concurrent_reads: bool = False
    """True where transactions that only read may overlap, each in a thread of its own."""

    @abstractmethod
    def transaction(self, limits: Limits) -> AbstractContextManager[Transaction]:
        """One atomic unit: commits when the block ends, leaves nothing behind when an exception leaves it."""

    def call_apart(self, pool: Pool, call: ToolCall, limits: Limits) -> ToolOutcome:
        """Run a whole tool call in another process, which may be killed for it. What it commits is this sandbox's.

        ``limits`` are the environment's. Raises what a call in place raises.
        """
        raise NotImplementedError(f"{self.engine} breaks statements off by itself")

    @abstractmethod
    def diff(self) -> StateDiff:
        """The net row changes of all committed transactions against the template, canonically sorted."""

    @abstractmethod
    def state_hash(self) -> str:
        """Digest of template and net changes: equal exactly when two sandboxes of one template hold equal rows."""

    @abstractmethod
    def fork(self) -> Sandbox:
        """An independent copy in the present state, with the same pins and the same diff so far."""

    @abstractmethod
    def close(self) -> None:
        """Drop the database. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Siblings:
    """Further databases of a template's schema, where a query has to be right too: an answer that is known by heart is
    wrong there ("test-suite accuracy": Zhong, Yu and Klein, "Semantic Evaluation for Text-to-SQL with Distilled Test
    Suites", 2020). ``make(at, count)`` builds one when it is first asked for; None where there is none.

    Safe for use by two threads: whoever comes second waits.
    """

    def __init__(self, make: Callable[[int, int], Template | None]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: dict[tuple[int, int], Template | None] = {}

    def first(self, count: int) -> Sequence[Template]:
        """Up to ``count`` of them, the same ones each time. Raises what building a template raises."""
        with self._lock:
            for at in range(count):
                if (at, count) not in self._made:
                    self._made[at, count] = self._make(at, count)
            return [each for at in range(count) if (each := self._made[at, count]) is not None]

    def close(self) -> None:
        """Close those that were made. Safe to call twice."""
        while self._made:
            template = self._made.popitem()[1]
            if template is not None:
                template.close()


def _none(at: int, count: int) -> None:
    """A template of which nobody knows another database."""


NO_SIBLINGS = Siblings(_none)


class Template(ABC):
    """What sandboxes are copied from. Whoever closes it closes its siblings as well."""

    engine: str
    digest: str
    """Of the rows and the schema: names the state that a diff starts from."""

    tables: Mapping[str, Table]

    siblings = NO_SIBLINGS

    @abstractmethod
    def open(self, pins: Pins, *, unordered: bool = False) -> Sandbox:
        """A fresh sandbox. ``unordered`` reverses the order of every query without ORDER BY, where the
        engine can: a tool that depends on row order is found that way.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what the template holds. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.siblings.close()
        self.close()
