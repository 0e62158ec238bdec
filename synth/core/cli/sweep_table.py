"""The table at the end of a sweep: its points, named by what differs between them."""

from __future__ import annotations

from collections.abc import Sequence

from synth.coordinator import RunReport
from synth.core.report import Screen

HEADER = ("status", "rows", "mean reward", "successful", "broke", "cost")


def show_points(points: Sequence[Sequence[str]], reports: Sequence[RunReport | None]) -> None:
    """Print a line for each point, of which ``points`` holds the overrides.

    A report of None stands for a job that failed.
    """
    settings = [_settings(overrides) for overrides in points]
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    varied = [key for key in keys if len({setting.get(key, "") for setting in settings}) > 1]
    rows = [
        [*(setting.get(key, "") for key in varied), *_figures(report)]
        for setting, report in zip(settings, reports, strict=True)
    ]
    screen = Screen()
    screen.heading(f"{len(points)} points")
    first = len(varied) + 1
    screen.table([*varied, *HEADER], rows, right=range(first, first + len(HEADER) - 1))


def _settings(overrides: Sequence[str]) -> dict[str, str]:
    return {key: value for key, _, value in (line.partition("=") for line in overrides)}


def _figures(report: RunReport | None) -> list[str]:
    if report is None:
        return ["failed", "", "", "", "", ""]
    totals, mean = report.totals, report.totals.mean_reward()
    return [
        report.status,
        f"{totals.rows:,} of {report.planned:,}",
        "unscored" if mean is None else f"{mean:.3f}",
        f"{totals.successes / totals.scored:.1%}" if totals.scored else "",
        f"{sum(kind.count for kind in report.failures):,}",
        totals.cost() if totals.tokens else "",
    ]
