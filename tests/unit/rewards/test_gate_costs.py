"""What gates refuse among rollouts with the right end state, and the column of notes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from envs.types import Limits
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.agent import AgentLimits
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.rewards.gate_costs import GateCosts
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import ReplyStep
from synth.core.validation.prove import prove
from synth.rollout import RolloutContext, play
from synth.task import Job
from tests.sample_rows import verdict

SHOP = Path(__file__).parents[3] / "examples" / "shop"


async def played(*more: str) -> dict[str, Any]:
    """The row of the expert's rollout of a task; it says ``more`` in the end."""
    world = load_world(SHOP)
    templates = Templates(world)
    context = RolloutContext(world, templates, ScriptedModel(), Limits(), AgentLimits())
    with templates.use(0) as template:
        source = FamilyTasks(world, template, ["gift_card_balance"])
        task = source.task("gift_card_balance", 0, 0)
        last = task.gold[-1]
        assert isinstance(last, ReplyStep)
        said = cast("Mapping[str, list[Any]]", last.text)["$text"]
        says = replace(last, text={"$text": [*said, *more]})
        task = await prove(replace(task, gold=(*task.gold[:-1], says)), world, template)
    return await play(Job(0, "one", task, 0, 0), context)


def test_a_promise_is_a_note_in_the_column_and_has_its_price():
    row = asyncio.run(played(" We will send you a new one."))
    assert row["reward"] == 1.0
    assert set(row["notes"]) == {"promise"}
    assert not asyncio.run(played())["notes"]
    costs = GateCosts()
    costs.add(row)
    (entry,) = costs.to_json()
    assert (entry["gate"], entry["note"], entry["refused"], entry["right_ends"]) == (
        *("reply", "promise"),
        *(1, 1),
    )


def test_only_rollouts_with_the_right_end_state_count():
    right, wrong = verdict("state", 1.0, "right"), verdict("state", 0.0, "wrong")
    finding = {"check": "output not said", "words": "", "evidence": "left: 6"}
    refused = verdict("reply", 0.0, "refused", findings=[finding])
    other = verdict("call_order", 0.0, "the lookup came late")
    costs = GateCosts()
    for verdicts in ([right, refused], [wrong, refused], [right, other], [right], [refused]):
        costs.add({"verdicts": verdicts})
    order, reply = costs.to_json()
    late = {"check": "the lookup came late", "words": "", "evidence": "", "rows": 1}
    assert (order["right_ends"], order["refused"], order["reasons"]) == (3, 1, [late])
    assert (reply["right_ends"], reply["refused"]) == (3, 1)
    assert reply["reasons"] == [{**finding, "rows": 1}]
