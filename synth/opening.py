"""A task in your hands: no Hydra, no Ray, no model."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from envs.folder import load_world
from envs.types import Limits
from synth.admission.proof import prove
from synth.episode import Episode
from synth.errors import OperatorError
from synth.plan import Plan
from synth.shipped import find_world
from synth.tasks.source import TaskSource
from synth.types import Task


def open(  # noqa: A001
    world: str | Path, family: str | None = None, index: int = 0, seed: int = 0, universe: int = 0
) -> Episode:
    """An episode on the ``index``-th task of a world (a shipped name or a folder), or of one of its families.

    Families take turns, as in a run's plan; ``universe`` 0 is the world's seed.sql, any other is made by its seed.py.
    The task is proved first, so that the episode can be scored. Close the episode, or use it as a context manager.
    Raises :class:`OperatorError` for an index past the last task, and what :func:`envs.folder.load_world` and
    :func:`synth.admission.proof.prove` raise.
    """
    loaded = load_world(find_world(str(world)))
    template = loaded.template(universe=universe)
    source = TaskSource(loaded, template, [family] if family else None, universe)
    plan = Plan.make([source], sum(source.capacity(each.id) for each in source.families), 1, seed)
    if not 0 <= index < plan.tasks:
        raise OperatorError(f"there is no task {index}: they are numbered from 0 to {plan.tasks - 1}")
    proved: list[Task | Exception] = []

    def work() -> None:
        try:
            proved.append(asyncio.run(prove(plan.task(index), loaded, template)))
        except Exception as error:  # raised again in the caller's thread
            proved.append(error)

    thread = threading.Thread(target=work)  # a notebook's own thread runs a loop already
    thread.start()
    thread.join()
    if isinstance(proved[0], Exception):
        raise proved[0]
    return Episode(proved[0], loaded, template, Limits())
