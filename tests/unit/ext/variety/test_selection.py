"""Weights of families, a range of difficulty, and a plan in its order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.config import problems
from synth.core.config.compose import compose
from synth.core.dataset.store.task_table import TaskTable
from synth.core.tasks.families import FamilyTasks
from synth.core.types.difficulty import difficulty
from synth.core.types.phrasings import JOIN
from synth.core.types.steps import (
    AskStep,
    BranchStep,
    CallStep,
    Condition,
    FollowUpStep,
    LoopStep,
    ReplyStep,
    SubmitStep,
)
from synth.errors import OperatorError, TaskError
from synth.ext.variety import selection
from synth.ext.variety.config import SelectionConfig
from synth.plan import Plan, shares
from synth.prepare import prepare
from synth.task import Task
from synth.transform import TaskTransform
from synth.user import FollowUp, UserRole

EXAMPLES = Path(__file__).parents[4] / "examples"
CALL, FAILING = CallStep("read", {}), CallStep("write", {}, fails="conflict")
QUERY = (
    "SELECT name, count(*) FROM people JOIN orders USING (id) WHERE note = 'left JOIN'"
    " GROUP BY name HAVING count(*) > (SELECT 3)"
)


def planned(pool: FamilyTasks, count: int, *more: TaskTransform, **keys: Any) -> Plan:
    """A plan with these keys of ``tasks``."""
    return Plan.make([pool], count, 1, 7, [selection.TaskSelection(SelectionConfig(**keys)), *more])


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([], 0),
        ([ReplyStep("Done.")], 0),
        ([CALL, SubmitStep({"n": 1}), ReplyStep("Done.")], 2),
        ([FAILING], 2),
        ([LoopStep("item", "$items", [CALL, FAILING])], 6),
        ([BranchStep([Condition("$a")], [CALL, CALL], [CALL])], 3),
        ([AskStep(["dose"], "Which dose?"), FollowUpStep(0, "done"), CALL], 3),
        ([CallStep("submit_sql", {"query": QUERY})], 5),
        ([CallStep("note", {"text": "JOIN us; GROUP BY age"})], 1),
    ],
)
def test_difficulty_counts_the_work_of_gold(steps: list[object], number: int):
    task = Task("one", "one", "shop", "One.", steps)  # pyright: ignore
    assert difficulty(task) == number


def test_a_composed_task_is_as_difficult_as_its_requests(pool: FamilyTasks):
    plan = planned(pool, 8, compose={2: 0.5})
    for index in range(8):
        task = plan.task(index)
        more = len(task.parts) - 1 if task.parts else 0
        parts = sum(map(difficulty, task.parts)) if task.parts else difficulty(task)
        together = sum(len(part.gold) for part in task.parts) + more
        known = together - len(task.gold) if task.parts else 0  # reads that are not made again
        assert difficulty(task) == parts + more - known


def test_shares_follow_weights_and_capacities():
    assert selection.shares_by({"a": 2.0, "b": 1.0}, 12, {"a": 99, "b": 99}) == {"a": 8, "b": 4}
    assert selection.shares_by({"a": 2.0, "b": 1.0}, 12, {"a": 5, "b": 99}) == {"a": 5, "b": 7}
    assert selection.shares_by({"a": 1.0, "b": 1.5}, 1, {"a": 9, "b": 9}) == {"a": 0, "b": 1}
    for count in range(25):
        sizes = {"a": 3, "b": 9, "c": 13}
        equal = selection.shares_by(dict.fromkeys(sizes, 2.0), count, sizes)
        assert sum(equal.values()) == count
        assert all(abs(equal[name] - own) <= 1 for name, own in shares(count, sizes).items())


def test_what_families_lack_is_filled_up_by_weight():
    given = {"a": 9, "b": 1, "c": 2}
    assert selection.top_up(7, given, None) == {"b": 4, "c": 3}  # a has more than its share
    assert selection.top_up(18, given, None) == {"a": 1, "b": 9, "c": 8}
    assert selection.top_up(8, {"a": 0, "b": 0}, {"a": 3.0, "b": 1.0}) == {"a": 6, "b": 2}


@pytest.mark.parametrize("limit", [pytest.param("null", marks=pytest.mark.long), "0.5"])
def test_families_have_equal_shares_with_the_parts_of_composed_tasks(limit: str):
    """Summed over six draws, so that a bound says more than that one draw was lucky."""
    found, expected = Counter[str](), Counter[str]()
    for seed in range(1, 7):
        options = ["env=shop", "tasks.count=420", "tasks.compose={2: 0.5, 3: 0.3}"]
        limited = f"tasks.max_near_duplicates={limit}"
        plan = prepare(compose([*options, limited, f"seed={seed}"])[0].config).plan
        found.update(name for index in range(420) for name in plan.task(index).family.split(JOIN))
        expected.update(plan.blocks[0].requests)
    even = found.total() / len(found)
    assert max(found.values()) < 1.6 * even
    assert min(found.values()) > 0.6 * even
    assert expected.total() == pytest.approx(found.total(), abs=3 * len(found))
    assert all(abs(expected[name] - count) < 0.6 * even for name, count in found.items())


def test_each_query_is_asked_in_one_split_and_the_tasks_of_a_family_take_turns():
    options = ["experiment=sft", "tasks.universes=2", "tasks.splits={train: [0], test: [1]}"]
    plan = prepare(compose(["env=shop_sql", "tasks.count=60", *options])[0].config).plan
    asked = [one for index in range(60) for one in plan.task(index).parts or [plan.task(index)]]
    families = {(one.universe, one.family) for one in asked if one.gate("sql")}
    assert len({family for _, family in families}) == len(families) > 40
    assert len({universe for universe, _ in families}) == 2
    assert len(asked) - len({one.id for one in asked}) < 0.055 * len(asked)  # 0.14 without turns


def test_the_last_pattern_that_fits_decides():
    names = ["lend_book", "lend_unread", "renew_all"]
    found = selection.weights_of({"lend_*": 2.0, "lend_unread": 0.5}, names)
    assert found == {"lend_book": 2.0, "lend_unread": 0.5, "renew_all": 1.0}
    with pytest.raises(OperatorError, match=r"tasks.weights: .*'renew'.*renew_all"):
        selection.weights_of({"renew": 2.0}, names)


@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_weight_of_three_gives_three_times_as_many(pool: FamilyTasks, limit: float | None):
    weights = {"renew_all": 3.0}
    weights["lend_unread"] = 0.001
    plan = planned(pool, 16, weights=weights, max_near_duplicates=limit)
    assert plan.share == {"lend_book": 4, "renew_all": 12, "lend_unread": 0}
    assert Counter(plan.task(index).family for index in range(16))["renew_all"] == 12
    assert not plan.shortfalls
    plan = planned(pool, 30, weights={"lend_unread": 8.0})
    assert plan.share["lend_unread"] == 2
    assert plan.shortfalls == {"lend_unread": (2, 24)}


def test_a_range_of_difficulty_holds_for_all_tasks(pool: FamilyTasks):
    plan = planned(pool, 12, difficulty={"min": 5, "max": 6})
    found = [plan.task(index) for index in range(plan.tasks)]
    assert {difficulty(task) for task in found} <= {5, 6}
    (block,) = plan.blocks
    assert isinstance(block, selection.SelectedBlock)
    assert block.refused["difficulty"] > 0
    composed = planned(pool, 8, compose={2: 1.0}, difficulty={"min": 9})
    assert all(difficulty(composed.task(index)) >= 9 for index in range(composed.tasks))


def test_transforms_are_named_once_and_options_belong_to_one_that_is_listed():
    listed = {"transforms": ["a.b:C", "a.b:C", "nowhere"], "transform_options": {"d.e:F": {}}}
    lines = "\n".join(problems({"tasks": listed}))
    assert "tasks.transforms: 'a.b:C' is listed twice" in lines
    assert "nowhere" in lines
    assert "tasks.transform_options.d.e:F: tasks.transforms does not list it" in lines


def test_what_no_task_has_is_refused(pool: FamilyTasks):
    with pytest.raises(OperatorError, match=r"tasks.difficulty: .* of 40 on"):
        planned(pool, 3, difficulty={"min": 40})
    plan = planned(pool, 4, compose={2: 1.0}, difficulty={"max": 1})
    with pytest.raises(TaskError, match="in the ranges that are asked"):
        plan.task(0)


def test_a_plan_in_the_order_of_difficulty(pool: FamilyTasks):
    usual = planned(pool, 20, compose={2: 0.3})
    plan, again = (planned(pool, 20, selection.ByDifficulty(), compose={2: 0.3}) for _ in range(2))
    tasks = [plan.task(index) for index in range(20)]
    levels = [difficulty(task) for task in tasks]
    assert levels == sorted(levels)
    assert {task.id for task in tasks} == {usual.task(index).id for index in range(20)}
    assert [plan.is_composed(index) for index in range(20)] == [bool(task.parts) for task in tasks]
    assert plan.digest() != usual.digest()
    assert [task.id for task in tasks] == [again.task(index).id for index in range(20)]


def test_a_follow_up_counts():
    user = UserRole("One.", then=[FollowUp("done", "And two.")])
    task = Task("one", "one", "shop", "One.", [CALL, FollowUpStep(0, "done"), CALL], user=user)
    assert difficulty(task) == difficulty(replace(task, gold=[CALL, CALL])) + 1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("weights", {"lend_book": 0}, "must map families"),
        ("weights", {}, "must map families"),
        ("weights", {"lend_bok": 2}, r"no family is named like 'lend_bok'.*lend_book"),
        ("difficulty", {"min": 5, "max": 3}, "must be a range"),
        ("difficulty", {"least": 3}, "must be a range"),
        ("difficulty", 3, "must be a range"),
        ("order", "hardest", "turns.*difficulty"),
    ],
)
def test_a_wrong_value_is_one_message(key: str, value: object, message: str):
    with pytest.raises(OperatorError, match=rf"tasks.{key}: .*{message}"):
        synth.run("env=library", tasks={key: value})


def test_a_run_asks_the_easiest_tasks_first(tmp_path: Path):
    run = synth.run(
        "env=library",
        "runtime=inline",
        tasks={
            "count": 12,
            "weights": {"renew_*": 2},
            "difficulty": {"min": 3, "max": 6},
            "order": "difficulty",
        },
        output={"dir": str(tmp_path / "run")},
    )
    assert [row["reward"] for row in run.dataset] == [1.0] * 12
    rows = TaskTable(tmp_path / "run" / "tasks.parquet").rows()
    levels = [difficulty(Task.from_json(row["task"])) for row in rows]
    assert levels == sorted(levels)
    assert set(levels) <= {3, 4, 5, 6}
    assert len(set(levels)) > 1
