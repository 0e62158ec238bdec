"""``tasks.max_near_duplicates``: which tasks a plan leaves out, and what takes their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envs.world.loader import load_world
from synth.core.dataset.variety import Variety
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import BranchStep, ReplyStep
from synth.ext.variety import distinct
from synth.ext.variety.composer import LastWords
from synth.ext.variety.config import SelectionConfig
from synth.ext.variety.distinct import MOST_REFUSED, Filters, Openings
from synth.ext.variety.selection import SelectedBlock, TaskSelection
from synth.plan import Plan
from synth.task import Task
from tests.unit.runner.test_plan import WORLD

FILES = {
    "schema.sql": "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
    "seed.sql": "INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy'), (4, 'Di');",
    "executors.py": WORLD["executors.py"],
    "tasks.yaml": """
families:
- id: alike
  ground: {key: id, sql: "SELECT id, name FROM people WHERE id = 1"}
  vary: {day: {int: [1, 99]}}
  user: {says: "Good morning, please find the record of {name} for me, I need it today to fill in
    the form of the insurance that they sent me last week, on page {day}"}
  gold: [{find: {name: "{name}"}}, {say: "Found {name}."}]
- id: short
  ground: {key: id, sql: "SELECT id, name FROM people"}
  vary: {day: {int: [1, 99]}}
  user: {says: ["Is {name} here on day {day}?", "Day {day}: find {name}."]}
  gold: [{find: {name: "{name}"}}, {say: "Found {name}."}]
- id: other
  ground: {key: id, sql: "SELECT id, name FROM people"}
  user: {says: "Who is called {name}?"}
  gold: [{find: {name: "{name}"}}, {say: "Found {name}."}]
""",
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FamilyTasks]:
    folder = tmp_path_factory.mktemp("distinct") / "people"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    with (world := load_world(folder)).template() as template:
        yield FamilyTasks(world, template)


def planned(pool: FamilyTasks, count: int, seed: int = 7, **keys: Any) -> Plan:
    """A plan with these keys of ``tasks``."""
    chosen = [TaskSelection(SelectionConfig(**keys))] if keys else []
    return Plan.make([pool], count, 1, seed, chosen)


def left_out(plan: Plan) -> int:
    (block,) = plan.blocks
    assert isinstance(block, SelectedBlock)
    return block.refused["max_near_duplicates"]


def tasks_of(plan: Plan) -> list[Task]:
    return [plan.task(index) for index in range(plan.tasks)]


def measured(plan: Plan) -> int:
    """The near-duplicates that `synth inspect` would count."""
    variety = Variety()
    for task in tasks_of(plan):
        variety.add(task.id, [{"role": "user", "content": task.prompt}])
    return variety.to_json()["requests"]["near_duplicates"]


@pytest.mark.parametrize("most", [0.0, 0.02, 0.1, 1.0])
def test_no_more_than_the_share_is_a_near_duplicate_and_others_take_their_places(
    pool: FamilyTasks, most: float
):
    plan = planned(pool, 90, max_near_duplicates=most)
    assert plan.tasks == len({task.id for task in tasks_of(plan)}) == 90
    assert measured(plan) <= most * 90
    assert measured(Plan.make([pool], 90, 1, 7)) >= 28  # what it would be without
    assert (left_out(plan) > 0) is (most < 1.0)


def test_the_same_seed_gives_the_same_plan_and_the_share_is_in_its_digest(pool: FamilyTasks):
    free, any_share = (planned(pool, 50, max_near_duplicates=m) for m in (None, 1.0))
    assert [task.id for task in tasks_of(free)] == [task.id for task in tasks_of(any_share)]
    one, two = (planned(pool, 60, max_near_duplicates=0.0) for _ in range(2))
    assert [task.id for task in tasks_of(one)] == [task.id for task in tasks_of(two)]
    assert one.digest() == two.digest()
    assert one.digest() != Plan.make([pool], 60, 1, 7).digest()
    assert one.digest() != planned(pool, 60, 8, max_near_duplicates=0.0).digest()


def test_families_take_turns_and_an_exhausted_one_is_named(pool: FamilyTasks):
    plan = planned(pool, 30, max_near_duplicates=0.0)
    assert plan.share == {"alike": 1, "short": 25, "other": 4}
    assert plan.shortfalls == {"alike": (1, 10), "other": (4, 10)}
    families = [task.family for task in tasks_of(plan)]
    assert set(families[:3]) == {"alike", "short", "other"}
    assert set(families[3:5]) == {"short", "other"}


def test_what_no_other_task_can_replace_is_lacking(pool: FamilyTasks):
    everything = sum(pool.capacity(family.id) for family in pool.families)
    plan = planned(pool, everything, max_near_duplicates=0.0)
    assert plan.lacking == everything - plan.tasks > 0
    assert plan.lacking == left_out(plan) == 98
    assert measured(plan) == 0
    composed = planned(pool, everything, compose={2: 0.5}, max_near_duplicates=0.0)
    assert composed.lacking > measured(composed) == 0
    tasks_of(composed)  # each of them can be made


def test_composed_tasks_begin_with_requests_of_their_own(pool: FamilyTasks):
    compose = {2: 0.4, 3: 0.1}
    assert measured(planned(pool, 40, compose=compose)) >= 15  # composed tasks begin as others do
    plan = planned(pool, 40, compose=compose, max_near_duplicates=0.0)
    assert plan.blocks[0].composed == {2: 16, 3: 4}
    assert measured(plan) == 0
    for attempt in range(3):  # other partners, and then another first request
        prompts = [
            plan.task(index, attempt * plan.is_composed(index)).prompt for index in range(40)
        ]
        assert len(set(prompts)) == 40


def test_the_search_for_others_in_one_family_is_bounded(pool: FamilyTasks):
    assert left_out(planned(pool, 5, max_near_duplicates=0.0)) <= MOST_REFUSED + 2


def ending(name: Any, *replies: Any, says: str = "Please see to it.") -> Task:
    """A task whose gold ends in one of these replies."""
    steps = [ReplyStep(reply) for reply in replies]
    gold = [BranchStep([], steps[:1], steps[1:])] if steps[1:] else steps
    return Task(name, "f", "e", says, gold, key=name)


def closes(filters: Filters, task: Task) -> bool:
    return filters.closes(task, LastWords.of(task))


def test_few_tasks_end_alike_whatever_branch_is_taken(monkeypatch: pytest.MonkeyPatch):
    filters, asked = Filters(Openings(1.0), Openings(1.0), {}), "What is left in there today?"
    here, away = ({"$text": ["There are now ", {"$": "n"}, end]} for end in (" here.", " away."))
    ends = ("a", here, "Gone."), ("b", away), ("c", "Not asked.", "Gone."), ("d", "Not asked.")
    assert [closes(filters, ending(*one)) for one in ends] == [True, False, False, True]
    monkeypatch.setattr(distinct, "MOST_BEGUN", 9.0)
    filters = Filters(Openings(1.0), Openings(0.0), {})
    assert filters.take(ending("a", "It is done."))
    left = [{"$text": [{"$": f"left@{at}", "path": ["sum"]}, " are left."]} for at in range(2)]
    assert filters.take(ending("b", left[0])), "alone, in the words of another request"
    assert [closes(filters, ending(name, left[1], says=asked)) for name in "bc"] == [False, True]


def test_wordings_are_alike_by_what_stands_between_their_values():
    text, slots = "Pack Ada, send Bo, lift Ada, move Bo, drop Ada.", {"1": {"a": "Ada", "b": "Bo"}}
    first, second = (
        Task(reply, "f", "e", greeting + text, [ReplyStep(reply)], slots)
        for reply, greeting in (("Packed, and all the rest.", ""), ("That is done.", "Hi. "))
    )
    filters = Filters(None, Openings(0), {})
    assert closes(filters, first)
    assert not closes(filters, second)
