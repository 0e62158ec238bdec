"""The errors of the pipeline, sorted by who reads it.

    SynthError
    ├── OperatorError         the operator: config, files, keys; exit code 2, nothing started
    │   ├── ConfigProblems    every problem of a config at once
    │   ├── ResumeRefused     a run directory that this job may not continue
    │   └── UntrustedCode     a run directory of a stranger, whose code nobody consented to
    ├── TaskError             the author of a world's tasks: file, line, family, and why
    ├── ModelError            the endpoint, with ``retryable``: an error row, never reward 0
    │   ├── ModelRefusedRequest   the endpoint rejects this request: a 4xx, retrying is useless
    │   ├── ModelAuthError        key missing or not accepted, quota gone
    │   └── ContextOverflow       the conversation exceeds the model's context: an outcome
    ├── NarrationRefused      a narrated rollout that does not earn what its source earned: no row
    ├── WorkerLost            a worker process died with jobs on it
    │   └── WorkerHeld        it had to be ended, because one job's code kept it from answering
    └── DatasetError          the reader of a dataset: corrupt shard, wrong schema version, none

To add one: derive it from the branch whose reader it has, and pass every argument on to
``super().__init__`` by position, so that it survives pickling (Ray moves exceptions between
processes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar


class SynthError(Exception):
    """Root of everything this package raises on purpose."""

    retryable = False


class OperatorError(SynthError):
    """Something that the person who called has to change; shown as one message without a
    traceback.
    """


class ConfigProblems(OperatorError):
    """All the problems of a config, each one line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(list(problems))
        self.problems = list(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ResumeRefused(OperatorError):
    """The run directory belongs to another config, another world or another writer."""


class UntrustedCode(OperatorError):
    """A run directory brings code that was not made on this machine, and nobody consented to it."""


class TaskError(SynthError):
    """A task family that its author has to mend."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        family: str | None = None,
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


class EmptyFamilyError(TaskError):
    """A family that has no task, or no task of one of its cases, in a universe."""


class _TaskErrors(TaskError):
    """Several mistakes in the families of a world, the first of which it is."""

    def __init__(self, errors: Sequence[TaskError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.file, first.line, first.family)
        self.args = (list(errors),)
        self.errors = list(errors)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


def all_task_errors(error: TaskError) -> list[TaskError]:
    """The mistakes that an error stands for."""
    return error.errors if isinstance(error, _TaskErrors) else [error]


def raise_task_errors(errors: Sequence[TaskError]) -> None:
    """Raise the only one of some errors, or all of them as one; return if there is none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise _TaskErrors([one for error in errors for one in all_task_errors(error)])


class ModelError(SynthError):
    """The model could not be asked, or what came back was no answer.

    ``retryable`` says whether another attempt later can help; ``status`` is the HTTP status where
    there is one; ``retry_after_s`` is the wait that the endpoint asked for; ``retries`` are the
    attempts before (:class:`synth.model.Retry`).
    """

    retries: Sequence[Any] = ()

    def __init__(
        self,
        message: str,
        retryable: bool = True,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, retryable, status, retry_after_s)
        self.message = message
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.message

    @property
    def reason(self) -> str:
        """The failed attempt in two words, such as ``HTTP 429``."""
        if self.status is None:
            return "no answer"
        return "unusable answer" if self.status < 300 else f"HTTP {self.status}"


class ModelRefusedRequest(ModelError):
    """A 4xx that no retry heals, or a first answer that is never a completion."""


class ModelAuthError(ModelRefusedRequest):
    """The key is missing, not accepted or out of quota."""


class ContextOverflow(ModelRefusedRequest):
    """The request is longer than the model's context window."""


class NarrationRefused(SynthError):
    """A narrated rollout does not lead where its source led, or does not earn its reward."""


class WorkerLost(SynthError):
    """A worker process ended while it held jobs."""

    retryable = True


class WorkerHeld(WorkerLost):
    """A worker that one job keeps from answering: its code neither returns nor waits. ``index`` is
    the job's.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message, index)
        self.message = message
        self.index = index

    def __str__(self) -> str:
        return self.message


class DatasetError(SynthError):
    """A dataset that cannot be read as what it claims to be."""


_Result = TypeVar("_Result")


def returned(value: object, kind: type[_Result], by: object, method: str) -> _Result:
    """Return what a method of an extension returned. Raises :class:`OperatorError` for a
    value of another type than its contract's.
    """
    if not isinstance(value, kind):
        missing = "; it lacks a `return`" if value is None else ""
        raise OperatorError(
            f"{type(by).__module__}:{type(by).__qualname__}.{method} returned"
            f" {type(value).__name__}, not {kind.__name__}{missing}"
        )
    return value
