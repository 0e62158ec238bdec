"""The tasks of a run in the hands of a trainer, which plays them again."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from envs.closing import Closing
from envs.sandboxes.base import Template
from synth.core.api.episodes import OpenedEpisode
from synth.core.dataset.store.task_table import read_prompts
from synth.core.foundation.consent import agree, refuse
from synth.core.rerun.recorded_run import open_recording
from synth.core.runner.run_files import TASKS_FILE
from synth.episode import Episode
from synth.errors import OperatorError


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
            episode = OpenedEpisode(task, recording.world, template, own, recording.limits)
        episode.error_style = recording.config.agent.error_style
        return episode

    def _let_go(self, using: AbstractContextManager[Template]) -> None:
        with self._lock:
            using.__exit__(None, None, None)

    def close(self) -> None:
        """Let go of the world. Episodes that are open break."""
        self._held.close()
