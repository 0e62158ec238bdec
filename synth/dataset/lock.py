"""One writer at a time: an advisory lock on ``.synth/lock``.

Liveness is the lock itself, which the kernel drops with its process; the process id inside is for the message only.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Final

from synth.dataset.durable import disk
from synth.errors import ResumeRefused

# A reader that asks who writes holds the lock, shared, for microseconds: a writer that meets it tries again.
_TRIES: Final = 10
_PAUSE_S: Final = 0.05


class RunLock:
    """Holds the lock from its making until :meth:`release`.

    Raises :class:`~synth.errors.ResumeRefused` where another process holds it, OperatorError where it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk(path, "lock"):
            self._handle = self._acquire()
            who = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, who, 0)

    def _acquire(self) -> int:
        for attempt in range(_TRIES):
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # whoever held it may have removed the file between our open and our lock
                if _is_at(handle, self.path):
                    return handle
            except BlockingIOError:
                if attempt == _TRIES - 1:
                    who = holder(self.path)
                    os.close(handle)
                    raise ResumeRefused(f"{self.path.parent.parent} is being written by {who}") from None
                time.sleep(_PAUSE_S)
            except OSError:
                os.close(handle)
                raise
            os.close(handle)
        raise ResumeRefused(f"{self.path.parent.parent} is being started and ended by other processes")

    def release(self, *, remove: bool = False) -> None:
        """Let go; ``remove`` takes the file away too, while it is still held. Safe to call twice."""
        if self._handle < 0:
            return
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = -1


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def holder(path: Path) -> str:
    """Who wrote the lock file, in words."""
    try:
        who = json.loads(path.read_bytes())
        return f"process {who['pid']} on {who['host']}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"


def is_held(path: Path) -> bool:
    """Whether a writer is alive. Asks by a shared lock that is given back at once; changes nothing on disk."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
