"""The plan of a run of narrations: job ``i`` is the ``i``-th row that is narrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.config import TasksConfig
from synth.core.foundation.hashing import digest
from synth.core.runner.recorded_plan import RecordedPlan, find_points, open_source, turn_places
from synth.ext.rationales import NarrateConfig
from synth.ext.rationales.narrate import parts_wanted
from synth.task import Job, NarratedPart, Narration, Task
from synth.verdict import Outcome

_READ = ("outcome", "events", "messages")
_TAKEN = (
    *("seed", "messages", "tools", "events", "stop_reason", "reward", "state_hash_after"),
    *("token_ids", "logprobs", "provider_fields", "parent_id", "branch_step"),
)


@dataclass(frozen=True)
class NarrationPlan(RecordedPlan):
    """A plan whose points are whole rollouts; each gets ``parts``, asked for ``tries`` times."""

    TAKEN = _TAKEN

    parts: tuple[NarratedPart, ...] = ()
    tries: int = 1

    def digest(self) -> str:
        return digest("narrations", self.parts, self.tries, [one.parent for one in self.points])

    def job(self, index: int, task: Task) -> Job:
        """The narration of the ``index``-th point, about its task."""
        point = self.points[index]
        row = self.rows.row(point.part, point.place)
        name = digest("narration", point.parent, sorted(self.parts), length=20)
        narration = Narration(point.parent, row, self.parts, self.tries)
        return Job(index, name, task, 0, row["seed"], narration=narration)


def narration_plan(config: NarrateConfig, tasks: TasksConfig, seed: int) -> NarrationPlan:
    """Find the first ``tasks.count`` rows of a recorded run that can be narrated.

    Raises :class:`OperatorError` if there is none, and DatasetError for a directory that holds no
    run.
    """
    dataset = open_source(Path(config.path or "").expanduser())
    parts = tuple(sorted(set(config.write)))

    def turns_of(row: Mapping[str, Any], _: object) -> tuple[Sequence[int], str | None]:
        why = _left_out(row, parts)
        return [0] if why is None else [], why

    points, notes = find_points(dataset, _READ, config.where, turns_of, "narrate")
    return NarrationPlan(
        points[: tasks.count], 1, 0, dataset, notes, parts=parts, tries=config.tries
    )


def _left_out(row: Mapping[str, Any], parts: Sequence[NarratedPart]) -> str | None:
    if row["outcome"] != Outcome.SUCCESS:
        return "did not succeed: their calls are not known to be right"
    if any(event["event"] == "compaction" for event in row["events"]):
        return "had a compacted context: what was known at a turn is not in their messages"
    messages = row["messages"]
    if not any(parts_wanted(messages, parts, turn) for turn in range(len(turn_places(messages)))):
        return "have these texts already"
    return None
