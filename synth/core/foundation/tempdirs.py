"""Temporary folders that do not outlive their process for long.

A process that is killed cleans nothing up. So each folder holds a lock that the kernel drops with
its owner, and whoever makes the next folder removes those whose owners are gone. Liveness is the
lock, never an age.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final, Self

PREFIX: Final = "synth-"
LOCK: Final = ".owner"


class Scratch:
    """A folder in the system's temporary directory, until :meth:`remove` or the death of this
    process.
    """

    def __init__(self, what: str) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{what}-"))
        # The lock gets its name when it is held: a sweep never sees one of a newborn folder that it
        # could take.
        unnamed = self.path / f"{LOCK}.new"
        self._handle = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        unnamed.rename(self.path / LOCK)

    def remove(self) -> None:
        """Take the folder away. Safe to call twice."""
        if self._handle >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def sweep(*, remove: bool = True) -> list[Path]:
    """Remove the folders of processes that are gone, and return them. What cannot be opened or
    removed is somebody else's and stays; without ``remove`` all stays.
    """
    dead: list[Path] = []
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):
            handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                dead.append(lock.parent)
                if remove:
                    shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)
    return dead
