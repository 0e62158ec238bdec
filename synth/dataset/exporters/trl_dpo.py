"""TRL's DPOTrainer: Parquet with the columns ``prompt``, ``chosen``, ``rejected`` and ``tools``.

Pairs are made of the samples of one task: the best against the worst, the second best against the
second worst, and so on, as long as their rewards differ. Both samples share the prompt: everything
before the first turn in which they differ. So a pair begins with the two ways to go on from the
very same state.

Branches (`synth branch`) are paired among those of one turn, with the rollout that they branch from
where that is exported, too: their database was the same, and the pair says what the turn was worth.

``chosen`` and ``rejected`` go to the last turn of the assistant, or (``completion=turn``) hold only
the first turn that differs: no result of a tool is in it, but the first difference need not be the
decisive one. DPO has no loss masks, so a chosen sample with a turn that must not be trained on
after the shared part makes no pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import PositiveInt

from synth.dataset.columns import Kind
from synth.dataset.exporters.base import (
    Example,
    Exporter,
    Row,
    has_untrained,
    last_turn,
    without_marks,
)
from synth.dataset.exporters.files import write_parquet
from synth.dataset.exporters.row_policy import Unit
from synth.dataset.exporters.siblings import (
    NO_SIBLING,
    SAME_REWARD,
    by_task,
    from_one_state,
    shared_start,
)


@dataclass(frozen=True)
class PairOptions:
    """Options of ``trl-dpo``: the largest number of pairs of a task, and the end of an answer."""

    pairs: PositiveInt = 1
    completion: Literal["rollout", "turn"] = "rollout"


class TrlDpo(Exporter):
    """Preference pairs for TRL."""

    name = "trl-dpo"
    description = "TRL DPOTrainer: Parquet with prompt, chosen and rejected, of samples of one task"
    suffix = ".parquet"
    columns = (
        *("task_id", "messages", "tools", "reward"),
        *("trajectory_id", "parent_id", "branch_step"),
    )
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)
    by_task = True
    Options = PairOptions

    def __init__(self, options: PairOptions | None = None) -> None:
        super().__init__(options or PairOptions())

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for task in by_task(rows, self.task_sizes):
            for group in from_one_state(task):
                yield from self._pairs(group)

    def _pairs(self, group: Sequence[Row]) -> Iterator[Example]:
        if len(group) == 1:
            self.leave_out(NO_SIBLING)
            return
        ranked = sorted(group, key=lambda row: -row["reward"])
        used = 0
        for best, worst in zip(ranked, reversed(ranked), strict=True):
            if used == self.options.pairs or best["reward"] <= worst["reward"]:
                break
            example = self._pair(best, worst)
            if example is not None:
                used += 1
                yield example
        if ranked[0]["reward"] == ranked[-1]["reward"]:
            for _ in group:
                self.leave_out(SAME_REWARD)

    def _pair(self, best: Row, worst: Row) -> Example | None:
        chosen, rejected = best["messages"], worst["messages"]
        start = shared_start(chosen, rejected)
        good, bad = (messages[start : last_turn(messages)] for messages in (chosen, rejected))
        if self.options.completion == "turn":
            good, bad = good[:1], bad[:1]
        reason = ""
        if not start:
            reason = "samples of one task that open differently"
        elif not good or not bad or good == bad:
            reason = "a pair without a turn that differs"
        elif has_untrained(good):
            reason = "a chosen sample with a turn that must not be trained on"
        if reason:
            self.leave_out(reason)
            return None
        for messages, answer in ((chosen, good), (rejected, bad)):
            self.exported(messages[: start + len(answer)], best["tools"], start)
        return {
            "prompt": without_marks(chosen[:start]),
            "chosen": without_marks(good),
            "rejected": without_marks(bad),
            "tools": list(best["tools"]),
            "task_id": best["task_id"],
            "chosen_reward": best["reward"],
            "rejected_reward": worst["reward"],
        }

    def write(self, examples: Iterable[Example], out: Path) -> int:
        lists = ("prompt", "chosen", "rejected", "tools")
        columns: dict[str, Kind] = dict.fromkeys(lists, "list<json>")
        rewards: dict[str, Kind] = {"chosen_reward": "float64", "rejected_reward": "float64"}
        return write_parquet(examples, out, {**columns, "task_id": "str", **rewards})
