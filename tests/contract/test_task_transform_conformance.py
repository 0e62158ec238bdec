"""Every transform keeps the contract: those of the config, and the example."""

from __future__ import annotations

import pytest

from examples.extensions.task_transform import Long, Options
from synth.core.tasks.families import FamilyTasks
from synth.errors import OperatorError
from synth.ext.renamings import RenamingsConfig
from synth.ext.renamings.making import Renamings
from synth.ext.variety.answers_in_words import AnswersInWords
from synth.ext.variety.config import SelectionConfig, WordingConfig
from synth.ext.variety.held_out import HeldOutWordings
from synth.ext.variety.selection import ByDifficulty, TaskSelection
from synth.ext.variety.wording.reword import VariedWording
from synth.plan import Plan
from synth.testing import TaskTransformConformance
from synth.transform import TaskTransform


class TestVariedWording(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return VariedWording()


class TestSelection(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        compose = {2: 0.25}
        return TaskSelection(
            SelectionConfig(
                compose=compose,
                max_near_duplicates=0.1,
                weights={"lend_*": 2.0},
                difficulty={"min": 2},
            )
        )


class TestHeldOutWordings(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return HeldOutWordings(WordingConfig(held_out_phrasings=0.3, wording="varied"))


class TestByDifficulty(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return ByDifficulty()


class TestAnswersInWords(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return AnswersInWords()


class TestRenamings(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        transform = Renamings(RenamingsConfig(renamings=[1, 2, 3]))
        transform.look(pool.template)
        return transform


class TestTheExample(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return Long(Options(words=7))

    def test_options_decide(self, pool: FamilyTasks) -> None:
        plans = [Plan.make([pool], 12, 1, 7, transforms=[Long(Options(n))]) for n in (1, 9)]
        assert plans[0].tasks == 12 > plans[1].tasks
        assert plans[0].digest() != plans[1].digest()

    def test_a_transform_that_leaves_nothing_is_refused(self, pool: FamilyTasks) -> None:
        with pytest.raises(OperatorError, match="none of the 12 tasks is left"):
            Plan.make([pool], 12, 1, 7, transforms=[Long(Options(500))])
