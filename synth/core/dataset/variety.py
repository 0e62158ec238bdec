"""Variety of a dataset in figures: requests, families, difficulty, tool sequences, lengths of
conversations, entities.

Requests, families and difficulty are counted once for each task, as its first row has them. Memory
grows by about two kilobytes for each task and 16 bytes for each row.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from envs.json_text import canonical
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.task_table import TaskOrigin, read_origins
from synth.core.foundation.near_duplicates import (
    SHINGLE,
    NearDuplicates,
    masked,
    number_of,
    run_numbers,
    shingles,
    words,
)
from synth.core.types.difficulty import KINDS
from synth.core.types.phrasings import JOIN
from synth.errors import DatasetError

_DIVISIONS = 16
_LENGTHS = (2, SHINGLE)
"""Numbers of words whose distinct runs are counted."""
_UNREAD = ('{"role":"system"', '{"role":"tool"')
"""How messages begin that hold neither words of the user nor calls."""
_WORK = {
    "calls": "calls",
    "branches": "conditions",
    "turns": "turns of the user",
    "requests": "further requests",
    "clauses": "query clauses",
}
"""The kinds of work (:mod:`synth.core.types.difficulty`) in words."""


class _Runs:
    """Distinct runs of a number of words among all such runs of a dataset's requests (distinct-n,
    Li et al., "A Diversity-Promoting Objective Function for Neural Conversation Models", 2016).
    """

    def __init__(self) -> None:
        self._numbers = array("Q")

    def add(self, numbers: list[int]) -> None:
        self._numbers.extend(numbers)

    def share(self) -> float | None:
        """The distinct ones among all; None without any. A part of them is in a set at a time."""
        if not self._numbers:
            return None
        distinct = sum(
            len({number for number in self._numbers if number % _DIVISIONS == part})
            for part in range(_DIVISIONS)
        )
        return distinct / len(self._numbers)


class _Requests:
    """Distinct texts and near-duplicates among requests that come one after another."""

    def __init__(self) -> None:
        self.total = 0
        self.near = 0
        self._texts: set[int] = set()
        self._kept = NearDuplicates()

    def add(self, found: list[str], parts: Iterable[int] | None = None) -> None:
        """Count a request by its words, and by its shingles where they are known."""
        self.total += 1
        text = number_of(found)
        if text in self._texts:
            self.near += 1
            return
        self._texts.add(text)
        own = shingles(found) if parts is None else frozenset(parts)
        self.near += self._kept.find(own) is not None
        self._kept.add(own)

    def to_json(self) -> dict[str, Any]:
        return {
            "distinct": len(self._texts),
            "near_duplicates": self.near,
            "near_duplicate_share": self.near / self.total if self.total else None,
        }


class Variety:
    """Figures of the rows that are added, in the order of the dataset.

    ``runs`` are the run directories that hold the tasks; where a row's task is in none of them,
    nothing is known about its slots and entities.
    """

    def __init__(self, runs: Iterable[Path] = ()) -> None:
        self._origins: dict[str, TaskOrigin] = {}
        for directory in runs:
            with suppress(DatasetError):  # reported where tasks are needed
                self._origins.update(read_origins(RunFiles(directory).tasks))
        self._tasks: set[str] = set()
        self._requests = _Requests()
        self._wordings = _Requests()
        self._runs = {length: _Runs() for length in _LENGTHS}
        self._families: Counter[tuple[str, str]] = Counter()
        self._entities: Counter[int] = Counter()
        self._difficulty: Counter[int] = Counter()
        self._work = {kind: Counter[int]() for kind in KINDS}
        self._rows = 0
        self._sequences: set[int] = set()
        self._calls: set[int] = set()
        self._steps: Counter[int] = Counter()
        self._turns: Counter[int] = Counter()

    def add(
        self,
        task_id: str,
        messages: Iterable[Mapping[str, Any] | str],
        family: str = "",
        env: str = "",
    ) -> None:
        """Count a row, by its messages as values or as JSON. ``family`` names its task's family
        in the world ``env``; a composed task counts for each request's family.
        """
        said: list[str] = []
        calls: list[Mapping[str, Any]] = []
        for message in _spoken(messages):
            if message["role"] == "user":
                said.append(str(message.get("content") or ""))
            calls += [call["function"] for call in message.get("tool_calls") or ()]
        self._rows += 1
        self._turns[len(said)] += 1
        self._steps[len(calls)] += 1
        self._sequences.add(number_of(str(call["name"]) for call in calls))
        whole = (f"{call['name']} {canonical(call['arguments'])}" for call in calls)
        self._calls.add(number_of(whole))
        if said and task_id not in self._tasks:
            self._tasks.add(task_id)
            self._families.update((env, name) for name in family.split(JOIN) if name)
            self._add_request(words(said[0]), self._origins.get(task_id))

    def _add_request(self, found: list[str], origin: TaskOrigin | None) -> None:
        numbers = {length: run_numbers(found, length) for length in _LENGTHS}
        self._requests.add(found, numbers[SHINGLE])
        for length, runs in self._runs.items():
            runs.add(numbers[length] if len(found) >= length else [])
        if origin is not None:
            self._wordings.add(masked(found, json.loads(origin.slots)))
            self._difficulty[sum(origin.work.values())] += 1
            for kind, counter in self._work.items():
                counter[origin.work.get(kind, 0)] += 1
            for family, key in _keys(origin):
                entity = (family, str(origin.universe), canonical(key))
                self._entities[number_of(entity)] += 1

    def to_json(self) -> dict[str, Any]:
        """Return the figures; null for what is not known."""
        entities = len(self._entities)
        return {
            "tasks": len(self._tasks),
            "families": self._largest(),
            "requests": self._requests.to_json(),
            "wordings": self._wordings.to_json() if self._wordings.total else None,
            **{f"distinct_{length}": runs.share() for length, runs in self._runs.items()},
            "difficulty": _counts(self._difficulty) or None,
            "work": {kind: _counts(counter) for kind, counter in self._work.items()}
            if self._difficulty
            else None,
            "rows": self._rows,
            "tool_sequences": len(self._sequences),
            "tool_sequences_with_arguments": len(self._calls),
            "tool_calls": _counts(self._steps),
            "user_turns": _counts(self._turns),
            "entities": entities or None,
            "tasks_per_entity": self._entities.total() / entities if entities else None,
        }

    def _largest(self) -> dict[str, Any] | None:
        """Number of families, and the one that most tasks ask for, alone or among others."""
        if not self._families:
            return None
        (env, family), tasks = min(self._families.items(), key=lambda item: (-item[1], item[0]))
        several = len({env for env, _ in self._families}) > 1
        return {
            "distinct": len(self._families),
            "largest": f"{env}/{family}" if several else family,
            "largest_tasks": tasks,
            "largest_share": tasks / len(self._tasks),
        }


def _keys(origin: TaskOrigin) -> Iterable[tuple[str, object]]:
    """The families of a task's requests with the key of the row that each is about."""
    key: object = None if origin.key is None else json.loads(origin.key)
    families = origin.family.split(JOIN)
    keys = cast("list[object]", key) if len(families) > 1 else [key]
    return [pair for pair in zip(families, keys, strict=False) if pair[1] is not None]


def _spoken(messages: Iterable[Mapping[str, Any] | str]) -> Iterator[Mapping[str, Any]]:
    """The messages of user and agent."""
    for message in messages:
        if not isinstance(message, str):
            yield message
        elif not message.startswith(_UNREAD):
            yield cast("Mapping[str, Any]", json.loads(message))


def _counts(counter: Counter[int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(counter.items())}


def variety_table(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures as a table of names and texts; empty without rows."""
    if not figures["rows"]:
        return []
    rows: list[tuple[str, str]] = []
    if (families := figures.get("families")) is not None:
        most = f"{families['largest']} ({families['largest_share']:.1%} of the tasks)"
        rows.append(("families of requests", f"{families['distinct']}, the largest {most}"))
    rows += [
        ("distinct requests", f"{figures['requests']['distinct']} of {figures['tasks']} tasks"),
        ("near-duplicate requests", _near(figures["requests"])),
    ]
    if (wordings := figures["wordings"]) is not None:
        rows += [
            ("distinct with slots masked", str(wordings["distinct"])),
            ("near-duplicates with slots masked", _near(wordings)),
        ]
    grams = [figures["distinct_2"], figures["distinct_3"]]
    if None not in grams:
        rows.append(("distinct-2, distinct-3", ", ".join(f"{share:.3f}" for share in grams)))
    if figures.get("difficulty"):
        rows.append(("difficulty of a task", _spread(figures["difficulty"])))
        rows += [
            (f"difficulty: {name}", _spread(figures["work"][kind]))
            for kind, name in _WORK.items()
            if [*figures["work"][kind]] != ["0"]
        ]
    rows += [
        ("distinct tool sequences", f"{figures['tool_sequences']} of {figures['rows']} rows"),
        ("with arguments", str(figures["tool_sequences_with_arguments"])),
        ("tool calls of a row", _spread(figures["tool_calls"])),
        ("user turns of a row", _spread(figures["user_turns"])),
    ]
    if figures["entities"]:
        each_has = f"{figures['tasks_per_entity']:.1f} tasks of a family for one"
        rows.append(("entities", f"{figures['entities']}, {each_has}"))
    return rows


def _near(figures: Mapping[str, Any]) -> str:
    share = figures["near_duplicate_share"]
    return "none" if share is None else f"{figures['near_duplicates']} ({share:.1%})"


def _spread(counts: Mapping[str, int]) -> str:
    """Least, median and most of values with their counts."""
    total, passed, median = sum(counts.values()), 0, ""
    for value, count in counts.items():
        passed += count
        if 2 * passed >= total:
            median = value
            break
    values = list(counts)
    return median if len(values) == 1 else f"{values[0]} to {values[-1]}, median {median}"
