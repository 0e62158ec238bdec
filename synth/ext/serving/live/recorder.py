"""Recording of rollouts that were played one by one, in a run directory like any other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from envs.errors import EnvsError
from synth.config import to_dict
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.wire import encode_clean
from synth.core.foundation.scrubber import Scrubber
from synth.core.runner.run_files import CONFIG_FILE, recorded_config, write_proved, write_world
from synth.errors import OperatorError, ResumeRefused, SynthError
from synth.ext.hub.card import complete_card
from synth.ext.serving.live.world import LiveWorld
from synth.task import Job

_log = logging.getLogger(__name__)


class Recorder:
    """The writer of one recording. Only one process records into a directory at a time."""

    def __init__(self, writer: RunWriter, scrubber: Scrubber, model: str) -> None:
        self._writer, self._scrubber, self._model = writer, scrubber, model
        self.directory = writer.files.directory

    @classmethod
    async def open(cls, live: LiveWorld, directory: Path) -> Self:
        """Begin a recording in a new directory, or continue the one that is there.

        Raises :class:`OperatorError` for a directory that holds anything else,
        :class:`ResumeRefused` for a recording of other tasks, and
        :class:`~synth.errors.TaskError` for a task that cannot be proved.
        """
        run = live.run
        if RunFiles(directory).manifest.exists() or (directory / CONFIG_FILE).exists():
            _check_same(live, directory)
            writer = RunWriter.resume(directory, run.layout)
        else:
            tasks = await live.tasks()

            def prepare(home: Path) -> None:
                write_world(home, run.world, live.archive, run.spec.text)
                write_proved(home, run.world, tasks, live.scrubber)

            writer = RunWriter.create(directory, run.layout, run.identity, prepare=prepare)
        return cls(writer, live.scrubber, live.context.model.name)

    def unplayed(self) -> Iterator[int]:
        """The jobs that have no row yet, in the plan's order."""
        return self._writer.still_to_play()

    def add(self, row: dict[str, Any]) -> bool:
        """Store a row, without the secrets of the run; it survives the death of this process.

        Returns False if the job has a row already, which is kept.
        """
        return self._writer.add_row(int(row["job_index"]), encode_clean(row, self._scrubber))

    def fail(self, job: Job, error: BaseException) -> bool:
        """Store what broke a rollout as an error row; returns True if the job is given up."""
        typed = isinstance(error, SynthError | EnvsError)
        return self._writer.add_error(
            job.index,
            ErrorRow.of_job(
                job,
                error_type=type(error).__name__ if typed else "UnexpectedError",
                message=self._scrubber.message(broken(error)),
                retryable=error.retryable if typed else True,
                model=self._model,
            ),
        )

    def close(self) -> None:
        """Seal what there is as a dataset: complete if every job has a row, else partial."""
        self._writer.seal("partial" if self._writer.progress.waiting else "complete")
        if (problem := complete_card(self.directory)) is not None:
            _log.warning("%s", problem)


def broken(error: BaseException) -> str:
    """The error that broke a session, for its operator."""
    typed = isinstance(error, SynthError | EnvsError)
    return str(error) if typed else f"{type(error).__name__}: {error}"


def _check_same(live: LiveWorld, directory: Path) -> None:
    """Refuse to continue a recording whose rows would be about other tasks."""
    config = recorded_config(directory)
    now = live.run.spec
    if config.model.kind != now.endpoint.kind:
        raise OperatorError(f"{directory} holds a run that nobody recorded: name a new directory")
    archive = directory / "world" / f"{live.run.world.digest}.tar.zst"
    own = to_dict(config)
    same = config.model.name == now.endpoint.name and all(
        own[key] == now.record[key] for key in ("seed", "tasks", "users", "database")
    )
    if not (archive.is_file() and same):
        raise ResumeRefused(
            f"{directory} was recorded with another world, other tasks or another model:"
            " use the same options, or name a new directory"
        )
