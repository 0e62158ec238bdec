"""Following a run that goes on: a line for each new row, until the run ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.foundation.standard_output import stdout
from synth.core.report.json_output import print_json
from synth.core.screen.screen import Screen, reason_of, safe_line

COLUMNS = ["trajectory_id", "job_index", "family", "outcome", "reward", "stop_reason", "verdicts"]

SHARE = 0.05
"""Share of the time that may go into reading; a large run is looked at less often."""

SHORTEST_S = 0.5


@dataclass(frozen=True, slots=True)
class _News:
    """The news of a run since the last look: rows and failures that were not there before."""

    rows: Sequence[Mapping[str, Any]]
    errors: Sequence[Mapping[str, Any]]
    count: int
    jobs: int | None
    status: str


def follow(path: Path, wait: Callable[[float], None] = time.sleep) -> Iterator[_News]:
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
            news = _News(rows, errors, dataset.count, dataset.jobs, status)
        seen.update(row["job_index"] for row in rows)
        broken.update(_key(error) for error in errors)
        yield news
        if status != "running":
            return
        wait(max(SHORTEST_S, (time.monotonic() - began) / SHARE))


def _key(error: Mapping[str, Any]) -> tuple[int, str]:
    return error["job_index"], str(error.get("created_at"))


_STYLE = {"success": "green", "failure": "red"}
_AT_FIRST = 20
"""Rows that are printed of those that are there when following begins."""


def show_news(screen: Screen, news: _News) -> None:
    """Print what is new, and how far the run is."""
    if len(news.rows) > _AT_FIRST:
        screen.line(f"... {len(news.rows) - _AT_FIRST} rows before", "dim")
    for row in news.rows[-_AT_FIRST:]:
        reward = "-" if row["reward"] is None else f"{row['reward']:g}"
        screen.parts(
            [
                (f"{row['job_index']:>6}  ", "dim"),
                (f"{reward:<5} ", _STYLE.get(row["outcome"], "yellow")),
                (f"{safe_line(row['family'])}  {row['stop_reason']}", ""),
                (f"  {safe_line(reason_of(row['verdicts']))}", "dim"),
            ]
        )
    for error in news.errors:
        words = f"{error['error_type']}: {safe_line(error['message'])}"
        screen.parts([(f"{error['job_index']:>6}  ", "dim"), (f"broke  {words}", "red")])
    if news.rows or news.errors:
        of = "" if news.jobs is None else f" of {news.jobs}"
        screen.line(f"{news.count}{of} rollouts", "bold")


def print_events(path: Path) -> None:
    """Print an object for each new row and failure, one a line, and one for the end."""
    for news in follow(path):
        for row in news.rows:
            kept = {name: value for name, value in row.items() if name != "verdicts"}
            row_event = {"event": "row", **kept, "reason": reason_of(row["verdicts"])}
            print_json(row_event, indent=None)
        for error in news.errors:
            print_json({"event": "error", **error}, indent=None)
        if news.status != "running":
            end = {"status": news.status, "rows": news.count, "jobs": news.jobs}
            print_json({"event": "end", **end}, indent=None)
        stdout().flush()
