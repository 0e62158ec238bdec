"""Composed tasks: what they are made of, their proof, and that no part of them can be left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import synth
from envs.sandboxes.base import Template
from envs.types import Limits
from envs.world.loader import World, load_world
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.hashing import canonical
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.grounding import turns
from synth.core.tasks.parts import Reading, without_repeats
from synth.core.types.checks import Gate
from synth.core.types.steps import CallStep, FollowUpStep
from synth.core.users.scripted.user import ScriptedUser
from synth.core.validation.attacks.runner import AttackRunner, Case
from synth.core.validation.attacks.steps import Attack, SayStep, moves_of, play
from synth.core.validation.prove import prove_and_keep
from synth.core.validation.report import FamilyReport
from synth.errors import OperatorError, TaskError
from synth.ext.variety.composer import facts_of
from synth.ext.variety.composition import LEADS, joined, setting, shared_form
from synth.ext.variety.config import SelectionConfig
from synth.ext.variety.selection import TaskSelection
from synth.plan import Plan
from synth.source import TaskFamily
from synth.task import Task
from synth.user import UserTurn

EXAMPLES = Path(__file__).parents[4] / "examples"


def plan_of(pool: FamilyTasks, count: int, compose: Mapping[int, float] | None = None) -> Plan:
    return Plan.make(
        [pool], count, 1, 7, [TaskSelection(SelectionConfig(compose=compose or {"2": 0.5}))]
    )


def composed(pool: FamilyTasks) -> Task:
    """A loan for one member, then renewals for another one."""
    lend = pool.task("lend_book", 0, 7)
    renewals = (pool.task("renew_all", index, 7) for index in range(pool.capacity("renew_all")))
    name = str(lend.slots["name"])
    return joined([lend, next(task for task in renewals if task.slots["name"] != name)], "ab", 7)


def test_a_composed_task_is_its_parts_one_after_another(pool: FamilyTasks):
    task = composed(pool)
    one, two = task.parts
    assert task.family == f"{one.family}+{two.family}"
    assert task.prompt == one.prompt
    asked = pool.task("renew_all", 0, 7).prompt.split()[0]
    assert any(two.prompt.startswith(lead.format(asked)) for lead in LEADS), two.prompt
    assert [step for step in task.gold if isinstance(step, FollowUpStep)] == [
        FollowUpStep(0, "done")
    ]
    assert task.role.then[0].says == two.prompt
    assert (one.now, one.system, one.seed) == (two.now, two.system, two.seed)
    fields = (task.form or {})["properties"]
    assert set(fields) == {*(one.answer or {})["properties"], *(two.answer or {})["properties"]}
    again = Task.from_json(json.loads(canonical(task.to_json())))
    assert canonical(again.to_json()) == canonical(task.to_json())
    assert joined(task.parts, "a", 7) != joined(task.parts, "a", 8)


def test_fields_of_two_types_have_no_form(pool: FamilyTasks):
    task = composed(pool)
    lend = replace(task.parts[0], answer={"properties": {"outcome": {"type": "integer"}}})
    assert shared_form(None, [part.answer for part in task.parts])[0]
    assert shared_form(None, [lend.answer, task.parts[0].answer]) == (False, None)


def test_people_who_are_signed_in_do_not_share_a_conversation(pool: FamilyTasks):
    task = pool.task(pool.families[0].id, 0, 7)
    assert setting(task) == setting(replace(task, id="another"))
    assert setting(task) != setting(replace(task, system=f"{task.system}\n\nSigned in: Ada."))


def test_what_was_read_is_not_read_again_after_a_write_elsewhere(
    world: World, template: Template, pool: FamilyTasks
):
    loans = [pool.task("lend_book", place, 7) for place in range(pool.capacity("lend_book"))]
    renewals = [pool.task("renew_all", place, 7) for place in range(pool.capacity("renew_all"))]
    first, second = next(
        (renewal, loan)
        for renewal in renewals
        for loan in loans
        if loan.case == "free" and loan.slots["name"] == renewal.slots["name"]
    )
    task, gold = asyncio.run(prove_and_keep(joined([first, second], "ab", 7), world, template))
    tools = [outcome.call.name for outcome in gold.run.outcomes]
    assert (tools.count("find_member"), tools.count("list_loans"), tools.count("lend")) == (1, 1, 1)
    assert tools.index("renew") < tools.index("find_book")
    assert reward_of(Attack("gold", "", moves_of(gold.run)), task, world, template) == 1.0
    other = next(one for one in renewals if one.slots["name"] != first.slots["name"])
    three = joined([first, other, second], "abc", 7)
    task, gold = asyncio.run(prove_and_keep(three, world, template))
    searched = [dict(o.arguments) for o in gold.run.outcomes if o.call.name == "find_member"]
    assert len(searched) == 2, "the other member's search, under the same name, is in between"


def test_no_two_requests_are_about_one_thing_but_a_change_to_what_was_asked_about():
    world = load_world(EXAMPLES / "shop")
    writers = {tool.name for tool in world.tools if not tool.read_only}
    with world.template() as template:
        pool = FamilyTasks(world, template)
        plan = plan_of(pool, 60, {"3": 1.0})
        for task in map(plan.task, range(60)):
            asked, changed = set[object](), set[object]()
            for part in task.parts:
                product, acts = part.slots.get("product"), (part.gate("reply") or Gate("")).options
                writes = not writers.isdisjoint(acts["acts"])
                assert product is None or product not in (changed if writes else asked | changed)
                (changed if writes else asked).update([product] if product else [])


def test_who_asked_about_an_opened_thing_does_not_return_it_unopened():
    world = load_world(EXAMPLES / "shop")
    with world.template() as template:
        pool = FamilyTasks(world, template)
        fees = [pool.task("fee_for_opened_electronics", index, 1) for index in range(9)]
        returns = [pool.task("return_request", index, 1) for index in range(60)]
        product = {one.slots["product"] for one in fees} & {one.slots["product"] for one in returns}
        fee, later = (
            next(one for one in tasks if one.slots["product"] in product)
            for tasks in (fees, returns)
        )
        asked, returned = (facts_of(task, frozenset()) for task in (fee, later))
        assert returned.contradicts([asked])
        assert not returned.contradicts([returned])


def test_every_request_has_to_be_done(world: World, template: Template, pool: FamilyTasks):
    task, gold = asyncio.run(prove_and_keep(composed(pool), world, template))
    moves = moves_of(gold.run)
    assert task.end is not None
    assert task.end.answer is not None
    assert set(task.end.answer) == {"1", "2"}
    assert reward_of(Attack("gold", "", moves), task, world, template) == 1.0
    says = [index for index, move in enumerate(moves) if isinstance(move, SayStep)]
    halves = {
        "first only": moves[: says[0] + 1],
        "second only": [*moves[says[0] : says[0] + 1], *moves[says[0] + 1 :]],
        "silence": [],
        "other order": [*moves[says[0] + 1 :], *moves[: says[0] + 1]],
    }
    for name, half in halves.items():
        assert reward_of(Attack(name, "", half), task, world, template) == 0.0, name


def reward_of(attack: Attack, task: Task, world: World, template: Template) -> float | None:
    return asyncio.run(play(attack, task, world, template, Limits())).score.reward


def test_a_request_that_never_came_is_named(world: World, template: Template, pool: FamilyTasks):
    task, gold = asyncio.run(prove_and_keep(composed(pool), world, template))
    attack = Attack("lazy", "", moves_of(gold.run)[:1])
    verdicts = asyncio.run(play(attack, task, world, template, Limits())).score.verdicts
    assert any("request 2: never came" in verdict.reason for verdict in verdicts)


@pytest.mark.parametrize(("query", "left"), [("ada@example.org", 1), ("Ada", 2)])
def test_the_id_of_what_was_shown_is_searched_by_a_shared_name_only(query: str, left: int):
    ada = {"customer_id": 7, "email": "ada@example.org", "name": "Ada"}
    order, search = CallStep("order"), CallStep("find", save={"cid": "$.found[0].customer_id"})
    reads: dict[int, Reading] = {id(order): ("order", {}, {"owner": ada})}
    reads[id(search)] = ("find", {"query": query}, {"found": [ada]})
    taken = CallStep("order", save={"cid": "$['owner']['customer_id']"})
    steps = [taken] if left == 1 else [order, search]
    assert [*without_repeats([order, search], reads).values()] == steps
    steps = [order, CallStep("get", save={"cid": "$.customer"}), search]  # saved anew
    assert [*without_repeats(steps, reads).values()] == steps


def test_requests_that_change_the_same_row_are_refused(
    world: World, template: Template, pool: FamilyTasks
):
    task = pool.task("renew_all", 0, 7)
    with pytest.raises(TaskError, match=r"composed task"):
        asyncio.run(prove_and_keep(joined([task, task], "ab", 7), world, template))


def test_a_new_request_begins_the_conversation_anew(pool: FamilyTasks):
    role = composed(pool).role
    user = ScriptedUser().start(role, 3)

    async def talk() -> list[UserTurn]:
        return [await user.reply("It is done."), await user.reply("All done.")]

    second, end = asyncio.run(talk())
    assert (second.then, second.text) == (0, role.then[0].says)
    assert end.ends
    assert user.role.knows == role.then[0].knows


def test_turns_take_each_place_once():
    share = {"a": 3, "b": 1, "c": 2}
    places = [turns(share, index) for index in range(6)]
    assert places[:3] == [("a", 0), ("b", 0), ("c", 0)]
    assert sorted(places) == [(name, place) for name in share for place in range(share[name])]
    with pytest.raises(IndexError):
        turns(share, 6)


def test_a_plan_spreads_composed_tasks(pool: FamilyTasks):
    plan = plan_of(pool, 8)
    assert plan.blocks[0].composed == {2: 4}
    kinds = [bool(plan.task(index).parts) for index in range(8)]
    assert kinds == [plan.is_composed(index) for index in range(8)] == [False, True] * 4
    tasks = [plan.task(index) for index in range(8)]
    assert len({task.id for task in tasks}) == 8
    assert tasks == [plan_of(pool, 8).task(index) for index in range(8)]
    assert plan.digest() != Plan.make([pool], 8, 1, 7).digest()


def test_another_attempt_has_other_parts_then_fewer_until_there_are_none(pool: FamilyTasks):
    plan = plan_of(pool, 8, {3: 0.5})
    index = next(index for index in range(8) if plan.is_composed(index))
    tried: list[Task] = []
    with pytest.raises(TaskError, match=r"tasks.compose: 2 requests of universe 0 .* not found"):
        tried += (plan.task(index, attempt) for attempt in (0, *range(1, 1000, 40)))
    sizes, distinct = [len(task.parts) for task in tried], {task.id for task in tried[:2]}
    assert (sorted(sizes)[::-1], {*sizes}, len(distinct)) == (sizes, {2, 3}, 2)


def test_one_family_is_too_few(world: World, template: Template):
    pool = FamilyTasks(world, template, ["renew_all"])
    with pytest.raises(OperatorError, match=r"tasks.compose: 2 requests .* universe 0 has 1"):
        plan_of(pool, 2)


@pytest.mark.parametrize("value", [{9: 0.1}, {2: 0}, {2: 0.8, 3: 0.4}, {2: "much"}, [2], {}])
def test_a_wrong_share_is_one_message(value: object):
    with pytest.raises(OperatorError, match=r"tasks.compose: must map 2 to 8 requests"):
        synth.run("env=library", tasks={"compose": value})


@pytest.mark.slow
def test_a_held_out_family_is_in_no_composed_task_of_the_first_split(tmp_path: Path):
    run = synth.run(
        "env=shop",
        tasks={
            "count": 20,
            "compose": {2: 0.5, 3: 0.2},
            "universes": 2,
            "splits": {"train": [0], "test": [1]},
            "held_out": ["cancel_order", "gift_card_balance", "spent_so_far"],
        },
        output={"dir": str(tmp_path / "run")},
    )
    assert all(row["reward"] == 1.0 for row in run.dataset)
    families: dict[str, set[str]] = {"train": set(), "test": set()}
    for row in TaskTable(tmp_path / "run" / "tasks.parquet").rows():
        families[row["split"]] |= set(row["family"].split("+"))
        parts = Task.from_json(row["task"]).parts
        assert all(part.split == row["split"] for part in parts)
    held = {"cancel_order", "gift_card_balance", "spent_so_far"}
    assert not held & families["train"]
    assert held & families["test"]
    assert not synth.replay(tmp_path / "run").differences
    assert synth.grade(tmp_path / "run").same
    assert synth.grade(tmp_path / "run", world=EXAMPLES / "shop").same


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shop", "ehr_db"])
def test_no_attack_on_a_composed_task_wins(name: str):
    world = load_world(EXAMPLES / name)
    with world.template("sqlite", 0) as template:
        plan = plan_of(FamilyTasks(world, template), 3, compose={2: 0.6, 3: 0.4})
        asyncio.run(_attack(plan, world, template))


async def _attack(plan: Plan, world: World, template: Template) -> None:
    for index in range(plan.tasks):
        task, gold = await _first_that_stands(plan, index, world, template)
        family = TaskFamily(task.family, "tasks.yaml", 1, "")
        report = FamilyReport(task.family, 1, 1)
        runner = AttackRunner(family, world, template, Limits(), report)
        await runner.run([Case(task, gold.evidence, moves_of(gold.run))], [])
        assert not report.problems
        assert not report.surviving
        assert report.killed.total() > 0


async def _first_that_stands(plan: Plan, index: int, world: World, template: Template):
    for attempt in range(30):
        try:
            return await prove_and_keep(plan.task(index, attempt), world, template)
        except TaskError:
            continue
    raise AssertionError(f"no candidate of task {index} stands")
