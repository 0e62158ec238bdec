"""The table of a study: pass rates of all points on all held-out sets, and the pairs compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plan import Study

from synth.core.dataset.reader import Dataset
from synth.core.report.compare import read_samples
from synth.core.report.rates import (
    POINTS,
    PassTally,
    difference_interval,
    points,
    sign_flip_p,
)

Solved = Mapping[str, bool]
"""Which tasks a model solved."""

NOTE = """\
pass@1 with intervals of 95 percent. Several seeds of a point are samples of the same tasks: the
interval says how sure the rate is over tasks, the rates of the seeds stand beside it. The test is
paired by task and exact (`synth eval --compare`); no p is corrected for the number of tests."""


def write_results(out: Path, study: Study) -> str:
    """Write OUT/results.md and results.json of what is there; returns the table."""
    document: dict[str, Any] = {"points": [], "pairs": [], "missing": []}
    runs = {
        (point, name): _runs(out, study, point, name)
        for point in study.points
        for name in study.held_out
    }
    for (point, name), found in runs.items():
        document["missing"] += [
            f"{point}/{name}" if seed is None else f"{point}/seed-{seed}/{name}"
            for seed, run in found
            if run is None
        ]
        solved = [(seed, run) for seed, run in found if run is not None]
        if solved:
            document["points"].append(_rate(point, name, solved) | _training(out, point, solved))
    for before, after in study.compare:
        for name in study.held_out:
            pair = _compared(runs[before, name], runs[after, name])
            if pair is not None:
                document["pairs"].append({"before": before, "after": after, "on": name, **pair})
    text = "\n".join(_page(document)) + "\n"
    _replace(out / "results.json", json.dumps(document, indent=1) + "\n")
    _replace(out / "results.md", text)
    return text


def _runs(out: Path, study: Study, point: str, name: str) -> list[tuple[int | None, Solved | None]]:
    """The evaluations of a point by seed; None where there is none yet."""
    if study.points[point].rows == 0:
        return [(None, _solved(out / point / name))]
    return [(seed, _solved(out / point / f"seed-{seed}" / name)) for seed in study.seeds]


def _solved(run: Path) -> Solved | None:
    if not (run / "eval.json").exists():
        return None
    with Dataset.open(run) as dataset:
        samples = read_samples(dataset)
    return {task: bool(one.solved) for (task, _), one in samples.items() if one.solved is not None}


def _rate(point: str, name: str, runs: Sequence[tuple[int | None, Solved]]) -> dict[str, Any]:
    tally = PassTally()
    for _, run in runs:
        for task, solved in run.items():
            tally.add(task, solved)
    found = tally.to_json() or {"rate": None, "interval": None, "tasks": 0}
    seeds = {
        "-" if seed is None else str(seed): sum(run.values()) / len(run)
        for seed, run in runs
        if run
    }
    kept = {key: found[key] for key in ("rate", "interval", "tasks")}
    return {"point": point, "on": name, **kept, "seeds": seeds}


def _training(
    out: Path, point: str, runs: Iterable[tuple[int | None, Solved]]
) -> dict[str, list[Any]]:
    """Rows, tokens and losses of each seed's training; no lists for the untrained model."""
    files = [out / point / f"seed-{seed}" / "model" / "training.json" for seed, _ in runs]
    read = [json.loads(file.read_text()) for file in files if file.exists()]
    return {key: [one[key] for one in read] for key in ("rows", "tokens", "loss")}


def _compared(
    before: Sequence[tuple[int | None, Solved | None]],
    after: Sequence[tuple[int | None, Solved | None]],
) -> dict[str, Any] | None:
    """Two points, paired by task: and by seed, unless one of them is the untrained model."""
    known = dict(before)
    tasks: dict[str, list[int]] = {}
    for seed, run in after:
        other = known.get(seed, known.get(None))
        if run is None or other is None:
            continue
        for task in run.keys() & other.keys():
            part = tasks.setdefault(task, [0, 0])
            part[0] += run[task] - other[task]
            part[1] += 1
    if not tasks:
        return None
    pairs = [(total, count) for total, count in tasks.values()]
    alike = len({total / count for total, count in pairs}) == 1  # nothing to estimate a spread from
    interval = None if alike else difference_interval(pairs)
    return {
        "tasks": len(pairs),
        "difference": sum(total for total, _ in pairs) / sum(count for _, count in pairs),
        "interval": interval,
        "p_value": sign_flip_p(total for total, _ in pairs),
    }


def _page(document: Mapping[str, Any]) -> Iterable[str]:
    yield from ("# Results", "", NOTE, "")
    yield from (
        "| point | rows | tokens | held out | tasks | pass@1 | 95% | seeds |",
        "|---" * 8 + "|",
    )
    for one in document["points"]:
        rows, tokens = (_range(one[key]) for key in ("rows", "tokens"))
        seeds = " ".join(f"{rate:.1%}" for rate in one["seeds"].values())
        rate = "-" if one["rate"] is None else f"{one['rate']:.1%}"
        named = f"| {one['point']} | {rows} | {tokens} | {one['on']} | {one['tasks']} |"
        yield f"{named} {rate} | {_span(one['interval'])} | {seeds} |"
    yield from (
        "",
        f"| before | after | held out | tasks | {POINTS} | 95% | p |",
        "|---" * 7 + "|",
    )
    for one in document["pairs"]:
        named = f"| {one['before']} | {one['after']} | {one['on']} | {one['tasks']} |"
        span = "-" if one["interval"] is None else " to ".join(map(points, one["interval"]))
        yield f"{named} {points(one['difference'])} | {span} | {one['p_value']:.2g} |"
    if document["missing"]:
        yield from ("", f"Not evaluated yet: {', '.join(document['missing'])}.")


def _range(values: Sequence[int]) -> str:
    ends = sorted({min(values), max(values)}) if values else [0]
    return " to ".join(f"{value:,}" for value in ends)


def _span(interval: Sequence[float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:.1%} to {interval[1]:.1%}"


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f".{file.name}.part")
    part.write_text(text)
    part.rename(file)
