"""Every transform keeps the contract: those of the config, and the example."""

from __future__ import annotations

import pytest

from examples.extensions.task_transform import Long, Options
from synth.core.tasks.families import FamilyTasks
from synth.errors import OperatorError
from synth.ext.renamings import SurfaceMaker, Surfaces, answers_of, database_names
from synth.ext.variety.by_difficulty import ByDifficulty
from synth.ext.variety.wording import VariedWording
from synth.plan import Plan
from synth.testing import TaskTransformConformance
from synth.transform import TaskTransform


class TestVariedWording(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return VariedWording()


class TestByDifficulty(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        return ByDifficulty()


class TestSurfaces(TaskTransformConformance):
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        maker = SurfaceMaker(pool.world, database_names(pool.template), answers_of([pool], 7))
        return Surfaces(maker, [1, 2, 3], [pool], 7)


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
