"""Times of the commands that a user types first: ``python -m tests.bench.commands``.

Each command is a process of its own, run three times; the least CPU and the least wall-clock time
are shown, as others may use the machine. Bytecode is written first, as after an installation.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

REPEATS = 3

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("--version",),
    ("rnu",),
    ("run", "--help"),
    ("run", "sed=3"),
    ("inspect", "no/such/run"),
    ("run", "--resume", "no/such/run"),
    ("list",),
    ("run", "--cfg", "job"),
    ("run", "--dry-run"),
    ("run", "output.dir=first"),
    ("inspect", "first"),
    ("run", "--resume", "first"),
)


@dataclass(frozen=True)
class Timing:
    """Seconds of one command: CPU of all its processes, wall clock, and its first words."""

    cpu_s: float
    wall_s: float
    first_words_s: float


def measure(words: tuple[str, ...], home: str) -> Timing:
    """Run a command once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {key: value for key, value in os.environ.items() if "PYTHONDONT" not in key}
    process = subprocess.Popen(
        [sys.executable, "-m", "synth", *words],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    first = time.perf_counter() - began
    process.stdout.read()
    process.wait()
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timing(cpu, wall, first)


def table() -> list[str]:
    """A line of Markdown for each command."""
    lines = ["| command | CPU s | wall s | first words s |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as home:
        measure(("run", "--dry-run"), home)  # writes the bytecode
        for words in COMMANDS:
            once = "output.dir=first" in words
            runs = [measure(words, home) for _ in range(1 if once else REPEATS)]
            least = [
                min(getattr(run, name) for run in runs)
                for name in ("cpu_s", "wall_s", "first_words_s")
            ]
            figures = " | ".join(f"{value:.2f}" for value in least)
            lines.append(f"| `synth {' '.join(words)}` | {figures} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
