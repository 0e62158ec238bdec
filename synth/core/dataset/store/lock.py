"""One writer at a time: an advisory lock on ``.synth/lock``.

The lock itself indicates a live writer, because the kernel drops it with the process; the process
id inside is for the message only.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Final

from synth.core.dataset.store.atomic_files import disk
from synth.errors import ResumeRefused

# A reader that looks for a writer holds a shared lock for microseconds, so a writer tries again.
_TRIES: Final = 10
_PAUSE_S: Final = 0.05


class RunLock:
    """A lock that is held from construction until :meth:`release`.

    Raises :class:`~synth.errors.ResumeRefused` if another process holds it,
    :class:`~synth.errors.OperatorError` if it cannot be created.
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
                # Another process may have removed the file between open and lock.
                if _is_at(handle, self.path):
                    return handle
            except BlockingIOError:
                if attempt == _TRIES - 1:
                    who = holder(self.path)
                    os.close(handle)
                    raise ResumeRefused(
                        f"{self.path.parent.parent} is being written by {who}"
                    ) from None
                time.sleep(_PAUSE_S)
            except OSError:
                os.close(handle)
                raise
            os.close(handle)
        raise ResumeRefused(
            f"{self.path.parent.parent} is being started and stopped by other processes"
        )

    def release(self, *, remove: bool = False) -> None:
        """Release the lock; with ``remove``, delete the file while the lock is still held. May be
        called twice.
        """
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
    """Describe the process that wrote the lock file."""
    try:
        who = json.loads(path.read_bytes())
        return f"process {who['pid']} on {who['host']}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"


def is_held(path: Path) -> bool:
    """Return true if a writer is alive. A shared lock is acquired and released for it; nothing on
    disk changes.
    """
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
