"""The work of proofs and scripted rollouts, counted instead of timed.

    python -m tests.bench.work            counts, beside the committed figures
    python -m tests.bench.work --write    commits the counts as the new figures

Different tasks over the families of ``ehr_db`` and of ``shop`` are proved and then played by the
expert, and a few of three requests are proved, in one process with fixed hashes, so that the counts
repeat. Counted for one task: calls of Python functions, calls of functions in C, characters that
are folded or split into words, JSON encodings, and statements that a database executes. The count
covers this process, and no process that free SQL runs in.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from inspect import unwrap
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from envs.json_text import canonical, compact
from envs.types import Limits
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.agent import AgentLimits
from synth.core.dataset.store.wire import encode, to_wire
from synth.core.foundation.shipped import find_world
from synth.core.language import wording
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.ext.variety.config import SelectionConfig
from synth.ext.variety.selection import TaskSelection
from synth.plan import Plan
from synth.rollout import RolloutContext, play
from synth.task import Job

WORLDS = ("ehr_db", "shop")
TASKS, COMPOSED = 30, 10
FIGURES = Path(__file__).with_suffix(".json")
READERS = {unwrap(wording.tokens).__code__, wording._folded.__code__}
"""Functions that read a whole text, ``text``."""

ENCODERS = {
    json.JSONEncoder.encode.__code__,
    *(encode.__code__ for encode in (compact, canonical) if isinstance(encode, FunctionType)),
}
"""Functions that encode a value as JSON."""

Work = Mapping[str, float]


@contextmanager
def counted() -> Generator[Counter[str]]:
    """Count the work of the block, in this thread."""
    counts: Counter[str] = Counter()

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event == "call":
            counts["calls of Python functions"] += 1
            if frame.f_code in ENCODERS:
                counts["JSON encodings"] += 1
            elif frame.f_code in READERS:
                counts["characters read"] += len(frame.f_locals["text"])
        elif event == "c_call":
            counts["calls of C functions"] += 1
            if function.__name__ in {"execute", "executemany"}:
                counts["statements"] += 1

    sys.setprofile(note)
    try:
        yield counts
    finally:
        sys.setprofile(None)


async def count(world_name: str) -> dict[str, Work]:
    """The work of a proof and of a play of the world's tasks, by kind."""
    world = load_world(find_world(world_name))
    templates = Templates(world)
    context = RolloutContext(world, templates, ScriptedModel(), Limits(), AgentLimits())
    with templates.use(0) as template:
        source = FamilyTasks(world, template, None, 0)
        plan = Plan.make([source], TASKS, 1, 7)
        three = TaskSelection(SelectionConfig(compose={"3": 1.0}))
        plan_of_three = Plan.make([source], COMPOSED, 1, 7, [three])
        composed = [plan_of_three.task(index) for index in range(COMPOSED)]
        asked = [plan.task(index) for index in range(TASKS)]
        await prove(asked[0], world, template)  # what a process does once
        with counted() as proofs:
            tasks = [await prove(task, world, template) for task in asked]
    for known in gc.get_objects():  # a worker plays what another one proved
        if isinstance(known, _lru_cache_wrapper):
            known.cache_clear()
    await play(Job(TASKS, "first", tasks[0], 0, 0), context)
    with counted() as plays:
        for index, task in enumerate(tasks):
            row = await play(Job(index, str(index), task, index, index), context)
            assert row["reward"] == 1.0, row["verdicts"]
            encode(to_wire(row))
    with templates.use(0) as template, counted() as wholes:
        for task in composed:
            await prove(task, world, template)
    return {
        "proof": _each(proofs, TASKS),
        "play": _each(plays, TASKS),
        "composed proof": _each(wholes, COMPOSED),
    }


def _each(counts: Counter[str], tasks: int) -> Work:
    return {kind: round(total / tasks, 1) for kind, total in sorted(counts.items())}


def in_own_process(
    worlds: Sequence[str] = WORLDS, before: str = "pass"
) -> dict[str, dict[str, Work]]:
    """The counts of some worlds, taken where hashes are fixed and no cache is warm. ``before`` is
    Python that is executed first.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{COUNT}", *worlds],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


COUNT = """
import asyncio, json, sys
from tests.bench.work import count
print(json.dumps({name: asyncio.run(count(name)) for name in sys.argv[1:]}))
"""


def main(arguments: list[str]) -> None:
    found = in_own_process()
    if "--write" in arguments:
        FIGURES.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    committed = json.loads(FIGURES.read_text("utf-8"))
    for world, phases in found.items():
        for phase, work in phases.items():
            for kind, value in work.items():
                before = committed[world][phase].get(kind)
                print(f"{world:8} {phase:14} {value:10,.1f} {kind} (committed: {before})")


if __name__ == "__main__":
    main(sys.argv[1:])
