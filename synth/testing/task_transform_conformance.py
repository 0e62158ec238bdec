"""The promises of :class:`synth.transform.TaskTransform` as tests: subclass, name it
``Test...``.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator

import pytest

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.errors import TaskError
from synth.plan import Plan
from synth.task import Task
from synth.transform import TaskTransform

PLANNED = 12
"""The number of tasks that are given to the transform."""


class TaskTransformConformance(ABC):
    """Contract tests of a transform, over tasks of a world. ``transform`` is required."""

    @abstractmethod
    def transform(self, pool: FamilyTasks) -> TaskTransform:
        """A new transform with its options, for a plan over ``pool``."""

    def world(self) -> World:
        """The world of the tasks; by default the library."""
        return load_world(find_world("library"))

    @pytest.fixture
    def template(self) -> Iterator[Template]:
        with self.world().template() as template:
            yield template

    @pytest.fixture
    def pool(self, template: Template) -> FamilyTasks:
        return FamilyTasks(self.world(), template)

    def _plan(self, pool: FamilyTasks, *transforms: TaskTransform) -> Plan:
        return Plan.make([pool], PLANNED, 1, 7, transforms=transforms)

    def _tasks(self, plan: Plan) -> list[Task]:
        return [plan.task(index) for index in range(plan.tasks)]

    def test_a_second_transform_gives_the_same_tasks(self, pool: FamilyTasks) -> None:
        one, two = (self._plan(pool, self.transform(pool)) for _ in range(2))
        assert one.digest() == two.digest() != self._plan(pool).digest()
        assert self._tasks(one) == list(reversed([two.task(i) for i in reversed(range(two.tasks))]))

    def test_tasks_are_those_of_the_plan(self, pool: FamilyTasks) -> None:
        transform = self.transform(pool)
        plan = self._plan(pool, transform)
        before = {(task.id, task.split) for task in self._tasks(self._plan(pool))}
        found = [(task.id, task.split) for task in self._tasks(plan)]
        assert len(set(found)) == len(found) == sum(plan.splits.values()) > 0
        assert len(found) <= PLANNED
        assert before >= set(found) or type(transform).choose is not TaskTransform.choose

    def test_first_words_are_known_before_a_task_is_changed(self, pool: FamilyTasks) -> None:
        transform = self.transform(pool)
        self._plan(pool, transform)
        for task in self._tasks(self._plan(pool)):
            changed = transform.changed(task, 0, first=True)
            assert transform.opening(task, first=True) == changed.prompt

    def test_a_task_is_plain_data(self, pool: FamilyTasks) -> None:
        for task in self._tasks(self._plan(pool, self.transform(pool))):
            text = json.dumps(task.to_json())
            assert json.dumps(Task.from_json(json.loads(text)).to_json()) == text

    def test_tasks_still_prove_themselves(self, pool: FamilyTasks, template: Template) -> None:
        plan = self._plan(pool, self.transform(pool))
        for index in range(plan.tasks):
            assert self._proved(plan, index, template).end is not None

    def _proved(self, plan: Plan, index: int, template: Template, attempt: int = 0) -> Task:
        """A proved task. One with parts has others in the next attempt, until there are none."""
        task = plan.task(index, attempt)
        try:
            return asyncio.run(prove(task, self.world(), template))
        except TaskError:
            if not task.parts:
                raise
            return self._proved(plan, index, template, attempt + 1)
