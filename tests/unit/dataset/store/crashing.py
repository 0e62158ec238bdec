"""A run that kills itself: ``python -m tests.unit.dataset.store.crashing DIRECTORY MODE STEP
OCCURRENCE``.

The scenario, eleven jobs in two splits and four shards: rows out of order, errors that heal, errors
that do not, a drain that leaves a partial dataset, and a resume that finishes it. ``play`` goes on
from whatever it finds on disk, as a user would with ``--resume``, so that it can be killed and
called again any number of times.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.run_writer import RunWriter
from tests.unit.dataset.rows import IDENTITY, error, row

LAYOUT = Layout((("train", 8), ("test", 3)), 3)
HOPELESS = (4, 8, 9, 10)  # one among rows, and the whole shard of the test split
FLAKY = (1, 5)
DRAINED_AT = 6  # the first session stops when it comes to this job
ORDER = (2, 0, 1, 5, 4, 3, 8, 6, 7, 10, 9)
MAX_ATTEMPTS = 2


def prepare(directory: Path) -> None:
    (directory / "config.yaml").write_text("seed: 7\n")


def _work(writer: RunWriter, until: int | None) -> bool:
    """Play what is not accounted for; False where the session was drained on the way."""
    while todo := set(writer.still_to_play()):
        for index in (i for i in ORDER if i in todo):
            if index == until:
                return False
            if index in HOPELESS or (index in FLAKY and writer.attempts(index) == 0):
                writer.add_error(index, error(index))
            else:
                writer.add_row(index, row(index))
    return True


def play(directory: Path, fault: Callable[[str], None]) -> None:
    """Bring the run to its end from any state; the drain happens once."""
    files = RunFiles(directory)
    drained = directory.with_name(directory.name + ".drained")
    if not files.holds_run():
        writer = RunWriter.create(
            directory, LAYOUT, IDENTITY, max_attempts=MAX_ATTEMPTS, prepare=prepare, fault=fault
        )
    else:
        writer = RunWriter.resume(directory, LAYOUT, fault=fault)
    with writer:
        if not drained.exists():
            _work(writer, DRAINED_AT)
            writer.seal("partial", {"stopped_by": "test"})
            drained.touch()
        else:
            _work(writer, None)
            writer.seal("complete")
            return
    play(directory, fault)


def killer(step: str, occurrence: int) -> Callable[[str], None]:
    left = occurrence

    def fault(reached: str) -> None:
        nonlocal left
        if reached == step:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return fault


if __name__ == "__main__":
    play(Path(sys.argv[1]), killer(sys.argv[2], int(sys.argv[3])))
