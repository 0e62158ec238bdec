"""The parent's side: children that are leased one at a time, asked, and replaced when they die."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from envs.errors import SandboxError
from envs.processes.wire import BEGUN, receive, send

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]);"
    " from envs.processes.zygote import main; main(int(sys.argv[1]))"
)

SIZE = max(2, os.cpu_count() or 1)
"""Children of a pool at most: their work is work of the processor."""

KEEP = 4
"""Pools that stay open though nobody uses them."""


ATTEMPTS = 20
"""Processes that may be killed before one of them sets to work."""

A = TypeVar("A")


class ChildLost(Exception):
    """A child is gone, and its question with it.

    ``signal`` ended it (0: it ended itself); ``late``: this process ended it, since it was too
    slow; ``begun``: it had begun to work.
    """

    def __init__(self, number: int, late: bool = False, begun: bool = True) -> None:
        super().__init__(number, late, begun)
        self.signal = number
        self.late = late
        self.begun = begun


class GoneError(Exception):
    """The child does not answer any more. A lease that it ends raises :class:`ChildLost`."""


class Child:
    """A process that waits for a question; ``knows``: the caller's notes of what it received."""

    def __init__(
        self, pid: int, connection: socket.socket, watch: int | None, zygote: object
    ) -> None:
        self.pid = pid
        self.zygote = zygote
        self.knows: dict[str, Any] = {}
        self._connection = connection
        self._watch = watch
        self.late = self.begun = False
        self.spent = False
        """Whether it must not be asked again: something of what it was asked goes on in it."""

    def ask(
        self, question: Any, descriptors: Sequence[int] = (), seconds: float | None = None
    ) -> Any:
        """Ask the service. Raises its errors; the lease ends with ChildLost without an answer."""
        try:
            before, self.spent, self.begun = self.spent, True, False
            send(self._connection, question, descriptors)
            self._await(seconds)
            self.begun = self._connection.recv(1) == BEGUN
            if not self.begun:
                raise EOFError
            self._await(seconds)
            (answer, last), _ = receive(self._connection)
            self.spent = before or last
        except (EOFError, OSError) as error:
            raise GoneError from error
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _await(self, seconds: float | None) -> None:
        """Wait for an answer, and for its death: a child's own children may hold its socket."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if self._watch is not None:
            poll.register(self._watch, select.POLLIN)
        ready = {number for number, _ in poll.poll(None if seconds is None else seconds * 1000)}
        if self._connection.fileno() not in ready:
            self.late = not ready
            raise GoneError

    @property
    def alive(self) -> bool:
        """True while the child waits: nothing can be read from it, not even its end."""
        poll = select.poll()
        for number in (self._connection.fileno(), self._watch):
            if number is not None:
                poll.register(number, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self._connection.close()
        if self._watch is not None:
            os.close(self._watch)
            self._watch = None


class Pool:
    """Children of one service, forked on demand and one ahead. Safe for use by many threads."""

    def __init__(self, service: str, arguments: Sequence[Any], size: int = SIZE) -> None:
        self._first = (service, tuple(arguments))
        self._size = size
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._leased = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._loaded = False
        self._ordered = 0
        """Children that the zygote was told to fork and that were not taken over yet."""

    @property
    def busy(self) -> bool:
        return self._leased > 0

    def start(self) -> None:
        """Begin to load the service, without waiting for it."""
        with self._changed:
            if self._process is None:
                self._launch()

    def wait(self) -> None:
        """Wait until the service is loaded. Raises SandboxError, and the errors of ``prepare``."""
        with self._changed:
            self._talk(lambda _: None)

    @contextlib.contextmanager
    def lease(self, prefer: Callable[[Child], bool] = lambda _: False) -> Generator[Child]:
        """Lease a child, a preferred one if there is one.

        Raises :class:`ChildLost` where it is lost, SandboxError where none can be had, and the
        errors of ``prepare``.
        """
        child = self._take(prefer)
        try:
            yield child
        except GoneError:
            raise ChildLost(self._retire(child), child.late, child.begun) from None
        except BaseException:
            self._give_back(child)
            raise
        else:
            self._give_back(child)

    def ask(
        self, put: Callable[[Child], A], prefer: Callable[[Child], bool] = lambda _: False
    ) -> A:
        """The answer of the child that ``put`` asks. A child that was lost before it began has lost
        nothing: another one is asked.

        Raises :class:`ChildLost` where it had begun or was too slow, and what :meth:`lease` and
        ``put`` raise.
        """
        for _ in range(ATTEMPTS):
            try:
                with self.lease(prefer) as child:
                    return put(child)
            except ChildLost as lost:
                if lost.begun or lost.late:
                    raise
        raise SandboxError("the processes for SQL are killed before they can set to work")

    def _take(self, prefer: Callable[[Child], bool]) -> Child:
        with self._changed:
            self._changed.wait_for(lambda: self._leased < self._size)
            for child in [child for child in self._idle if not child.alive]:
                self._idle.remove(child)
                self._end(child)
            chosen = next(
                (child for child in self._idle if prefer(child)),
                self._idle[-1] if self._idle else None,
            )
            if chosen is not None:
                self._idle.remove(chosen)
            else:
                chosen = self._fork()
            self._leased += 1
            return chosen

    def _give_back(self, child: Child) -> None:
        if child.spent:
            self._retire(child)
            return
        with self._changed:
            self._leased -= 1
            self._idle.append(child)
            self._changed.notify()

    def _retire(self, child: Child) -> int:
        """End a child that is of no use any more, and return the signal that ended it."""
        with self._changed:
            self._leased -= 1
            self._changed.notify()
            return self._end(child)

    # The conversation with the zygote, under the lock.

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        path = [entry or str(Path.cwd()) for entry in sys.path]
        command = [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(path)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own code
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            send(ours, self._first)
        finally:
            theirs.close()
        self._control, self._loaded, self._ordered = ours, False, 0

    def _talk(self, talk: Callable[[socket.socket], Any]) -> Any:
        """Send a message to the zygote; a new one is started where the old one is gone."""
        for _ in range(2):
            if self._process is None:
                self._launch()
            control = self._control
            assert control is not None
            try:
                if not self._loaded:
                    failed, _ = receive(control)
                    if failed is not None:
                        self._stop()
                        raise failed
                    self._loaded = True
                return talk(control)
            except (EOFError, OSError):
                self._stop()
        raise SandboxError(
            "the process that runs free SQL does not start; its own words stand on standard error"
        )

    def _fork(self) -> Child:
        """Return the child that was ordered ahead, or a new one, and order the next one."""

        def fork(control: socket.socket) -> Child:
            for _ in range(2 - self._ordered):
                send(control, None)
                self._ordered += 1
            return self._receive_child(control)

        return self._talk(fork)

    def _receive_child(self, control: socket.socket) -> Child:
        pid, descriptors = receive(control)
        self._ordered -= 1
        watch = descriptors[1] if len(descriptors) > 1 else None
        return Child(pid, socket.socket(fileno=descriptors[0]), watch, self._process)

    def _end(self, child: Child) -> int:
        """End the child and return the signal that ended it. A zygote's end ends its children."""
        child.close()
        control = self._control
        if control is None or child.zygote is not self._process:
            return signal.SIGKILL
        try:
            while self._ordered:  # answers come in the order of the questions
                self._idle.insert(0, self._receive_child(control))
            send(control, child.pid)
            ended, _ = receive(control)
        except (EOFError, OSError):
            self._stop()
            return signal.SIGKILL
        return ended

    def _stop(self) -> None:
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        for child in self._idle:
            child.close()
        self._idle.clear()
        self._loaded, self._ordered = False, 0
        if process is not None:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def forget(self) -> None:
        """Release processes that belong to another process."""
        if self._process is not None:
            self._process.returncode = 0  # it is not ours to wait for
        if self._control is not None:
            self._control.close()
        for child in self._idle:
            child.close()

    def rest(self) -> None:
        """End the children that nobody asks, and what they hold open."""
        with self._changed:
            while self._idle:
                self._end(self._idle.pop())

    def close(self) -> None:
        """End all processes. Safe to call twice."""
        with self._changed:
            self._stop()


_pools: OrderedDict[tuple[Any, ...], Pool] = OrderedDict()
_lock = threading.Lock()


def pool_of(service: str, arguments: Sequence[Any], size: int = SIZE) -> Pool:
    """The process's pool for a service and its arguments; unasked for a while, it ends."""
    key = (service, *arguments, size)
    with _lock:
        pool = _pools.get(key)
        if pool is None:
            pool = _pools[key] = Pool(service, arguments, size)
        _pools.move_to_end(key)
        idle = [other for other, one in _pools.items() if not one.busy and other != key]
        for other in idle[: max(0, len(_pools) - KEEP)]:
            _pools.pop(other).close()
    return pool


def close_pools() -> None:
    """End all pools of this process; they start again when they are asked for."""
    with _lock:
        while _pools:
            _pools.popitem()[1].close()


def _forget() -> None:
    """In a fork of this process: its pools are its parent's, and must end with the parent."""
    for pool in _pools.values():
        pool.forget()
    _pools.clear()


os.register_at_fork(after_in_child=_forget)
atexit.register(close_pools)
