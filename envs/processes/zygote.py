"""The process that children are forked from: one thread, the service loaded, no sockets but its
parent's.

A process with threads cannot fork safely, and a fresh interpreter takes a second to load a world:
hence this process in between. It ends when its parent does, in whatever way, and ends the children
with it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from envs.processes.wire import BEGUN, receive, send

FILE_BYTES = 64 * 2**20
"""How large a file may become that a child writes."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

_LOOK = getattr(os, "WEXITED", 0) | os.WNOHANG | getattr(os, "WNOWAIT", 0)
"""Whether a process has ended, which leaves its number to it."""


def main(descriptor: int) -> None:
    """Prepare the service that the first message names, then fork and kill until the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    control = socket.socket(fileno=descriptor)
    (service, arguments), _ = receive(control)
    try:
        module = import_module(service)
        prepared = module.prepare(*arguments)
    except BaseException as error:
        send(control, _as_it_travels(error))
        return
    send(control, None)
    gc.collect()
    gc.freeze()
    children: set[int] = set()
    ended: dict[int, int] = {}
    """Signals of children that another process has killed and whose parent has not asked yet."""

    def reap(*_: object) -> None:
        # Another child may end meanwhile: Python would call this within itself.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        dead = [child for child in children if os.waitid(os.P_PID, child, _LOOK) is not None]
        for child in dead:
            children.discard(child)
            ended[child] = _end(child)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    if hasattr(os, "waitid"):  # not on macOS before Python 3.13: there they wait for the next call
        signal.signal(signal.SIGCHLD, reap)
    try:
        while True:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            (pid, _) = receive(control)
            # Whoever is ended here is waited for here.
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            if pid is None:
                _fork(control, module, prepared, children)
            else:
                children.discard(pid)
                send(control, ended.pop(pid) if pid in ended else _end(pid))
    except (EOFError, OSError):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for child in children:
            _end(child)


def _fork(control: socket.socket, module: ModuleType, prepared: Any, children: set[int]) -> None:
    ours, theirs = socket.socketpair()
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        control.close()
        ours.close()
        _live(theirs, module, prepared, zygote)
    theirs.close()
    children.add(pid)
    watch = [os.pidfd_open(pid)] if sys.platform == "linux" else []
    send(control, pid, [ours.fileno(), *watch])
    ours.close()
    for descriptor in watch:
        os.close(descriptor)


def _end(pid: int) -> int:
    """Kill the child with all it has forked; returns the signal that ended it, 0 for none."""
    try:
        os.killpg(pid, signal.SIGKILL)  # not yet waited for, so the number is still its own
    except (ProcessLookupError, PermissionError):  # it has no group yet, or is dead (macOS)
        os.kill(pid, signal.SIGKILL)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status := os.waitpid(pid, 0)[1]) else 0


def _live(connection: socket.socket, module: ModuleType, prepared: Any, zygote: int) -> None:
    """The life of a child: answer questions until nobody asks."""
    try:
        _settle(zygote)
        while True:
            question, descriptors = receive(connection)
            connection.sendall(BEGUN)
            try:
                reply: Any = module.answer(prepared, question, descriptors)
            except BaseException as error:
                reply = _as_it_travels(error)
            if threading.active_count() > 1:  # a thread would go on beside the next question
                send(connection, (reply, True))
                return
            send(connection, (reply, False))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _settle(zygote: int) -> None:
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where memory runs out, the kernel is to take this one rather than its parent.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    if os.getppid() != zygote:
        os._exit(0)
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def limit(kind: int, value: int) -> None:
    """Bound this process, within what it may take at all; ``kind`` is of :mod:`resource`."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def limit_space(more: int) -> None:
    """Bound the address space to so many bytes beyond what this process has, on Linux."""
    status = Path("/proc/self/statm")
    if status.exists():
        used = int(status.read_text("ascii").split()[0]) * resource.getpagesize()
        limit(resource.RLIMIT_AS, used + more)


def _as_it_travels(error: BaseException) -> BaseException:
    """The error, or its name and words where it does not survive pickling."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # pickling runs the code of whoever wrote the error, which may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
