"""Tables of a dataset: its summary, and a listing of its rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from synth.core.dataset.reviews import in_words
from synth.core.dataset.store.counts import RetryTally
from synth.core.dataset.variety import variety_table
from synth.core.report.rates import SHOWN, Histogram, spread_of
from synth.core.screen.screen import Screen, cell, reason_of, safe_line, say_hidden

LISTING = ("trajectory_id", "family", "reward", "stop_reason", "verdicts")
"""The default columns of a listing."""
_REASON = "reason"  # heading of the verdicts in a listing

_OPTIONAL = {"95%": "-", "excluded": "0"}
"""Columns that are left out where all their cells are this."""

_COUNTED = {
    "world": "envs",
    "model": "models",
    "user model": "user_models",
    "outcome": "outcomes",
    "stop reason": "stop_reasons",
}

_STATUS = {
    "complete": ("complete", "green"),
    "partial": ("partial: the run was stopped early", "yellow"),
    "running": ("running: another process is writing it", "cyan"),
    "interrupted": ("interrupted: it was killed, or an error ended it", "yellow"),
}


def show_summary(screen: Screen, summary: Mapping[str, Any], *, details: bool = False) -> None:
    """Print the result of :func:`~synth.core.report.summary.summarize`: parts first, the headline
    and the next commands last. ``details`` adds distributions, variety and every family and tool.
    """
    text, style = _STATUS[summary["status"]]
    if summary["status"] == "complete" and not summary["sealed"]:
        text, style = "Parquet files without a manifest", ""
    screen.parts([(summary["path"], "bold"), ("  ", ""), (text, style)])
    for warning in summary["warnings"]:
        screen.line(f"warning: {warning}", "yellow")
    shown = None if details else SHOWN
    if details:
        _distributions(screen, summary["distributions"])
        if varied := variety_table(summary["variety"]):
            screen.heading("Variety")
            screen.table(("", ""), varied)
    _all_parts(screen, summary, shown)
    if summary["sql"]:
        screen.heading("Questions")
        _questions(screen, summary["sql"])
    if summary["apart"]:
        screen.heading("Counted apart")
        screen.table(APART, rows_apart(summary["apart"]), right=(1, 2, 3))
    if summary["tools"]:
        screen.heading("Tools")
        _tools(screen, summary["tools"], summary["executions"], shown)
    _broken(screen, summary)
    if (figures := summary["pass"]) is not None and figures["samples"] > figures["tasks"]:
        screen.heading("Samples")
        _samples(screen, figures)
    screen.heading("Summary")
    screen.table(("", ""), [(label, text) for label, text in _overview(summary) if text])
    screen.next_steps(next_steps(summary))


def _all_parts(screen: Screen, summary: Mapping[str, Any], shown: int | None) -> None:
    """Print the figures of renamings, wordings, splits and families, where there are several."""
    if [part["renaming"] for part in summary["renamings"]] not in ([], ["0"]):
        screen.heading("Renamings (0: the world's own names)")
        _parts(screen, "renaming", summary["renamings"], shown)
    if summary["phrasings"]:
        screen.heading("Wordings (held out: not in the first split)")
        _parts(screen, "phrasing", summary["phrasings"], shown)
    if len(summary["splits"]) > 1:
        screen.heading("Splits")
        _parts(screen, "split", summary["splits"], None)
    if summary["families"]:
        screen.heading("Families")
        _parts(screen, "family", summary["families"], shown)


def _broken(screen: Screen, summary: Mapping[str, Any]) -> None:
    """Print the refusals of right end states, and the infrastructure errors."""
    if summary["gates"]:
        screen.heading("Right end states that a gate refuses, or would refuse")
        show_gates(screen, summary["gates"])
    if summary["infrastructure_errors"]:
        screen.heading("Infrastructure errors (not in the data)")
        rows = [
            (e["type"], str(e["count"]), str(e["terminal"]), e["message"])
            for e in summary["infrastructure_errors"]
        ]
        screen.table(("type", "jobs", "given up", "example"), rows, right=(1, 2))


def next_steps(summary: Mapping[str, Any]) -> list[str]:
    """Return the commands that are useful next."""
    path = shlex.join(summary["paths"])
    steps: list[str] = []
    if summary["resumable"]:
        steps.append(f"synth run --resume {path}")
    if summary["failed_example"]:
        steps += [
            f"synth inspect {path} --failed",
            f"synth inspect {path} --show {summary['failed_example']}",
        ]
    elif summary["example"]:
        steps.append(f"synth inspect {path} --show {summary['example']}")
    if summary["status"] == "complete" and summary["rewards"]["successes"]:
        steps.append(f"synth export {path} --to trl-sft")
    return steps or [f"synth inspect {path}"]


def show_listing(screen: Screen, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print one line per row; nothing without any."""
    if not rows:
        return
    header = [_REASON if name == "verdicts" and columns == LISTING else name for name in columns]
    table = [
        [
            reason_of(row["verdicts"]) if head == _REASON else cell(row[name])
            for name, head in zip(columns, header, strict=True)
        ]
        for row in rows
    ]
    screen.columns([header, *table])


def show_errors(screen: Screen, errors: Sequence[Mapping[str, Any]], limit: int) -> None:
    """Print the rollouts that broke, one per line, at most ``limit`` (0: all); nothing without
    any.
    """
    if not errors:
        return
    screen.heading(f"{len(errors):,} rollouts broke and have no row")
    listed = errors[:limit] if limit else errors
    columns = ("job_index", "family", "error_type", "message")
    rows = [[safe_line(str(error[name])) for name in columns] for error in listed]
    screen.table(columns, rows, right=(0,))
    if len(listed) < len(errors):
        screen.line(f"and {len(errors) - len(listed):,} more (--limit 0 lists all)")


def _overview(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and text of each line of the headline; what there is none of has no text."""
    rewards, jobs, passed = summary["rewards"], summary["jobs"], summary["pass"]
    errors = sum(entry["count"] for entry in summary["infrastructure_errors"])
    rows = f"{summary['rows']}" if jobs is None else f"{summary['rows']} of {jobs} jobs"
    if errors:
        rows += f", {errors} infrastructure error{'s' if errors != 1 else ''}"
    approver, latency = summary["approver"], cast("dict[str, float]", summary["latency_s"] or {})
    again = summary["retries"]
    return [
        *((label, _counts(summary[key])) for label, key in _COUNTED.items()),
        ("tool errors", _counts(summary["error_categories"])),
        ("tokens", _tokens(summary["tokens"], summary["rows"]) or "unknown"),
        ("made again", f"requests: {RetryTally.from_json(again)}" if again["count"] else ""),
        ("latency", ", ".join(f"{name} {_seconds(value)}" for name, value in latency.items())),
        ("cost", _cost(summary["cost_usd"], summary) or "unknown"),
        ("user's cost", _cost(summary["user"]["cost_usd"], summary)),
        ("approver's cost", _cost(approver["cost_usd"], summary)),
        ("rows", rows),
        ("reviews", in_words(summary["reviews"])),
        ("reward", _mean(rewards) if rewards["scored"] else ""),
        ("passed", "" if passed is None else _rate(passed)),
    ]


def _mean(rewards: Mapping[str, Any]) -> str:
    unscored = f", {rewards['unscored']} unscored" if rewards["unscored"] else ""
    of = f"{rewards['successes']} of {rewards['scored']}"
    return f"mean {rewards['mean']:.3f}, {of} successful{unscored}"


def _parts(
    screen: Screen, kind: str, parts: Sequence[Mapping[str, Any]], shown: int | None
) -> None:
    """Print a table of the families or splits; of more than ``shown`` the lowest pass rates."""
    hidden = 0 if shown is None else max(0, len(parts) - shown)
    if hidden:
        parts = sorted(parts, key=lambda part: part["pass"]["rate"] if part["pass"] else 2.0)
    header = (kind, "rows", "reward", "passed", "95%", "turns", "calls", "tool errors", "excluded")
    rows = [
        (
            part[kind],
            str(part["rows"]),
            _number(part["mean_reward"], ".3f"),
            *_passed(part["pass"]),
            _number(part["mean_turns"], ".1f"),
            _number(part["mean_tool_calls"], ".1f"),
            str(part["tool_errors"]),
            str(part["infrastructure_errors"] + part["unscored"]),
        )
        for part in parts[: len(parts) - hidden]
    ]
    kept = [
        column
        for column, name in enumerate(header)
        if name not in _OPTIONAL or any(row[column] != _OPTIONAL[name] for row in rows)
    ]
    screen.table(
        [header[column] for column in kept],
        [[row[column] for column in kept] for row in rows],
        right=range(1, len(kept)),
    )
    say_hidden(screen, hidden)


def _passed(figures: Mapping[str, Any] | None) -> tuple[str, str]:
    """The pass rate and its interval."""
    if figures is None:
        return "-", "-"
    return f"{figures['rate']:.0%}", spread_of(figures["interval"], figures["tasks"], 0) or "-"


def _rate(figures: Mapping[str, Any]) -> str:
    spread = spread_of(figures["interval"], figures["tasks"])
    return f"{figures['rate']:.1%}" + (f" (95%: {spread})" if spread else "")


def _samples(screen: Screen, figures: Mapping[str, Any]) -> None:
    """Print pass@k (one of k samples passes) and all@k (all of them do)."""
    header = ("k", *figures["pass_at"])
    rows = [
        (name, *(f"{value:.1%}" for value in figures[key].values()))
        for name, key in (("pass@k", "pass_at"), ("all@k", "all_of"))
    ]
    screen.table(header, rows, right=range(1, len(header)))


def _distributions(screen: Screen, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a small histogram of each column that has more than one value."""
    header = ("", "least", "", "most", "median", "p90")
    rows = [
        (
            name,
            f"{spread['edges'][0]:,.4g}",
            Histogram(spread["edges"], spread["counts"]).blocks(),
            *(f"{spread[figure]:,.4g}" for figure in ("max", "p50", "p90")),
        )
        for name, spread in found.items()
        if len(spread["counts"]) > 1
    ]
    if rows:
        screen.heading("Distributions")
        screen.table(header, rows, right=(1, 4, 5))


_EFFORT = ("steps", "tokens", "seconds")


def _questions(screen: Screen, levels: Iterable[Mapping[str, Any]]) -> None:
    """Print the accuracy of the answers and what they cost, by difficulty and family."""
    scores = ("executed", "execution accuracy", "on all databases", "soft F1")
    header = ("", "questions", *scores, *_EFFORT)
    rows = [
        (
            level.get("difficulty") or level["family"],
            str(level["questions"]),
            f"{level['validated']:.1%}",
            f"{level['execution_accuracy']:.1%}",
            f"{level['suite_accuracy']:.1%}",
            f"{level['f1']:.3f}",
            *("" if level[name] is None else f"{level[name]:,.1f}" for name in _EFFORT),
        )
        for level in levels
    ]
    screen.table(header, rows, right=range(1, len(header)))


APART = ("", "rollouts", "passed its gate", "solved")


def rows_apart(groups: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Rollouts that a gate counts apart, under :data:`APART`."""
    return [
        (group["name"], str(group["rollouts"]), f"{group['passed']:.1%}", f"{group['solved']:.1%}")
        for group in groups
    ]


def _tools(
    screen: Screen,
    tools: Sequence[Mapping[str, Any]],
    executions: Mapping[str, Any],
    shown: int | None,
) -> None:
    """Print calls and errors of each tool, and its execution times if they were recorded."""
    hidden = 0 if shown is None else max(0, len(tools) - shown)
    header = (
        "tool",
        "calls",
        "errors",
        "error rate",
        *(("mean", "min", "p50", "p95", "max") if executions else ()),
    )
    rows = [
        (
            tool["tool"],
            str(tool["calls"]),
            str(tool["errors"]),
            f"{tool['error_rate']:.1%}",
            *(_times(executions.get(tool["tool"])) if executions else ()),
        )
        for tool in tools[: len(tools) - hidden]
    ]
    screen.table(header, rows, right=range(1, len(header)))
    say_hidden(screen, hidden)


def _times(metrics: Mapping[str, Any] | None) -> list[str]:
    names = ("mean_ms", "min_ms", "p50_ms", "p95_ms", "max_ms")
    values = [None if metrics is None else metrics.get(name) for name in names]
    return ["-" if value is None else _seconds(value / 1000) for value in values]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _tokens(tokens: Mapping[str, Any], rows: int) -> str:
    known = {name: part for name, part in tokens.items() if part["total"] is not None}
    if not known:
        return ""
    text = ", ".join(f"{name} {part['total']:,.0f}" for name, part in known.items())
    return text + _partly(min(part["known_rows"] for part in known.values()), rows)


def _cost(part: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    if part["total"] is None:
        return ""
    return f"${part['total']:,.4f}" + _partly(part["known_rows"], summary["rows"])


def _partly(known: int, rows: int) -> str:
    return "" if known == rows else f" (known for {known} of {rows} rows)"


def _seconds(value: float) -> str:
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.1f} s"


HEADER = ("gate", "refuses", "by", "for example")


def show_gates(screen: Screen, gates: Sequence[Mapping[str, Any]]) -> None:
    """Print the refusals among rollouts with the right end state, with the commonest findings."""
    rows: list[tuple[str, str, str, str]] = []
    for item in gates:
        note = "" if item["note"] is None else ", noted only"
        if note and item["gate"] == "reply":
            note = f", if it forbids [{item['note']}]"
        name, refused = f"{item['gate']}{note}", f"{item['refused']} of {item['right_ends']}"
        for reason in item["reasons"]:
            evidence = f" ({reason['evidence']})" if reason["evidence"] else ""
            text = f"{reason['check']}: {reason['words']}".removesuffix(": ") + evidence
            rows.append((name, refused, str(reason["rows"]), text))
            name = refused = ""
    screen.table(HEADER, rows, right=(1, 2))
