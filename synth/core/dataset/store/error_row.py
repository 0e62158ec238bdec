"""A rollout that ended in an infrastructure error, as the journal and errors.parquet store it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from synth.core.dataset.sanitize import INT64, sanitize
from synth.core.dataset.store.wire import RowError, json_text
from synth.errors import DatasetError
from synth.task import Job


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One infrastructure error.

    ``attempts`` counts all attempts at the job so far; None lets the writer add one to the number
    it knows. ``retries`` are the requests that were made again in the last attempt.

    Raises :class:`~synth.core.dataset.store.wire.RowError` for a time without a time zone and for
    numbers that do not fit their columns.
    """

    trajectory_id: str
    task_id: str
    job_index: int
    family: str
    sample_index: int
    seed: int
    error_type: str
    message: str
    retryable: bool
    model: str
    created_at: datetime
    attempts: int | None = None
    retries: Sequence[str] = ()

    @classmethod
    def of_job(
        cls,
        job: Job,
        *,
        error_type: str,
        message: str,
        retryable: bool,
        model: str,
        attempts: int | None = None,
        retries: Sequence[Any] = (),
    ) -> Self:
        """The error of a job's rollout, as of now."""
        return cls(
            trajectory_id=job.id,
            task_id=job.task.id,
            job_index=job.index,
            family=job.task.family,
            sample_index=job.sample,
            seed=job.seed,
            error_type=error_type,
            message=message,
            retryable=retryable,
            model=model,
            created_at=datetime.now(UTC),
            attempts=attempts,
            retries=[json_text(one) for one in retries],
        )

    def __post_init__(self) -> None:
        if self.created_at.tzinfo is None:
            raise RowError("must be a datetime with a time zone", "created_at")
        if self.seed not in INT64:
            raise RowError("integer out of range", "seed")

    def is_terminal(self, max_attempts: int) -> bool:
        """Return true if the job is given up: retrying cannot help, or the attempts are used up."""
        return not self.retryable or (self.attempts or 0) >= max_attempts

    def to_bytes(self) -> bytes:
        raw, _ = sanitize(asdict(self) | {"created_at": self.created_at.isoformat()})
        return json_text(raw).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode the result of :meth:`to_bytes`.

        Raises :class:`~synth.errors.DatasetError` for anything else.
        """
        try:
            raw: dict[str, Any] = json.loads(data)
            raw["created_at"] = datetime.fromisoformat(raw["created_at"])
            return cls(**raw)
        except (ValueError, TypeError, KeyError) as error:
            raise DatasetError(f"not an encoded error row: {error}") from error
