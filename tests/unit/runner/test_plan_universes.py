"""The plan over several universes: even shares, contiguous splits, families that are held out, and
no row in two splits.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import load_world
from synth.config import from_dict
from synth.core.tasks.families import FamilyTasks
from synth.errors import OperatorError
from synth.plan import Plan, shares
from synth.prepare import PreparedRun, prepare
from synth.task import Task
from tests.unit.runner.test_plan import SIZES, make_world

SEED = """\
def rows(universe, random):
    for n in range(6):
        yield "patients", {"patient_id": universe * 100 + n, "name": f"{random.choice(['Ada', 'Bo'])} {universe}-{n}"}
"""
SPLITS = {"train": [0, 2], "dev": [3], "test": [1]}
ALL = {"train": range(4)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_world(tmp_path_factory.mktemp("universes") / "clinic")
    tasks = (
        (made / "tasks.yaml")
        .read_text("utf-8")
        .replace("WHERE patient_id = 1", "WHERE patient_id % 100 = 1")
    )
    (made / "tasks.yaml").write_text(
        tasks.replace("> 2", "% 100 > 2").replace("<= 2", "% 100 <= 2"), "utf-8"
    )
    (made / "seed.py").write_text(SEED, "utf-8")
    return made


@pytest.fixture(scope="module")
def sources(folder: Path) -> list[FamilyTasks]:
    """Four universes, each with a capacity of 127 tasks."""
    world, out = load_world(folder), list[FamilyTasks]()
    for universe in range(4):
        with world.template(universe=universe) as template:
            out.append(FamilyTasks(world, template, universe=universe))
    return out


def planned(
    sources: list[FamilyTasks],
    count: int,
    splits: Mapping[str, Iterable[int]] | None = None,
    held_out: Collection[str] = (),
):
    pools = {
        name: [sources[at].without(held_out if name == "train" else ()) for at in own]
        for name, own in (splits or ALL).items()
    }
    plan = Plan.make(pools, count, 1, 7)
    return plan, [plan.task(at) for at in range(count)]


def runs(tasks: Iterable[Task], name: str) -> list[Any]:
    """The values of a field in their order, neighbours that agree taken as one."""
    values = [getattr(task, name) for task in tasks]
    return [value for at, value in enumerate(values) if not at or values[at - 1] != value]


def prepared(folder: Path, **tasks: Any) -> PreparedRun:
    return prepare(from_dict({"env": {"path": str(folder)}, "tasks": tasks}))


def test_without_splits_all_is_train_universe_by_universe(sources: list[FamilyTasks]):
    plan, tasks = planned(sources, 200)
    assert plan.splits == {"train": 200}
    assert runs(tasks, "split") == ["train"]
    assert runs(tasks, "universe") == [0, 1, 2, 3]
    assert set(Counter(task.universe for task in tasks).values()) == {50}


def test_a_split_is_one_stretch_and_its_universes_are_stretches_in_it(sources: list[FamilyTasks]):
    plan, tasks = planned(sources, 200, SPLITS)
    assert plan.splits == {"train": 100, "dev": 50, "test": 50}
    assert runs(tasks, "split") == ["train", "dev", "test"]
    assert runs(tasks, "universe") == [0, 2, 3, 1]
    assert {(task.split, task.universe) for task in tasks} == {
        ("train", 0),
        ("train", 2),
        ("dev", 3),
        ("test", 1),
    }


@pytest.mark.parametrize("count", [4, 5, 23, 201, 508])
def test_shares_are_even_over_universes_and_over_families_in_each(
    sources: list[FamilyTasks], count: int
):
    plan, tasks = planned(sources, count, SPLITS)
    by_universe = Counter(task.universe for task in tasks)
    assert max(by_universe.values()) - min(by_universe.values()) <= 1
    assert len({task.id for task in tasks}) == count
    assert Counter(task.family for task in tasks) == {
        name: share for name, share in plan.share.items() if share
    }
    for block in plan.blocks:
        own = Counter(task.family for task in tasks if task.universe == block.source.universe)
        assert own == {name: share for name, share in shares(block.tasks, SIZES).items() if share}


def test_one_universe_of_a_plan_is_planned_as_if_it_were_alone(sources: list[FamilyTasks]):
    _, tasks = planned(sources, 200, SPLITS)
    _, alone = planned(sources, 50, {"train": [0]})
    assert [task for task in tasks if task.universe == 0] == alone


def test_what_a_small_universe_cannot_supply_the_others_take(folder: Path, tmp_path: Path):
    small = tmp_path / "clinic"
    small.mkdir()
    for each in folder.glob("*.*"):
        text = each.read_text("utf-8").replace("range(6)", "range(6 if universe != 2 else 4)")
        (small / each.name).write_text(text, "utf-8")
    plan = prepared(small, count=450, universes=4).plan
    assert [block.tasks for block in plan.blocks] == [122, 122, 85, 121]
    assert plan.capacity("wide") == 3 * 120 + 80


def test_held_out_families_are_asked_in_every_split_but_the_first(sources: list[FamilyTasks]):
    plan, tasks = planned(sources, 120, SPLITS, held_out=["twins"])
    assert {task.split for task in tasks if task.family == "twins"} == {"dev", "test"}
    assert {task.split for task in tasks if task.family == "wide"} == {"train", "dev", "test"}
    assert plan.capacity("twins") == 12


def test_the_same_tasks_whatever_the_order_in_which_splits_list_their_universes(
    sources: list[FamilyTasks],
):
    """The names' order is the dataset's; the numbers' is not."""
    plan, tasks = planned(sources, 60, SPLITS)
    turned, same = planned(sources, 60, {"train": [2, 0], "dev": [3], "test": [1]})
    assert tasks == same
    assert plan.digest() == turned.digest()
    assert (
        plan.digest()
        != planned(sources, 60, {"test": [1], "dev": [3], "train": [0, 2]})[0].digest()
    )


def test_no_row_and_no_task_of_one_split_is_in_another(sources: list[FamilyTasks]):
    _, tasks = planned(sources, 508, SPLITS)
    seen: dict[str, set[str]] = {}
    for task in tasks:
        assert task.slots["name"] in task.prompt
        for thing in (task.id, f"key {task.key}", f"name {task.slots['name']}"):
            seen.setdefault(thing, set()).add(task.split)
    assert {len(splits) for splits in seen.values()} == {1}


@pytest.mark.parametrize(
    ("count", "held_out", "words"),
    [
        (509, (), ("tasks.count: 509 is more than the families can supply, which is 508 (universe 0 127, universe 1 127,")),
        (2, (), "tasks.splits: dev would get no task of tasks.count=2: too few tasks"),
        (9, ("small", "twins", "wide"), ("tasks.splits: train would get no task of tasks.count=9: every family is held out")),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_made_is_one_message(
    sources: list[FamilyTasks], count: int, held_out: tuple[str, ...], words: str
):
    with pytest.raises(OperatorError) as caught:
        planned(sources, count, {"train": [0, 1], "dev": [2], "test": [3]}, held_out=held_out)
    assert str(caught.value).startswith(words)


class TestPreparation:
    def test_a_held_out_family_that_does_not_exist_is_named(self, folder: Path):
        message = "tasks.held_out: unknown family 'twinz'; did you mean twins?"
        with pytest.raises(OperatorError, match=re.escape(message)):
            prepared(folder, count=9, universes=4, splits=SPLITS, held_out=["twinz"])

    def test_the_layout_has_the_plans_splits(self, folder: Path):
        run = prepared(folder, count=40, samples=3, universes=4, splits=SPLITS)
        assert run.layout.splits == (("train", 60), ("dev", 30), ("test", 30))
        assert run.layout.split_of(59) == "train"
        assert run.layout.split_of(60) == "dev"

    def test_without_seed_py_there_is_one_universe(self, tmp_path: Path):
        folder = make_world(tmp_path / "clinic")
        with pytest.raises(OperatorError, match=r"0 only: .*splits=null.*seed\.py in .*clinic"):
            prepared(folder, universes=2)

    def test_a_family_without_rows_in_some_universe_is_left_out_there(
        self, folder: Path, tmp_path: Path
    ):
        other = tmp_path / "clinic"
        other.mkdir()
        for each in folder.glob("*.*"):
            (other / each.name).write_text(
                each.read_text("utf-8").replace("range(6)", "range(0, 6, universe)"), "utf-8"
            )
        run = prepared(other, count=8, universes=3)
        assert "small has no task in 1 of 3 universes (2)" in run.notes
        asked = {(task.universe, task.family) for task in map(run.plan.task, range(8))}
        assert {universe for universe, _ in asked} == {0, 1, 2}
        assert (2, "small") not in asked


def test_a_universe_is_used_without_a_family_that_has_nothing_there(folder: Path, tmp_path: Path):
    lonely = copy_without_small_keys(folder, tmp_path / "lonely")
    world, pools = load_world(lonely), list[FamilyTasks]()
    for universe in range(3):
        with world.template(universe=universe) as template:
            pools.append(FamilyTasks(world, template, universe=universe))
    assert [sorted(pool.absent) for pool in pools] == [[], ["small", "twins"], ["small", "twins"]]
    plan = Plan.make(pools, 60, 1, 0)
    asked = {(task.universe, task.family) for task in map(plan.task, range(plan.tasks))}
    assert {(0, "small"), (0, "twins"), (1, "wide"), (2, "wide")} <= asked
    assert not asked & {(1, "small"), (1, "twins"), (2, "small"), (2, "twins")}
    with world.template(universe=1) as template:
        assert not FamilyTasks(world, template, ["twins"], 1).families


def copy_without_small_keys(folder: Path, target: Path) -> Path:
    """The world with universes in which one case of a family has no row."""
    made = shutil.copytree(folder, target)
    seed = (made / "seed.py").read_text("utf-8")
    (made / "seed.py").write_text(seed.replace("range(6)", "range(3, 6)"), "utf-8")
    return made
