"""Tasks as functions of family and index: their wording, their user and what they are judged by."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.types.checks import Gate
from synth.core.types.steps import CallStep
from synth.task import Task
from synth.user import UserRole
from tests.unit.small_world import make

TALK = """\
now: "2026-03-02T09:00:00"
transient: forbid
families:
- id: plan
  ground: {key: item_id, sql: "SELECT item_id, name, price, note FROM items"}
  vary:
    day: {date: ["2026-04-01", "2026-04-20"]}
    colour: {sql: "SELECT colour FROM items"}
    who: {fake: name, count: 30}
  cases: {cheap: price < 100, dear: price >= 100}
  user:
    says: ["Plan {name}.", "{name}?", "Please plan {name}!"]
    signed_in: "Signed in: {who}."
    persona: [a clerk, a child, an old man]
    knows: {day: ["{day}.", "On {day}.", "Make it {day}."]}
    agrees_if: {mentions: ["{name}", "{day}"], says: [Yes., Do., "Go on."], declines: {dear: [No., Never.]}}
  gold:
  - find_items: {name: "{name}"}
  - ask: day
  - confirm: ["{name} on {day}?", "{day}: {name}?"]
  - cheap: [{plan_item: {name: "{name}", due: "{day}", colour: "{colour}", note: "{note}"}}]
  - dear: [{say: As you like.}]
  - say: [Done., Well., Good.]
  alternatives: {any_of: [{must: "SELECT due = :day FROM items WHERE item_id = :item_id", may_change: {items: "item_id = :item_id"}}]}
  gates: [state, {no_write_before: [ask, confirm]}, {says: {none: ["{who}"]}}]
- id: silent
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  user: {says: "What of {name}?"}
  gold: [{say: x}]
"""


@pytest.fixture
def source(tmp_path: Path) -> FamilyTasks:
    folder = make(tmp_path / "w")
    (folder / "tasks.yaml").write_text(TALK, "utf-8")
    world = load_world(folder)
    with world.template() as template:
        return FamilyTasks(world, template)


def test_a_copy_of_a_world_in_another_folder_has_the_same_tasks(
    source: FamilyTasks, tmp_path: Path
):
    other = load_world(shutil.copytree(source.world.path, tmp_path / "other"))
    with other.template() as template:
        copied = FamilyTasks(other, template)
    for family in ("plan", "silent"):
        ours, theirs = (
            [pool.task(family, at, 7) for at in range(pool.capacity(family))]
            for pool in (source, copied)
        )
        assert theirs == [replace(one, env="other") for one in ours]


def tasks(source: FamilyTasks, count: int = 60) -> list[Task]:
    return [source.task("plan", at, 7) for at in range(count)]


def user(task: Task) -> UserRole:
    assert task.user is not None
    return task.user


def test_a_task_travels_whole(source: FamilyTasks):
    for task in (*tasks(source, 4), source.task("silent", 0, 7)):
        assert Task.from_json(task.to_json()) == task


def test_capacity_counts_columns_values_and_names(source: FamilyTasks):
    """Three items, two of one colour; twenty days, thirty names."""
    assert source.capacity("plan") == 3 * 20 * 2 * 30
    ids = {each.id for each in tasks(source, 1000)}
    assert len(ids) == 1000


def test_the_wording_of_request_and_reply_hangs_on_the_seed_as_ever(source: FamilyTasks):
    """Tasks of earlier datasets keep their words."""
    for task in tasks(source):
        name = task.slots["name"]
        assert task.prompt == [f"Plan {name}.", f"{name}?", f"Please plan {name}!"][task.seed % 3]
        assert task.gold[-1].text == ["Done.", "Well.", "Good."][(task.seed >> 8) % 3]


def test_every_text_is_drawn_on_its_own(source: FamilyTasks):
    drawn = [
        (
            task.prompt.replace(task.slots["name"], ""),
            user(task).persona,
            user(task).knows["day"].says.replace(task.slots["day"], ""),
            user(task).consent.says,
            task.gold[2].text.startswith(task.slots["day"]),
        )
        for task in tasks(source, 600)
    ]
    for one in range(5):
        for other in range(one):
            pairs = {(each[one], each[other]) for each in drawn}
            assert len(pairs) == len({each[one] for each in drawn}) * len(
                {each[other] for each in drawn}
            )


def test_the_system_message_ends_with_who_is_signed_in(source: FamilyTasks):
    task = source.task("plan", 0, 7)
    assert task.system.startswith("Be careful.\n\nIt is Monday, 2026-03-02 ")
    assert task.system.endswith(f"\n\nSigned in: {task.slots['who']}.")
    assert "Signed in" not in source.task("silent", 0, 7).system


def test_the_user_of_a_task(source: FamilyTasks):
    cheap = next(task for task in tasks(source) if task.case == "cheap")
    dear = next(task for task in tasks(source) if task.case == "dear")
    assert user(cheap).opening == cheap.prompt
    assert user(cheap).consent.mentions == [cheap.slots["name"], cheap.slots["day"]]
    assert user(cheap).consent.declines is None
    assert user(dear).consent.declines in {"No.", "Never."}
    assert source.task("silent", 0, 7).user is None


def test_what_it_is_judged_by(source: FamilyTasks):
    task = source.task("plan", 0, 7)
    assert list(task.rules.alternatives[0].must) == [
        "SELECT due = :day FROM items WHERE item_id = :item_id"
    ]
    assert task.rules.transient == "forbid"
    assert task.gates[-1].name == "reply"
    assert task.gates[:-1] == (
        Gate("state"),
        Gate("no_write_before", ["ask", "confirm"]),
        Gate("says", {"none": [task.slots["who"]]}),
    )


def test_an_argument_that_is_null_is_left_out(source: FamilyTasks):
    cheap = next(task for task in tasks(source) if task.case == "cheap")
    call = next(
        step for step in cheap.gold if isinstance(step, CallStep) and step.tool == "plan_item"
    )
    assert cheap.slots["note"] is None
    assert set(call.arguments) == {"name", "due", "colour"}


def test_the_universe_is_part_of_the_identity(source: FamilyTasks):
    with source.world.template() as template:
        other = FamilyTasks(source.world, template, ["silent"], universe=3)
    assert other.task("silent", 0, 7).universe == 3
    mine = {source.task("silent", at, 7).id for at in range(3)}
    assert mine.isdisjoint(other.task("silent", at, 7).id for at in range(3))
