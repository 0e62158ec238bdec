"""Following a run that goes on: a line for each new row, until the run ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset

COLUMNS = ["trajectory_id", "job_index", "family", "outcome", "reward", "stop_reason", "verdicts"]

SHARE = 0.05
"""Share of the time that may go into reading; a large run is looked at less often."""

SHORTEST_S = 0.5


@dataclass(frozen=True, slots=True)
class News:
    """What a look at a run found: rows and failures that were not there before."""

    rows: Sequence[Mapping[str, Any]]
    errors: Sequence[Mapping[str, Any]]
    count: int
    jobs: int | None
    status: str


def follow(path: Path, wait: Callable[[float], None] = time.sleep) -> Iterator[News]:
    """Look at a run until nobody writes it any more; the first news hold all that is there.

    ``wait`` gets the seconds until the next look.
    """
    seen: set[int] = set()
    broken: set[tuple[int, str]] = set()
    while True:
        began = time.monotonic()
        with Dataset.open(path) as dataset:
            status = dataset.status
            rows = [row for row in dataset.rows(COLUMNS) if row["job_index"] not in seen]
            errors = [error for error in dataset.errors() if _key(error) not in broken]
            news = News(rows, errors, dataset.count, dataset.jobs, status)
        seen.update(row["job_index"] for row in rows)
        broken.update(_key(error) for error in errors)
        yield news
        if status != "running":
            return
        wait(max(SHORTEST_S, (time.monotonic() - began) / SHARE))


def _key(error: Mapping[str, Any]) -> tuple[int, str]:
    return error["job_index"], str(error.get("created_at"))
