"""How near the adaptive limit comes to the best fixed one, at an endpoint that takes so many at
once and answers 429 above.

    uv run python -m tests.bench.capacity

Two workers' gates under one governor ask over HTTP as fast as they may; the endpoint answers each
request after a while. Fixed limits are tried in the same run. What is compared is answers per
second, and the share of requests refused once settled.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from synth.core.models.openai.endpoint import Backoff, Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.runner.rate_limits.governor import Governor
from synth.core.runner.rate_limits.limiter import LeasedRateLimiter
from synth.core.runner.worker_messages import Quota
from synth.errors import ModelError
from synth.ext.serving.openai_server import Fault, serve
from synth.model import Completion
from synth.task import Task

TASK = Task(id="t", family="f", env="e", prompt="p", gold=[])
COLLECT_S = 0.25
LANES = 32


@dataclass
class Sharp:
    """Answers after ``answer_s``; refuses what goes beyond ``at_once``."""

    at_once: int
    answer_s: float
    now: int = 0
    answered: list[float] = field(default_factory=list[float])
    refused: list[float] = field(default_factory=list[float])

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.now += 1
        try:
            await asyncio.sleep(self.answer_s)
        finally:
            self.now -= 1
        self.answered.append(time.monotonic())
        return Completion(content="ok")

    async def faults(self, request: web.Request) -> Fault | None:
        if self.now < self.at_once:
            return None
        self.refused.append(time.monotonic())
        return Fault(status=429, body=(b'{"error": {"message": "too many at once"}}',))


@dataclass(frozen=True)
class Measured:
    """Of the time after the first ``settle_s`` seconds."""

    per_second: float
    refused: float


async def measure(sharp: Sharp, quota: Quota, settle_s: float, seconds: float) -> Measured:
    """Two gates' worth of lanes that ask all the time."""
    governor = Governor(quota, 2)
    news = [asyncio.Event(), asyncio.Event()]
    gates = [LeasedRateLimiter(each.set) for each in news]

    async def exchange(worker: int) -> None:
        while True:
            gates[worker].apply_lease(governor.grant(worker))
            try:
                async with asyncio.timeout(COLLECT_S):
                    await news[worker].wait()
            except TimeoutError:
                pass
            news[worker].clear()
            governor.hear(worker, gates[worker].report_usage())

    async def lane(model: OpenAIModel) -> None:
        while True:
            try:
                await model.start(TASK, [], 0).complete([{"role": "user", "content": "hello"}])
            except ModelError:
                continue

    async with serve(sharp, faults=sharp.faults, models=()) as url:
        models = [
            OpenAIModel(
                Endpoint("m", url, max_retries=3, backoff=Backoff(first_s=0.2, longest_s=1.0)),
                limiter=gate,
            )
            for gate in gates
        ]
        tasks = [asyncio.create_task(exchange(at)) for at in (0, 1)]
        tasks += [asyncio.create_task(lane(models[at % 2])) for at in range(LANES)]
        await asyncio.sleep(settle_s)
        began, answered, refused = time.monotonic(), len(sharp.answered), len(sharp.refused)
        await asyncio.sleep(seconds)
        answered, refused = len(sharp.answered) - answered, len(sharp.refused) - refused
        took = time.monotonic() - began
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for model in models:
            await model.aclose()
    return Measured(answered / took, refused / max(1, answered + refused))


async def compare(
    at_once: int, answer_s: float, settle_s: float, seconds: float
) -> tuple[Measured, dict[int, Measured]]:
    """The adaptive limit, and fixed ones about the endpoint's own."""
    fixed: dict[int, Measured] = {}
    for places in sorted({max(1, at_once // 2), at_once, min(LANES, at_once * 2)}):
        fixed[places] = await measure(
            Sharp(at_once, answer_s), Quota(places, places, places), 1.0, seconds / 2
        )
    adaptive = await measure(Sharp(at_once, answer_s), Quota(LANES, 1, LANES), settle_s, seconds)
    return adaptive, fixed


def main() -> None:
    for at_once in (4, 8, 20):
        adaptive, fixed = asyncio.run(compare(at_once, 0.1, 10.0, 20.0))
        best = max(each.per_second for each in fixed.values())
        shown = ", ".join(
            f"{places}: {each.per_second:.0f}/s {each.refused:.0%} refused"
            for places, each in fixed.items()
        )
        share = adaptive.per_second / best
        print(
            f"{at_once} at once: adaptive {adaptive.per_second:.0f}/s, {share:.0%} of the best,"
            f" {adaptive.refused:.1%} refused"
        )
        print(f"    fixed {shown}")


if __name__ == "__main__":
    main()
