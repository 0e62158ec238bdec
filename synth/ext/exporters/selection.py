"""The rows of a dataset that an export takes, and the count of those that it does not."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from envs.ledger import Ledger
from synth.core.dataset.reader import Dataset
from synth.errors import OperatorError
from synth.ext.exporters.base import MinReward, Row
from synth.ext.exporters.row_policy import one_of

FAILED = "no success: a gate failed"

Errors = Literal["keep", "drop"]
"""Rows with a failed call or a turn that must not be trained on are exported, or left out."""


class RowCheck(Protocol):
    """A check of rows by some of their columns."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def reason(self, row: Row) -> str:
        """Return why a row is left out; empty if it is exported."""
        ...


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
    against: RowCheck | None = None

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
    """Rows that pass to the exporter. Iterate :meth:`rows` once."""

    def __init__(self, dataset: Dataset, choice: RowChoice, account: Ledger) -> None:
        """The rows are entered into ``account``, the export's."""
        self._dataset = dataset
        self._choice = choice
        self._ids: set[str] | None = None
        if choice.where is not None:
            matching = dataset.query(choice.where, ["trajectory_id"]).to_pylist()
            self._ids = {row["trajectory_id"] for row in matching}
        self.matched = 0
        self._account = account

    def rows(self, columns: tuple[str, ...]) -> Iterator[Row]:
        """Yield the rows to export, with these columns at least, and account for the others."""
        choice = self._choice
        best = self._best()
        wanted = list(dict.fromkeys((*choice.columns, *columns)))
        for position, row in self._matching(wanted):
            self.matched += 1
            self._account.found("row")
            reason = choice.reason(row)
            if not reason and best is not None and position not in best:
                reason = f"not among the best {choice.best} of its task"
            if reason:
                self._account.leave_out("row", row["trajectory_id"], reason)
            else:
                yield {**row, "row_number": position}

    def task_sizes(self) -> Mapping[str, int]:
        """Return the number of rows to export of each task."""
        best = self._best()
        return Counter(
            row["task_id"]
            for position, row in self._matching(list(self._choice.columns))
            if not self._choice.reason(row) and (best is None or position in best)
        )

    def _matching(self, columns: list[str]) -> Iterator[tuple[int, Row]]:
        for position, row in enumerate(self._dataset.rows(columns)):
            if self._ids is None or row["trajectory_id"] in self._ids:
                yield position, row

    def _best(self) -> set[int] | None:
        """Return the positions of the best rows of each task; None if all are taken."""
        if self._choice.best is None:
            return None
        tasks: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
        for position, row in self._matching(list(self._choice.columns)):
            if not self._choice.reason(row):
                rank = (-row["reward"], row["num_turns"], position)
                tasks[row["task_id"]].append(rank)
        return {
            position
            for ranks in tasks.values()
            for _, _, position in heapq.nsmallest(self._choice.best, ranks)
        }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def _has_error(row: Row) -> bool:
    return row["num_tool_errors"] > 0 or any(
        message.get("train") is False for message in row["messages"]
    )
