"""CPU of a whole rollout: six calls over HTTP, a fresh SQLite sandbox, verification, recording.

    uv run python -m tests.bench.rollouts

Different tasks over all families of ``ehr_db`` are played once by the real loop. A scripted
endpoint in another process gives the expert's completions; no cache knows their texts. In turns
with it, the loops that people write by hand (:mod:`tests.bench.by_hand`) play against the same
endpoint. ``--profile`` prints where the time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import itertools
import multiprocessing
import pstats
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import openai
import uvloop

from envs.types import Limits
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.agent import AgentLimits
from synth.core.dataset.store.wire import encode, to_wire
from synth.core.foundation.own_process import THRESHOLDS
from synth.core.foundation.shipped import find_world
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.ext.serving.openai_server import whole
from synth.ext.telemetry import OtelConfig
from synth.ext.telemetry.otel.spans import make as make_spans
from synth.middleware import MiddlewareHome, MiddlewareMaker
from synth.model import Completion
from synth.plan import Plan
from synth.rollout import RolloutContext, play
from synth.task import Job, Task
from tests.bench.by_hand import Tool, over_aiohttp, over_openai
from tests.bench.endpoint import endpoint
from tests.bench.otlp_sink import otlp_sink

TURNS = 4


def stage() -> RolloutContext:
    """The world with the scripted expert."""
    world = load_world(find_world("ehr_db"))
    return RolloutContext(world, Templates(world), ScriptedModel(), Limits(), AgentLimits())


def job(task: Task) -> Job:
    return Job(0, task.id, task, 0, 0)


@dataclass(frozen=True)
class Story:
    """A proved task, the expert's completions in order, and what a loop by hand is given."""

    task: Task
    completions: Sequence[Completion]
    opening: Sequence[Any]
    tools: Sequence[Any]
    said: Sequence[str]


async def story(task: Task, context: RolloutContext) -> Story:
    """Prove a task and play it once."""
    with context.templates.use(0) as template:
        task = await prove(task, context.world, template)
    row = await play(job(task), context)
    assert row["reward"] == 1.0, row["verdicts"]
    conversation, messages = context.model.start(task, [], 0), row["messages"]
    turns = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    completions = [await conversation.complete(messages[:at]) for at in turns]
    said = [each["content"] for each in messages[2:] if each["role"] == "user"]
    return Story(task, completions, messages[:2], row["tools"], said)


def stories(count: int) -> list[Story]:
    """So many different tasks, each with another opening."""

    async def tell() -> list[Story]:
        context = stage()
        with context.templates.use(0) as template:
            source = FamilyTasks(context.world, template, None, 0)
            plan = Plan.make([source], 2 * count, 1, 7)
            by_prompt = {task.prompt: task for task in map(plan.task, range(plan.tasks))}
        return [await story(task, context) for task in [*by_prompt.values()][:count]]

    return asyncio.run(tell())


@dataclass
class Lane:
    """One way to play the rollouts, one after the other, how many of them a turn takes, and what
    they cost so far.
    """

    name: str
    plays: Sequence[Callable[[], Awaitable[None]]]
    share: float
    spent_s: float = 0.0
    played: int = 0

    def __post_init__(self) -> None:
        self._next = itertools.cycle(self.plays)

    async def turn(self, in_flight: int, rollouts: int) -> float:
        """Play so many, ``in_flight`` at a time; CPU seconds."""
        left = rollouts

        async def work() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await next(self._next)()

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


def traced(context: RolloutContext, url: str, *, contents: bool) -> tuple[str, MiddlewareMaker]:
    """The spans of the callback `otel`, sent to a collector at the URL."""
    home = MiddlewareHome(Path(), worker="w", model=context.model.name, model_kind="openai")
    return "otel", make_spans(OtelConfig(endpoint=url, contents=contents), home)


async def main(
    in_flight: int, rollouts: int, *, profile: bool, alone: bool = False, spans: bool = False
) -> None:
    gc.set_threshold(*THRESHOLDS)  # as a worker sets it, for every lane
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as teller:
        told = teller.submit(stories, in_flight + rollouts).result()
    bodies = {
        one.task.prompt: [
            whole(each, f"chatcmpl-{at}", "m", 1, 4_000) for at, each in enumerate(one.completions)
        ]
        for one in told
    }
    with endpoint(bodies) as url, ExitStack() as stack:
        model = OpenAIModel(Endpoint("m", url, max_connections=in_flight), api_key="key")
        playing = replace(stage(), model=model)
        sizes: list[int] = []

        def loops(context: RolloutContext, *unjudged: str) -> list[Callable[[], Awaitable[None]]]:
            def loop(task: Task) -> Callable[[], Awaitable[None]]:
                gates = tuple(each for each in task.gates if each.name not in unjudged)
                judged = replace(task, gates=gates)

                async def once() -> None:
                    row = await play(job(judged), context)
                    assert row["reward"] == 1.0, row["verdicts"]
                    sizes.append(len(encode(to_wire(row))))

                return once

            return [loop(one.task) for one in told]

        lanes = [Lane("synth", loops(playing), 1.0)]
        if not profile:
            lanes.append(Lane("its reply not judged", loops(playing, "reply"), 1.0))
        makers: list[MiddlewareMaker] = []
        for contents in (False, True) if spans else ():
            named = traced(playing, stack.enter_context(otlp_sink()), contents=contents)
            makers.append(named[1])
            following = replace(playing, middlewares=[named])
            lanes.append(Lane(f"with spans{' and contents' * contents}", loops(following), 1.0))
        tool = Tool()
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            openai.AsyncOpenAI(api_key="key", base_url=url, max_retries=0, timeout=600) as client,
        ):
            if not alone and not profile:
                lean = [
                    over_aiohttp(session, url, one.opening, one.tools, tool, one.said)
                    for one in told
                ]
                lanes.append(Lane("aiohttp, by hand", lean, 1.0))
                usual = [
                    over_openai(client, one.opening, one.tools, tool, one.said) for one in told
                ]
                lanes.append(Lane("openai default, by hand", usual, 0.2))
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
    calls = sum(len(one.completions) for one in told) / len(told)
    families = len({one.task.family for one in told})
    print(
        f"{rollouts} of {len(told)} tasks of {families} families, {calls:.1f} calls each,"
        f" {sum(sizes) / len(sizes):,.0f} bytes a row, {in_flight} in flight"
    )
    print(f"{'ms of CPU per rollout':28}{'':>8}{'ratio to synth':>18}")
    for lane in lanes:
        print(f"{lane.name:28}{lane.ms:8.2f}{lane.ms / lanes[0].ms:18.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--rollouts", type=int, default=500, help="so many different tasks")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--ours-only", action="store_true", help="leave the loops written by hand out"
    )
    parser.add_argument(
        "--spans", action="store_true", help="and with spans sent to an OTLP collector"
    )
    options = parser.parse_args()
    uvloop.run(
        main(
            options.in_flight,
            options.rollouts,
            profile=options.profile,
            alone=options.ours_only,
            spans=options.spans,
        )
    )
