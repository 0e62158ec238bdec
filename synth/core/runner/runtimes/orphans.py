"""Processes of a local Ray that outlive a killed driver.

Ray's own agents need about a minute to notice; a worker whose raylet is gone may still play. They
inherit the driver's identity from :func:`inherited`, and the next start ends them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Generator
from pathlib import Path

DRIVER = "SYNTH_RAY_DRIVER"
"""The variable that holds the identity of the driver: PID namespace, PID, start time (ticks)."""

_PROC = Path("/proc")


@contextlib.contextmanager
def inherited() -> Generator[None]:
    """Let the processes that start in this context inherit the identity of this one."""
    identity = _identity(os.getpid())
    if identity is None:  # not Linux
        yield
        return
    os.environ[DRIVER] = identity
    try:
        yield
    finally:
        del os.environ[DRIVER]


def end_orphans() -> list[int]:
    """Kill the processes whose driver is dead, and return their PIDs.

    Processes of another user or another PID namespace are left alone. Without ``/proc`` none is
    found.
    """
    ended: list[int] = []
    for entry in _PROC.glob("[0-9]*"):
        if _is_orphan(entry):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)
                ended.append(int(entry.name))
    return ended


def _is_orphan(entry: Path) -> bool:
    try:
        variables = (entry / "environ").read_bytes().split(b"\0")
    except OSError:  # it ended, or it is another user's
        return False
    marker = f"{DRIVER}=".encode()
    value = next((line for line in variables if line.startswith(marker)), marker)
    driver = value.removeprefix(marker).decode(errors="replace")
    namespace, _, rest = driver.partition(" ")
    pid = rest.partition(" ")[0]
    return pid.isdigit() and namespace == _namespace() and _identity(int(pid)) != driver


def _namespace() -> str:
    return str((_PROC / "self/ns/pid").readlink())


def _identity(pid: int) -> str | None:
    """The identity of a living process of this PID namespace; None if there is none."""
    try:
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return None if state == "Z" else f"{_namespace()} {pid} {fields[18]}"
    except OSError:
        return None
