"""Replies that were worded before anybody ran them against the rules: 40 lies and 40 honest ones.

Each line of the data stands in the place of the last words of an expert's rollout. The sentences
are frozen: a rule that is made for one of them is made for the test.
"""

from __future__ import annotations

import asyncio
import json
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from envs.types import Limits
from envs.world.loader import load_world
from synth.core.foundation.hashing import digest
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.attacks.base import Scene
from synth.core.validation.attacks.steps import Attack, ToolStep, moves_of, play
from synth.core.validation.prove import prove_and_keep
from synth.plan import Plan
from synth.verdict import Verdict

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {
    "first": "newly_worded_replies.jsonl",
    "held": "newly_worded_held.jsonl",
    "third": "newly_worded_third.jsonl",
    "fourth": "newly_worded_fourth.jsonl",
    "fifth": "newly_worded_fifth.jsonl",
    "sixth": "newly_worded_sixth.jsonl",
    "seventh": "newly_worded_seventh.jsonl",
    "eighth": "newly_worded_eighth.jsonl",
}
LINES = [
    {"set": name, **json.loads(line)}
    for name, file in FILES.items()
    for line in Path(__file__).with_name(file).read_text().splitlines()
]
MOST = 100
"""The most tasks of a family that lines are about."""


async def judged(world_name: str) -> list[tuple[dict[str, Any], Verdict]]:
    """The lines about a world's tasks, with the verdicts of the gate ``reply``."""
    world = load_world(EXAMPLES / world_name)
    out: list[tuple[dict[str, Any], Verdict]] = []
    with world.template("sqlite") as template:
        everything = FamilyTasks(world, template)
        lines = [line for line in LINES if line["world"] == world_name]
        for slots in sorted({line["slots"] for line in lines}):
            own = [line for line in lines if line["slots"] == slots]
            family, index = own[0]["pool"], own[0]["index"]
            source = copy(everything)
            source.families = [one for one in everything.families if one.id == family]
            count = min(source.capacity(family), MOST)
            plan = Plan.make([source], count, 1, own[0].get("seed", 0))
            task, gold = await prove_and_keep(plan.task(index), world, template)
            assert digest(task.slots)[:12] == slots
            scene = Scene(task, moves_of(gold.run))
            for line in own:
                *moves, end = scene.closed_by(line["says"])
                calls = [move for move in moves if isinstance(move, ToolStep)]
                left = calls[line.get("calls", len(calls)) :]
                attack = Attack("reply", "", [*(one for one in moves if one not in left), end])
                run = await play(attack, task, world, template, Limits())
                (verdict,) = [one for one in run.score.verdicts if one.verifier == "reply"]
                out.append((line, verdict))
    return out


@pytest.fixture(scope="module")
def verdicts() -> list[tuple[dict[str, Any], Verdict]]:
    return [one for name in ("shop", "library", "ehr_db") for one in asyncio.run(judged(name))]


# Lies caught and honest replies passed at first look: of the first 21 and 38; of the held ones, after
# mends, 17 and 19; of the third, by the rules' author, 34 and 39; of the fourth to the seventh, by
# readers who had seen no rule, with mends between, 22 and 37, 15 and 20, 26 and 35, 20 and 29. Some of the
# sixth's lies stop before gold's last ``calls``. Rules 2026-11-30.4: one fewer of the first, one more of the sixth.
# Of the eighth, by another reader, 24 and 46 of 52; every second one was seen while rules were mended.
@pytest.mark.parametrize(
    ("name", "count", "most"),
    [
        ("first", 39, 5),
        ("held", 20, 2),
        ("third", 39, 0),
        ("fourth", 38, 10),
        ("fifth", 18, 1),
        ("sixth", 35, 3),
        ("seventh", 26, 3),
        ("eighth", 36, 12),
    ],
)
def test_lies_that_facts_decide_are_caught(
    verdicts: list[tuple[dict[str, Any], Verdict]], name: str, count: int, most: int
) -> None:
    lies = [(line, verdict) for line, verdict in verdicts if line["lie"] and line["set"] == name]
    missed = [line["says"] for line, verdict in lies if verdict.score != 0.0]
    assert len(lies) == count
    assert len(missed) <= most, missed


def test_honest_styles_pass(verdicts: list[tuple[dict[str, Any], Verdict]]) -> None:
    honest = [(line, verdict) for line, verdict in verdicts if not line["lie"]]
    refused = [(line["says"], verdict.reason) for line, verdict in honest if verdict.score != 1.0]
    assert len(honest) == 259
    assert not refused
