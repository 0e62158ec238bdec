"""The turns at which a recorded rollout is branched.

A turn is a completion of the agent, from 0; a branch at turn ``n`` keeps the turns before it and
their results.

``first_wrong``
    The turn of a planned mistake, also of one that was mended. In a rollout without full reward
    else the first turn with a call that failed or that changed rows otherwise than gold does, or
    the last turn if there is none: what is missing was not done by then.
``each_write``
    Every turn with a call that changed rows.
``each_turn``
    Every turn.
a number
    That turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from synth.task import Task

FIRST_WRONG: Final = "first_wrong"
EACH_WRITE: Final = "each_write"
EACH_TURN: Final = "each_turn"

COLUMNS: Final = (
    *("trajectory_id", "job_index", "family", "split", "universe", "reward", "num_turns"),
    *("messages", "events", "call_changes", "provider_fields", "branch_step"),
)
"""Columns that :func:`branch_turns` and its callers read."""

Row = Mapping[str, Any]


def branch_turns(row: Row, at: str, task: Task) -> list[int]:
    """The turns at which a rollout is branched, in order; empty if there is none.

    ``at`` is ``first_wrong``, ``each_write``, ``each_turn`` or the number of a turn. Turns that the
    rollout has from a parent of its own do not count for ``each_write`` and ``each_turn``.
    """
    if at == FIRST_WRONG:
        turn = _first_wrong(row, task)
        return [] if turn is None else [turn]
    if at == EACH_WRITE:
        turns = calls_by_turn(row["events"])
        changed = {entry["id"] for entry in row["call_changes"]}
        own = range(row["branch_step"] or 0, len(turns))
        return [turn for turn in own if any(call["id"] in changed for call in turns[turn])]
    if at == EACH_TURN:
        return list(range(row["branch_step"] or 0, row["num_turns"]))
    return [int(at)] if int(at) < row["num_turns"] else []


def calls_by_turn(events: Sequence[Row]) -> list[list[Row]]:
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
    turns = calls_by_turn(row["events"])
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
