"""The promises of :class:`synth.source.TaskSource` as tests: subclass, name it ``Test...``."""

from __future__ import annotations

import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from envs.world.loader import World, load_world
from synth.errors import TaskError
from synth.source import TaskPool, TaskSource
from synth.task import Task

LOOKED_AT = 40
"""The number of tasks of each family that are looked at."""


class TaskSourceConformance(ABC):
    """Contract tests of a task source. ``source`` is required; ``world_folder`` is, unless the
    source writes its world.
    """

    @abstractmethod
    def source(self) -> TaskSource:
        """A new source with its options."""

    def world_folder(self) -> Path:
        """The folder of the world that the tasks are about."""
        raise NotImplementedError("a source that writes no world needs the folder of one")

    @pytest.fixture
    def world(self, tmp_path: Path) -> World:
        source = self.source()
        if source.writes_world:
            return load_world(source.write_world(tmp_path / "written", None))
        return load_world(self.world_folder())

    @contextmanager
    def opened(
        self, world: World, families: list[str] | None = None, universe: int = 0
    ) -> Generator[TaskPool]:
        with world.template(universe=universe) as template:
            yield self.source().open(world, template, families, universe)

    def tasks(self, pool: TaskPool, seed: int = 0) -> Iterator[Task]:
        for family in pool.families:
            for index in range(min(LOOKED_AT, pool.capacity(family.id))):
                yield pool.task(family.id, index, seed)

    def test_families_have_ids_and_places(self, world: World) -> None:
        with self.opened(world) as pool:
            ids = [family.id for family in pool.families]
        assert ids
        assert len(ids) == len(set(ids))
        assert all(family.file and family.line >= 1 for family in pool.families)

    def test_every_index_below_the_capacity_is_another_task(self, world: World) -> None:
        with self.opened(world) as pool:
            for family in pool.families:
                count = min(LOOKED_AT, pool.capacity(family.id))
                ids = [pool.task(family.id, index, 7).id for index in range(count)]
                assert count > 0
                assert len(set(ids)) == count

    def test_an_index_beyond_the_capacity_is_refused(self, world: World) -> None:
        with self.opened(world) as pool:
            for family in pool.families:
                with pytest.raises(IndexError):
                    pool.task(family.id, pool.capacity(family.id), 0)

    def test_a_second_source_gives_the_same_tasks(self, world: World) -> None:
        with self.opened(world) as pool:
            before = [task.to_json() for task in self.tasks(pool)]
            identity, account = pool.identity, pool.account.to_json()
        with self.opened(world) as pool:
            assert [task.to_json() for task in self.tasks(pool)] == before
            assert (pool.identity, pool.account.to_json()) == (identity, account)
            pool.account.check()

    def test_a_seed_changes_the_order_and_not_the_tasks(self, world: World) -> None:
        with self.opened(world) as pool:
            for family in pool.families:
                count = pool.capacity(family.id)
                if count > LOOKED_AT:
                    continue
                first = {task.id: task for task in self._all(pool, family.id, 1)}
                assert first == {task.id: task for task in self._all(pool, family.id, 2)}

    def test_a_task_names_its_family_case_world_and_universe(self, world: World) -> None:
        with self.opened(world) as pool:
            for task in self.tasks(pool):
                assert task.case in pool.cases(task.family)
                assert (task.env, task.universe) == (world.name, pool.universe)
                assert task.prompt
                assert task.gates

    def test_a_task_is_plain_data(self, world: World) -> None:
        with self.opened(world) as pool:
            for task in self.tasks(pool):
                assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own bytes
                assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task

    def test_tasks_are_found_by_their_slots(self, world: World) -> None:
        with self.opened(world) as pool:
            for task in islice(self.tasks(pool), LOOKED_AT):
                assert task in pool.find(task.family, task.slots)

    def test_some_families_are_as_they_are_among_all(self, world: World) -> None:
        with self.opened(world) as pool:
            last = pool.families[-1].id
            whole = [task for task in self.tasks(pool) if task.family == last]
        with self.opened(world, [last]) as pool:
            assert [family.id for family in pool.families] == [last]
            assert list(self.tasks(pool)) == whole

    def test_an_unknown_family_is_refused(self, world: World) -> None:
        if world.databases:
            with self.opened(world, ["no_such_family"]) as pool:
                assert not pool.families
            return
        with (
            pytest.raises(TaskError, match="no_such_family"),
            self.opened(world, ["no_such_family"]),
        ):
            pass

    def _all(self, pool: TaskPool, family: str, seed: int) -> Iterator[Task]:
        for index in range(pool.capacity(family)):
            yield replace(pool.task(family, index, seed))
