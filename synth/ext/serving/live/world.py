"""A world whose rollouts are played one by one, on demand: its plan, tasks and sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from envs.world.template_cache import Templates
from synth.core.foundation.archive import pack_world
from synth.core.foundation.scrubber import Scrubber
from synth.core.foundation.shipped import version
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.audit_files import AuditLog
from synth.core.runner.build import (
    build_middleware,
    build_model,
    build_user,
    worker_home,
    worker_id,
)
from synth.core.validation.prove import prove
from synth.model import Model
from synth.plan import job
from synth.prepare import PreparedRun
from synth.rollout import RolloutContext
from synth.task import Job, Task


class LiveWorld:
    """A prepared run, ready to play any of its jobs. ``context`` is what its rollouts share;
    ``scrubber`` knows the run's secrets.
    """

    def __init__(
        self, run: PreparedRun, archive: bytes, context: RolloutContext, scrubber: Scrubber
    ) -> None:
        self.run, self.archive, self.context = run, archive, context
        self.scrubber = scrubber
        self._proved: dict[int, asyncio.Task[Task]] = {}
        self._numbers: dict[str, int] = {}
        self._numbered = 0

    @property
    def jobs(self) -> int:
        return self.run.plan.jobs

    async def task(self, index: int) -> Task:
        """The ``index``-th task of the plan, proved once however many wait for it.

        Raises :class:`~synth.errors.TaskError` if it cannot be proved.
        """
        if index not in self._proved:
            self._proved[index] = asyncio.ensure_future(self._prove(index))
        try:
            return await asyncio.shield(self._proved[index])
        except Exception:  # whatever it was, the next one who asks tries again
            self._proved.pop(index, None)
            raise

    async def _prove(self, index: int) -> Task:
        task, context = self.run.plan.task(index), self.context
        with context.templates.use(task.universe) as template:
            return await prove(task, context.world, template, context.limits)

    async def number_of(self, task_id: str) -> int | None:
        """The index of the task of that id; None if the plan has none."""
        while task_id not in self._numbers and self._numbered < self.run.plan.tasks:
            self._numbers.setdefault(self.run.plan.task(self._numbered).id, self._numbered)
            self._numbered += 1
            await asyncio.sleep(0)
        return self._numbers.get(task_id)

    async def job(self, index: int) -> Job:
        """The ``index``-th job of the plan, with its task proved."""
        plan = self.run.plan
        return job(index, await self.task(index // plan.samples), plan.samples, plan.seed)

    async def tasks(self) -> Sequence[Task]:
        """Every task of the plan, proved."""
        return [await self.task(index) for index in range(self.run.plan.tasks)]


@asynccontextmanager
async def open_live(run: PreparedRun, model: Model | None = None) -> AsyncGenerator[LiveWorld]:
    """Set up what the rollouts of a prepared run share: templates, model, user and middlewares.

    ``model`` takes the place of the one that the config names. An audit goes to standard error.
    """
    spec, archive = run.spec, pack_world(run.world.path)
    setup = run.worker_setup(archive)
    scrubber = setup.spec.scrubber()
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(Scratch("live"))
        made = build_model(spec.model) if model is None else model
        stack.push_async_callback(made.aclose)
        user = build_user(spec)
        stack.push_async_callback(user.aclose)
        home = worker_home(setup, scratch.path, scrubber)
        makers = [(one.name, build_middleware(one, home)) for one in spec.middlewares]
        for _, maker in makers:
            stack.push_async_callback(maker.aclose)
        audit = None
        if spec.audit is not None:
            audit = AuditLog(run.world.name, worker_id(), spec.audit, None, scrubber.text)
            stack.callback(audit.close)
        templates = Templates(run.world, spec.engine, place=spec.target)
        stack.callback(templates.close)
        yield LiveWorld(
            run,
            archive,
            RolloutContext(
                world=run.world,
                templates=templates,
                model=made,
                limits=spec.limits,
                agent=spec.agent,
                user=user,
                middlewares=makers,
                audit=audit,
                sampling=spec.model.sampling,
                config_digest=spec.config_digest,
                synth_version=version(),
            ),
            scrubber,
        )
