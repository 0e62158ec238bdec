"""The tasks of a run of which only the plan is made, for runners that play them one by one."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.compose import compose
from synth.core.foundation.suggestions import hint, nearest
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import OperatorError
from synth.prepare import prepare
from synth.task import Task


class PlannedTasks:
    """The tasks that ``synth run`` with these overrides would play, by their ids.

    For one event loop. The user is scripted, the model is the runner's. What is built on a server
    is dropped with this object, at the latest when the process ends. Raises
    :class:`OperatorError` for overrides about model, user or middlewares, and what
    :func:`synth.prepare.prepare` raises.
    """

    def __init__(self, overrides: Sequence[str]) -> None:
        (composed,) = compose(overrides)
        config = composed.config
        given = {
            "model": config.model.kind != "scripted",
            "users.kind": config.users.kind != "scripted",
            "agent.middleware": bool(config.agent.middleware),
        }
        if names := [name for name, there in given.items() if there]:
            raise OperatorError(
                f"{', '.join(names)}: another runner plays these tasks, with its own model, the"
                " scripted user and no middlewares; leave it out"
            )
        self._run = run = prepare(config)
        self._templates = Templates(run.world, run.spec.engine, place=run.spec.target)
        weakref.finalize(self, self._templates.close)
        planned = (run.plan.task(number) for number in range(run.plan.tasks))
        self._tasks = {task.id: task for task in planned}
        self._proved: dict[str, Task] = {}

    @property
    def tasks(self) -> list[Task]:
        """All tasks, in the plan's order, not proved yet."""
        return list(self._tasks.values())

    @property
    def limits(self) -> AgentLimits:
        """The limits of a rollout, for one request."""
        return self._run.spec.agent

    async def task(self, task_id: str) -> Task:
        """The task of that id, proved. Raises :class:`OperatorError` if there is none, and
        :class:`~synth.errors.TaskError` if it cannot be proved.
        """
        if task_id not in self._tasks:
            near = hint(nearest(task_id, self._tasks))
            raise OperatorError(f"no task {task_id!r} among {len(self._tasks)}{near}")
        if task_id not in self._proved:
            task, spec = self._tasks[task_id], self._run.spec
            with self._templates.use(task.universe) as template:
                proved = await prove(task, self._run.world, template, spec.limits)
            self._proved[task_id] = proved
        return self._proved[task_id]

    @contextmanager
    def episode(self, task: Task) -> Generator[Episode]:
        """Open an episode on a proved task, in a sandbox of its own."""
        run = self._run
        with (
            self._templates.use(task.universe) as template,
            Episode(task, run.world, template, run.spec.limits) as episode,
        ):
            episode.error_style = self.limits.error_style
            yield episode
