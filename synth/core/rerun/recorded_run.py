"""A run directory as something to play again: its world, its tasks and its rows, all from the
directory itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Limits
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.config import RunConfig
from synth.core.config.database import DatabaseConfig
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import TaskTable
from synth.core.dataset.store.wire import to_values
from synth.core.foundation.consent import Consent
from synth.core.runner.provenance import DATABASE, changes_of
from synth.core.runner.run_files import TASKS_FILE, recorded_config, recorded_world
from synth.core.runner.setup import database_target, limits_of
from synth.errors import DatasetError, OperatorError
from synth.task import Task

Json = Any
Row = Mapping[str, Json]


@dataclass(frozen=True)
class Recording:
    """A run's directory, opened by :func:`open_recording`; ``home`` is a temporary folder for as
    long.
    """

    dataset: Dataset
    config: RunConfig
    world: World
    templates: Templates
    home: Path
    _tasks: TaskTable

    @property
    def limits(self) -> Limits:
        """Limits on what a tool call was allowed to use."""
        return limits_of(self.config.database)

    def rows(self, where: str | None = None) -> Iterator[dict[str, Json]]:
        """The trajectories in the plan's order, or those that fulfil an SQL condition in the order
        that it asks for.
        """
        if where is None:
            return self.dataset.rows()
        return (to_values(row) for row in self.dataset.query(where).to_pylist())

    def task(self, row: Row) -> Task:
        """The task of a row. Raises :class:`DatasetError` where tasks.parquet says otherwise."""
        task = self.task_at(row["job_index"] // self.config.tasks.samples)
        if task.id != row["task_id"]:
            raise DatasetError("its task is not the one planned at its place")
        return task

    def task_at(self, place: int) -> Task:
        """The task at a place of the plan."""
        return Task.from_json(self._tasks.task(place))


@contextmanager
def open_recording(directory: Path, consent: Consent) -> Generator[Recording]:
    """Unpack a run directory's world and set it up.

    Raises :class:`DatasetError` where the directory lacks the archive or the tasks, and
    :class:`~synth.errors.UntrustedCode` if ``consent`` to a stranger's code is not given.
    """
    with Dataset.open(directory) as dataset:
        config = recorded_config(directory)
        with tempfile.TemporaryDirectory(prefix="synth-again-") as home:
            name = dataset.info.identity.env if dataset.info else config.world_folder
            into = Path(home) / "recorded" / Path(name).name
            world = load_world(recorded_world(directory, into, consent))
            place = _database(directory, config.database)
            with Templates(world, config.database.engine, place=place) as templates:
                _compare_database(directory, dataset, templates)
                tasks = TaskTable(directory / TASKS_FILE)
                yield Recording(dataset, config, world, templates, Path(home), tasks)


def _database(directory: Path, database: DatabaseConfig) -> DatabaseTarget:
    """The server of the sandboxes, or the attached database. Raises :class:`DatasetError` if the
    variable of an attached one is not set.
    """
    try:
        return database_target(database)
    except OperatorError:
        variable = database.dsn_env_var
        if not find_engine(database.engine).attaches:
            raise
        raise DatasetError(
            f"{directory}: the run read a database that exists, and playing it again needs that"
            f" database: put its URL into the variable {variable}"
        ) from None


def _compare_database(directory: Path, dataset: Dataset, templates: Templates) -> None:
    """Raise :class:`DatasetError` if an attached database is not what it was."""
    if dataset.info is None or DATABASE not in dataset.info.identity.more:
        return
    with templates.use(0) as template:
        lines = changes_of(dataset.info, template.fingerprint)
    if lines:
        raise DatasetError(
            f"{directory}: the attached database is not what it was when the run was made:"
            f" {'; '.join(lines)}"
        )
