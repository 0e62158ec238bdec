"""The shop's conversations by hand: several right ends, consent, and money that has to follow the
goods.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from envs.sandboxes.base import Template
from envs.types import Limits
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.task import Task

FOLDER = Path(__file__).parents[3] / "examples" / "shop"

OTHERS = """
    SELECT v.variant_id, v.price_cents FROM variants v JOIN stock s ON s.variant_id = v.variant_id
    WHERE v.product_id = :product_id AND v.colour <> :colour AND COALESCE(v.size, '') = COALESCE(:size, '')
      AND s.on_hand > 0 AND v.variant_id <> COALESCE(:pick, 0) AND (v.price_cents <= :limit_cents) = :within"""


@dataclass
class Shop:
    world: World
    template: Template
    rows: sqlite3.Connection
    tasks: list[Task]

    def swap(self, *, within: bool) -> tuple[Task, sqlite3.Row]:
        """A swap and another variant than gold's, within the customer's budget or, where nothing
        is, above it.
        """
        for task in self.tasks:
            slots = {
                key: task.slots[key]
                for key in ("product_id", "colour", "size", "pick", "limit_cents")
            }
            found = self.rows.execute(OTHERS, slots | {"within": within}).fetchone()
            if found is not None and (task.case == "too_dear") is not within:
                return asyncio.run(prove(task, self.world, self.template)), found
        raise AssertionError("no swap with a choice")

    def open(self, task: Task) -> Episode:
        return Episode(task, self.world, self.template, Limits())


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    world = load_world(FOLDER)
    rows = sqlite3.connect(":memory:")
    rows.row_factory = sqlite3.Row
    for name in ("schema.sql", "seed.sql"):
        rows.executescript((FOLDER / name).read_text("utf-8"))
    with world.template("sqlite") as template:
        source = FamilyTasks(world, template, ["swap_for_another_colour"])
        tasks = [
            source.task("swap_for_another_colour", at, 1)
            for at in range(source.capacity("swap_for_another_colour"))
        ]
        yield Shop(world, template, rows, tasks)
    rows.close()


async def agreed(episode: Episode) -> bool:
    """Ask what gold asks and get the customer's yes."""
    slots = episode.task.slots
    turn = await episode.say("Which colour would you like instead, and how much more may it cost?")
    assert set(turn.told) == {"colour", "budget"}
    turn = await episode.say(
        f"I have found one for you. Shall I swap the {slots['product']} in {slots['number']}?"
    )
    return turn.consents


async def swap(episode: Episode, variant_id: int) -> int:
    item, product = episode.task.slots["order_item_id"], episode.task.slots["product"]
    await episode.call("get_order", {"number": episode.task.slots["number"]})
    await episode.call("find_variants", {"words": product})
    done = await episode.call("swap_item", {"order_item_id": item, "new_variant_id": variant_id})
    output: Any = done.result.output
    return output["difference_cents"]


async def settle(episode: Episode, difference: int) -> None:
    """Charge what is dearer, refund what is cheaper."""
    number = episode.task.slots["number"]
    if difference > 0:
        await episode.call("charge_difference", {"number": number, "amount_cents": difference})
    if difference < 0:
        seen = await episode.call("get_order", {"number": number})
        order: Any = seen.result.output
        refund = {"payment_id": order["payments"][0]["payment_id"], "reason": "price_difference"}
        await episode.call("issue_refund", {**refund, "amount_cents": -difference})


def reward(episode: Episode) -> float | None:
    asyncio.run(episode.call("submit", {"decision": "swapped"}))
    return without_reply(episode)


def without_reply(episode: Episode) -> float | None:
    """The reward of an episode in which nothing is said at the end: by all gates but `reply`."""
    scores = [item.score for item in episode.score().verdicts if item.verifier != "reply"]
    return None if None in scores else float(all(score == 1.0 for score in scores))


def test_another_colour_within_the_budget_is_right_too(shop: Shop) -> None:
    task, other = shop.swap(within=True)
    with shop.open(task) as episode:
        assert asyncio.run(agreed(episode))
        asyncio.run(settle(episode, asyncio.run(swap(episode, other["variant_id"]))))
        assert reward(episode) == 1.0


def test_a_colour_above_the_budget_is_not(shop: Shop) -> None:
    """The customer does not agree to it, and it is not right either."""
    task, other = shop.swap(within=False)
    with shop.open(task) as episode:
        assert not asyncio.run(agreed(episode))
        asyncio.run(settle(episode, asyncio.run(swap(episode, other["variant_id"]))))
        assert reward(episode) == 0.0


@pytest.mark.parametrize("slip", ["no consent", "twice settled", "back and forth"])
def test_the_way_to_the_right_colour_counts(shop: Shop, slip: str) -> None:
    """Without a yes, with money moved twice, or by way of a third colour, the same swap earns
    nothing.
    """
    task, other = shop.swap(within=True)
    with shop.open(task) as episode:
        if slip != "no consent":
            assert asyncio.run(agreed(episode))
        if slip == "back and forth":
            asyncio.run(swap(episode, task.slots["pick"]))
        difference = asyncio.run(swap(episode, other["variant_id"]))
        asyncio.run(settle(episode, difference))
        if slip == "twice settled":
            asyncio.run(settle(episode, difference or 100))
        assert reward(episode) == 0.0


def test_the_customer_consents_to_the_right_order_only(shop: Shop) -> None:
    """Another order's number, or none, gets a correction and no yes."""
    task, _ = shop.swap(within=True)
    with shop.open(task) as episode:
        product = task.slots["product"]
        for said in (f"Shall I swap the {product} in LP-99999?", f"Shall I swap the {product}?"):
            turn = asyncio.run(episode.say(said))
            assert not turn.consents
            assert not turn.ends
