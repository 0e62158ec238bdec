"""What can go wrong in the pipeline, sorted by who reads it.

    SynthError
    ├── OperatorError         the person at the keyboard: config, files, keys; exit code 2, nothing started
    │   ├── ConfigProblems    every problem of a config at once
    │   └── ResumeRefused     a run directory that this job may not continue
    ├── TaskError             the author of a world's tasks: file, line, family, and why
    ├── ModelError            the endpoint: typed, with ``retryable``; becomes an error row, never reward 0
    │   ├── ModelRefusedRequest   the endpoint will not take this request (a 4xx that retrying cannot heal)
    │   ├── ModelAuthError        key missing or not accepted, quota gone
    │   └── ContextOverflow       the conversation is longer than the model's context: an outcome, scored
    ├── WorkerLost            a worker process died with jobs on it
    │   └── WorkerHeld        it had to be ended, because one job's code kept it from answering
    └── DatasetError          the reader of a dataset: corrupt shard, wrong schema version, no dataset at all

To add one: derive it from the branch whose reader it has, and pass every argument on to
``super().__init__`` by position, so that it survives pickling (Ray moves exceptions between processes).
"""

from __future__ import annotations

from collections.abc import Sequence


class SynthError(Exception):
    """Root of everything this package raises on purpose."""

    retryable = False


class OperatorError(SynthError):
    """Something that the person who called has to change; shown as one message without a traceback."""


class ConfigProblems(OperatorError):
    """All the problems of a config, each one line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(list(problems))
        self.problems = list(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ResumeRefused(OperatorError):
    """The run directory belongs to another config, another world or another writer."""


class TaskError(SynthError):
    """A task family that its author has to mend."""

    def __init__(
        self, message: str, file: str | None = None, line: int | None = None, family: str | None = None
    ) -> None:
        super().__init__(message, file, line, family)
        self.message = message
        self.file = file
        self.line = line
        self.family = family

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        who = f"family {self.family}: " if self.family else ""
        return f"{where}: {who}{self.message}" if where else f"{who}{self.message}"


class ModelError(SynthError):
    """The model could not be asked, or what came back was no answer.

    ``retryable`` says whether another attempt later can help; ``status`` is the HTTP status where there is one;
    ``retry_after_s`` is the wait that the endpoint asked for.
    """

    def __init__(
        self, message: str, retryable: bool = True, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, retryable, status, retry_after_s)
        self.message = message
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.message


class ModelRefusedRequest(ModelError):
    """A 4xx that no retry heals."""


class ModelAuthError(ModelRefusedRequest):
    """The key is missing, not accepted or out of quota."""


class ContextOverflow(ModelRefusedRequest):
    """The request is longer than the model's context window."""


class WorkerLost(SynthError):
    """A worker process ended while it held jobs."""

    retryable = True


class WorkerHeld(WorkerLost):
    """A worker that one job keeps from answering: its code neither returns nor waits. ``index`` is the job's."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message, index)
        self.message = message
        self.index = index

    def __str__(self) -> str:
        return self.message


class DatasetError(SynthError):
    """A dataset that cannot be read as what it claims to be."""
