"""Values of the states at which rollouts were branched: the mean reward of their branches.

A branch at turn ``n`` goes on from the state before turn ``n`` of its parent, so the rewards of
such branches are samples of what that state is worth to the model that played them (Monte Carlo
estimates of step values, as in Math-Shepherd and VinePPO).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.report.rates import wilson
from synth.core.screen.screen import Screen
from synth.errors import DatasetError

_COLUMNS = [
    *("trajectory_id", "task_id", "family", "model", "reward"),
    *("parent_id", "branch_step"),
]

Key = tuple[str, str]
"""A parent's id, and the model that played its branches."""


@dataclass(slots=True)
class _Parent:
    """The branches of one rollout by one model."""

    task_id: str
    family: str
    rewards: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    """By the turn at which they begin."""


def step_values(dataset: Dataset) -> dict[str, Any]:
    """The values of branched states as JSON, by parent, model and turn.

    ``value`` is the mean reward of a state's scored branches, ``interval`` its 95 percent by
    Wilson's formula: it is exact for rewards of 0 and 1, and too wide for others. ``gain``
    is the next known value of the same parent less this one: the next branched state's, or after
    the last the parent's own reward, if the parent is in the dataset and was played by the
    same model. Otherwise it is None. Raises DatasetError if no row is a branch.
    """
    parents: dict[Key, _Parent] = {}
    ends: dict[Key, float] = {}
    branches = unscored = 0
    for row in dataset.rows(_COLUMNS):
        reward: float | None = row["reward"]
        if reward is not None:
            ends[row["trajectory_id"], row["model"]] = reward
        if row["parent_id"] is None:
            continue
        branches += 1
        if reward is None:
            unscored += 1
            continue
        key = row["parent_id"], row["model"]
        parent = parents.setdefault(key, _Parent(row["task_id"], row["family"]))
        parent.rewards.setdefault(row["branch_step"], []).append(reward)
    if not branches:
        raise DatasetError(f"{dataset.name} holds no branch; `synth branch` makes them")
    steps = [
        step
        for (parent_id, model), parent in parents.items()
        for step in _steps(parent_id, model, parent, ends.get((parent_id, model)))
    ]
    return {"branches": branches, "unscored": unscored, "steps": steps}


def _steps(
    parent_id: str, model: str, parent: _Parent, end: float | None
) -> Iterator[dict[str, Any]]:
    """The values of one parent's states, in the order of its turns."""
    found = [
        (turn, sum(rewards) / len(rewards), rewards)
        for turn, rewards in sorted(parent.rewards.items())
    ]
    values = [*(value for _, value, _ in found), end]
    for (turn, value, rewards), (_, following) in zip(found, pairwise(values), strict=True):
        yield {
            "parent_id": parent_id,
            "branch_step": turn,
            "task_id": parent.task_id,
            "family": parent.family,
            "model": model,
            "samples": len(rewards),
            "value": value,
            "interval": [*wilson(sum(rewards), len(rewards))],
            "gain": None if following is None else following - value,
        }


def show_step_values(screen: Screen, document: Mapping[str, Any]) -> None:
    """Print the result of :func:`step_values`, a line for each state."""
    header = ("parent", "turn", "family", "model", "samples", "value", "95%", "gain")
    rows = [_cells(step) for step in document["steps"]]
    screen.table(header, rows, right=(1, 4, 5, 6, 7))
    if document["unscored"]:
        screen.line(f"{document['unscored']} branches without a score are left out", "yellow")
    parents = len({step["parent_id"] for step in document["steps"]})
    screen.line()
    screen.line(
        f"{len(document['steps']):,} states of {parents:,} rollouts, valued by"
        f" {document['branches'] - document['unscored']:,} branches",
        "bold",
    )


def _cells(step: Mapping[str, Any]) -> Sequence[str]:
    low, high = step["interval"]
    gain = "-" if step["gain"] is None else f"{step['gain']:+.2f}"
    return (
        *(step["parent_id"], str(step["branch_step"]), step["family"], step["model"]),
        *(str(step["samples"]), f"{step['value']:.2f}", f"{low:.2f} to {high:.2f}", gain),
    )
