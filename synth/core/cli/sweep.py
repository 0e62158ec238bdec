"""Launching of the jobs of a sweep, with a table of its points at the end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from envs.errors import EnvsError
from synth.coordinator import RunReport
from synth.core.cli.end_report import conclude, exit_code, relative
from synth.core.config.compose import Composed
from synth.core.foundation.credentials import redact
from synth.core.screen import Screen
from synth.errors import ConfigProblems, OperatorError, SynthError
from synth.launch import launch
from synth.prepare import prepare

INTERRUPTED = 130


def sweep(jobs: Sequence[Composed], console: Console, *, as_json: bool) -> int:
    """Launch one job after the other. Returns the worst exit code.

    What can be known before is found before the first; one that fails does not stop the rest. At
    the end a table shows all points.
    """
    problems: list[str] = []
    for composed in jobs:
        try:
            prepare(composed.config)
        except (SynthError, EnvsError) as error:
            problems.append(f"{composed.directory}: {error}")
    if problems:
        raise ConfigProblems(problems)
    reports: list[RunReport | None] = []
    for composed in jobs:
        console.print(f"[{composed.directory}]", markup=False)
        try:
            report = launch(composed.config, console)
        except OperatorError:
            raise
        except (SynthError, EnvsError) as error:
            console.print(redact(f"error: {error}"), markup=False, soft_wrap=True)
            reports.append(None)
            continue
        conclude(report, as_json=as_json)
        reports.append(report)
        if exit_code(report) == INTERRUPTED:
            return INTERRUPTED
    if not as_json:
        _show_points(jobs, reports)
    failed = [job.directory for job, done in zip(jobs, reports, strict=True) if done is None]
    if failed:
        raise SynthError(f"{len(failed)} of {len(jobs)} jobs failed: {', '.join(failed)}")
    return max(exit_code(report) for report in reports if report is not None)


_HEADER = ("status", "rows", "mean reward", "successful", "broke", "cost", "directory")


def _show_points(jobs: Sequence[Composed], reports: Sequence[RunReport | None]) -> None:
    """Print a line for each point; a report of None stands for a job that failed."""
    settings = [
        {key: value for key, _, value in (line.partition("=") for line in composed.overrides)}
        for composed in jobs
    ]
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    varied = [key for key in keys if len({setting.get(key, "") for setting in settings}) > 1]
    rows = [
        [*(setting.get(key, "") for key in varied), *_figures(report)]
        for setting, report in zip(settings, reports, strict=True)
    ]
    screen = Screen()
    screen.heading(f"{len(jobs)} points")
    first = len(varied) + 1
    screen.table([*varied, *_HEADER], rows, right=range(first, first + len(_HEADER) - 2))


def _figures(report: RunReport | None) -> list[str]:
    if report is None:
        return ["failed", "", "", "", "", "", ""]
    totals, mean = report.totals, report.totals.mean_reward()
    return [
        report.status,
        f"{totals.rows:,} of {report.planned:,}",
        "unscored" if mean is None else f"{mean:.3f}",
        f"{totals.successes / totals.scored:.1%}" if totals.scored else "",
        f"{sum(kind.count for kind in report.failures):,}",
        totals.cost() if totals.tokens else "",
        relative(report.directory),
    ]
