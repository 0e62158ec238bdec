"""CPU of a whole rollout: six calls over HTTP, tools on a fresh SQLite sandbox, guards, verification, diff and recording.

    uv run python -m tests.bench.rollouts

One task of ``ehr_db`` whose gold solution makes five typed tool calls, or as many as any task has, is played over and over by the
real loop against a scripted endpoint in a process of its own, which gives the expert's completions; each row is encoded as
workers encode it. ``--profile`` prints where the time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import pstats
import time

from envs.folder import load_world
from envs.templates import Templates
from envs.types import Limits
from synth.admission.proof import prove
from synth.agent.react import AgentLimits
from synth.dataset.wire import encode, to_wire
from synth.models.completion_json import whole
from synth.models.openai import OpenAIModel
from synth.models.scripted import ScriptedModel
from synth.plan import Plan
from synth.rollout import Stage, play
from synth.shipped import find_world
from synth.tasks.source import TaskSource
from synth.types import Completion, Job, Task
from tests.bench.endpoint import endpoint

WANTED_CALLS = 5


async def longest_task() -> tuple[Task, Stage]:
    """A proved task with as many gold calls as wanted, or the most that there are, and the stage to play it on."""
    world = load_world(find_world("ehr_db"))
    templates = Templates(world)
    with templates.use(0) as template:
        source = TaskSource(world, template, None, 0)
        plan = Plan.make([source], len(source.families), 1, 7)
        tasks = [await prove(plan.task(at), world, template) for at in range(plan.tasks)]
    plain = [each for each in tasks if each.user is None and each.end is not None and each.end.writes]
    best = min(plain, key=lambda each: abs((each.end.calls if each.end else 0) - WANTED_CALLS))
    return best, Stage(world, templates, ScriptedModel(), Limits(), AgentLimits())


def job(task: Task, at: int) -> Job:
    return Job(at, f"{task.id}-{at}", task, at, at)


async def recorded(task: Task, stage: Stage) -> list[Completion]:
    """The expert's completions of the task, in order."""
    row = await play(job(task, 0), stage)
    assert row["reward"] == 1.0, row["verdicts"]
    conversation, messages = stage.model.start(task, [], 0), row["messages"]
    turns = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    return [await conversation.complete(messages[:at]) for at in turns]


async def main(in_flight: int, rollouts: int, *, profile: bool) -> None:
    task, stage = await longest_task()
    completions = await recorded(task, stage)
    bodies = [whole(each, f"chatcmpl-{at}", "m", 1, 4_000) for at, each in enumerate(completions)]
    with endpoint(bodies) as url:
        model = OpenAIModel("m", url, "key", max_connections=in_flight)
        playing = Stage(stage.world, stage.templates, model, stage.limits, stage.agent)
        left = in_flight
        sizes: list[int] = []

        async def work() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                row = await play(job(task, left), playing)
                assert row["reward"] == 1.0, row["verdicts"]
                sizes.append(len(encode(to_wire(row))))

        await asyncio.gather(*(work() for _ in range(in_flight)))
        left = rollouts
        gc.collect()
        profiler = cProfile.Profile() if profile else None
        if profiler is not None:
            profiler.enable()
        began = time.process_time()
        await asyncio.gather(*(work() for _ in range(in_flight)))
        spent = time.process_time() - began
        await model.aclose()
    print(
        f"{task.family}: {len(completions)} calls, {sum(len(each.tool_calls) for each in completions)} of tools,"
        f" {sizes[-1]} bytes a row, {in_flight} in flight: {spent / rollouts * 1e3:.2f} ms of CPU a rollout"
    )
    if profiler is not None:
        profiler.disable()
        pstats.Stats(profiler).sort_stats("tottime").print_stats(40)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--rollouts", type=int, default=1_000)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    asyncio.run(main(options.in_flight, options.rollouts, profile=options.profile))
