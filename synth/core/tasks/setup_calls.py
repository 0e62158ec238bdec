"""The calls by which a task sets the state of the database before it begins.

A task holds them in ``extras["setup"]``, each ``{"tool": ..., "arguments": {...}}``, of any tool of
the world. Whoever plays the task starts from the state that they leave; the diff starts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError
from envs.sandboxes.base import Template
from envs.types import Limits, Pins, ToolCall
from envs.world.loader import World
from synth.errors import TaskError
from synth.task import Task

if TYPE_CHECKING:
    from envs.audit import Audit

SETUP = "setup"
"""The name under which a task's ``extras`` keep them."""


def open_environment(
    task: Task,
    world: World,
    template: Template,
    limits: Limits | None = None,
    *,
    unordered: bool = False,
    audit: Audit | None = None,
) -> DatabaseExecutableEnvironment:
    """Open an environment in the state in which a task begins. Raises :class:`TaskError`."""
    pins = Pins(task.now, task.seed)
    environment = world.environment(template, pins, limits, unordered=unordered, audit=audit)
    if setup := task.extras.get(SETUP):
        try:
            _play(setup, world, environment)
        except BaseException:
            environment.close()
            raise
    return environment


def _play(
    setup: Iterable[Mapping[str, Any]], world: World, environment: DatabaseExecutableEnvironment
) -> None:
    if world.environment_class is not DatabaseExecutableEnvironment:
        raise TaskError("a setup needs a world whose tools work on its database alone")
    players = environment.beside(world.whole_toolbox)
    for number, call in enumerate(setup, 1):
        made = ToolCall.of(call["tool"], dict(call["arguments"]), f"setup_{number}")
        where = f"setup call {number} ({made.name} {made.arguments:.160})"
        try:
            result = players.call(made).result
        except ExecutorError as error:
            raise TaskError(f"{where}: {error.message}", error.file, error.line) from None
        if not result.ok:
            advice = f" {result.advice}" if result.advice else ""
            raise TaskError(f"{where}: {result.message}{advice}")
    environment.start_diff()
