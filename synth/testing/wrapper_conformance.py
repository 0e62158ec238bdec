"""The promises of :class:`synth.wrapper.RolloutWrapper` as tests: subclass, name it ``Test...``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from envs.types import Limits
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.foundation.shipped import find_world
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.middleware import MiddlewareHome
from synth.plan import job
from synth.rollout import RolloutContext, play, probe
from synth.task import Job
from synth.wrapper import RolloutWrapper, with_recorded

COMPARED = (
    *("trajectory_id", "messages", "tools", "outcome", "reward", "verdicts"),
    *("submitted", "state_diff", "state_hash_after"),
)
"""Columns that are equal in two plays of one job."""


class WrapperConformance(ABC):
    """Contract tests of a wrapper, around a rollout of the scripted expert. ``wrapper`` is
    required.
    """

    @abstractmethod
    def wrapper(self, home: MiddlewareHome) -> RolloutWrapper:
        """A new wrapper with its options."""

    def world(self) -> World:
        """The world of the rollouts; by default the library."""
        return load_world(find_world("library"))

    @pytest.fixture
    def stage(self, tmp_path: Path) -> Generator[RolloutContext]:
        world = self.world()
        with Templates(world) as templates:
            inner = RolloutContext(world, templates, ScriptedModel(), Limits(), AgentLimits())
            yield replace(inner, wrappers=[self.wrapper(MiddlewareHome(tmp_path))])

    async def _job(self, stage: RolloutContext) -> Job:
        with stage.templates.use(0) as template:
            pool = FamilyTasks(stage.world, template)
            task = pool.task(pool.families[0].id, 0, 7)
            return job(0, await prove(task, stage.world, template), 1, 7)

    async def test_two_plays_give_the_same_row(self, stage: RolloutContext) -> None:
        planned = await self._job(stage)
        rows = [await play(planned, stage) for _ in range(2)]
        one, two = ({name: row[name] for name in COMPARED} for row in rows)
        assert one == two
        assert one["trajectory_id"] == planned.id

    async def test_a_verdict_that_it_adds_is_known_to_a_replay(self, stage: RolloutContext) -> None:
        planned = await self._job(stage)
        plain = await play(planned, replace(stage, wrappers=()))
        before = {one["verifier"] for one in plain["verdicts"]}
        added = [
            one for one in (await play(planned, stage))["verdicts"] if one["verifier"] not in before
        ]
        kinds = [type(wrapper) for wrapper in stage.wrappers]
        assert [one.to_json() for one in with_recorded(kinds, [], added)] == added

    async def test_a_row_keeps_its_columns(self, stage: RolloutContext) -> None:
        planned = await self._job(stage)
        own = await play(planned, stage)
        assert own.keys() == (await play(planned, replace(stage, wrappers=()))).keys()

    async def test_it_can_be_probed_and_closed_twice(self, stage: RolloutContext) -> None:
        (wrapper,) = stage.wrappers
        assert isinstance(await wrapper.preflight(), list)
        await probe(await self._job(stage), stage)
        await wrapper.aclose()
        await wrapper.aclose()
