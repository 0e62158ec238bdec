"""The contract of a sandbox: one rollout's own database, copied from a template.

A :class:`Template` is built once per world, engine and universe. ``open`` copies it into a
:class:`Sandbox`, which is used by one rollout and closed. Nothing here knows tools.
"""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy

from envs.closing import Closing
from envs.errors import DatabaseConfigError
from envs.plugins import ENGINES, Contract, PluginError
from envs.scripts.lexis import Dialect
from envs.types import Limits, Pins, RowChange, StateDiff, Table, ToolCall, ToolOutcome

if TYPE_CHECKING:
    from envs.processes import Pool

Kind = Literal["pooled", "cloned"]
"""The two kinds of sandboxes on a server."""


@dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """The server and the way in which a template is built there.

    ``url`` names the server (None: the engine's usual one on this machine). A sandbox of kind
    ``pooled`` is undone and used again, one of kind ``cloned`` is dropped. An engine without a
    server ignores both. ``pool_size`` is the number of undone sandboxes that a template keeps
    (None: up to the server's bound for all templates). ``options`` are the engine's own, as plain
    data that :attr:`Engine.Options` describes. ``fingerprint`` is what an existing database was
    recognised by when the tasks were planned (None: it is read again).
    """

    url: str | None = field(default=None, repr=False)
    kind: Kind = "pooled"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    pool_size: int | None = None
    fingerprint: Mapping[str, Any] | None = field(default=None, hash=False)


VIEWS = "world_views"
"""The execution option of a call's connection that maps the names of the database's views to their
schemas (None: the default one), where the sandbox knows them.
"""


@dataclass
class Transaction:
    """One tool call's transaction, as :meth:`Sandbox.transaction` yields it.

    ``connection`` is what the executor gets; its statements obey the limits of the call.
    ``changes`` are the rows that this call changed, filled in when the block has committed.
    """

    connection: sqlalchemy.Connection
    changes: tuple[RowChange, ...] = ()
    undone: bool = False

    def rollback(self) -> None:
        """Undo everything when the block ends, also where no exception leaves it."""
        self.undone = True


class Sandbox(Closing):
    """The database of one rollout. It never travels between processes, and two threads may not use
    it at once, except as ``concurrent_reads`` allows.
    """

    dialect: str
    """The SQL that statements are written in, by SQLAlchemy's name."""

    sql_name: str = ""
    """That SQL's name as a model is told it; empty: the dialect's usual name."""

    in_place: bool
    """True where a call takes microseconds in this process: an event loop may run it inline."""

    out_of_process: bool = False
    """True where this process cannot interrupt every statement: SQL that an agent wrote then goes
    to :meth:`subprocess_call`.
    """

    concurrent_reads: bool = False
    """True where transactions that only read may overlap, each in a thread of its own."""

    @abstractmethod
    def transaction(self, limits: Limits) -> AbstractContextManager[Transaction]:
        """One atomic unit: commits when the block ends, undone when an exception leaves it."""

    def subprocess_call(self, pool: Pool, call: ToolCall, limits: Limits) -> ToolOutcome:
        """Run a whole tool call in another process, which may be killed for it. The call's commit
        is this sandbox's.

        ``limits`` are the environment's. Raises the same errors as a call in place.
        """
        raise NotImplementedError(f"{type(self).__name__} breaks statements off by itself")

    @abstractmethod
    def diff(self) -> StateDiff:
        """The net row changes of all committed transactions against the template, canonically
        sorted.
        """

    @abstractmethod
    def state_hash(self) -> str:
        """Digest of template and net changes: equal for equal rows of one template, else not."""

    @abstractmethod
    def fork(self) -> Sandbox:
        """An independent copy in the present state, with the same pins and the same diff so far."""

    @abstractmethod
    def close(self) -> None:
        """Drop the database. Safe to call twice."""


class TestSuiteDatabases:
    """Further databases of a template's schema, in which a query has to be right as well.

    An answer that was learnt by heart is wrong there ("test-suite accuracy": Zhong, Yu and Klein,
    "Semantic Evaluation for Text-to-SQL with Distilled Test Suites", 2020). ``make(index)`` builds
    one when it is first needed, or returns None after the last.

    Safe for use by two threads: the second waits.
    """

    def __init__(self, make: Callable[[int], Template | None]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._built: dict[int, Template] = {}
        self._end: int | None = None

    def __iter__(self) -> Iterator[Template]:
        """Yield all, in the same order each time. Raises the errors of building a template."""
        for index in itertools.count():
            with self._lock:
                if index == self._end:
                    return
                if index not in self._built:
                    made = self._make(index)
                    if made is None:
                        self._end = index
                        return
                    self._built[index] = made
                template = self._built[index]
            yield template

    def close(self) -> None:
        """Close those that were built. Safe to call twice."""
        while self._built:
            self._built.popitem()[1].close()


def _none(index: int) -> None:
    """The ``make`` of a template without further databases."""


NO_SIBLINGS = TestSuiteDatabases(_none)


class Template(Closing):
    """A database that sandboxes are copied from. Closing it closes its siblings as well."""

    dialect: str
    """That of its sandboxes."""

    digest: str
    """Of the rows and the schema: names the state that a diff starts from."""

    tables: Mapping[str, Table]

    siblings = NO_SIBLINGS

    fingerprint: Mapping[str, Any] | None = None
    """What an existing database is recognised by, as JSON; None for one that was built."""

    writable: bool = True
    """Whether tools may write to its sandboxes."""

    @abstractmethod
    def open(self, pins: Pins, *, unordered: bool = False) -> Sandbox:
        """A fresh sandbox. ``unordered`` reverses the order of every query without ORDER BY, where
        the engine can: a tool that depends on row order is found that way.
        """

    @property
    def unread(self) -> Mapping[str, str]:
        """The tables of an existing database that cannot be read, with the reason."""
        return {}

    def view_text(self, name: str) -> str | None:
        """The statement or query that defines a view of an existing database, empty where the
        account may not read it. None for a table.
        """
        return None

    def __exit__(self, *exception: object) -> None:
        self.siblings.close()
        self.close()


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an engine that has none."""


class Engine(Contract, ABC):
    """A kind of database that sandboxes live in: the extension behind ``database.engine``.

    An engine is an object of this class without state of its own. It is named by a row of
    :data:`envs.plugins.ENGINES`, by an entry point of the group ``envs.engines``, or as
    ``package.module:attribute``. Worker processes import it again by that name, so nothing of it
    travels but the name and the options. Importing its module must be cheap and must not need the
    driver; :meth:`build` may import both.

    The contract in full:

    - :meth:`build` returns a :class:`Template` of the database that a world's scripts make, and
      two builds of equal scripts have equal digests.
    - :class:`Template`, :class:`Sandbox` and :class:`Transaction` keep what their docstrings
      promise. :class:`envs.testing.SandboxConformance` is the test class of these promises:
      subclass it, name the engine, and let pytest collect it.
    - Errors of the database reach the caller as :class:`sqlalchemy.exc.DBAPIError`, which
      :func:`envs.sql_errors.classify` sorts by the ``dialect``.

    An engine of your own is usually a subclass of a shipped one that changes :meth:`build`
    (``SqliteEngine`` in ``envs.sandboxes.sqlite.engine``, ``PostgresEngine`` and ``MariaDBEngine``
    in ``envs.sandboxes.server.engine``).
    """

    dialect: Dialect
    """The SQL that scripts and statements are written in, by SQLAlchemy's name. A world's scripts
    are looked up by the engine's name first (``schema.NAME.sql``), then by the dialect's. An engine
    that attaches has none.
    """

    attaches: bool = False
    """True where the target's URL names a database that exists already. Its templates leave it as
    it is, and have a fingerprint; scripts are not run, and ``load`` does nothing.
    """

    needs_server: bool = False
    """True where :class:`DatabaseTarget` names a server, or means the one on this machine."""

    Options: type[Any] = NoOptions
    """A dataclass or a pydantic model of the keys under ``database.options``. The config is checked
    against it, with errors that name the key; :meth:`options` makes an instance of it.
    """

    def settled(self, url: str) -> str:
        """The URL as it holds in every process, whatever folder it was started in."""
        return url

    @abstractmethod
    def build(self, load: Callable[[Any], object], target: DatabaseTarget) -> Template:
        """Build a template from whatever ``load`` does to an empty database.

        ``load`` receives a DBAPI connection (see :func:`envs.scripts.run_script`) and runs the
        world's scripts on it; what it raises is passed on. Raises
        :class:`~envs.errors.DatabaseConfigError` where the target's server cannot be used, the
        driver is not installed, or the options are wrong.
        """

    def leftovers(self, target: DatabaseTarget, *, remove: bool = False) -> Sequence[str]:
        """The databases and logins that dead processes left on the target's server; with
        ``remove`` those that stay although they were to be removed.

        An engine without a server leaves none. Raises :class:`~envs.errors.DatabaseConfigError`
        where the server cannot be used.
        """
        return ()

    def options(self, target: DatabaseTarget) -> Any:
        """The target's options as an instance of :attr:`Options`.

        Raises :class:`~envs.errors.DatabaseConfigError` for options that it does not take.
        """
        try:
            return self.Options(**target.options)
        except (TypeError, ValueError) as error:
            raise DatabaseConfigError(f"the options of the engine: {error}") from None


def find_engine(name: str) -> Engine:
    """The engine of that name, alias or import path.

    Raises :class:`~envs.plugins.PluginError` where there is none, or where the name leads to
    something else.
    """
    found = ENGINES.load(name)
    if not isinstance(found, Engine):
        raise PluginError(
            f"engine {name!r} must be an object of envs.sandboxes.base.Engine, not"
            f" {'the class ' + found.__name__ if isinstance(found, type) else type(found).__name__}"
        )
    return found
