"""The contract of a sandbox: one rollout's own database, copied from a template.

A :class:`Template` is built once per world, engine and universe. ``open`` copies it into a
:class:`Sandbox`, which is used by one rollout and closed. Nothing here knows tools.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

import sqlalchemy

from envs.types import Limits, Pins, RowChange, StateDiff, Table


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
    """A database of one's own. Not safe for use by two threads at once; never travels between processes."""

    engine: str
    in_place: bool
    """True where a call runs in this process within microseconds, so that an event loop may run it inline."""

    @abstractmethod
    def transaction(self, limits: Limits) -> AbstractContextManager[Transaction]:
        """One atomic unit: commits when the block ends, leaves nothing behind when an exception leaves it."""

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


class Template(ABC):
    """What sandboxes are copied from."""

    engine: str
    digest: str
    """Of the rows and the schema: names the state that a diff starts from."""

    tables: Mapping[str, Table]

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
        self.close()
