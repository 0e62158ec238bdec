"""The administrator's connections of a process to a server, and the end of all it made there."""

from __future__ import annotations

import itertools
import logging
import math
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import sqlalchemy

from envs.errors import DatabaseConfigError, EnvsError, NoRoomError, SandboxError
from envs.sandboxes.server.control_connection import ControlConnection

MAX_IDLE = 32
"""Copies that a process keeps on one server, all its templates together: each has a session, and a
server has only so many (PostgreSQL 100, MariaDB 151, unless configured).
"""

IDLE_S = 30.0
"""Seconds after which a copy that nobody took makes room for other processes."""

ROOM_S = 0.5
"""Seconds in which the session of a dropped copy ends on the server."""

_AGAIN_S = 0.05


class _Droppable(Protocol):
    """A copy with a session."""

    def drop(self) -> None: ...


class IdleCopies:
    """The unused copies on one server, by their template. Safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: list[tuple[float, object, _Droppable]] = []
        """When, of which template and what, the longest unused first."""

    def take(self, template: object) -> Any:
        """The copy of a template that was used last, or None."""
        with self._lock:
            places = range(len(self._kept) - 1, -1, -1)
            place = next((at for at in places if self._kept[at][1] is template), None)
            return None if place is None else self._kept.pop(place)[2]

    def keep(self, template: object, copy: _Droppable, most: float) -> None:
        """Keep a copy, or drop it if the template has ``most`` of them. Also drop the longest
        unused copies beyond MAX_IDLE, and those that nobody took for IDLE_S.
        """
        now = self._clock()
        with self._lock:
            if sum(of is template for _, of, _ in self._kept) < most:
                self._kept.append((now, template, copy))
                gone: list[_Droppable] = []
            else:
                gone = [copy]
            while self._kept and (len(self._kept) > MAX_IDLE or now - self._kept[0][0] > IDLE_S):
                gone.append(self._kept.pop(0)[2])
        for unused in gone:
            unused.drop()

    def forget(self, template: object) -> None:
        with self._lock:
            gone = [copy for _, of, copy in self._kept if of is template]
            self._kept = [entry for entry in self._kept if entry[1] is not template]
        for copy in gone:
            copy.drop()

    def make_room(self) -> bool:
        """Drop the longest unused copy; returns whether there was one."""
        with self._lock:
            gone = self._kept.pop(0)[2] if self._kept else None
        if gone is not None:
            gone.drop()
        return gone is not None

    def with_room(self, connect: Callable[[], C], seconds: float = 0) -> C:
        """Connect; where the server has no session left, unused copies are dropped, one by one.

        Raises NoRoomError once none is left to drop and ``seconds`` have passed. Waiting holds up
        all rollouts of the process.
        """
        until = self._clock() + seconds
        while True:
            try:
                return connect()
            except NoRoomError:
                if self.make_room():
                    until = max(until, self._clock() + ROOM_S)
                elif self._clock() >= until:
                    raise
            time.sleep(_AGAIN_S)


_log = logging.getLogger(__name__)

C = TypeVar("C")

CONNECTIONS = 7
"""Connections that a process with one rollout at a time needs on a server."""

MANY_DROPS = 20
"""Databases whose removal takes long enough to be announced."""

CONNECT_S = 10
"""Seconds to wait for a connection."""

DROP_S = 10
"""Seconds that the removal of one database may take: a statement that the server cannot break off
keeps it waiting for as long as it runs.
"""

SWEEP_S = 15
"""Seconds in which a start removes what dead processes left; the next start goes on."""

CLOSE_S = 20
"""Seconds that a process spends at its end on what could not be dropped before."""

KEEP_S = 1.0
"""Seconds between two looks at the connection that holds the lock of this process."""

RETURN_S = 5
"""Seconds after the start of a server in which living processes take their locks again."""


@dataclass(frozen=True)
class Removal:
    """Databases of ours that are dropped together, and their login."""

    databases: tuple[str, ...]
    login: str | None = None

    def __str__(self) -> str:
        return ", ".join(self.databases) or str(self.login)


class AdminSession(ABC):
    """Makes, grants and drops databases and logins whose names begin with ``prefix``.

    Subclasses connect in their ``__init__``, call :meth:`_start` when that is done, and hold a lock
    of the server as long as they live. A thread takes the lock again after its connection was lost,
    since other processes remove what belongs to nobody. Safe for threads.
    """

    server_name: ClassVar[str]
    """As the operator knows it."""

    driver_error: ClassVar[type[Exception]]

    controls: Sequence[ControlConnection[Any]] = ()
    """The connections of this session; they are closed in this order."""

    def __init__(self, url: sqlalchemy.URL, token: str, prefix: str) -> None:
        self.url = url
        self.token = token
        self.prefix = prefix
        self.owner = f"{prefix}_owner"
        """The account that owns the databases, and has no other rights on the server."""
        self.idle = IdleCopies()
        """The unused copies of all templates of this process."""
        self._names = itertools.count()
        self._password = secrets.token_urlsafe(24)
        self._dropper = ThreadPoolExecutor(1, thread_name_prefix="envs-drop")
        self._left: list[Removal] = []
        self._left_lock = threading.Lock()
        self._started = False
        self._closing = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="envs-keeper", daemon=True)
        self._give_up_at: float | None = None

    def new_name(self, kind: str) -> str:
        return f"{self.prefix}_{kind}{next(self._names)}"

    @abstractmethod
    def orphans(self) -> list[str]:
        """The databases and logins of processes that are gone, by name."""

    @abstractmethod
    def sweep(self) -> None:
        """Remove the orphans, within SWEEP_S."""

    @abstractmethod
    def new_template(self) -> str:
        """Make an empty database for a template, and return its name."""

    @abstractmethod
    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a statement on the connection with the lock; takes both again if lost."""

    @abstractmethod
    def _remove(self, token: str, until: float = math.inf) -> None:
        """Remove what the process of that token made."""

    @abstractmethod
    def _words(self, error: Exception) -> str:
        """The words of a driver's error."""

    @abstractmethod
    def _drop(self, removal: Removal) -> None:
        """Drop within DROP_S, on a connection of its own. SandboxError where that fails."""

    @contextmanager
    def _refusals(self) -> Generator[None]:
        """Context in which an error of the driver becomes a SandboxError."""
        try:
            yield
        except self.driver_error as error:
            raise SandboxError(f"{self.server_name} refused: {self._words(error)}") from error

    def _close_connections(self) -> None:
        for connection in self.controls:
            connection.close()

    def _remove_orphan(self, token: str, until: float) -> None:
        """Another process, or a dead one's last DROP, may remove the orphan too: either is fine."""
        try:
            with self._refusals():
                self._remove(token, until)
        except SandboxError as error:
            words = "what %s left on %s stays for the next start: %s"
            _log.info(words, token, self.server_name, error)

    def _start(self) -> None:
        self._started = True
        self._keeper.start()

    def _keep(self) -> None:
        while not self._closing.wait(KEEP_S):
            try:
                with self._refusals():
                    self._ask("SELECT 1")
            except (SandboxError, DatabaseConfigError) as error:
                _log.info("the lock on %s is not held for now: %s", self.server_name, error)

    def _say_sweep(self, count: int) -> None:
        """Announce the removal of many databases, which takes a while."""
        if count >= MANY_DROPS:
            _log.warning(
                "removing %d databases that ended runs left on %s, for at most %d seconds; the"
                " next start, or `synth clean`, goes on",
                *(count, self.server_name, SWEEP_S),
            )

    @property
    def leftovers(self) -> list[str]:
        with self._left_lock:
            return [name for removal in self._left for name in removal.databases]

    def unreachable(self, words: str) -> EnvsError:
        """The error of a refused connection: the operator's at first, later a lost server."""
        if self._started:
            return SandboxError(f"cannot connect to {self.server_name}: {words}")
        return DatabaseConfigError(f"cannot connect to {self.server_name}: {words}")

    def with_room(self, connect: Callable[[], C]) -> C:
        """Connect, where need be in the place of unused copies. NoRoomError if that does not help,
        DatabaseConfigError at the start of a process.
        """
        try:
            return self.idle.with_room(connect, 0 if self._started else CONNECT_S)
        except NoRoomError:
            words = (
                f"{self.server_name} has no connection left; one rollout at a time needs"
                f" {CONNECTIONS}: raise its max_connections or the limit of the role, or lower"
                " runtime.concurrency where it is above 1"
            )
            if self._started:
                raise NoRoomError(words) from None
            raise DatabaseConfigError(words) from None

    def drop(self, *databases: str, login: str | None = None) -> None:
        """Drop databases of ours and their login in the background. :meth:`close` waits."""
        removal = Removal(databases, login)
        try:
            self._dropper.submit(self._try_drop, removal)
        except RuntimeError:  # the interpreter is about to end, and starts nothing any more
            self._try_drop(removal)

    def _try_drop(self, removal: Removal) -> None:
        """Drop; what cannot be dropped now is tried again with the next, and at the end."""
        if self._dropped(removal):
            with self._left_lock:
                again = self._left.pop(0) if self._left else None
            if again is not None:
                self._dropped(again)

    def _dropped(self, removal: Removal) -> bool:
        try:
            if self._give_up_at is not None and time.monotonic() > self._give_up_at:
                raise SandboxError("no time left")
            self._drop(removal)
        except SandboxError as error:
            _log.info("%s stays on %s for now: %s", removal, self.server_name, error)
            with self._left_lock:
                self._left.append(removal)
            return False
        return True

    def close(self) -> None:
        """Remove the databases and logins that are left, and the lock with the session.

        What cannot be removed in time is named in a warning; the next process to start removes it.
        """
        self._give_up_at = time.monotonic() + CLOSE_S
        self._closing.set()
        self._dropper.shutdown(wait=True)
        try:
            try:
                with self._refusals():
                    self._remove(self.token)
            finally:
                self._close_connections()
        except SandboxError as error:
            _log.warning(
                "databases named %s_... stay on %s (%s): the next run, or `synth clean`, removes"
                " them",
                self.prefix,
                self.server_name,
                error,
            )


S = TypeVar("S", bound=AdminSession)


class SharedSessions(Generic[S]):
    """The process's session per server, shared, closed with its last borrower. Thread-safe."""

    def __init__(self, connect: Callable[[sqlalchemy.URL], S]) -> None:
        self._connect = connect
        self._lent: dict[str, tuple[S, int]] = {}
        self._lock = threading.Lock()

    def borrow(self, url: sqlalchemy.URL) -> S:
        key = url.render_as_string(hide_password=False)
        with self._lock:
            server, users = self._lent.get(key, (None, 0))
            server = server or self._connect(url)
            self._lent[key] = (server, users + 1)
            return server

    def give_back(self, server: S) -> None:
        key = server.url.render_as_string(hide_password=False)
        with self._lock:
            known, users = self._lent[key]
            if users > 1:
                self._lent[key] = (known, users - 1)
                return
            del self._lent[key]
        server.close()
