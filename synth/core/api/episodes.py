"""A task in your hands: no Hydra, no Ray, no model."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from envs.closing import Closing
from envs.sandboxes.base import DatabaseTarget, Template, find_engine
from envs.types import Limits
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.config import from_dict
from synth.core.api.threads import call, in_thread
from synth.core.config.database_target import KINDS, Kind, configured_target, engine_of, target_of
from synth.core.dataset.store.task_table import read_prompts
from synth.core.foundation.consent import agree, refuse
from synth.core.foundation.shipped import find_world
from synth.core.foundation.suggestions import hint, nearest
from synth.core.rerun.recorded_run import open_recording
from synth.core.runner.run_files import TASKS_FILE
from synth.core.runner.transforms import transforms_of
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import OperatorError
from synth.plan import Plan
from synth.plugins import TASK_TRANSFORMS
from synth.rewards import check_reward_families
from synth.task import Task
from synth.transform import TaskTransform

WORLDS = 4
"""Worlds on a server whose templates stay there for the next episode; a template takes seconds to
build.
"""

_lock = threading.Lock()
_kept: OrderedDict[tuple[Any, ...], Templates] = OrderedDict()


def open(  # noqa: A001
    world: str | Path,
    family: str | None = None,
    index: int = 0,
    seed: int = 0,
    universe: int = 0,
    *,
    database: str | Mapping[str, Any] = "sqlite",
    dsn_env_var: str | None = None,
    sandbox: Kind = "pooled",
    renaming: int = 0,
) -> Episode:
    """An episode on the ``index``-th task of a world (a shipped name or a folder), or of one of its
    families.

    Families take turns, as in a run's plan; ``universe`` 0 is the world's seed.sql, any other is
    made by its seed.py. ``renaming`` is the variant of names that the player is shown, 0 for the
    world's own. ``database`` is an engine's name, such as ``sqlite``, ``postgres`` or
    ``mariadb``, or the keys of a run's section ``database``; ``dsn_env_var`` and ``sandbox`` are
    the keys of that section. A template on a server is used again by the next episode, and dropped
    when the process ends.

    The task is proved first, so that the episode can be scored. Close the episode, or use it as a
    context manager. Raises :class:`OperatorError` for an index past the last task, for a database
    that there is not and for a variable that is not set, and what
    :func:`envs.world.loader.load_world`, :meth:`envs.world.loader.World.template` and
    :func:`synth.core.validation.prove.prove` raise.
    """
    names = {"tasks": {"renamings": [renaming]}} if renaming else {}
    config = from_dict({"env": {"path": str(world)}, **names})
    transforms = transforms_of(config.tasks, config.brought(TASK_TRANSFORMS))
    engine, place = place_of(database, dsn_env_var, sandbox)
    loaded = load_world(find_world(str(world)))
    with ExitStack() as held:
        if find_engine(engine).needs_server:
            template = _on_server(loaded, engine, universe, place, held)
        else:
            template = loaded.template(engine, universe)
        task = _proved(loaded, template, family, index, seed, universe, transforms)
        return _OpenedEpisode(task, loaded, template, held.pop_all())


aopen = in_thread(open)


def place_of(
    database: str | Mapping[str, Any], dsn_env_var: str | None, sandbox: Kind
) -> tuple[str, DatabaseTarget]:
    """Engine and server. ``database`` is an engine's name, or the section of a run's config."""
    if not isinstance(database, str):
        if dsn_env_var is not None or sandbox != "pooled":
            raise OperatorError("database: the section has dsn_env_var and sandbox, too")
        section = from_dict({"env": {"name": "library"}, "database": dict(database)}).database
        return section.engine, configured_target(section)
    engine = engine_of(database, "database")
    if sandbox not in KINDS:
        raise OperatorError(
            f"sandbox: {sandbox!r} is none of {', '.join(KINDS)}{hint(nearest(sandbox, KINDS))}"
        )
    return engine, target_of(engine, dsn_env_var, sandbox, "dsn_env_var")


class _OpenedEpisode(Episode):
    """An episode that lets go of its template when it is closed."""

    def __init__(
        self,
        task: Task,
        world: World,
        template: Template,
        held: ExitStack,
        limits: Limits | None = None,
    ) -> None:
        self._held = held
        try:
            super().__init__(task, world, template, limits or Limits())
        except BaseException:
            held.close()
            raise

    def close(self) -> None:
        super().close()
        self._held.close()


def _on_server(
    world: World, engine: str, universe: int, place: DatabaseTarget, held: ExitStack
) -> Template:
    """The template of a universe, which stays until ``held`` is closed, and beyond for who comes
    next.
    """
    with _lock:
        key = (str(world.path), world.digest, engine, place.url, place.kind)
        templates = _kept.get(key) or _kept.setdefault(
            key, Templates(world, engine, keep=1, place=place)
        )
        _kept.move_to_end(key)
        using = templates.use(universe)
        template = using.__enter__()
        held.callback(_let_go, using)
        for old in [key for key, templates in _kept.items() if not templates.busy][
            : max(0, len(_kept) - WORLDS)
        ]:
            _kept.pop(old).close()
        return template


def _let_go(using: Any) -> None:
    with _lock:
        using.__exit__(None, None, None)


@atexit.register
def _close_templates() -> None:
    """Drop what was built on servers. Episodes that are open break."""
    with _lock:
        while _kept:
            _kept.popitem()[1].close()


def _proved(
    world: World,
    template: Template,
    family: str | None,
    index: int,
    seed: int,
    universe: int,
    transforms: Sequence[TaskTransform],
) -> Task:
    source = FamilyTasks(world, template, [family] if family else None, universe)
    check_reward_families(world, source.all_families)
    for transform in transforms:
        transform.look(template)
    count = sum(source.capacity(item.id) for item in source.families)
    plan = Plan.make([source], count, 1, seed, transforms)
    if not 0 <= index < plan.tasks:
        raise OperatorError(f"unknown task {index}: tasks are numbered from 0 to {plan.tasks - 1}")
    return call(lambda _: asyncio.run(prove(plan.task(index), world, template)))


class RecordedTasks(Closing):
    """The tasks of a run directory by their ids, such as the rows of ``synth export --to verl``
    name them. Safe for threads.

    World, tasks, limits and engine are the run's; the user is scripted.
    ``trust=True`` executes a world that was not made on this machine. Close it, or use it as a
    context manager. Raises :class:`~synth.errors.DatasetError` where the directory lacks what it
    takes to play its tasks, and :class:`~synth.errors.UntrustedCode` without ``trust``.
    """

    def __init__(self, run: str | Path, *, trust: bool = False) -> None:
        self._lock = threading.Lock()
        self._held = ExitStack()
        opening = open_recording(Path(run), agree if trust else refuse)
        self._recording = self._held.enter_context(opening)
        ids = read_prompts(Path(run) / TASKS_FILE)
        self._places = {task_id: place for place, task_id in enumerate(ids)}

    @property
    def ids(self) -> list[str]:
        """The ids of all tasks, in the plan's order."""
        return list(self._places)

    def open(self, task_id: str) -> Episode:
        """An episode on a task, in a fresh sandbox. Raises :class:`OperatorError` for an id that
        the run does not have.
        """
        if task_id not in self._places:
            raise OperatorError(f"the run has no task {task_id}")
        recording = self._recording
        with ExitStack() as held:
            with self._lock:
                task = recording.task_at(self._places[task_id])
                using = recording.templates.use(task.universe)
                template = using.__enter__()
                held.callback(self._let_go, using)
            own = held.pop_all()
            episode = _OpenedEpisode(task, recording.world, template, own, recording.limits)
        episode.error_style = recording.config.agent.error_style
        return episode

    def _let_go(self, using: AbstractContextManager[Template]) -> None:
        with self._lock:
            using.__exit__(None, None, None)

    def close(self) -> None:
        """Let go of the world. Episodes that are open break."""
        self._held.close()
