"""Cost and outcome of tool calls: an :class:`Execution` per call, and counts that merge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NotRequired, Self, TypedDict

TRACE: ContextVar[Any] = ContextVar("TRACE", default=None)
"""An :class:`envs.audit.Trace` while a call runs whose statements somebody wants to hear of."""

STEPS = 20
"""Buckets per power of ten: a percentile is at most 12.2 percent above the true one."""

FLOOR_MS = 0.001
"""The upper edge of the first bucket; bucket n ends at ``FLOOR_MS * 10 ** (n / STEPS)``."""

LAST = 10 * STEPS
"""The last bucket ends after nearly three hours and holds whatever took longer."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One call that an environment answered. ``tool`` is None where there is no tool of that name,
    ``category`` None where the call succeeded; ``ms`` is wall-clock time, from the call to its
    outcome.
    """

    call_id: str
    tool: str | None
    category: str | None
    ms: float
    rows_changed: int = 0

    def to_json(self) -> dict[str, str | float | None]:
        return {
            "id": self.call_id,
            "tool": self.tool,
            "category": self.category,
            "ms": round(self.ms, 3),
            "rows_changed": self.rows_changed,
        }


class _MetricsJson(TypedDict):
    """JSON form of :class:`ExecutionMetrics`; milliseconds, null where none was counted."""

    count: int
    errors: dict[str, int]
    total_ms: float
    mean_ms: float | None
    min_ms: NotRequired[float | None]
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    buckets: dict[str, int]


@dataclass(slots=True)
class ExecutionMetrics:
    """Counts, times in milliseconds and errors by category, of one tool or of many.

    Times are counted in fixed buckets, so that metrics of several workers or runs :meth:`merge`
    into what one counter of all of them would hold. ``min_ms``, ``max_ms`` and the mean are exact.
    """

    count: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    total_ms: float = 0.0
    max_ms: float = 0.0
    buckets: Counter[int] = field(default_factory=Counter[int])
    min_ms: float = math.inf
    """Infinity where nothing was counted, or by a version that did not count it."""

    def record(self, ms: float, category: str | None = None) -> None:
        """Count a call; ``category``: an :class:`~envs.types.ErrorCategory`, or a world's word."""
        self.count += 1
        self.total_ms += ms
        self.max_ms = max(self.max_ms, ms)
        self.min_ms = min(self.min_ms, ms)
        self.buckets[_bucket(ms)] += 1
        if category is not None:
            self.errors[str(category)] += 1

    def merge(self, other: Self) -> None:
        """Add what another one has counted; the other stays as it is."""
        self.count += other.count
        self.total_ms += other.total_ms
        self.max_ms = max(self.max_ms, other.max_ms)
        self.min_ms = min(self.min_ms, other.min_ms)
        self.buckets.update(other.buckets)
        self.errors.update(other.errors)

    @property
    def failed(self) -> int:
        return self.errors.total()

    @property
    def mean_ms(self) -> float | None:
        """None where nothing was counted."""
        return self.total_ms / self.count if self.count else None

    def percentile_ms(self, percent: float) -> float | None:
        """The time that so many percent of the calls stay within (nearest rank): never below the
        true one, at most a bucket above it. None where nothing was counted; ValueError for what is
        not in (0, 100].
        """
        if not 0 < percent <= 100:
            raise ValueError(f"a percentile is in (0, 100], not {percent}")
        rank, seen = math.ceil(percent / 100 * self.count), 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= rank:
                return (
                    self.max_ms
                    if bucket >= LAST
                    else min(FLOOR_MS * 10 ** (bucket / STEPS), self.max_ms)
                )
        return None

    def to_json(self) -> _MetricsJson:
        """Plain JSON; times are null if nothing was counted. :meth:`from_json` is the inverse."""
        total_ms = round(self.total_ms, 3)
        return {
            "count": self.count,
            "errors": dict(sorted(self.errors.items())),
            "total_ms": total_ms,
            "mean_ms": _rounded(total_ms / self.count if self.count else None),
            "min_ms": _rounded(self.min_ms) if math.isfinite(self.min_ms) else None,
            "p50_ms": _rounded(self.percentile_ms(50)),
            "p95_ms": _rounded(self.percentile_ms(95)),
            "max_ms": _rounded(self.max_ms) if self.count else None,
            "buckets": {str(bucket): self.buckets[bucket] for bucket in sorted(self.buckets)},
        }

    @classmethod
    def from_json(cls, raw: _MetricsJson) -> Self:
        """The inverse of :meth:`to_json`. KeyError or ValueError for what it did not write."""
        buckets = Counter({int(bucket): int(count) for bucket, count in raw["buckets"].items()})
        least = raw.get("min_ms")
        return cls(
            raw["count"],
            Counter(raw["errors"]),
            raw["total_ms"],
            raw["max_ms"] or 0.0,
            buckets,
            math.inf if least is None else least,
        )


def metrics_of(executions: Iterable[Execution]) -> dict[str | None, ExecutionMetrics]:
    """Metrics per tool; calls without a tool name are under None."""
    out: dict[str | None, ExecutionMetrics] = {}
    for execution in executions:
        out.setdefault(execution.tool, ExecutionMetrics()).record(execution.ms, execution.category)
    return out


def _bucket(ms: float) -> int:
    return 0 if ms <= FLOOR_MS else min(LAST, math.ceil(STEPS * math.log10(ms / FLOOR_MS)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
