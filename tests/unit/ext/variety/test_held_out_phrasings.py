"""`tasks.held_out_phrasings`: some wordings are asked in all splits but the first."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.types.phrasings import HeldOutPhrasings
from synth.errors import OperatorError
from synth.ext.variety.config import SelectionConfig, WordingConfig
from synth.ext.variety.held_out import HeldOutWordings, choose_phrasings
from synth.ext.variety.selection import TaskSelection
from synth.ext.variety.wording.grammar import voice_names
from synth.ext.variety.wording.reword import VariedWording
from synth.plan import Plan
from synth.task import Task
from synth.transform import TaskTransform
from tests.unit.runner.test_plan import make_world

SPLITS = {"train": [0], "test": [1]}


@pytest.fixture
def world(tmp_path: Path) -> World:
    folder = make_world(tmp_path / "clinic")
    (folder / "seed.py").write_text(
        "def rows(universe, random):\n"
        "    for number in range(1, 61):\n"
        "        yield 'patients', {'patient_id': number, 'name': f'P{number:02}x{universe}'}\n"
    )
    text = (folder / "tasks.yaml").read_text("utf-8")
    says = '["May {name}?", "And {name}?", "{name} is next?", "Is it the turn of {name}?"]'
    text = text.replace('["May {name}?", "And {name}?"]', says)
    (folder / "tasks.yaml").write_text(text, "utf-8")
    return load_world(folder)


@pytest.fixture
def sources(world: World) -> Iterator[list[FamilyTasks]]:
    with ExitStack() as stack:
        templates = [stack.enter_context(world.template(universe=number)) for number in (0, 1)]
        yield [FamilyTasks(world, template, None, at) for at, template in enumerate(templates)]


def tasks(plan: Plan) -> list[Task]:
    return [plan.task(index) for index in range(plan.tasks)]


def make(
    sources: list[FamilyTasks],
    count: int,
    seed: int,
    share: float,
    *,
    varied: bool = False,
    **more: Any,
) -> tuple[Plan, HeldOutPhrasings]:
    transforms: list[TaskTransform] = [
        HeldOutWordings(
            WordingConfig(held_out_phrasings=share, wording="varied" if varied else "plain")
        )
    ]
    transforms += [TaskSelection(SelectionConfig(**more))] if more else []
    transforms += [VariedWording(WordingConfig(held_out_phrasings=share))] if varied else []
    pools = {name: [sources[one] for one in own] for name, own in SPLITS.items()}
    plan = Plan.make(pools, count, 1, seed, transforms)
    held = HeldOutPhrasings.of(transforms[0].manifest(plan.blocks))
    assert held is not None
    return plan, held


def test_the_first_split_has_none_of_them_and_another_has_some(sources: list[FamilyTasks]):
    plan, held = make(sources, 40, 0, 0.25)
    assert {name: len(found) for name, found in held.families.items()} == {"twins": 1}
    assert held.voices == []
    found = tasks(plan)
    assert not any(
        held.hold(task.family, task.extras.get("phrasing"))
        for task in found
        if task.split == "train"
    )
    test = [task for task in found if task.split == "test" and task.family == "twins"]
    assert {held.hold(task.family, task.extras.get("phrasing")) for task in test} == {True, False}
    train = {
        task.extras.get("phrasing")
        for task in found
        if task.split == "train" and task.family == "twins"
    }
    assert len(train) > 1, "the first split has the others"


def test_the_same_ones_are_held_out_whatever_the_seed_and_the_count(sources: list[FamilyTasks]):
    (plan, held), (_, others) = make(sources, 20, 0, 0.5), make(sources, 60, 9, 0.5)
    assert held == others
    assert len(held.families["twins"]) == 2
    again, _ = make(sources, 20, 0, 0.5)
    digest = again.digest()
    assert digest == plan.digest()
    assert tasks(again) == tasks(plan)
    other, _ = make(sources, 20, 0, 0.25)
    assert other.digest() != digest


def test_voices_are_held_out_as_well(sources: list[FamilyTasks]):
    plan, held = make(sources, 80, 0, 0.4, varied=True)
    assert len(held.voices) == 2
    voices = {
        split: {
            str(task.extras.get("phrasing")).rpartition("/")[2]
            for task in tasks(plan)
            if task.split == split
        }
        for split in SPLITS
    }
    assert voices["train"] == set(voice_names()) - set(held.voices)
    assert voices["test"] == set(voice_names())


def test_no_part_of_a_composed_task_of_the_first_split_has_one(sources: list[FamilyTasks]):
    plan, held = make(sources, 40, 0, 0.5, compose={2: 0.5})
    composed = [task for task in tasks(plan) if task.parts and task.split == "train"]
    assert composed
    for task in composed:
        assert not held.hold(task.family, task.extras.get("phrasing"))
        assert [str(part.extras.get("phrasing")) for part in task.parts] == str(
            task.extras.get("phrasing")
        ).split("+")
    other = [task for task in tasks(plan) if task.parts and task.split == "test"]
    assert any(held.hold(task.family, task.extras.get("phrasing")) for task in other)


def test_a_near_duplicate_is_looked_for_in_the_words_of_its_split(sources: list[FamilyTasks]):
    plan, _ = make(sources, 30, 0, 0.4, varied=True, max_near_duplicates=0.0)
    found = tasks(plan)
    assert len({task.prompt for task in found}) == len(found)


def test_one_of_several_is_held_out_and_never_all(sources: list[FamilyTasks]):
    for share, count in ((0.01, 1), (0.25, 1), (0.5, 2), (0.99, 3)):
        assert len(choose_phrasings(sources, share, varied=False).families["twins"]) == count


def test_a_world_in_which_nothing_can_be_held_out_is_refused(world: World, tmp_path: Path):
    folder = tmp_path / "plain" / "clinic"
    shutil.copytree(world.path, folder)
    text = (folder / "tasks.yaml").read_text("utf-8")
    start, end = text.index('["May'), text.index("]", text.index('["May')) + 1
    (folder / "tasks.yaml").write_text(text[:start] + '"May {name}?"' + text[end:], "utf-8")
    plain = load_world(folder)
    with plain.template() as template:
        pool = FamilyTasks(plain, template)
    with pytest.raises(OperatorError, match="no family has several wordings"):
        choose_phrasings([pool], 0.2, varied=False)
    assert choose_phrasings([pool], 0.2, varied=True).voices
