"""inspect_ai's ``eval()`` with models that never answer: prints how each ended as JSON."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, get_model

from envs.errors import SandboxError
from synth.episode import Episode
from synth.ext.rl import inspect_tasks, planned_tasks

opened: list[Episode] = []


class Counted(Episode):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        opened.append(self)


def is_closed(episode: Episode) -> bool:
    try:
        episode.diff()
    except SandboxError:
        return True
    return False


async def hang(*_: object) -> ModelOutput:
    await asyncio.sleep(600)
    raise AssertionError


async def fail(*_: object) -> ModelOutput:
    raise RuntimeError("the endpoint is down")


def main() -> None:
    planned_tasks.Episode = Counted
    ends = {}
    for name, answer, options in (
        ("hangs", hang, {"time_limit": 3}),
        ("fails", fail, {"fail_on_error": False}),
        ("is asked again", fail, {"retry_on_error": 1}),
    ):
        opened.clear()
        [log] = evaluate(
            inspect_tasks._world(env="library", **{"tasks.count": 3}),
            model=get_model("mockllm/model", custom_outputs=answer),
            display="none",
            log_dir=sys.argv[1],
            **options,
        )
        scores = [sample.scores for sample in log.samples or () if sample.scores]
        ends[name] = {
            "sandboxes": len(opened),
            "closed": sum(map(is_closed, opened)),
            "unscored": all(math.isnan(found["verdicts"].value) for found in scores),
        }
    print(json.dumps(ends))


main()
