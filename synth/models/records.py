"""What a model said in a recorded run, found by task and seed.

A run's directory is read a part (a shard) at a time: in memory are an index and the parts that were asked for last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from synth.dataset.reader import Dataset
from synth.dataset.wire import to_values
from synth.errors import DatasetError
from synth.models.base import Sampling
from synth.models.emission import completion_of
from synth.types import Completion, Message, Usage, UserTurn

Json = Any
Key = tuple[str, int]
"""Task id and seed of a rollout: what its trajectory id is made of, as far as a model is told."""

Talk = Sequence[tuple[str, UserTurn]]
"""What a user heard and answered, turn by turn."""

_COLUMNS = ("task_id", "seed", "messages", "tools", "events", "stop_reason", "token_ids", "logprobs", "provider_fields")
_OPEN_PARTS = 4


@dataclass(frozen=True, slots=True)
class Record:
    """One rollout: the canonical conversation, the completions as they were emitted, and why it ended.

    ``summaries`` are what was answered to requests for a summary, by the number of turns that it was to stand for;
    ``overflows`` are the places (completions so far, turns left out so far) where the context was too long.
    """

    messages: Sequence[Message]
    tools: Sequence[Json]
    completions: Sequence[Completion]
    stop_reason: str
    summaries: Mapping[int, Completion] = field(default_factory=dict[int, Completion])
    overflows: AbstractSet[tuple[int, int]] = frozenset()
    talk: Talk = ()

    def __post_init__(self) -> None:
        turns = [at for at, each in enumerate(self.messages) if each["role"] == "assistant"]
        if len(turns) != len(self.completions):
            raise DatasetError(
                f"a row holds {len(self.completions)} completions and {len(turns)} turns of the assistant"
            )

    def before(self, turn: int) -> Sequence[Message]:
        """The messages that a turn (from 0) answers: those after the turn before it, for the first one the opening."""
        turns = [-1, *(at for at, each in enumerate(self.messages) if each["role"] == "assistant"), len(self.messages)]
        return self.messages[turns[turn] + 1 : turns[turn + 1]]


class Records:
    """The rollouts of a run's directory. ``model``, ``sampling`` and ``user`` are those that the rows name; None: nobody answered.

    Raises :class:`DatasetError` where there is no dataset, or one without a row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dataset = Dataset.open(path)
        self._places: dict[Key, tuple[int, int]] = {}
        self._tasks: dict[int, list[str]] = {}
        self.user: str | None = None
        for at, row, values in self._scan(["task_id", "seed", "user_model"]):
            self.user = self.user or values["user_model"]
            self._places[values["task_id"], values["seed"]] = (at, row)
            self._tasks.setdefault(values["seed"], []).append(values["task_id"])
        self._open: OrderedDict[int, list[dict[str, Json]]] = OrderedDict()
        self.model, self.sampling = spoken_by(self._dataset)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, key: Key) -> Record | None:
        """The rollout of a task under a seed; None where there is none."""
        place = self._places.get(key)
        if place is None:
            return None
        part, row = place
        if part not in self._open:
            tables = self._dataset.parts[part].tables(list(_COLUMNS))
            self._open[part] = [each for table in tables for each in table.to_pylist()]
            while len(self._open) > _OPEN_PARTS:
                self._open.popitem(last=False)
        self._open.move_to_end(part)
        return _record(to_values(self._open[part][row]))

    def talk(self, opening: str, seed: int) -> Talk | None:
        """The user's part of the rollout under a seed that the user opened with these words; None where there is none."""
        for task in self._tasks.get(seed, ()):
            record = self.find((task, seed))
            if record is not None and opening in [each["content"] for each in record.before(0)]:
                return record.talk
        return None

    def openings(self) -> Iterator[tuple[Key, Sequence[Message]]]:
        """Each rollout's key and the messages that it began with, in the plan's order."""
        for _, _, values in self._scan(["task_id", "seed", "messages"]):
            messages: list[Message] = to_values({"messages": values["messages"]})["messages"]
            first = next((at for at, each in enumerate(messages) if each["role"] == "assistant"), len(messages))
            yield (values["task_id"], values["seed"]), messages[:first]

    def _scan(self, columns: list[str]) -> Iterator[tuple[int, int, dict[str, Json]]]:
        """Each row's part, its place in it, and those columns."""
        for at, part in enumerate(self._dataset.parts):
            rows = (row for table in part.tables(columns) for row in table.to_pylist())
            for place, row in enumerate(rows):
                yield at, place, row


def spoken_by(dataset: Dataset) -> tuple[str, Sampling]:
    """The model that a dataset's rows name, and how it was sampled. Raises :class:`DatasetError` where there is no row."""
    row = next(dataset.rows(["model", "sampling"]), None)
    if row is None:
        raise DatasetError(f"{dataset.path} holds no row, so there is nothing to play back")
    return row["model"], Sampling(**row["sampling"])


def _record(row: Mapping[str, Json]) -> Record:
    events = [each for each in row["events"] if each["event"] == "completion"]
    columns = [chain(row[name] or (), repeat(None)) for name in ("token_ids", "logprobs", "provider_fields")]
    completions = [completion_of(*each) for each in zip(events, *columns, strict=False)]
    return Record(
        row["messages"],
        row["tools"],
        completions,
        row["stop_reason"],
        *_compactions(row["events"]),
        _talk(row["events"]),
    )


def _talk(events: Sequence[Json]) -> Talk:
    talk: list[tuple[str, UserTurn]] = []
    heard = ""
    for event in events:
        if event["event"] == "completion":
            heard = event["content"]
        elif event["event"] == "user_turn":
            known: dict[str, Json] = {key: value for key, value in event.items() if key not in {"event", "usage"}}
            talk.append((heard, UserTurn(**known, usage=Usage(**event.get("usage", {})))))
    return talk


def _compactions(events: Sequence[Json]) -> tuple[dict[int, Completion], set[tuple[int, int]]]:
    """The summaries that were given, and where the context was too long: a compaction's event stands right after its answer."""
    summaries: dict[int, Completion] = {}
    overflows: set[tuple[int, int]] = set()
    before: Json = {"event": ""}
    for event in events:
        if event["event"] == "compaction":
            if before["event"] == "side_completion":
                summaries[event["turns"]] = completion_of({**before, "event": "completion"})
            if event["reason"] == "overflow":
                overflows.add((event["step"], event["left_out"]))
        before = event
    return summaries, overflows
