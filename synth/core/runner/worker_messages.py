"""The messages between the driver and its workers: assignments out, deliveries back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from synth.core.runner.rate_limits import UsageReport
from synth.task import Job, Task


@dataclass(frozen=True)
class Assignment:
    """Work for one place in the plan: a rollout to play (``job``) or a task to prove (``task``).

    Of a ``probe`` only the first prompt of the job is sent.
    """

    index: int
    job: Job | None = None
    task: Task | None = None
    probe: bool = False


@dataclass(frozen=True)
class Delivery:
    """Result of one assignment.

    ``row`` is an encoded row of the dataset. ``stats`` are the figures that the run's totals need,
    of a row or of a rollout that broke; None if nothing is known. ``fatal`` stops the run.
    ``probed`` has an ``error_type`` if the endpoint refused.
    ``fault`` tells an endpoint's error, and among those a refusal of the request, from others.
    """

    index: int
    kind: Literal["row", "error", "proved", "refuted", "probed"]
    row: bytes = b""
    task: Task | None = None
    error_type: str = ""
    message: str = ""
    retryable: bool = False
    fatal: bool = False
    fault: Literal["", "endpoint", "refused"] = ""
    stats: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Collected:
    """Return value of ``Worker.collect``: finished deliveries, and the rate-limit usage report.

    ``report`` is None if the worker has no lease.
    """

    deliveries: Sequence[Delivery] = ()
    report: UsageReport | None = None
