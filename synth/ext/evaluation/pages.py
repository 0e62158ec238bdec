"""Markdown of an evaluation: its report, two evaluations side by side, and a model's card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import yaml

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.card import table
from synth.core.report.compare import Sample, count_failures, other_world, read_samples
from synth.core.report.rates import POINTS, SHOWN, PassTally, points, points_between, spread_of
from synth.core.report.summary import held_out_of, phrasing_kind, summarize
from synth.core.report.table import APART, rows_apart
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
    return {
        **{name: summary[name] for name in _FROM_SUMMARY},
        "universes": sorted({row["universe"] for row in dataset.rows(["universe"])}),
        "unscored": summary["rewards"]["unscored"],
        "broken": sum(kind["count"] for kind in summary["infrastructure_errors"]),
        "pass": _figures(scored),
        "families": _parts(scored, lambda found: found[1].family),
        "difficulties": _parts(scored, lambda found: difficulties.get(found[0])),
        "renamings": _renamings(scored),
        "phrasings": _phrasings(scored, held_out_of(dataset)),
        "stop_reasons": _parts(scored, lambda found: found[1].stop_reason),
        "apart": summary["apart"],
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
    """Figures of the samples that have a name, by name: rates, and means of turns, tokens and
    seconds.
    """
    parts: dict[str, list[Scored]] = {}
    for one in scored:
        if (found := name(one)) is not None:
            parts.setdefault(found, []).append(one)
    return [
        {
            "name": part,
            "pass": _figures(own),
            "turns": _mean(one.turns for _, one in own),
            "tokens": _mean(one.tokens for _, one in own),
            "seconds": _mean(one.seconds for _, one in own),
        }
        for part, own in sorted(parts.items())
    ]


def _mean(figures: Iterable[float | None]) -> float | None:
    """The mean of the figures that are known."""
    known = [figure for figure in figures if figure is not None]
    return fmean(known) if known else None


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


Figures = Mapping[str, Any]


def report_page(document: Figures) -> str:
    """The report of :func:`~synth.ext.evaluation.pages.evaluate` as Markdown."""
    return _page([*_title(document), *_summary(document), *_measures(document), *_tables(document)])


def on_screen(document: Figures) -> str:
    """The same for a terminal: the lowest parts, and then the headline."""
    return _page(
        [*_title(document), *_tables(document, SHOWN), *_measures(document), *_summary(document)]
    )


def comparison_page(document: Figures) -> str:
    """The result of :func:`~synth.core.report.compare.compare` as Markdown: before, after, by
    family.
    """
    before, after = document["runs"]
    rows = [_pair("all", document), *(_pair(part["family"], part) for part in document["families"])]
    return _page(
        [
            "# Before and after",
            "",
            f"Before: {', '.join(before['models'])} ({before['path']}).",
            f"After: {', '.join(after['models'])} ({after['path']}).",
            "Samples are paired by task and number; p is that of an exact paired test over tasks.",
            "",
            *([other_world(document), ""] if document["other_world_pairs"] else []),
            *table(("family", "pairs", "before", "after", POINTS, "95%", "p"), rows),
            *_failures("Why it still fails", document["why_still_failing"]),
            *_failures("Why it fails now where it passed", document["why_lost"]),
        ]
    )


def model_card(document: Figures) -> str:
    """A card with the figures as the metadata that model hubs read (``model-index``)."""
    name, world = _models(document), _worlds(document)
    metrics = [
        {"type": label, "name": label, "value": round(value, 4), "verified": False}
        for label, value, _ in _rates(document["pass"])
    ]
    header = {
        "tags": ["tool-use", "function-calling", f"world:{world}"],
        "model-index": [
            {
                "name": name,
                "results": [
                    {
                        "task": {"type": "text-generation", "name": "Tool use"},
                        "dataset": {
                            "type": world,
                            "name": f"{world}, universes {_universes(document)}",
                        },
                        "metrics": metrics,
                    }
                ],
            }
        ],
    }
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1_000).rstrip("\n")
    parts = [*_summary(document), *_measures(document), *_tables(document)]
    return _page(["---", text, "---", "", f"# {name}", "", *parts])


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _title(document: Figures) -> list[str]:
    return [f"# {_models(document)} in {_worlds(document)}", ""]


def _models(document: Figures) -> str:
    return ", ".join(document["models"])


def _worlds(document: Figures) -> str:
    return ", ".join(document["envs"])


def _universes(document: Figures) -> str:
    return ", ".join(map(str, document["universes"]))


def _summary(document: Figures) -> list[str]:
    figures = document["pass"]
    text = (
        f"{figures['passed']} of {figures['samples']} rollouts of {figures['tasks']} tasks passed,"
        f" in universe{'s' * (len(document['universes']) > 1)} {_universes(document)}."
    )
    left_out = [
        f"{document[name]} {what}"
        for name, what in (("unscored", "without a score"), ("broken", "broken by infrastructure"))
        if document[name]
    ]
    if left_out:
        text += f" Not counted: {', '.join(left_out)}."
    if document["status"] != "complete":
        text += f" The run is {document['status']}: {document['jobs']} rollouts were planned."
    return [
        text,
        "",
        "Intervals hold 95 percent and draw tasks, not samples; below 10 tasks there is none.",
        "",
    ]


def _measures(document: Figures) -> list[str]:
    rates = [(label, f"{value:.1%}", spread) for label, value, spread in _rates(document["pass"])]
    return table(("measure", "value", "95%"), rates)


def _tables(document: Figures, shown: int | None = None) -> list[str]:
    lines: list[str] = []
    for title, name in (
        ("Families", "families"),
        ("Difficulty", "difficulties"),
        ("Renamings (0: the world's own names)", "renamings"),
        ("Wordings (held out: not in the first split)", "phrasings"),
        ("How rollouts ended", "stop_reasons"),
    ):
        if document.get(name):
            parts, which = document[name], ""
            if shown is not None and len(parts) > shown:
                which = f" ({shown} lowest of {len(parts)})"
                parts = sorted(parts, key=lambda part: part["pass"]["rate"])[:shown]
            lines += [f"## {title}{which}", "", *table(_PART, [_part(part) for part in parts])]
    if found := document.get("apart"):
        lines += ["## Counted apart", "", *table(APART, rows_apart(found))]
    return [*lines, *_failures("Why rollouts failed", document["why_failed"]), *_cost(document)]


def _rates(figures: Figures) -> list[tuple[str, float, str]]:
    """Label, value and interval of each measure: pass@k, then pass^k of several samples."""
    tasks = figures["tasks"]
    found = [("pass@1", figures["rate"], spread_of(figures["interval"], tasks))]
    for key, sign in (("pass_at", "@"), ("all_of", "^")):
        found += [
            (f"pass{sign}{k}", value, spread_of(figures["intervals"][key][k], tasks))
            for k, value in figures[key].items()
            if k != "1"
        ]
    return found


_PART = ("", "tasks", "rollouts", "pass@1", "95%", "turns", "tokens", "seconds")


def _part(part: Figures) -> tuple[str, ...]:
    own = part["pass"]
    counts = part["name"], str(own["tasks"]), str(own["samples"]), f"{own['rate']:.1%}"
    means = [
        "" if part[name] is None else f"{part[name]:,.{digits}f}"
        for name, digits in (("turns", 1), ("tokens", 0), ("seconds", 1))
    ]
    return (*counts, spread_of(own["interval"], own["tasks"]), *means)


def _pair(name: str, part: Figures) -> tuple[str, ...]:
    pairs = part["both_passed"] + part["gained"] + part["lost"] + part["both_failed"]
    if not pairs:
        return name, "0", "", "", "", "", ""
    before, after = part["rates"]
    spread = points_between(part["interval"], pairs)
    tested = (points(part["difference"]), spread, f"{part['p_value']:.3g}")
    return (name, str(pairs), f"{before:.1%}", f"{after:.1%}", *tested)


def _failures(title: str, reasons: Sequence[Figures]) -> list[str]:
    rows = [
        (str(part["count"]), part["verifier"] or "", part["blame"] or "", part["stop_reason"])
        for part in reasons
    ]
    header = ("rollouts", "failed at", "blame", "ended")
    return [f"## {title}", "", *table(header, rows)] if rows else []


def _cost(document: Figures) -> list[str]:
    tokens, cost = document["tokens"], document["cost_usd"]["total"]
    per_success = document["usd_per_success"]
    known = [
        f"{tokens[name]['total']:,} {name} tokens"
        for name in ("input", "output")
        if tokens[name]["total"] is not None
    ]
    if cost is not None:
        known.append(
            f"${cost:,.4f}"
            + ("" if per_success is None else f", ${per_success:,.4f} for each success")
        )
    if document["latency_s"] is not None:
        known.append(f"a rollout took {document['latency_s']['p50']:.1f} s (median)")
    return ["## Cost", "", "; ".join(known) + "."] if known else []
