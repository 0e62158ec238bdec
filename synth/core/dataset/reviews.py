"""Reviews of rows by people: a file beside the shards, read as two columns of the dataset."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

import pyarrow as pa

from synth.core.dataset.columns import REVIEWED
from synth.errors import DatasetError

FILE: Final = "reviews.jsonl"

Verdict = Literal["accept", "reject", ""]
DISPUTED: Final = "disputed"
"""The review of a row that one reviewer accepts and another rejects."""


@dataclass(frozen=True, slots=True)
class Review:
    """What one reviewer says of a row; an empty verdict takes the earlier one back."""

    trajectory_id: str
    reviewer: str
    verdict: Verdict
    note: str = ""


@dataclass(slots=True)
class Reviews:
    """The reviews of a run: the last of each reviewer for each row."""

    rows: dict[str, dict[str, Review]] = field(default_factory=dict[str, dict[str, Review]])

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read a run's reviews; a run without any has none.

        Raises :class:`~synth.errors.DatasetError` for a line that is no review.
        """
        found, file = cls(), directory / FILE
        if not file.is_file():
            return found
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            try:
                review = Review(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise DatasetError(f"{file}:{number} is not a review: {error}") from error
            found.rows.setdefault(review.trajectory_id, {})[review.reviewer] = review
        return found

    def of(self, trajectory_id: str, reviewer: str | None = None) -> dict[str, str | None]:
        """The columns of a row: the verdict on which all agree, or ``disputed``; all notes. For one
        ``reviewer`` only what they say themselves.
        """
        every = self.rows.get(trajectory_id, {}).values()
        said = [one for one in every if reviewer in (None, one.reviewer)]
        verdicts = {one.verdict for one in said if one.verdict}
        notes = [one.note for one in said if one.note]
        verdict = DISPUTED if len(verdicts) > 1 else next(iter(verdicts), None)
        return {"review": verdict, "review_note": "\n".join(notes) or None}

    def over(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        """The columns ``names`` of a table that has ``trajectory_id``, with the reviews in."""
        found = [self.of(one) for one in table["trajectory_id"].to_pylist()]
        columns = [
            pa.array([one[name] for one in found], pa.string()) if name in REVIEWED else table[name]
            for name in names
        ]
        return pa.table(columns, schema=pa.schema([table.schema.field(name) for name in names]))

    def summary(self) -> dict[str, Any]:
        """Counts of verdicts, and how two reviewers agree: over each pair of reviewers of a row,
        the pairs with one verdict, and Cohen's kappa (null where chance alone explains all).
        """
        counts = Counter(verdict for one in self.rows if (verdict := self.of(one)["review"]))
        pairs = [pair for said in self.rows.values() for pair in _pairs(said)]
        agreed = sum(one == other for one, other in pairs)
        reviewers = {n for said in self.rows.values() for n, one in said.items() if one.verdict}
        return {
            "verdicts": dict(counts.most_common()),
            "reviewers": len(reviewers),
            "pairs": len(pairs),
            "agreed": agreed,
            "kappa": _kappa(pairs),
        }


def _pairs(said: Mapping[str, Review]) -> Iterable[tuple[str, str]]:
    given = sorted((name, one.verdict) for name, one in said.items() if one.verdict)
    return ((one, other) for (_, one), (_, other) in combinations(given, 2))


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    if not pairs:
        return None
    first, second = (sum(pair[side] == "accept" for pair in pairs) / len(pairs) for side in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def in_words(summary: Mapping[str, Any]) -> str:
    """A phrase such as ``accept 9, reject 2; 2 reviewers agree on 5 of 6 (kappa 0.57)``."""
    if not summary["verdicts"]:
        return ""
    words = ", ".join(f"{name} {count}" for name, count in summary["verdicts"].items())
    if summary["pairs"]:
        kappa = "" if summary["kappa"] is None else f" (kappa {summary['kappa']:.2f})"
        agreed = f"{summary['agreed']} of {summary['pairs']}"
        words += f"; {summary['reviewers']} reviewers agree on {agreed}{kappa}"
    return words


def add_review(directory: Path, review: Review) -> None:
    """Write a review into a run's directory.

    Raises :class:`~synth.errors.DatasetError` for another verdict.
    """
    if review.verdict not in get_args(Verdict):
        raise DatasetError(f"a review says accept, reject or nothing, not {review.verdict!r}")
    with (directory / FILE).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(review), ensure_ascii=False) + "\n")
