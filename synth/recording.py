"""A run directory as something to play again: its world, its tasks and its rows, all from the directory itself."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.folder import World, load_world
from envs.templates import Templates
from envs.types import Limits, ToolOutcome
from synth.archive import unpack_world
from synth.config import RunConfig
from synth.dataset.reader import Dataset
from synth.dataset.task_table import TaskTable
from synth.dataset.wire import to_values
from synth.episode import Episode
from synth.errors import DatasetError
from synth.models.emission import call_of
from synth.preparation import database_place
from synth.run_files import TASKS_FILE, load_config
from synth.types import Task
from synth.verifiers import TurnRecord

Json = Any
Row = Mapping[str, Json]


@dataclass(frozen=True)
class Recording:
    """A run's directory, opened by :func:`open_recording`; ``home`` is a temporary folder for as long."""

    dataset: Dataset
    config: RunConfig
    world: World
    templates: Templates
    home: Path
    _tasks: TaskTable

    @property
    def limits(self) -> Limits:
        """What a tool call was allowed to use."""
        database = self.config.database
        return Limits(False, database.statement_timeout_ms, database.max_rows, database.max_result_bytes)

    def rows(self, where: str | None = None) -> Iterator[dict[str, Json]]:
        """The trajectories in the plan's order, or those that fulfil an SQL condition in the order that it asks for."""
        if where is None:
            return self.dataset.rows()
        return (to_values(row) for row in self.dataset.query(where).to_pylist())

    def task(self, row: Row) -> Task:
        """What a row was asked. Raises :class:`DatasetError` where tasks.parquet says otherwise."""
        task = Task.from_json(self._tasks.task(row["job_index"] // self.config.tasks.samples))
        if task.id != row["task_id"]:
            raise DatasetError("its task is not the one planned at its place")
        return task


@contextmanager
def open_recording(directory: Path) -> Generator[Recording]:
    """Unpack a run directory's world and set it up.

    Raises :class:`DatasetError` where the directory lacks the archive or the tasks.
    """
    with Dataset.open(directory) as dataset:
        config = load_config(directory, {})
        archives = sorted((directory / "world").glob("*.tar.zst"))
        tasks_file = directory / TASKS_FILE
        if len(archives) != 1 or not tasks_file.is_file():
            raise DatasetError(
                f"{directory}: to play it again takes world/<digest>.tar.zst and {TASKS_FILE}; this directory lacks them"
            )
        with tempfile.TemporaryDirectory(prefix="synth-again-") as home:
            folder = Path(home) / "recorded" / config.world_folder
            world = load_world(unpack_world(archives[0].read_bytes(), folder))
            with Templates(world, config.database.engine, place=database_place(config)) as templates:
                yield Recording(dataset, config, world, templates, Path(home), TaskTable(tasks_file))


async def act_again(events: Sequence[Row], episode: Episode) -> None:
    """Make the recorded calls again, and let the user have said what it said."""
    async for _ in again(events, episode):
        pass


async def again(events: Sequence[Row], episode: Episode) -> AsyncIterator[tuple[Row, ToolOutcome | None]]:
    """The results' and the user's events in order, each with what its call came to now; a user has said what it said.

    The calls are those that the model emitted, under the ids of their results; a turn's calls were executed in order
    until something ended the rollout. One that a middleware answered (``by``) is left out: the environment did not see it.
    The transcript will not do: it holds no value that readers of a dataset cannot hold.
    """
    waiting: Iterator[Row] = iter(())
    for event in events:
        if event["event"] == "completion":
            calls = event["tool_calls"] or event.get("text_calls", ())
            episode.said = episode.said if calls else event["content"]
            waiting = iter(calls)
        elif event["event"] == "tool_result" and (raw := next(waiting, None)) is not None:
            if "by" not in event:
                call = call_of(raw, event["id"])
                if "repaired" in event:
                    call = replace(call, arguments=event["repaired"]["arguments"])
                yield event, await episode.call(call)
        elif event["event"] == "user_turn":
            turn = TurnRecord(len(episode.calls), event["told"], event["consents"], event["declines"], event["fault"])
            episode.turns.append(turn)
            yield event, None
