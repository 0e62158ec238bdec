"""The plan of a run of branches: its jobs are functions of a recorded run and an index.

Job ``i`` is sample ``i % samples`` of branch point ``i // samples``. Points are in the order of the
recorded rows, so splits stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synth.config import TasksConfig
from synth.core.foundation.hashing import derive_seed, digest
from synth.core.runner.recorded_plan import (
    RecordedPlan,
    RecordedPoint,
    find_points,
    open_source,
    turn_places,
)
from synth.core.runner.run_files import recorded_config
from synth.ext.branching import BranchConfig
from synth.task import Branch, Job, Task

FIRST_WRONG: Final = "first_wrong"
EACH_WRITE: Final = "each_write"
EACH_TURN: Final = "each_turn"

COLUMNS: Final = (
    *("reward", "num_turns", "messages", "events", "call_changes"),
    *("provider_fields", "branch_step"),
)
"""Columns that :func:`_branch_turns` and its callers read."""

Row = Mapping[str, Any]


def _branch_turns(row: Row, at: str, task: Task) -> list[int]:
    """The turns at which a rollout is branched, in order; empty if there is none.

    ``at`` is ``first_wrong``, ``each_write``, ``each_turn`` or the number of a turn. Turns that the
    rollout has from a parent of its own do not count for ``each_write`` and ``each_turn``.
    """
    if at == FIRST_WRONG:
        turn = _first_wrong(row, task)
        return [] if turn is None else [turn]
    if at == EACH_WRITE:
        turns = _calls_by_turn(row["events"])
        changed = {entry["id"] for entry in row["call_changes"]}
        own = range(row["branch_step"] or 0, len(turns))
        return [turn for turn in own if any(call["id"] in changed for call in turns[turn])]
    if at == EACH_TURN:
        return list(range(row["branch_step"] or 0, row["num_turns"]))
    return [int(at)] if int(at) < row["num_turns"] else []


def _calls_by_turn(events: Sequence[Row]) -> list[list[Row]]:
    """The events of the tool results of each turn."""
    turns: list[list[Row]] = []
    for event in events:
        if event["event"] == "completion":
            turns.append([])
        elif event["event"] == "tool_result" and turns:
            turns[-1].append(event)
    return turns


def _first_wrong(row: Row, task: Task) -> int | None:
    planned = (turn for turn, notes in enumerate(row["provider_fields"]) if notes.get("mistake"))
    if (first := next(planned, None)) is not None:
        return first
    if row["reward"] is None or row["reward"] >= 1 or not row["num_turns"]:
        return None
    turns = _calls_by_turn(row["events"])
    gold = () if task.end is None else task.end.changes
    strange = {
        entry["id"]
        for entry in row["call_changes"]
        if not all(_is_golds(change, gold) for change in entry["changes"])
    }
    for turn, calls in enumerate(turns):
        if any(call["id"] in strange or _failed(call) for call in calls):
            return turn
    return len(turns) - 1


def _failed(call: Row) -> bool:
    """True if the environment answered a call with an error."""
    result = call["result"]
    return "by" not in call and isinstance(result, Mapping) and "error" in result


def _is_golds(change: Row, gold: Sequence[Row]) -> bool:
    """True if gold changes the same row, or inserts one, with the same numbers. Texts are not
    compared: which of them mean the same is for the verifiers to say.
    """
    return any(
        change["table"] == other["table"]
        and change["op"] == other["op"]
        and (change["op"] == "insert" or change["key"] == other["key"])
        and _numbers(change) == _numbers(other)
        for other in gold
    )


def _numbers(change: Row) -> dict[str, object]:
    values: Mapping[str, object] = change.get("after") or {}
    return {
        column: value
        for column, value in values.items()
        if column not in change["key"] and not isinstance(value, str)
    }


PLAYED = ("seed", "messages", "tools", "events", "token_ids", "logprobs", "provider_fields")
"""Columns of a parent that a branch is played from."""

DETERMINISTIC_USERS = ("scripted", "none")
"""Users who say the same again under the same seed."""


@dataclass(frozen=True)
class BranchPlan(RecordedPlan):
    """A plan whose points are turns at which rollouts branch."""

    TAKEN = PLAYED

    def digest(self) -> str:
        points = [[point.parent, point.step] for point in self.points]
        return digest("branches", self.samples, self.seed, points)

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task of its point."""
        point, sample = self.points[index // self.samples], index % self.samples
        row = self.rows.row(point.part, point.place)
        name = (point.parent, point.step, sample, self.seed)
        branch = Branch(point.parent, point.step, derive_seed("branch", *name), _begun(row, point))
        return Job(
            index, digest("branch", *name, length=20), task, sample, row["seed"], branch=branch
        )


def branch_plan(config: BranchConfig, tasks: TasksConfig, seed: int) -> BranchPlan:
    """Find the branch points of a recorded run.

    Raises :class:`OperatorError` if there is none, and DatasetError for a directory that holds no
    run.
    """
    directory = Path(config.path or "").expanduser()
    dataset = open_source(directory)
    by_model = recorded_config(directory).users.kind not in DETERMINISTIC_USERS

    def turns_of(row: Row, task: Callable[[], Task]) -> tuple[Sequence[int], str | None]:
        turns = _branch_turns(row, config.at, task())
        fit = [turn for turn in turns if not (by_model and _has_replies(row["messages"], turn))]
        if not turns:
            return fit, f"have no turn for at={config.at}"
        replies = "had a user whom a model played, who cannot be asked again"
        return fit, replies if len(fit) < len(turns) else None

    points, notes = find_points(dataset, COLUMNS, config.where, turns_of, "branch")
    return BranchPlan(points, tasks.samples, seed, dataset, notes)


def _has_replies(messages: Sequence[Row], turn: int) -> bool:
    """True if the user has answered before a turn."""
    places = turn_places(messages)
    begun = messages[places[0] : places[turn]] if places else ()
    return any(message["role"] == "user" for message in begun)


def _begun(row: Row, point: RecordedPoint) -> Mapping[str, Any]:
    """The beginning of a parent's row, up to the turn at which it branches."""
    messages, events = row["messages"], row["events"]
    place = turn_places(messages)[point.step]
    turns = [index for index, event in enumerate(events) if event["event"] == "completion"]
    lists = {
        name: None if row[name] is None else row[name][: point.step]
        for name in ("token_ids", "logprobs", "provider_fields")
    }
    return {
        "messages": messages[:place],
        "tools": row["tools"],
        "events": events[: turns[point.step]],
        "stop_reason": "branched",
        **lists,
    }
