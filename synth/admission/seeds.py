"""Whether a world's seed.py gives the same rows each time, and other rows in each universe.

Run as a program it prints the digests that it finds: Python's order of sets and its ``hash()`` differ between processes,
so one process cannot tell.
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
from envs.folder import load_world
from envs.sandboxes.base import Place

Json = Any

LOOKED_AT = (1, 2)
"""Universes that are built."""


def check_seed(folder: Path, engine: str, place: Place | None = None) -> str | None:
    """What is wrong with a world's seed.py, in two fresh processes with another order of sets each; None for nothing."""
    file = folder / "seed.py"
    asked = json.dumps([str(folder), engine, asdict(place or Place())])
    found = [_asked(process, asked) for process in [_ask(seed) for seed in ("1", "2")]]
    if broken := next((each["error"] for each in found if "error" in each), None):
        return str(broken)
    first, second = (each["digests"] for each in found)
    for universe, one, other in zip(LOOKED_AT, first, second, strict=True):
        if one != other:
            message = f"rows({universe}) gives other rows in another process: use nothing but `random`, and sort sets"
            return str(WorldError(message, file))
    if len(set(first)) < len(LOOKED_AT):
        return str(WorldError(f"rows gives universes {LOOKED_AT[0]} and {LOOKED_AT[1]} the same rows", file))
    return None


def _ask(seed: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this very module
        [sys.executable, "-m", __name__],
        env=os.environ | {"PYTHONHASHSEED": seed},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _asked(process: subprocess.Popen[str], question: str) -> dict[str, Json]:
    with process:
        try:
            printed, told = process.communicate(question)
        except BaseException:
            process.kill()
            raise
    lines = printed.splitlines()
    if process.returncode != 0 or not lines:
        return {"error": f"the process that builds the universes died with code {process.returncode}: {told[-500:]}"}
    return json.loads(lines[-1])


def main(question: str) -> None:
    """Print the digests of the universes, or what keeps them from being built, as one line of JSON.

    The question is folder, engine and place as JSON: it comes by stdin, since every user of a machine sees arguments.
    """
    folder, engine, place = json.loads(question)
    try:
        world = load_world(folder)
        digests: list[str] = []
        for universe in LOOKED_AT:
            with world.template(engine, universe, Place(**place)) as template:
                digests.append(template.digest)
    except EnvsError as error:
        print(json.dumps({"error": str(error)}))
    else:
        print(json.dumps({"digests": digests}))


if __name__ == "__main__":
    main(sys.stdin.read())
