"""A recording of the first command on a clean machine: ``python -m tests.bench.first_command``.

The committed tree is unpacked into a new folder, with a new home and an empty environment: no
virtual environment, no settings, no caches but those that ``--cache DIR`` names. Each line of the
output begins with the seconds since the command was started.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

COMMAND = (
    "python3 -m venv .venv && .venv/bin/pip install -q uv && .venv/bin/uv run --frozen synth run"
)


def record(checkout: Path, home: Path, cache: Path | None) -> list[str]:
    """Run the command at a terminal of 100 columns; its lines with their seconds, and its end."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb", "COLUMNS": "100"}
    # What installations are fetched from is the machine's business, as its proxy is.
    env |= {name: value for name, value in os.environ.items() if _of_network(name)}
    if cache is not None:
        env["UV_CACHE_DIR"] = str(cache)
    ours, theirs = pty.openpty()
    began = time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", COMMAND], cwd=checkout, env=env, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    lines, rest = [f"$ {COMMAND}"], ""
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            rest += os.read(ours, 65_536).decode(errors="replace")
        except OSError:  # the last process has closed the terminal
            break
        *whole, rest = re.split(r"\r?\n|\r", rest)
        seconds = time.monotonic() - began
        shown = (text.replace(str(checkout), "/home/me/synth") for text in whole if text.strip())
        lines += [f"{seconds:7.1f} s  {text}" for text in shown]
    code = process.wait()
    os.close(ours)
    return [*lines, f"{time.monotonic() - began:7.1f} s  exit code {code}"]


def _of_network(name: str) -> bool:
    return name.lower().endswith("_proxy") or name.startswith(("PIP_", "UV_", "SSL_"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.first_command")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="a cache of uv (default: none)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        checkout, home = Path(place, "synth"), Path(place, "home")
        home.mkdir()
        archive = Path(place, "tree.tar")
        subprocess.run(["git", "archive", "-o", archive, "HEAD"], cwd=ROOT, check=True)
        with tarfile.open(archive) as tree:
            tree.extractall(checkout, filter="data")
        print("\n".join(record(checkout, home, options.cache)))


if __name__ == "__main__":
    main()
