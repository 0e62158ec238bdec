"""Contract tests of :class:`synth.core.validation.honest.base.HonestAgent`, on a world that
ships.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import ClassVar

from envs.types import Limits
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.core.validation.honest.runner import HonestResult, play
from synth.core.validation.prove import prove_and_keep
from synth.evidence import end_state_gone

TASKS = 4
"""Tasks of each family that are played."""


class HonestAgentConformance(ABC):
    """Subclass it and provide an agent that makes a difference to some task of the world."""

    world: ClassVar[str] = "library"
    """The world on which the agent is played, by its name or folder."""

    families: ClassVar[tuple[str, ...] | None] = None
    """The world's families that are played; None for all."""

    @abstractmethod
    def agent(self) -> HonestAgent:
        """A new agent."""

    async def proved(self) -> AsyncGenerator[ProvedTask]:
        """Some proved tasks of the world."""
        world = load_world(find_world(self.world))
        with world.template("sqlite") as template:
            source = FamilyTasks(world, template, self.families)
            for family in source.families:
                for index in range(min(TASKS, source.capacity(family.id))):
                    task = source.task(family.id, index, 0)
                    proved, gold = await prove_and_keep(task, world, template)
                    evidence = replace(gold.evidence, query=end_state_gone, databases=None)
                    yield ProvedTask(proved, evidence, world, template, Limits())

    async def results(self) -> list[HonestResult]:
        """The results of the tasks to which the agent makes a difference."""
        out: list[HonestResult] = []
        agent = self.agent()
        async for proved in self.proved():
            if (conversation := await agent.start(proved)) is not None:
                result = await play(conversation, proved)
                if not result.lost or agent.applies(proved, result):
                    out.append(result)
        return out

    def test_it_is_constructed_without_arguments_and_has_a_name(self) -> None:
        assert type(self.agent())().name == self.agent().name
        assert re.fullmatch(r"[a-z][a-z0-9_]*", self.agent().name)

    async def test_it_wins_every_task_to_which_it_makes_a_difference(self) -> None:
        results = await self.results()
        assert results, "it makes no difference to any task: name other families, another world"
        assert [result.lost for result in results if result.lost] == []

    async def test_it_plays_the_same_again(self) -> None:
        first, second = await self.results(), await self.results()
        for one, other in zip(first, second, strict=True):
            assert one.evidence.said == other.evidence.said
            assert [(call.name, call.arguments) for call in one.evidence.calls] == [
                (call.name, call.arguments) for call in other.evidence.calls
            ]

    async def test_it_leaves_the_task_as_it_was(self) -> None:
        agent = self.agent()
        async for proved in self.proved():
            before = proved.task.to_json()
            await agent.start(proved)
            assert proved.task.to_json() == before
