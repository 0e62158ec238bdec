"""The messages between the driver and its workers: assignments out, deliveries back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from synth.task import Job, Task


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of the run at its endpoint, all workers together; a rate of None is not a limit.

    ``most`` and ``least`` bound the requests at once between which capacity is looked for,
    beginning at ``start``.
    """

    most: int
    least: int = 1
    start: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def rated(self) -> bool:
        return self.requests_per_minute is not None or self.tokens_per_minute is not None


@dataclass(frozen=True, slots=True)
class Grant:
    """A worker's lease until the next one, or until it expires. ``concurrency`` replaces the last
    grant's; ``permits`` are added to what it holds.

    A permit is the right to begin one attempt, and says for how many tokens it was charged; None:
    none is needed. ``epoch`` names the present guess of the endpoint's capacity. ``pause_s``:
    nobody asks for so long.
    """

    concurrency: int
    epoch: int = 0
    permits: tuple[int, ...] | None = None
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Use that a worker made of its lease since its last report.

    ``in_flight`` and ``waiting`` are as of now; ``wanted`` are the estimates, in tokens, of those
    that lack a permit only. ``answered`` and ``overloaded`` count attempts begun in ``epoch``.
    ``corrected`` is what attempts used beyond what they were charged for (below zero: less),
    ``returned`` are permits that nobody wants any more, ``pause_s`` is what remains of a wait that
    the endpoint has asked for since. ``failed`` counts attempts that another may follow, by reason.
    """

    epoch: int = 0
    in_flight: int = 0
    waiting: int = 0
    wanted: tuple[int, ...] = ()
    answered: int = 0
    overloaded: int = 0
    corrected: int = 0
    returned: tuple[int, ...] = ()
    pause_s: float = 0.0
    failed: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Assignment:
    """Work for one place in the plan: a rollout to play (``job``) or a task to prove (``task``).

    With both, the task may be proved by playing the job. Of a ``probe`` only the first prompt of
    the job is sent.
    """

    index: int
    job: Job | None = None
    task: Task | None = None
    probe: bool = False


@dataclass(frozen=True)
class Delivery:
    """Result of one assignment.

    ``row`` is an encoded row of the dataset, also of a task that was proved by playing. ``stats``
    are the figures that the run's totals need, of a row or of a rollout that broke; None if nothing
    is known. ``fatal`` stops the run.
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


def broken(index: int, error_type: str, message: str) -> Delivery:
    """An assignment that broke, and that another attempt may heal."""
    return Delivery(index, "error", error_type=error_type, message=message, retryable=True)


@dataclass(frozen=True)
class Collected:
    """Return value of ``Worker.collect``: finished deliveries, and the rate-limit usage report.

    ``report`` is None if the worker has no lease.
    """

    deliveries: Sequence[Delivery] = ()
    report: UsageReport | None = None
