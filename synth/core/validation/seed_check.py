"""Determinism of a world's seed.py: the same rows each time, and other rows in each universe.

Run as a program, this module prints the digests of the universes: Python's order of sets and its
``hash()`` differ between processes, so one process cannot tell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from envs.errors import EnvsError, WorldError
from envs.sandboxes.base import DatabaseTarget
from envs.world.files import database_folder
from envs.world.loader import load_world

UNIVERSES = (1, 2)
"""The universes that are built."""


def check_seed(folder: Path, engine: str, place: DatabaseTarget | None = None) -> str | None:
    """The fault of a world's seed.py, found in two new processes with different orders of sets;
    None if it has none.
    """
    file = database_folder(folder) / "seed.py"
    question = json.dumps([str(folder), engine, asdict(place or DatabaseTarget())])
    found = [_answer(process, question) for process in [_start(seed) for seed in ("1", "2")]]
    if broken := next((answer["error"] for answer in found if "error" in answer), None):
        return str(broken)
    first, second = (answer["digests"] for answer in found)
    for universe, one, other in zip(UNIVERSES, first, second, strict=True):
        if one != other:
            message = (
                f"rows({universe}) gives other rows in another process: use nothing but"
                " `random`, and sort sets"
            )
            return str(WorldError(message, file))
    if len(set(first)) < len(UNIVERSES):
        return str(
            WorldError(
                f"rows gives universes {UNIVERSES[0]} and {UNIVERSES[1]} the same rows", file
            )
        )
    return None


def _start(seed: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this very module
        [sys.executable, "-m", __name__],
        env=os.environ | {"PYTHONHASHSEED": seed},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _answer(process: subprocess.Popen[str], question: str) -> dict[str, Any]:
    with process:
        try:
            printed, errors = process.communicate(question)
        except BaseException:
            process.kill()
            raise
    lines = printed.splitlines()
    if process.returncode != 0 or not lines:
        return {
            "error": (
                f"the process that builds the universes died with code {process.returncode}:"
                f" {errors[-500:]}"
            )
        }
    return json.loads(lines[-1])


def main(question: str) -> None:
    """Print the digests of the universes, or the error, as one line of JSON.

    The question is the folder, the engine and the database target as JSON. It comes by stdin, since
    arguments are visible to every user of a machine.
    """
    folder, engine, place = json.loads(question)
    try:
        world = load_world(folder)
        digests: list[str] = []
        for universe in UNIVERSES:
            with world.template(engine, universe, DatabaseTarget(**place)) as template:
                digests.append(template.digest)
    except EnvsError as error:
        print(json.dumps({"error": str(error)}))
    else:
        print(json.dumps({"digests": digests}))


if __name__ == "__main__":
    main(sys.stdin.read())
