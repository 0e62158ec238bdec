"""Writing files so that they are there as a whole or not at all, also after a loss of power."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import OperatorError

Fault = Callable[[str], None]
"""Called with the name of each step that was just taken: the hook by which tests die there."""


def no_fault(_: str) -> None:
    """The hook when there is no such test."""


@contextmanager
def disk(path: Path, doing: str = "write") -> Generator[None]:
    """Turn an OSError of the block into an :class:`~synth.errors.OperatorError` that names the path."""
    try:
        yield
    except OSError as error:
        raise OperatorError(f"cannot {doing} {path}: {error.strerror or error}") from error


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable; a rename is not before this."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(path: Path, data: bytes, temporary: Path) -> None:
    """Put ``data`` at ``path`` by way of ``temporary`` (same file system), replacing what is there."""
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
