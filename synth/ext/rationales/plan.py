"""The plan of a run of narrations: job ``i`` is the ``i``-th row that is narrated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.config import TasksConfig
from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.foundation.hashing import digest
from synth.core.runner.recorded_plan import RecordedPlan, RecordedPoint, open_source
from synth.core.runner.run_files import recorded_config
from synth.errors import OperatorError
from synth.ext.rationales import NarrateConfig
from synth.ext.rationales.narrate import parts_wanted, turn_places
from synth.task import Job, NarratedPart, Narration, Task
from synth.verdict import Outcome

_PLACED = (
    *("trajectory_id", "job_index", "family", "split", "universe", "outcome", "events", "messages"),
)
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
    directory = Path(config.path or "").expanduser()
    samples = recorded_config(directory).tasks.samples
    dataset = open_source(directory)
    points: list[RecordedPoint] = []
    left_out, rows = Counter[str](), 0
    parts = tuple(sorted(set(config.write)))
    for point, why in _points(dataset, samples, config.where, parts):
        rows += 1
        if why is None:
            points.append(point)
        else:
            left_out[why] += 1
    notes = [f"{many} of {rows} rollouts {why}" for why, many in left_out.items()]
    if not points:
        found = "; ".join(notes) or "it has no such row"
        raise OperatorError(f"{directory}: there is nothing to narrate: {found}")
    return NarrationPlan(
        points[: tasks.count], 1, 0, dataset, notes, parts=parts, tries=config.tries
    )


def _points(
    dataset: Dataset, samples: int, where: str | None, parts: Sequence[NarratedPart]
) -> Iterator[tuple[RecordedPoint, str | None]]:
    """Each row that meets the condition, and the reason for which it is left out."""
    ids = None if where is None else dataset.ids(where)
    cache = RowCache(dataset, _PLACED)
    for number, part in enumerate(dataset.parts):
        for place in range(part.count()):
            row = cache.row(number, place)
            if ids is None or row["trajectory_id"] in ids:
                task = row["job_index"] // samples
                names = (row["family"], row["split"], row["universe"])
                yield (
                    RecordedPoint(row["trajectory_id"], 0, number, place, task, *names),
                    _left_out(row, parts),
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
