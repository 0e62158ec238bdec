"""The command line as a user has it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from synth.dataset.reader import Dataset
from synth.dataset.store.wire import VOLATILE

COMMAND = [sys.executable, "-m", "synth"]


def synth(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run ``synth`` to its end and return what it printed."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def stable_rows(path: Path) -> list[dict[str, Any]]:
    """All rows in their order without the columns that are declared volatile."""
    return [
        {key: value for key, value in row.items() if key not in VOLATILE}
        for row in Dataset.open(path).rows()
    ]
