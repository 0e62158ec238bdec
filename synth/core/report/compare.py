"""Two runs compared: their samples paired by task and sample, which flipped, and why."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.report.rates import (
    POINTS,
    SHOWN,
    Interval,
    PassTally,
    difference_interval,
    points,
    points_between,
    sign_flip_p,
    spread_of,
)
from synth.core.screen.screen import Screen, reason_of, say_hidden
from synth.errors import DatasetError

_COLUMNS = [
    *("trajectory_id", "task_id", "sample_index", "family", "case", "model"),
    *("outcome", "reward", "stop_reason", "blame", "verdicts", "num_turns", "renaming"),
    *("phrasing", "env_digest", "input_tokens", "output_tokens", "latency_s"),
]


@dataclass(frozen=True, slots=True)
class Sample:
    """One side of a pair. ``solved`` is None for a rollout without a score."""

    trajectory_id: str
    family: str
    model: str
    solved: bool | None
    reward: float | None
    stop_reason: str
    blame: str | None
    turns: int
    verifier: str
    reason: str
    renaming: int = 0
    phrasing: str | None = None
    env_digest: str = ""
    tokens: int | None = None
    seconds: float | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "trajectory_id": self.trajectory_id,
            "reward": self.reward,
            "stop_reason": self.stop_reason,
            "blame": self.blame,
            "turns": self.turns,
            "reason": self.reason,
        }


Key = tuple[str, int]


def compare(first: Dataset, second: Dataset) -> dict[str, Any]:
    """Everything that ``synth inspect --compare`` prints, as JSON.

    Raises DatasetError if the runs have no task in common, or a pair is there twice.
    """
    one, two = read_samples(first), read_samples(second)
    common = [key for key in one if key in two]
    if not common:
        raise DatasetError(
            f"{first.name} and {second.name} have no task and sample in common: runs compare that"
            " were made of the same world with the same seed, tasks and samples"
        )
    scored = [key for key in common if one[key].solved is not None and two[key].solved is not None]
    return {
        "runs": [_side(first, one), _side(second, two)],
        "pairs": len(scored),
        "unscored_pairs": len(common) - len(scored),
        "only_first": len(one) - len(common),
        "only_second": len(two) - len(common),
        "other_world_pairs": sum(one[key].env_digest != two[key].env_digest for key in common),
        **_figures(scored, one, two),
        "families": [
            {"family": family, **_figures(keys, one, two)}
            for family, keys in sorted(_by_family(scored, one).items())
        ],
        "why_lost": count_failures(_key_samples(scored, one, two)),
        "why_still_failing": count_failures(
            two[key] for key in scored if not one[key].solved and not two[key].solved
        ),
        "flips": [_flip(key, one[key], two[key]) for key in scored if flipped(one[key], two[key])],
    }


def flipped(one: Sample, two: Sample) -> bool:
    return one.solved != two.solved


def _key_samples(
    keys: Iterable[Key], one: Mapping[Key, Sample], two: Mapping[Key, Sample]
) -> Iterable[Sample]:
    """The second samples of pairs of which the first passed and the second did not."""
    return (two[key] for key in keys if one[key].solved and not two[key].solved)


def read_samples(dataset: Dataset) -> dict[Key, Sample]:
    """The samples of a run by task and number. Raises DatasetError if one is there twice."""
    found: dict[Key, Sample] = {}
    for row in dataset.rows(_COLUMNS):
        key = row["task_id"], row["sample_index"]
        if key in found:
            raise DatasetError(
                f"{dataset.name}: task {key[0]} has sample {key[1]} twice; compare one run with one"
            )
        spent = [row["input_tokens"], row["output_tokens"]]
        failing = next((v for v in row["verdicts"] if v["score"] is None or v["score"] < 1), None)
        found[key] = Sample(
            trajectory_id=row["trajectory_id"],
            family=row["family"],
            model=row["model"],
            solved=None if row["reward"] is None else row["outcome"] == "success",
            reward=row["reward"],
            stop_reason=row["stop_reason"],
            blame=row["blame"],
            turns=row["num_turns"],
            verifier="" if failing is None else failing["verifier"],
            reason=reason_of(row["verdicts"]),
            renaming=row["renaming"] or 0,
            phrasing=row["phrasing"],
            env_digest=row["env_digest"],
            tokens=None if None in spent else sum(spent),
            seconds=row["latency_s"],
        )
    return found


def _side(dataset: Dataset, samples: Mapping[Key, Sample]) -> dict[str, Any]:
    tally = PassTally()
    for (task, _), sample in samples.items():
        if sample.solved is not None:
            tally.add(task, sample.solved)
    return {
        "path": dataset.name,
        "status": dataset.status,
        "models": sorted({sample.model for sample in samples.values()}),
        "env_digests": sorted({sample.env_digest for sample in samples.values()}),
        "rows": len(samples),
        "pass": tally.to_json(),
    }


def _figures(
    keys: Iterable[Key], one: Mapping[Key, Sample], two: Mapping[Key, Sample]
) -> dict[str, Any]:
    """The counts of pairs, both rates, their difference, its interval and the paired test."""
    tasks: dict[str, list[int]] = {}
    counts: Counter[tuple[bool, bool]] = Counter()
    for key in keys:
        before, after = bool(one[key].solved), bool(two[key].solved)
        counts[before, after] += 1
        part = tasks.setdefault(key[0], [0, 0])
        part[0] += after - before
        part[1] += 1
    pairs = counts.total()
    gained, lost, both = counts[False, True], counts[True, False], counts[True, True]
    differences = [(difference, count) for difference, count in tasks.values()]
    interval: Interval | None = difference_interval(differences) if pairs else None
    return {
        "both_passed": both,
        "gained": gained,
        "lost": lost,
        "both_failed": counts[False, False],
        "rates": [(both + lost) / pairs, (both + gained) / pairs] if pairs else None,
        "difference": (gained - lost) / pairs if pairs else None,
        "interval": None if interval is None else [*interval],
        "p_value": sign_flip_p(difference for difference, _ in differences) if pairs else None,
    }


def _by_family(keys: Iterable[Key], one: Mapping[Key, Sample]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = {}
    for key in keys:
        found.setdefault(one[key].family, []).append(key)
    return found


def count_failures(samples: Iterable[Sample]) -> list[dict[str, object]]:
    """Count failures by verifier and by whose fault they are, the commonest first."""
    kinds: Counter[tuple[str, str | None, str]] = Counter(
        (sample.verifier, sample.blame, sample.stop_reason) for sample in samples
    )
    return [
        {"verifier": verifier, "blame": blame, "stop_reason": stop, "count": count}
        for (verifier, blame, stop), count in kinds.most_common()
    ]


def _flip(key: Key, one: Sample, two: Sample) -> dict[str, object]:
    return {
        "task_id": key[0],
        "sample": key[1],
        "family": one.family,
        "change": "gained" if two.solved else "lost",
        "first": one.to_json(),
        "second": two.to_json(),
    }


LISTED = 40
"""Flipped samples that are listed; ``--limit`` says otherwise."""


def show_comparison(
    screen: Screen, document: Mapping[str, Any], limit: int = LISTED, *, details: bool = False
) -> None:
    """Print the result of :func:`~synth.core.report.compare.compare`, the verdict and the next
    commands last; ``limit`` 0 lists every flip. Without ``details`` only the families that differ
    most are listed.
    """
    families = [*document["families"]]
    if not details and len(families) > SHOWN:
        families.sort(key=lambda part: -abs(part["difference"] or 0))
        families = families[:SHOWN]
    screen.heading("Families")
    header = ("family", "pairs", "A", "B", POINTS, "95%", "p", "gained", "lost")
    rows = [_row(part["family"], part) for part in families]
    screen.table(header, [*rows, _row("all", document)], right=range(1, len(header)))
    say_hidden(screen, len(document["families"]) - len(families))
    _reasons(screen, "Why lost (B failed where A passed)", document["why_lost"])
    _flips(screen, document["flips"], limit)
    screen.line()
    for name, side in zip("AB", document["runs"], strict=True):
        rate = "no scored rows" if side["pass"] is None else _rate_text(side["pass"])
        screen.parts([(f"{name}  {side['path']}", "bold"), (f"  {', '.join(side['models'])}", "")])
        screen.line(f"{side['rows']} rows ({side['status']}), passed {rate}", indent=3)
    if note := other_world(document):
        screen.line(note, "yellow")
    for key, what in (
        ("unscored_pairs", "pairs without a score on both sides"),
        ("only_first", "samples only in A"),
        ("only_second", "samples only in B"),
    ):
        if document[key]:
            screen.line(f"{document[key]} {what} are left out", "yellow")
    screen.line(_verdict(document), "bold")
    both = shlex.join(side["path"] for side in document["runs"])
    screen.next_steps([f"synth view {both}"])


def other_world(document: Mapping[str, Any]) -> str:
    """A note that the same tasks come from two versions of a world; empty if they do not."""
    pairs: int = document["other_world_pairs"]
    if not pairs:
        return ""
    digests = [", ".join(side["env_digests"]) for side in document["runs"]]
    return (
        f"note: {pairs} pairs come from two versions of their world (env_digest"
        f" {digests[0]} and {digests[1]}), so that the world may be what differs"
    )


def _rate_text(figures: Mapping[str, Any]) -> str:
    spread = spread_of(figures["interval"], figures["tasks"])
    return f"{figures['rate']:.1%}" + (f" ({spread})" if spread else "")


def _verdict(document: Mapping[str, Any]) -> str:
    pairs, p_value = document["pairs"], document["p_value"]
    if not pairs:
        return "no pair has a score on both sides"
    interval = document["interval"]
    text = f"B's rate less A's: {points(document['difference'])} points over {pairs} pairs"
    if interval is None:
        text += " (no interval: all tasks differ alike)"
    elif spread := points_between(interval, pairs):
        text += f" ({spread})"
    text += f", p = {p_value:.3g}"
    return text + (": no clear difference" if p_value >= 0.05 else "")


def _row(name: str, part: Mapping[str, Any]) -> tuple[str, ...]:
    pairs = part["both_passed"] + part["gained"] + part["lost"] + part["both_failed"]
    if not pairs:
        return (name, "0", *["-"] * 7)
    spread = points_between(part["interval"], pairs) or "-"
    rates = (f"{rate:.1%}" for rate in part["rates"])
    tested = (points(part["difference"]), spread, f"{part['p_value']:.3g}")
    return (name, str(pairs), *rates, *tested, str(part["gained"]), str(part["lost"]))


def _reasons(screen: Screen, title: str, reasons: Sequence[Mapping[str, Any]]) -> None:
    if not reasons:
        return
    screen.heading(title)
    header = ("rows", "failed at", "blame", "stopped")
    rows = [
        (str(part["count"]), part["verifier"] or "-", part["blame"] or "-", part["stop_reason"])
        for part in reasons
    ]
    screen.table(header, rows, right=(0,))


def _flips(screen: Screen, flips: Sequence[Mapping[str, Any]], limit: int) -> None:
    ordered = sorted(flips, key=lambda flip: flip["change"] == "gained")  # lost ones first
    shown = ordered[:limit] if limit else ordered
    if not flips:
        screen.heading("No sample flipped")
        return
    screen.heading(f"Flipped ({len(flips)})")
    rows = [
        (
            flip["change"],
            flip["family"],
            flip["first"]["trajectory_id"],
            flip["second"]["trajectory_id"],
            (flip["second"] if flip["change"] == "lost" else flip["first"])["reason"],
        )
        for flip in shown
    ]
    screen.columns([("", "family", "A", "B", "why it failed"), *rows])
    if len(shown) < len(flips):
        screen.line(f"{len(shown)} of {len(flips)} flips; --limit 0 shows all", "dim")
