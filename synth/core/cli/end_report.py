"""The report at the end of a run: what was made, what went wrong and why, what to do next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from envs.plugins import resolve
from synth.coordinator import RunReport
from synth.core.dataset.store.counts import ToolExecutions
from synth.core.foundation.standard_output import say
from synth.core.screen.screen import reason_of
from synth.verdict import StopReason

PARTIAL = 3
INTERRUPTED = 130

GOOD_ENDS = (StopReason.FINISHED, StopReason.USER_ENDED)
LONGEST_MESSAGE = 500
"""Characters of a failure's message that are shown."""


def conclude(report: RunReport, *, as_json: bool) -> int:
    """Print the report; returns the run's exit code."""
    if as_json:
        say(json.dumps(to_json(report)))
    else:
        for line in _lines(report):
            say(line)
    return exit_code(report)


def exit_code(report: RunReport) -> int:
    """0 complete, 3 partial, empty, none scored or not uploaded, 130 interrupted."""
    if (report.reason or "").startswith("interrupted"):
        return INTERRUPTED
    short = report.status == "partial" or not report.totals.scored or report.upload_problem
    return PARTIAL if short else 0


def to_json(report: RunReport) -> dict[str, object]:
    """The report for scripts."""
    totals = report.totals
    return {
        "directory": str(report.directory),
        "status": report.status,
        "reason": report.reason,
        "planned": report.planned,
        "rows": totals.rows,
        "successes": totals.successes,
        "mean_reward": totals.mean_reward(),
        "failed": totals.failed,
        "given_up": report.given_up,
        "tokens": totals.tokens,
        "cost_usd": totals.cost_usd if totals.cost_known else None,
        "stop_reasons": {str(name): count for name, count in totals.stop_reasons.items()},
        "failures": [
            {
                "type": kind.error_type,
                "count": kind.count,
                "texts": kind.texts,
                "message": kind.message,
            }
            for kind in report.failures
        ],
        "retries": totals.retries.to_json(),
        "tools": report.tools.to_json(),
        "warnings": _warnings(report),
        "uploaded": report.uploaded,
        "upload_problem": report.upload_problem,
    }


def _lines(report: RunReport) -> Iterator[str]:
    totals, where = report.totals, shlex.quote(relative(report.directory))
    yield (
        f"{_headline(report)}: {totals.rows} of {report.planned} rollouts in {where}"
        f" ({report.seconds:.1f} s){_rewards(report)}"
    )
    if totals.tokens:
        yield f"{totals.tokens:,} tokens, cost {totals.cost()}"
    if totals.retries.reasons:
        yield f"requests made again: {totals.retries}"
    if ran := _tool_calls(report.tools):
        yield ran
    if stopped := _stop_reasons(report):
        yield stopped
    for warning in _warnings(report):
        yield f"warning: {warning}"
    yield from _failures(report)
    unscored = report.totals.rows - report.totals.scored
    if unscored:
        yield f"without a reward: {unscored:,}; the first: {_why_unscored(report)}"
    if report.status == "partial":
        yield f"stopped: {report.reason or 'some rollouts broke'}"
    if report.uploaded:
        yield f"uploaded to {report.uploaded}"
    if report.upload_problem:
        yield f"not uploaded, and whole in {where}: {report.upload_problem}"
    yield from _next(report, where)


def _warnings(report: RunReport) -> list[str]:
    totals = report.totals
    found = report.tools.warnings(totals.rows, totals.successes, totals.stop_reasons)
    return [*report.warnings, *found]


def _headline(report: RunReport) -> str:
    """The status, or what is wrong with the whole of it."""
    if report.status == "complete" and not report.totals.rows:
        return "empty"
    problem = _problem(report)
    if problem and report.status == "partial":
        return f"partial; {problem}"
    return problem or report.status


def _problem(report: RunReport) -> str:
    totals = report.totals
    if totals.rows and totals.stop_reasons[StopReason.CONTEXT_OVERFLOW] == totals.rows:
        return "every conversation outgrew the model's context"
    if totals.scored and totals.reward == 0:
        return "no rollout has a reward above 0"
    if report.given_up:
        return f"{report.given_up:,} rollout{'s' if report.given_up > 1 else ''} given up"
    return ""


def _rewards(report: RunReport) -> str:
    totals, mean = report.totals, report.totals.mean_reward()
    if mean is None:
        return ", none scored" if totals.rows else ""
    return f", mean reward {mean:.2f}, {totals.successes / totals.scored:.1%} successful"


def _stop_reasons(report: RunReport) -> str:
    """The rollouts that did not end by themselves, counted by their reason; empty without any."""
    counts = report.totals.stop_reasons.most_common()
    odd = [f"{count:,} {name}" for name, count in counts if name not in GOOD_ENDS]
    return f"not ended by the agent: {', '.join(odd)}" if odd else ""


def _failures(report: RunReport) -> Iterator[str]:
    missing = sum(kind.count for kind in report.failures)
    if not missing:
        return
    given_up = f", {report.given_up:,} of them are given up" if report.given_up else ""
    yield f"{missing:,} rollout{'s' if missing > 1 else ''} broke and left no row{given_up}:"
    for kind in report.failures:
        message = " ".join(kind.message.split())
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[:LONGEST_MESSAGE]} ..."
        texts = f" (one of {kind.texts:,} texts)" if kind.texts > 1 else ""
        yield f"  {kind.count:,} x {kind.error_type}{texts}: {message}"


def _why_unscored(report: RunReport) -> str:
    with resolve("synth.core.dataset.reader:Dataset").open(report.directory) as dataset:
        rows = dataset.rows(["reward", "verdicts"])
        found = (row["verdicts"] for row in rows if row["reward"] is None)
        return reason_of(next(found, ()))


def _next(report: RunReport, where: str) -> Iterator[str]:
    totals = report.totals
    bad = totals.rows > totals.successes or bool(report.failures)
    steps = [f"synth inspect {where}" + (" --failed" if bad else "")]
    if (report.directory / "eval.json").exists():  # written before this part of the run
        steps.insert(0, f"synth eval {where}")
    if report.status == "partial" or report.upload_problem:
        steps.insert(0, " ".join(["synth run --resume", where, *report.higher]))
    elif totals.rows:
        steps.append(f"synth view {where}")
        if totals.successes:
            steps.append(f"synth export {where} --to trl-sft")
    yield "\n".join(
        f"{'next:' if not index else '     '} {step}" for index, step in enumerate(steps)
    )


def _tool_calls(tools: ToolExecutions) -> str:
    """Summary of the tool calls, in a line; empty where there was none."""
    total = tools.total()
    if not total.count:
        return ""
    slowest = max(tools.tools, key=lambda name: tools.tools[name].percentile_ms(95) or 0.0)
    times = f"p50 {total.percentile_ms(50):.1f} ms, p95 {total.percentile_ms(95):.1f} ms"
    return (
        f"{total.count:,} tool calls, {total.failed / total.count:.1%} errors; {times}; "
        f"slowest {slowest} (p95 {tools.tools[slowest].percentile_ms(95):.1f} ms)"
    )


def relative(path: Path) -> str:
    """The path as one would type it here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
