"""The rows of a dataset that an export takes, and the count of those that it does not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from envs.ledger import Ledger
from synth.core.dataset.reader import Dataset
from synth.errors import OperatorError
from synth.ext.exporters.base import MinReward, Row
from synth.ext.exporters.row_policy import one_of

if TYPE_CHECKING:
    from synth.ext.hub.contamination import BenchmarkCheck

FAILED = "no success: a gate failed"

Errors = Literal["keep", "drop"]
"""Rows with a failed call or a turn that must not be trained on are exported, or left out."""


@dataclass(frozen=True, slots=True)
class RowChoice:
    """The rows that an export takes.

    ``where`` is a condition in SQL over the columns; ``best`` takes only that many rows of each
    task, those with the highest reward and among them the shortest. ``against`` is asked last.

    Raises :class:`~synth.errors.OperatorError` for values of another kind.
    """

    where: str | None = None
    min_reward: MinReward = None
    split: str = "train"
    best: int | None = None
    errors: Errors = "keep"
    against: BenchmarkCheck | None = None

    def __post_init__(self) -> None:
        one_of("errors", self.errors, get_args(Errors))
        lowest: object = self.min_reward
        if lowest not in (None, "success") and not _is_number(lowest):
            raise OperatorError(
                f"min_reward: a finite number such as 0.5, 'success' or None, not {lowest!r}"
            )
        best: object = self.best
        if best is not None and not (type(best) is int and best > 0):
            raise OperatorError(f"best: a whole number from 1, or None, not {best!r}")

    def reason(self, row: Row) -> str:
        """Return the reason why a row is left out; empty if it is exported."""
        if row["split"] != self.split:
            return f"split {row['split']}"
        if row["reward"] is None:
            return "unscored"
        if self.min_reward == "success":
            if row["outcome"] != "success":
                return FAILED
        elif self.min_reward is not None and row["reward"] < self.min_reward:
            return f"reward below {self.min_reward:g}"
        if self.errors == "drop" and _has_error(row):
            return "an error on the way (--errors drop)"
        return self.against.reason(row) if self.against is not None else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that :meth:`reason` and the best of a task depend on."""
        light = ("trajectory_id", "task_id", "split", "reward", "outcome")
        ranked = ("num_turns",) if self.best is not None else ()
        errors = ("num_tool_errors", "messages") if self.errors == "drop" else ()
        against = self.against.columns if self.against is not None else ()
        return tuple(dict.fromkeys((*light, *ranked, *errors, *against)))


class Selection:
    """Rows that pass to the exporter: ``matched`` meet the condition; of each task
    ``task_sizes`` are exported.
    """

    def __init__(self, dataset: Dataset, choice: RowChoice) -> None:
        self._dataset, self._choice = dataset, choice
        ids = None if choice.where is None else dataset.ids(choice.where)
        self._reasons: dict[int, str] = {}
        tasks = defaultdict[str, list[tuple[float, int, int]]](list)
        for position, row in enumerate(dataset.rows(list(choice.columns))):
            if ids is None or row["trajectory_id"] in ids:
                self._reasons[position] = reason = choice.reason(row)
                if not reason:
                    rank = (-row["reward"], row.get("num_turns", 0), position)
                    tasks[row["task_id"]].append(rank)
        self.matched = len(self._reasons)
        self.task_sizes: Mapping[str, int] = {
            task: len(self._best(ranks)) for task, ranks in tasks.items()
        }

    def _best(self, ranks: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
        """Take the best rows of a task; the others get their reason."""
        best = self._choice.best
        if best is None:
            return ranks
        ranks.sort()
        for *_, position in ranks[best:]:
            self._reasons[position] = f"not among the best {best} of its task"
        return ranks[:best]

    def rows(self, columns: tuple[str, ...], account: Ledger) -> Iterator[Row]:
        """Yield the rows to export, with these columns at least; each row that matches is entered
        into ``account``.
        """
        wanted = list(dict.fromkeys((*self._choice.columns, *columns)))
        for position, row in enumerate(self._dataset.rows(wanted)):
            if (reason := self._reasons.get(position)) is None:
                continue
            account.found("row")
            if reason:
                account.leave_out("row", row["trajectory_id"], reason)
            else:
                yield {**row, "row_number": position}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def _has_error(row: Row) -> bool:
    return row["num_tool_errors"] > 0 or any(
        message.get("train") is False for message in row["messages"]
    )
