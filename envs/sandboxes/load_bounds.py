"""Bounds on the scripts that make a template: a seed that never ends is an error of its author."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from envs.errors import SandboxError, ScriptError, WorldError

LOAD_S = 600.0
"""Seconds that the scripts of a template may run."""

LOAD_BYTES = 2 * 2**30
"""Bytes that they may fill."""

_LOOK_S = 0.5

TOO_LONG = "the scripts run for more than {:.0f} s"
TOO_LARGE = "the scripts fill more than {:,.0f} bytes"


@contextmanager
def bounded_load(filled: Callable[[], int], end: Callable[[], None]) -> Generator[None]:
    """Run the block, which loads a template, within LOAD_S and LOAD_BYTES.

    ``filled`` returns the bytes of the database so far, ``end`` ends the session that loads; both
    are called from another thread. Raises ScriptError, with the place of the statement, where a
    bound is passed.
    """
    done = threading.Event()
    broken: list[str] = []
    deadline = time.monotonic() + LOAD_S

    def watch() -> None:
        while not done.wait(_LOOK_S):
            if not broken and time.monotonic() > deadline:
                broken.append(TOO_LONG.format(LOAD_S))
            elif not broken and _size(filled) > LOAD_BYTES:
                broken.append(TOO_LARGE.format(LOAD_BYTES))
            if broken:
                end()  # again, as it may fall between two statements

    thread = threading.Thread(target=watch, name="envs-load", daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        if not broken:
            raise
        file, line = (error.file, error.line) if isinstance(error, WorldError) else (None, None)
        raise ScriptError(broken[0], file, line) from error
    finally:
        done.set()
        thread.join()


def _size(filled: Callable[[], int]) -> int:
    try:
        return filled()
    except SandboxError:
        return 0  # the loader meets a server that went away by itself
