"""Atomic file writes that survive a power failure."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import OperatorError

Fault = Callable[[str], None]
"""Hook of the crash tests, called with the name of each step after it."""


def no_fault(_: str) -> None:
    """Do nothing; the hook of a normal run."""


@contextmanager
def disk(path: Path, doing: str = "write") -> Generator[None]:
    """Turn an OSError of the block into an :class:`~synth.errors.OperatorError` with the path."""
    try:
        yield
    except OSError as error:
        raise OperatorError(f"cannot {doing} {path}: {error.strerror or error}") from error


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable; a rename is durable only after this."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(path: Path, data: bytes, temporary: Path) -> None:
    """Write ``data`` to ``path`` through ``temporary`` (on the same file system), replacing an
    existing file.
    """
    with disk(path):
        try:
            with temporary.open("wb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
