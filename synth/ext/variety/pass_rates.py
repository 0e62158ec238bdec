"""Tasks that the policy of an earlier run passes at some rate (``tasks.from_run``,
``tasks.pass_rate``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path

from synth.core.dataset.reader import Dataset
from synth.task import Task
from synth.verdict import Outcome

LEAST_ROWS = 4
"""Scored rollouts from which the rate of a case is read; with fewer, its family's rate counts."""

_Key = tuple[str, str | None]


@dataclass(frozen=True)
class PassRates:
    """Scored rollouts of an earlier run by family and case: how many ``passed``, of how many
    ``played``. All tasks of a family and case take the same work. A rate is wanted from ``least``
    to ``most``.
    """

    passed: Counter[_Key]
    played: Counter[_Key]
    least: float
    most: float

    @classmethod
    def read(cls, path: str, least: float, most: float) -> PassRates:
        """Raises :class:`~synth.errors.DatasetError` for what is not a dataset."""
        rates = cls(Counter(), Counter(), least, most)
        for row in Dataset.open(Path(path)).rows(["family", "case", "outcome"]):
            if row["outcome"] != Outcome.UNSCORED:
                for key in {(row["family"], row["case"]), (row["family"], None)}:
                    rates.played[key] += 1
                    rates.passed[key] += row["outcome"] == Outcome.SUCCESS
        return rates

    def hold(self, task: Task) -> bool:
        """True if the expected rate of the task is wanted."""
        rate = self.rate(task)
        return rate is not None and self.least <= rate <= self.most

    def rate(self, task: Task) -> float | None:
        """The expected rate: its case's, its family's, or the product of its requests' rates.
        None if a family was never played.
        """
        rates = [self._rate(part.family, part.case) for part in task.parts or (task,)]
        known = [rate for rate in rates if rate is not None]
        return prod(known) if len(known) == len(rates) else None

    def _rate(self, family: str, case: str | None) -> float | None:
        key = (family, case) if self.played[family, case] >= LEAST_ROWS else (family, None)
        return self.passed[key] / self.played[key] if self.played[key] else None

    def known(self, families: Iterable[str]) -> list[str]:
        """The families that were played."""
        return [name for name in families if self.played[name, None]]

    def __str__(self) -> str:
        return f"{self.least:g} to {self.most:g}"
