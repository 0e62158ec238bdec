"""Figures of an evaluation: pass rates by family, difficulty and stop reason, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.report.compare import Sample, count_failures, read_samples
from synth.core.report.rates import PassTally
from synth.core.report.summary import held_out_of, phrasing_kind, summarize
from synth.core.types.phrasings import HeldOutPhrasings
from synth.errors import DatasetError

_FROM_SUMMARY = ("path", "status", "rows", "jobs", "envs", "models", "sealed")
_COSTS = ("tokens", "cost_usd", "latency_s")

Scored = tuple[str, Sample]
"""A task's id and one of its samples that has a score."""


def evaluate(dataset: Dataset, difficulties: Mapping[str, str | None]) -> dict[str, Any]:
    """The figures of a run as JSON.

    ``difficulties`` holds them by task id. Rollouts that infrastructure broke and
    unscored ones are in no rate; they are counted. Raises DatasetError if no row has a score.
    """
    summary = summarize(dataset)
    scored = [
        (task, one) for (task, _), one in read_samples(dataset).items() if one.solved is not None
    ]
    if not scored:
        raise DatasetError(f"{dataset.name} has no scored row, so there is nothing to report")
    solved = sum(bool(one.solved) for _, one in scored)
    broken = sum(kind["count"] for kind in summary["infrastructure_errors"])
    return {
        **{name: summary[name] for name in _FROM_SUMMARY},
        "universes": sorted({row["universe"] for row in dataset.rows(["universe"])}),
        "unscored": summary["rewards"]["unscored"],
        "broken": broken,
        "pass": _figures(scored),
        "families": _parts(scored, lambda found: found[1].family),
        "difficulties": _parts(scored, lambda found: difficulties.get(found[0])),
        "renamings": _renamings(scored),
        "phrasings": _phrasings(scored, held_out_of(dataset)),
        "stop_reasons": _parts(scored, lambda found: found[1].stop_reason),
        "why_failed": count_failures(one for _, one in scored if not one.solved),
        **{name: summary[name] for name in _COSTS},
        "usd_per_success": _share(summary["cost_usd"]["total"], solved),
    }


def _figures(scored: Iterable[Scored]) -> dict[str, Any]:
    tally = PassTally()
    for task, one in scored:
        tally.add(task, bool(one.solved))
    return {**(tally.to_json() or {}), "intervals": tally.intervals()}


def _parts(scored: Iterable[Scored], name: Callable[[Scored], str | None]) -> list[dict[str, Any]]:
    """Figures of the samples that have a name, by name."""
    parts: dict[str, list[Scored]] = {}
    for one in scored:
        if (found := name(one)) is not None:
            parts.setdefault(found, []).append(one)
    return [{"name": part, "pass": _figures(own)} for part, own in sorted(parts.items())]


def _renamings(scored: Iterable[Scored]) -> list[dict[str, Any]]:
    """Figures by renaming; empty where all tasks are shown under the world's own names."""
    parts = _parts(scored, lambda found: str(found[1].renaming))
    parts.sort(key=lambda part: int(part["name"]))
    return [] if [part["name"] for part in parts] == ["0"] else parts


def _phrasings(scored: Iterable[Scored], held_out: HeldOutPhrasings | None) -> list[dict[str, Any]]:
    """Figures of the wordings that are held out of the first split, and of the others; empty where
    none is.
    """
    return _parts(scored, lambda one: phrasing_kind(held_out, one[1].family, one[1].phrasing))


def _share(total: float | None, count: int) -> float | None:
    return None if total is None or not count else total / count
