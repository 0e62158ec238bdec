"""A task in your hands: no Hydra, no Ray, no model."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from envs.folder import load_world
from envs.types import Limits
from synth.admission.proof import prove
from synth.episode import Episode
from synth.shipped import find_world
from synth.tasks.source import TaskSource
from synth.types import Task


def open(world: str | Path, family: str | None = None, index: int = 0, seed: int = 0) -> Episode:  # noqa: A001
    """An episode on the ``index``-th task of a world (a shipped name or a folder), or of one of its families.

    The task is proved first, so that the episode can be scored. Close it, or use it as a context manager.
    Raises what :func:`envs.folder.load_world` and :func:`synth.admission.proof.prove` raise.
    """
    loaded = load_world(find_world(str(world)))
    template = loaded.template()
    source = TaskSource(loaded, template, [family] if family else None)
    chosen = family or source.families[index % len(source.families)].id
    place = index if family else index // len(source.families)
    proved: list[Task | Exception] = []

    def work() -> None:
        try:
            proved.append(asyncio.run(prove(source.task(chosen, place, seed), loaded, template)))
        except Exception as error:  # raised again in the caller's thread
            proved.append(error)

    thread = threading.Thread(target=work)  # a notebook's own thread runs a loop already
    thread.start()
    thread.join()
    if isinstance(proved[0], Exception):
        raise proved[0]
    return Episode(proved[0], loaded, template, Limits())
