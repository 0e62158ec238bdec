"""The output of `synth inspect --follow`: a line for each row, or an object in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synth.core.foundation.standard_output import stdout
from synth.core.report.follow import News, follow
from synth.core.report.json_output import print_json
from synth.core.report.screen import Screen, safe_line
from synth.core.report.table import reason_of

_STYLE = {"success": "green", "failure": "red"}
_AT_FIRST = 20
"""Rows that are printed of those that are there when following begins."""


def show_news(screen: Screen, news: News) -> None:
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
            print_json({"event": "row", **_plain(row)}, indent=None)
        for error in news.errors:
            print_json({"event": "error", **error}, indent=None)
        if news.status != "running":
            end = {"status": news.status, "rows": news.count, "jobs": news.jobs}
            print_json({"event": "end", **end}, indent=None)
        stdout().flush()


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name != "verdicts"}
    return kept | {"reason": reason_of(row["verdicts"])}
