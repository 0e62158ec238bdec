"""A task in your hands: no Hydra, no Ray, no model."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import OrderedDict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from envs.folder import World, load_world
from envs.sandboxes.base import Place, Template
from envs.templates import Templates
from envs.types import Limits
from synth.admission.proof import prove
from synth.episode import Episode
from synth.errors import OperatorError
from synth.nearest import hint, nearest
from synth.places import KINDS, Kind, engine_of, place_of
from synth.plan import Plan
from synth.shipped import find_world
from synth.tasks.source import TaskSource
from synth.types import Task

WORLDS = 4
"""Worlds on a server whose templates stay there for the next episode; a template takes seconds to build."""

_lock = threading.Lock()
_kept: OrderedDict[tuple[Any, ...], Templates] = OrderedDict()


def open(  # noqa: A001
    world: str | Path,
    family: str | None = None,
    index: int = 0,
    seed: int = 0,
    universe: int = 0,
    *,
    database: str = "sqlite",
    dsn_env_var: str | None = None,
    sandbox: Kind = "pooled",
) -> Episode:
    """An episode on the ``index``-th task of a world (a shipped name or a folder), or of one of its families.

    Families take turns, as in a run's plan; ``universe`` 0 is the world's seed.sql, any other is made by its seed.py.
    ``database`` is ``sqlite``, ``postgres`` or ``mysql``; ``dsn_env_var`` and ``sandbox`` are a run's
    ``database.dsn_env_var`` and ``database.sandbox``. What was built on a server is used again by the next episode, and
    dropped when the process ends.

    The task is proved first, so that the episode can be scored. Close the episode, or use it as a context manager.
    Raises :class:`OperatorError` for an index past the last task, for a database that there is not and for a variable that
    is not set, and what :func:`envs.folder.load_world`, :meth:`envs.folder.World.template` and
    :func:`synth.admission.proof.prove` raise.
    """
    engine = engine_of(database, "database")
    if engine == "sqlite" and dsn_env_var is not None:
        raise OperatorError("dsn_env_var: SQLite has no server; say database='postgres' or database='mysql'")
    if sandbox not in KINDS:
        raise OperatorError(f"sandbox: {sandbox!r} is none of {', '.join(KINDS)}{hint(nearest(sandbox, KINDS))}")
    place = place_of(dsn_env_var, sandbox, "dsn_env_var")
    loaded = load_world(find_world(str(world)))
    with ExitStack() as held:
        if engine == "sqlite":
            template: Template = loaded.template(universe=universe)
        else:
            template = _on_server(loaded, engine, universe, place, held)
        task = _proved(loaded, template, family, index, seed, universe)
        return _Opened(task, loaded, template, held.pop_all())


class _Opened(Episode):
    """An episode that lets go of its template when it is closed."""

    def __init__(self, task: Task, world: World, template: Template, held: ExitStack) -> None:
        self._held = held
        try:
            super().__init__(task, world, template, Limits())
        except BaseException:
            held.close()
            raise

    def close(self) -> None:
        super().close()
        self._held.close()


def _on_server(world: World, engine: str, universe: int, place: Place, held: ExitStack) -> Template:
    """The template of a universe, which stays until ``held`` is closed, and beyond for who comes next."""
    with _lock:
        key = (str(world.path), world.digest, engine, place.url, place.kind)
        templates = _kept.get(key) or _kept.setdefault(key, Templates(world, engine, keep=1, place=place))
        _kept.move_to_end(key)
        using = templates.use(universe)
        template = using.__enter__()
        held.callback(_let_go, using)
        for old in [each for each, one in _kept.items() if not one.busy][: max(0, len(_kept) - WORLDS)]:
            _kept.pop(old).close()
        return template


def _let_go(using: Any) -> None:
    with _lock:
        using.__exit__(None, None, None)


@atexit.register
def close_templates() -> None:
    """Drop what was built on servers. Episodes that are open break."""
    with _lock:
        while _kept:
            _kept.popitem()[1].close()


def _proved(world: World, template: Template, family: str | None, index: int, seed: int, universe: int) -> Task:
    source = TaskSource(world, template, [family] if family else None, universe)
    plan = Plan.make([source], sum(source.capacity(each.id) for each in source.families), 1, seed)
    if not 0 <= index < plan.tasks:
        raise OperatorError(f"there is no task {index}: they are numbered from 0 to {plan.tasks - 1}")
    proved: list[Task | Exception] = []

    def work() -> None:
        try:
            proved.append(asyncio.run(prove(plan.task(index), world, template)))
        except Exception as error:  # raised again in the caller's thread
            proved.append(error)

    thread = threading.Thread(target=work)  # a notebook's own thread runs a loop already
    thread.start()
    thread.join()
    if isinstance(proved[0], Exception):
        raise proved[0]
    return proved[0]
