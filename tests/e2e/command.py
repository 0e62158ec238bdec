"""The command line as a user has it: a process of its own."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.core.dataset.columns import VOLATILE
from synth.core.dataset.reader import Dataset

COMMAND = [sys.executable, "-m", "synth"]

APART = "budget.turns=1000000"
"""With a budget, the expert's rollouts begin after all proofs, and are played apart from them."""


def synth(
    *arguments: str,
    cwd: Path,
    env: dict[str, str] | None = None,
    timeout: float = 300,
    code: int | None = 0,
) -> subprocess.CompletedProcess[str]:
    """Run ``synth`` to its end, which has to be with this code (None: any), and return what it
    printed.

    The process is forked from one that has imported most modules. Raises TimeoutExpired.
    """
    command = [*COMMAND, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        job = {
            "arguments": arguments,
            "cwd": str(cwd.resolve()),
            "env": {**os.environ, **(env or {})},
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        ended = _forked(json.dumps(job), command, timeout)
        said = stdout.read_text("utf-8"), stderr.read_text("utf-8")
        assert code in {None, ended}, (arguments, ended, *said)
        return subprocess.CompletedProcess(command, ended, *said)


@contextmanager
def serving(*words: str, cwd: Path, **env: str) -> Generator[str]:
    """Run a server until the block ends; gives its first line. It must end cleanly and say none of
    the variables, which are secrets.
    """
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=60))
    assert process.returncode == 0, said
    assert not [name for name, secret in env.items() if secret in said]


_SERVERS: list[subprocess.Popen[str]] = []


def _fork_server() -> subprocess.Popen[str]:
    """The server of this process; another one where a test has killed it with other children."""
    if not _SERVERS or _SERVERS[-1].poll() is not None:
        server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_server.py"))],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        _SERVERS.append(server)
        atexit.register(server.communicate)  # it ends with its input
    return _SERVERS[-1]


def _forked(job: str, command: list[str], timeout: float) -> int:
    server = _fork_server()
    assert server.stdin is not None
    assert server.stdout is not None
    print(job, file=server.stdin, flush=True)
    child = int(server.stdout.readline())
    if not select.select([server.stdout], [], [], timeout)[0]:
        os.kill(child, signal.SIGKILL)
        server.stdout.readline()
        raise subprocess.TimeoutExpired(command, timeout)
    return int(server.stdout.readline())


def stable_rows(path: Path) -> list[dict[str, Any]]:
    """All rows in their order without the columns that are declared volatile."""
    return [
        {key: value for key, value in row.items() if key not in VOLATILE}
        for row in Dataset.open(path).rows()
    ]
