"""Samples of a model on proved tasks, for the search for suspects among gold solutions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from envs.sandboxes.base import Template
from envs.types import Limits
from envs.world.loader import World
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.state import RolloutIdentity
from synth.core.foundation.hashing import derive_seed
from synth.core.validation.equivalence import end_of
from synth.core.validation.suspects import SampleEnd
from synth.episode import Episode
from synth.errors import ModelAuthError, ModelError
from synth.model import Model
from synth.task import Task

IN_FLIGHT = 8
"""Rollouts that are played at once."""


async def sample_tasks(
    model: Model,
    tasks: Sequence[Task],
    count: int,
    world: World,
    template: Template,
    limits: Limits,
) -> list[SampleEnd]:
    """``count`` samples of each task. One that the endpoint breaks off is unscored.

    Raises :class:`ModelAuthError` for a key that is not accepted.
    """
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(task: Task, number: int) -> SampleEnd:
        seed = derive_seed(task.id, number)
        async with slots:
            with Episode(task, world, template, limits, seed=seed) as episode:
                identity = RolloutIdentity(f"{task.id}/{number}", number, seed, task.id)
                agent = episode.agent(model, AgentLimits(), identity=identity)
                try:
                    run = await agent.run(episode.messages, episode.say)
                except ModelAuthError:
                    raise
                except ModelError as error:
                    return SampleEnd(task, end_of(episode.evidence()), None, str(error))
                episode.said = run.said
                score = await episode.scored()
                solved = None if score.reward is None else score.solved
                return SampleEnd(task, end_of(episode.evidence()), solved)

    return list(await asyncio.gather(*(one(task, n) for task in tasks for n in range(count))))
