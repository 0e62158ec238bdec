"""Two runs compared: their samples paired by task and sample, which flipped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.report.rates import Interval, PassTally, difference_interval, sign_flip_p
from synth.core.report.screen import reason_of
from synth.errors import DatasetError

_COLUMNS = [
    *("trajectory_id", "task_id", "sample_index", "family", "case", "model"),
    *("outcome", "reward", "stop_reason", "blame", "verdicts", "num_turns", "renaming"),
    *("phrasing", "env_digest"),
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
        "why_lost": count_failures(key_samples(scored, one, two)),
        "why_still_failing": count_failures(
            two[key] for key in scored if not one[key].solved and not two[key].solved
        ),
        "flips": [_flip(key, one[key], two[key]) for key in scored if flipped(one[key], two[key])],
    }


def flipped(one: Sample, two: Sample) -> bool:
    return one.solved != two.solved


def key_samples(
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
        "interval": None if interval is None else interval.to_json(),
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
