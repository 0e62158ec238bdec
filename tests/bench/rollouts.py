"""CPU of a whole rollout: six calls over HTTP, tools on a fresh SQLite sandbox, guards,
verification, diff and recording.

    uv run python -m tests.bench.rollouts

One task of ``ehr_db`` whose gold solution makes five typed tool calls, or as many as any task has,
is played over and over by the real loop against a scripted endpoint in a process of its own, which
gives the expert's completions; each row is encoded as workers encode it. In turns with it, the
loops that people write by hand (:mod:`tests.bench.by_hand`) play against the same endpoint, with
the same opening and tools. ``--profile`` prints where the time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import pstats
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import openai

from envs.types import Limits
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.agent import AgentLimits
from synth.core.dataset.store.wire import encode, to_wire
from synth.core.foundation.collector import THRESHOLDS
from synth.core.foundation.shipped import find_world
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.runner import event_loop
from synth.core.tasks.families import FamilyTasks
from synth.core.users.none import AbsentUser
from synth.core.validation.prove import prove
from synth.ext.serving.completion_json import whole
from synth.ext.telemetry.config import OtelConfig
from synth.ext.telemetry.otel.spans import make as make_spans
from synth.middleware import MiddlewareHome, MiddlewareMaker
from synth.model import Completion
from synth.plan import Plan
from synth.rollout import RolloutContext, play
from synth.task import Job, Task
from tests.bench.by_hand import Tool, over_aiohttp, over_openai
from tests.bench.endpoint import endpoint
from tests.bench.otlp_sink import otlp_sink

WANTED_CALLS = 5
TURNS = 4


async def longest_task() -> tuple[Task, RolloutContext]:
    """A proved task with as many gold calls as wanted, or the most that there are, and the stage to
    play it on.
    """
    world = load_world(find_world("ehr_db"))
    templates = Templates(world)
    with templates.use(0) as template:
        source = FamilyTasks(world, template, None, 0)
        plan = Plan.make([source], len(source.families), 1, 7)
        tasks = [await prove(plan.task(at), world, template) for at in range(plan.tasks)]
    plain = [
        each for each in tasks if each.user is None and each.end is not None and each.end.writes
    ]
    best = min(plain, key=lambda each: abs((each.end.calls if each.end else 0) - WANTED_CALLS))
    return best, RolloutContext(world, templates, ScriptedModel(), Limits(), AgentLimits())


def job(task: Task, at: int) -> Job:
    return Job(at, f"{task.id}-{at}", task, at, at)


async def recorded(task: Task, stage: RolloutContext) -> tuple[list[Completion], Mapping[str, Any]]:
    """The expert's completions of the task, in order, and the row of its rollout."""
    row = await play(job(task, 0), stage)
    assert row["reward"] == 1.0, row["verdicts"]
    conversation, messages = stage.model.start(task, [], 0), row["messages"]
    turns = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    return [await conversation.complete(messages[:at]) for at in turns], row


@dataclass
class Lane:
    """One way to play a rollout, how many of them a turn takes, and what they cost so far."""

    name: str
    play: Callable[[], Awaitable[None]]
    share: float
    spent_s: float = 0.0
    played: int = 0

    async def turn(self, in_flight: int, rollouts: int) -> float:
        """Play so many, ``in_flight`` at a time; CPU seconds."""
        left = rollouts

        async def work() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await self.play()

        gc.collect()
        began = time.process_time()
        await asyncio.gather(*(work() for _ in range(min(in_flight, rollouts))))
        return time.process_time() - began

    async def count(self, in_flight: int, rollouts: int) -> None:
        size = max(1, int(rollouts * self.share))
        self.spent_s += await self.turn(in_flight, size)
        self.played += size

    @property
    def ms(self) -> float:
        """Milliseconds of CPU a rollout."""
        return self.spent_s / self.played * 1e3


def traced(stage: RolloutContext, url: str, *, contents: bool) -> tuple[str, MiddlewareMaker]:
    """The spans of the callback `otel`, sent to a collector at the URL."""
    home = MiddlewareHome(Path(), worker="w", model=stage.model.name, model_kind="openai")
    return "otel", make_spans(OtelConfig(endpoint=url, contents=contents), home)


async def main(
    in_flight: int, rollouts: int, *, profile: bool, alone: bool = False, spans: bool = False
) -> None:
    gc.set_threshold(*THRESHOLDS)  # as a worker sets it, for every lane
    task, stage = await longest_task()
    completions, row = await recorded(task, stage)
    opening, tools = row["messages"][:2], row["tools"]
    bodies = [whole(each, f"chatcmpl-{at}", "m", 1, 4_000) for at, each in enumerate(completions)]
    with endpoint(bodies) as url, ExitStack() as stack:
        model = OpenAIModel(Endpoint("m", url, max_connections=in_flight), api_key="key")
        playing = RolloutContext(stage.world, stage.templates, model, stage.limits, stage.agent)
        sizes: list[int] = []

        def loop(context: RolloutContext, task: Task = task) -> Callable[[], Awaitable[None]]:
            async def once() -> None:
                row = await play(job(task, len(sizes)), context)
                assert row["reward"] == 1.0, row["verdicts"]
                sizes.append(len(encode(to_wire(row))))

            return once

        rows_alone = replace(task, gates=tuple(each for each in task.gates if each.name == "state"))
        lanes = [Lane("synth", loop(playing), 1.0)]
        if not profile:
            lanes.append(Lane("rows judged, reply not", loop(playing, rows_alone), 1.0))
            silent = replace(playing, user=AbsentUser())
            lanes.append(Lane("and nobody answers", loop(silent, rows_alone), 1.0))
        makers: list[MiddlewareMaker] = []
        for contents in (False, True) if spans else ():
            named = traced(playing, stack.enter_context(otlp_sink()), contents=contents)
            makers.append(named[1])
            following = replace(playing, middlewares=[named])
            lanes.append(Lane(f"with spans{' and contents' * contents}", loop(following), 1.0))
        tool = Tool()
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            openai.AsyncOpenAI(api_key="key", base_url=url, max_retries=0, timeout=600) as client,
        ):
            if not alone and not profile:
                lanes.append(
                    Lane("aiohttp, by hand", over_aiohttp(session, url, opening, tools, tool), 1.0)
                )
                lanes.append(
                    Lane("openai default, by hand", over_openai(client, opening, tools, tool), 0.2)
                )
            for lane in lanes:
                await lane.turn(in_flight, in_flight)
            profiler = cProfile.Profile() if profile else None
            if profiler is not None:
                profiler.enable()
            for _ in range(TURNS):  # in turns, so that the machine's moods strike all alike
                for lane in lanes:
                    await lane.count(in_flight, rollouts // TURNS)
            if profiler is not None:
                profiler.disable()
                pstats.Stats(profiler).sort_stats("tottime").print_stats(40)
        for maker in makers:
            await maker.aclose()
        await model.aclose()
    told = (
        f"{task.family}: {len(completions)} calls,"
        f" {sum(len(each.tool_calls) for each in completions)} of tools"
    )
    print(f"{told}, {sizes[-1]} bytes a row, {in_flight} in flight")
    print(f"{'ms of CPU per rollout':28}{'':>8}{'ratio to synth':>18}")
    for lane in lanes:
        print(f"{lane.name:28}{lane.ms:8.2f}{lane.ms / lanes[0].ms:18.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--rollouts", type=int, default=1_000)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--ours-only", action="store_true", help="leave the loops written by hand out"
    )
    parser.add_argument(
        "--spans", action="store_true", help="and with spans sent to an OTLP collector"
    )
    options = parser.parse_args()
    event_loop.run(
        main(
            options.in_flight,
            options.rollouts,
            profile=options.profile,
            alone=options.ours_only,
            spans=options.spans,
        )
    )
