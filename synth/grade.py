"""Recorded trajectories judged again, by the verifiers of today and without a model.

By default the tasks are those that the run directory holds, so that what changed is the verifiers. With a world, they are that
world's present tasks about the same slots: its gates, its rules, its gold, proved anew on the recorded data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envs.errors import EnvsError
from synth.admission.proof import prove
from synth.canonical import canonical
from synth.dataset.wire import sanitize
from synth.episode import Episode
from synth.errors import DatasetError, TaskError
from synth.present_tasks import PresentTasks
from synth.recording import Recording, Row, act_again, open_recording
from synth.types import Task
from synth.verifiers import judge, reward

Json = Any
Verdicts = Sequence[Mapping[str, Json]]


@dataclass(frozen=True)
class Change:
    """A reward that is another now, or the same for other reasons."""

    trajectory_id: str
    family: str
    old_reward: float | None
    new_reward: float | None
    old_verdicts: Verdicts
    new_verdicts: Verdicts

    @property
    def of_reward(self) -> bool:
        return self.old_reward != self.new_reward

    def to_json(self) -> dict[str, Json]:
        return {
            "trajectory_id": self.trajectory_id,
            "family": self.family,
            "old_reward": self.old_reward,
            "new_reward": self.new_reward,
            "old_verdicts": list(self.old_verdicts),
            "new_verdicts": list(self.new_verdicts),
        }


@dataclass
class GradeReport:
    """``graded`` counts trajectories per family; ``ungraded`` says of each that could not be judged again, why."""

    graded: dict[str, int] = field(default_factory=dict[str, int])
    changes: list[Change] = field(default_factory=list[Change])
    ungraded: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def rewards_changed(self) -> list[Change]:
        return [each for each in self.changes if each.of_reward]

    @property
    def same(self) -> bool:
        return not self.rewards_changed and not self.ungraded

    def to_json(self) -> dict[str, Json]:
        changed = [each.family for each in self.rewards_changed]
        lost = [each["family"] for each in self.ungraded]
        names = sorted({*self.graded, *lost})
        return {
            "trajectories": sum(self.graded.values()) + len(self.ungraded),
            "rewards_changed": len(changed),
            "families": [
                {
                    "family": name,
                    "graded": self.graded.get(name, 0),
                    "rewards_changed": changed.count(name),
                    "not_graded": lost.count(name),
                }
                for name in names
            ],
            "changes": [each.to_json() for each in self.changes],
            "not_graded": self.ungraded,
        }


def grade(
    directory: Path, world: Path | None, where: str | None, advance: Callable[[], None] = lambda: None
) -> GradeReport:
    """Judge a run directory's trajectories again, or those that fulfil an SQL condition; ``advance`` is called after each.

    Raises :class:`DatasetError` where the directory lacks what it takes.
    """
    with open_recording(directory) as recording:
        return asyncio.run(_grade(recording, world, where, advance))


async def _grade(
    recording: Recording, world: Path | None, where: str | None, advance: Callable[[], None]
) -> GradeReport:
    report = GradeReport()
    present = None if world is None else PresentTasks(recording, world)
    proved: dict[str, Task | str] = {}
    for row in recording.rows(where):
        try:
            task = recording.task(row)
            if present is None:
                judged: Task | str = task
            else:
                if task.id not in proved:
                    proved[task.id] = await _present(task, present, recording)
                judged = proved[task.id]
            if isinstance(judged, str):
                raise DatasetError(judged)
            change = await _again(row, task, judged, recording)
        except (DatasetError, TaskError, EnvsError) as error:
            lost = {"trajectory_id": row["trajectory_id"], "task_id": row["task_id"], "family": row["family"]}
            report.ungraded.append({**lost, "reason": str(error)})
        else:
            report.graded[row["family"]] = report.graded.get(row["family"], 0) + 1
            report.changes += [change] if change is not None else []
        advance()
    return report


async def _present(task: Task, present: PresentTasks, recording: Recording) -> Task | str:
    """What the present world makes of a recorded task, proved on the recorded data; or why it makes nothing of it."""
    try:
        found, world = present.find(task)
        with recording.templates.use(task.universe) as template:
            return await prove(found, world, template, recording.limits)
    except (TaskError, EnvsError) as error:
        return str(error)


async def _again(row: Row, task: Task, judged: Task, recording: Recording) -> Change | None:
    """Do a row's calls again and judge them as ``judged`` says; None where all verdicts are what they were.

    Raises :class:`DatasetError` where the calls do not lead where they led.
    """
    with (
        recording.templates.use(task.universe) as template,
        Episode(task, recording.world, template, recording.limits) as episode,
    ):
        await act_again(row["events"], episode)
        if episode.state_hash() != row["state_hash_after"]:
            raise DatasetError("its calls lead to another end now; `synth replay` shows where")
        verdicts = judge(replace(episode.evidence(), task=judged))
        earned = None if any(turn.fault for turn in episode.turns) else reward(verdicts)
    now: list[Mapping[str, Json]] = [sanitize(each.to_json())[0] for each in verdicts]
    change = Change(row["trajectory_id"], row["family"], row["reward"], earned, row["verdicts"], now)
    return change if change.of_reward or _scores(row["verdicts"]) != _scores(now) else None


def _scores(verdicts: Verdicts) -> str:
    return canonical([[each["verifier"], each["score"]] for each in verdicts])
