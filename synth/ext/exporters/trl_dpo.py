"""TRL's DPOTrainer: Parquet with the columns ``prompt``, ``chosen``, ``rejected`` and ``tools``.

Pairs are made of the samples of one task: the best against the worst, the second best against the
second worst, and so on, as long as their rewards differ. A sample that cannot be chosen uses up no
other. Both samples share the prompt: everything
before the first turn in which they differ. So a pair begins with the two ways to go on from the
very same state.

Branches (`synth branch`) of one turn are paired, with the rollout that they branch from
where that is exported, too: their database was the same, and the pair says what the turn was worth.

``chosen`` and ``rejected`` go to the last turn of the assistant, or (``completion=turn``) hold only
the first turn that differs: no result of a tool is in it, but the first difference need not be the
decisive one. DPO has no loss masks, so a chosen sample with a turn that must not be trained on
after the shared part makes no pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import PositiveInt

from synth.ext.exporters.base import (
    Example,
    Exporter,
    Message,
    Row,
    has_untrained,
    last_turn,
    row_key,
    without_marks,
)
from synth.ext.exporters.files import Columns
from synth.ext.exporters.row_policy import Unit
from synth.ext.exporters.siblings import (
    NO_SIBLING,
    SAME_REWARD,
    by_task,
    from_one_state,
    shared_start,
)

_MORE = "not in one of the pairs of its task (--option pairs=N makes more)"


@dataclass(frozen=True)
class PairOptions:
    """Options of ``trl-dpo``: the largest number of pairs of a task, and the end of an answer."""

    pairs: PositiveInt = 1
    completion: Literal["rollout", "turn"] = "turn"


class TrlDpo(Exporter):
    """Preference pairs for TRL."""

    name = "trl-dpo"
    description = "TRL DPOTrainer: Parquet with prompt, chosen and rejected, of samples of one task"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "chosen", "rejected", "tools"), "list<json>"),
        "task_id": "str",
        **dict.fromkeys(("chosen_reward", "rejected_reward"), "float64"),
    }
    length_limit = ("TRL", "DPOConfig(max_length=1024)")
    columns = (
        *("task_id", "messages", "tools", "reward"),
        *("trajectory_id", "parent_id", "branch_step"),
    )
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)
    by_task = True
    Options = PairOptions

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for task in by_task(rows, self.task_sizes):
            paired: dict[object, list[tuple[Sequence[Message], int]]] = {}
            missing: dict[object, str] = {}
            for group in from_one_state(task):
                yield from self._pairs(group, paired, missing)
            for row in task:
                key = row_key(row)
                for messages, start in paired.get(key, ()):
                    self.exported(row, messages, start)
                if key not in paired:
                    self.leave_out(row, missing.get(key, _MORE))

    def _pairs(
        self,
        group: Sequence[Row],
        paired: dict[object, list[tuple[Sequence[Message], int]]],
        missing: dict[object, str],
    ) -> Iterator[Example]:
        """Yield the pairs of a group. Note the conversations of its rows that are in one and where
        their answers start, or why there is none.
        """
        ranked = sorted(group, key=lambda row: -row["reward"])
        if ranked[0]["reward"] == ranked[-1]["reward"]:
            reason = NO_SIBLING if len(group) == 1 else SAME_REWARD
            missing.update(dict.fromkeys(map(row_key, group), reason))
            return
        pairs = 0
        while len(ranked) > 1 and pairs < self.options.pairs:
            best = ranked.pop(0)
            for worst in reversed(ranked):
                if best["reward"] <= worst["reward"]:
                    break
                example = self._pair(best, worst)
                if isinstance(example, str):
                    missing.setdefault(row_key(best), example)
                    continue
                ranked = [row for row in ranked if row is not worst]
                start = len(example["prompt"])
                for row, side in ((best, "chosen"), (worst, "rejected")):
                    whole = row["messages"][: start + len(example[side])]
                    paired.setdefault(row_key(row), []).append((whole, start))
                pairs += 1
                yield example
                break

    def _pair(self, best: Row, worst: Row) -> Example | str:
        """Return the pair of two samples, or the reason why there is none."""
        chosen, rejected = best["messages"], worst["messages"]
        start = shared_start(chosen, rejected)
        good, bad = (messages[start : last_turn(messages)] for messages in (chosen, rejected))
        if self.options.completion == "turn":
            good, bad = good[:1], bad[:1]
        if not start:
            return "samples of one task that open differently"
        if not good or not bad or without_marks(good) == without_marks(bad):
            return "no turn that differs from another sample"
        if has_untrained(good):
            return "a chosen sample with a turn that must not be trained on"
        return {
            "prompt": without_marks(chosen[:start]),
            "chosen": without_marks(good),
            "rejected": without_marks(bad),
            "tools": list(best["tools"]),
            "task_id": best["task_id"],
            "chosen_reward": best["reward"],
            "rejected_reward": worst["reward"],
        }
