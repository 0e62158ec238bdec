"""Variety of a large plan over several worlds, without a rollout: the words of requests, and the
tools that gold calls.

uv run python -m tests.bench.large_plan 20000 ehr_db shop shop_sql path/to/another_world
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synth.core.config.compose import compose
from synth.core.dataset.variety import Variety, variety_table
from synth.core.foundation.shipped import world_names
from synth.core.types.steps import CallStep, SubmitStep, every_step
from synth.prepare import prepare
from synth.task import Task

OPTIONS = (
    "tasks.compose={2: 0.3, 3: 0.2}",
    "tasks.wording=varied",
    "tasks.max_near_duplicates=0.015",
)
UNIVERSES = 8


def main(count: int, worlds: list[str]) -> None:
    variety, planned, made, total = Variety(), 0.0, 0.0, 0
    for world, share in zip(worlds, counts(count, len(worlds)), strict=True):
        began = time.process_time()
        plan = prepare(compose(arguments(world, share))[0].config).plan
        planned += time.process_time() - began
        began = time.process_time()
        for index in range(plan.tasks):
            task = plan.task(index)
            variety.add(f"{world} {task.id}", messages(task), task.family, Path(world).name)
        made += time.process_time() - began
        total += plan.tasks
        print(f"{world}: {plan.tasks} of {share} tasks", flush=True)
    print(f"{total:,} tasks; {planned:.0f} s of CPU to plan, {made:.0f} s to make and measure")
    for name, text in variety_table(variety.to_json()):
        print(f"{name}: {text}")


def counts(count: int, worlds: int) -> list[int]:
    """Equal shares of so many tasks."""
    return [count // worlds + (place < count % worlds) for place in range(worlds)]


def arguments(world: str, count: int) -> list[str]:
    shipped = world in world_names()
    path = f"env={world}" if shipped else f"env.path={Path(world).absolute()}"
    options = [one for one in OPTIONS if world != "shop_sql" or not one.startswith("tasks.compose")]
    return [path, f"tasks.count={count}", f"tasks.universes={UNIVERSES}", *options]


def messages(task: Task) -> Iterator[dict[str, Any]]:
    """The opening and the calls of gold, with arguments as far as they are known."""
    yield {"role": "user", "content": task.prompt}
    for step in every_step(task.gold):
        if isinstance(step, CallStep | SubmitStep):
            call = {"name": step.tool, "arguments": dict(step.arguments)}
            yield {"role": "assistant", "tool_calls": [{"function": call}]}


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
