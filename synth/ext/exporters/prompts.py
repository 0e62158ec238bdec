"""Prompts for reinforcement learning: one example of each task, with the task's id and its pass
rate in this dataset.

The trainer makes the rollouts itself; what a dataset gives it is the opening of each task, the
tools, and the key by which an environment finds the task again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from synth.ext.exporters.base import Example, Exporter, Message, Row, prompt_part
from synth.ext.exporters.row_policy import Unit
from synth.ext.exporters.siblings import by_task

TASK_COLUMNS = (
    *("task_id", "env", "env_digest", "family", "case", "split", "universe"),
    *("messages", "tools", "middleware_tools", "outcome", "reward"),
)
_IDENTITY = ("task_id", "env", "env_digest", "family", "case", "split", "universe")


@dataclass(frozen=True)
class PromptOptions:
    """``keep=mixed`` exports only tasks with successes and failures among their samples."""

    keep: Literal["all", "mixed"] = "all"


class PromptExporter(Exporter):
    """One example of each task of the selected rows; a subclass gives it the form of a target."""

    columns = TASK_COLUMNS
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)
    by_task = True
    prompts = True
    Options = PromptOptions

    def rendered(self, row: Row) -> Sequence[Sequence[Message]]:
        return [prompt_part(row["messages"])]

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        number = 0
        for group in by_task(rows, self.task_sizes):
            rate = pass_rate(group)
            if self.options.keep == "mixed" and rate in {0.0, 1.0}:
                for row in group:
                    self.leave_out(
                        row, f"every sample of its task {'succeeds' if rate else 'fails'}"
                    )
                continue
            for row in group:
                self.exported(row)
            yield self.example(group, number)
            number += 1

    @abstractmethod
    def example(self, group: Sequence[Row], number: int) -> Example:
        """Return the example of a task; ``group`` are its samples, ``number`` counts from 0."""


def pass_rate(group: Sequence[Row]) -> float:
    """Return the share of successes among samples of a task."""
    return sum(row["outcome"] == "success" for row in group) / len(group)


def task_identity(group: Sequence[Row]) -> Example:
    """Return the columns by which a task is found again, and the results of its samples."""
    return {name: group[0][name] for name in _IDENTITY} | {
        "samples": len(group),
        "pass_rate": pass_rate(group),
    }


def tools_of(group: Sequence[Row]) -> list[Any]:
    """Return the tools of a task's environment, without the tools of the run's middlewares."""
    own = group[0]["middleware_tools"] or ()
    return [tool for tool in group[0]["tools"] if tool["function"]["name"] not in own]


def prompt_of(group: Sequence[Row]) -> list[Example]:
    """Return the messages that open a task."""
    return [dict(message) for message in prompt_part(group[0]["messages"])]
