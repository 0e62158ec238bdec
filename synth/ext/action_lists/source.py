"""The task source ``actions``: a list of scenarios with expected calls, asked of any world that
has such tools.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from envs.sandboxes.base import Template
from envs.unreadable import unreadable
from envs.world.loader import World
from synth.core.foundation.hashing import digest
from synth.errors import OperatorError, TaskError
from synth.ext.action_lists.tasks import ListSettings, ListTasks, list_tasks
from synth.source import TaskSource


@dataclass(frozen=True)
class ActionListOptions:
    """``path`` is the file of the list. ``consent`` says which writes wait for the user's yes:
    ``auto`` (where the world's policy or the scenario asks for it), ``always`` or ``never``.
    """

    path: str
    consent: Literal["auto", "always", "never"] = "auto"


class ActionListSource(TaskSource):
    """The tasks of one list are one family, named after the file."""

    Options = ActionListOptions
    path_is = "the file of the list, as in tasks.path=tasks.json"

    def __init__(self, options: ActionListOptions) -> None:
        super().__init__(options)
        self._settings = ListSettings.of(options.path, options.consent)

    def open(
        self,
        world: World,
        template: Template,
        families: Sequence[str] | None = None,
        universe: int = 0,
    ) -> ListTasks:
        settings = self._settings
        identity = digest(_sha256(settings.path), settings.consent)
        tasks = list_tasks(settings, world, template, families, universe, identity)
        if not tasks.families or not tasks.capacity(settings.family):
            first = f"; the first: {tasks.refused[0]}" if tasks.refused else ""
            message = f"no task of the list proves itself in {world.name}{first}"
            raise TaskError(message, str(settings.path), family=settings.family)
        return tasks


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        why = unreadable(error, "a list of tasks")
        raise OperatorError(f"tasks.path: {path} cannot be read: {why}") from None
