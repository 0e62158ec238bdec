"""The data of the viewer's page: rows of a dataset as compact JSON.

System prompts and tool lists repeat over thousands of rows, so each distinct one stands once in a
table and rows hold its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import read_gold_ends, read_levels

PLAIN = {
    "trajectory_id": "id",
    "task_id": "task",
    "family": "family",
    "case": "case",
    "split": "split",
    "universe": "universe",
    "renaming": "renaming",
    "sample_index": "sample",
    "outcome": "outcome",
    "reward": "reward",
    "stop_reason": "stop",
    "blame": "blame",
    "num_turns": "turns",
    "num_tool_calls": "calls",
    "num_tool_errors": "errors",
    "error_categories": "categories",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost_usd": "cost",
    "latency_s": "latency",
    "model": "model",
    "submitted": "submitted",
    "verdicts": "verdicts",
    "state_diff": "diff",
    "call_changes": "changes",
    "injected_faults": "faults",
    "parent_id": "parent",
    "branch_step": "branch_step",
    "notes": "reply_notes",
    "review": "review",
    "review_note": "review_note",
}
"""Columns that travel as they are, and their names on the page."""

COLUMNS = (
    *PLAIN,
    "seed",
    "messages",
    "tools",
    "events",
    "executions",
    "segments",
    "provider_fields",
    "renaming_names",
)


_CALLS = (
    *((0, "0 calls"), (1, "1 call"), (2, "2 calls"), (4, "3 to 4 calls")),
    *((8, "5 to 8 calls"), (16, "9 to 16 calls"), (1 << 62, "17 calls or more")),
)
"""Groups of tasks by the calls of their gold, for worlds that name no difficulty."""


class _Interned:
    """A table of repeated values; :meth:`index` gives the place of one."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self._places: dict[str, int] = {}

    def index(self, key: str, value: object) -> int:
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


class Payload:
    """Collects the rows of one or two runs. ``as_json`` is what the page reads."""

    def __init__(self) -> None:
        self.prompts = _Interned()
        self.tools = _Interned()
        """Lists of tools, and the names of renamings."""
        self.runs: list[dict[str, object]] = []
        self.rows: list[dict[str, object]] = []
        self.tasks: dict[str, object] = {}

    def add_run(
        self, dataset: Dataset, limit: int | None = None, ids: AbstractSet[str] | None = None
    ) -> None:
        """Add a run and its first ``limit`` rows (None: all) with one of ``ids`` (None: all)."""
        index = len(self.runs)
        self.runs.append(describe(dataset))
        levels = read_levels(dataset.path / "tasks.parquet")
        rows = (
            row
            for row in dataset.rows(columns=COLUMNS)
            if ids is None or row["trajectory_id"] in ids
        )
        for row in islice(rows, limit):
            self.rows.append({**self.row(row, index), "level": level(levels, row["task_id"])})
        wanted = {str(row["task"]) for row in self.rows if row["run"] == index}
        self.tasks.update(gold_ends(dataset.path, wanted))

    def row(self, row: Mapping[str, Any], run: int = 0) -> dict[str, object]:
        """One row as the page reads it."""
        shown: dict[str, object] = {"run": run, "seed": str(row["seed"])}
        shown |= {name: row[column] for column, name in PLAIN.items()}
        shown["messages"] = [self._message(message) for message in row["messages"]]
        shown["tools"] = self.tools.index(repr(row["tools"]), row["tools"])
        names = row["renaming_names"]
        shown["names"] = None if names is None else self.tools.index(repr(names), names)
        shown["segments"] = len(row["segments"] or ())
        shown["raw"] = notable_events(row["events"])
        shown["times"] = {
            str(call["id"]): call["ms"] for call in row["executions"] or () if "ms" in call
        }
        shown["notes"] = _notes(row["provider_fields"] or ())
        return shown

    def _message(self, message: Mapping[str, Any]) -> object:
        if message["role"] != "system":
            return message
        text = str(message["content"])
        return {"role": "system", "prompt": self.prompts.index(text, text)}

    def as_json(self) -> dict[str, object]:
        return {
            "runs": self.runs,
            "prompts": self.prompts.values,
            "tools": self.tools.values,
            "tasks": self.tasks,
            "rows": self.rows,
        }


def describe(dataset: Dataset) -> dict[str, object]:
    """The run's own facts: name, status, world, model, counts."""
    manifest = dataset.manifest or {}
    identity = manifest.get("identity", {})
    return {
        "name": dataset.path.resolve().name,
        "status": dataset.status,
        "world": identity.get("env"),
        "model": identity.get("model"),
        "created_at": manifest.get("created_at"),
        "rows": dataset.count,
        "errors": manifest.get("counts", {}).get("errors", 0),
    }


def level(levels: Mapping[str, str | int], task: str) -> str | None:
    """The difficulty of a task: its author's word, or how many calls gold makes."""
    found = levels.get(task)
    if not isinstance(found, int):
        return found
    return next(text for most, text in _CALLS if found <= most)


def why(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """The reasons of the verdicts below 1."""
    return "; ".join(f"{one['verifier']}: {one['reason']}" for one in _below_one(verdicts))


def failed_verifiers(verdicts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the verifiers that failed, or could not judge."""
    return [str(one["verifier"]) for one in _below_one(verdicts)]


def _below_one(verdicts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in verdicts if one["score"] is None or one["score"] < 1]


def gold_ends(directory: Path, wanted: set[str]) -> dict[str, object]:
    """Gold's row changes, calls and answer of the tasks named, from tasks.parquet."""
    file = directory / "tasks.parquet"
    return dict(read_gold_ends(file, wanted)) if file.is_file() else {}


def notable_events(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Events that say more than the messages do: odd completions, discarded drafts, denials."""
    return [event for event in events if not _is_plain(event)]


def _is_plain(event: Mapping[str, Any]) -> bool:
    kind = event["event"]
    if kind == "tool_result":
        return True
    if kind == "user_turn":
        return not event.get("discarded") and not event.get("fault")
    return (
        kind == "completion"
        and event.get("finish_reason") in {"stop", "tool_calls"}
        and not event.get("refusal")
        and not event.get("raw")
    )


def _notes(fields: Sequence[Mapping[str, Any]]) -> list[object]:
    """The notes of a teacher about its own turns, such as the expert's planned mistakes."""
    return [
        {"turn": turn, **entry["mistake"]}
        for turn, entry in enumerate(fields)
        if entry.get("mistake")
    ]
