"""Completions of a recorded run, found by task and seed.

A run's directory is read one part (shard) at a time: an index and the most recently used parts are
in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.dataset.store.wire import to_values
from synth.core.models.emission import completion_of, read_events, user_turn_of
from synth.core.models.recap import opening_of
from synth.core.types.events import CompactionEvent, CompletionEvent, RecordedEvent, UserTurnEvent
from synth.errors import DatasetError
from synth.model import Completion, Sampling
from synth.task import Message
from synth.user import UserTurn

ADVICE = "a replay answers the jobs of its own plan: the same world, tasks, samples and seed"

Json = Any
Key = tuple[str, int]
"""Task id and seed of a rollout: the parts of its trajectory id that a model knows."""

Talk = Sequence[tuple[str, UserTurn]]
"""The agent's words and the user's answers, turn by turn."""

_COLUMNS = (
    "task_id",
    "seed",
    "messages",
    "tools",
    "events",
    "stop_reason",
    "token_ids",
    "logprobs",
    "provider_fields",
)


@dataclass(frozen=True, slots=True)
class Record:
    """One rollout: the canonical conversation, the completions as they were emitted, and the reason
    for its end.

    ``summaries`` holds the answers to requests for a summary, by the number of turns that each
    stands for; ``overflows`` holds the positions (completions so far, turns left out so far) at
    which the context was too long.
    """

    messages: Sequence[Message]
    tools: Sequence[Json]
    completions: Sequence[Completion]
    stop_reason: str
    summaries: Mapping[int, Completion] = field(default_factory=dict[int, Completion])
    overflows: AbstractSet[tuple[int, int]] = frozenset()
    talk: Talk = ()

    def __post_init__(self) -> None:
        turns = [
            index for index, message in enumerate(self.messages) if message["role"] == "assistant"
        ]
        if len(turns) != len(self.completions):
            raise DatasetError(
                f"a row holds {len(self.completions)} completions and {len(turns)} turns of the"
                " assistant"
            )

    def before(self, turn: int) -> Sequence[Message]:
        """Return the messages that a turn (from 0) answers: those after the previous turn, or the
        opening.
        """
        turns = [
            -1,
            *(
                index
                for index, message in enumerate(self.messages)
                if message["role"] == "assistant"
            ),
            len(self.messages),
        ]
        return self.messages[turns[turn] + 1 : turns[turn + 1]]


class Records:
    """The rollouts of a run's directory. ``model``, ``sampling`` and ``user`` come from the rows;
    ``user`` None: there was no user.

    Raises :class:`DatasetError` if there is no dataset, or one without a row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dataset = Dataset.open(path)
        self._places: dict[Key, tuple[int, int]] = {}
        self._tasks: dict[int, list[str]] = {}
        self.user: str | None = None
        for index, row, values in self._scan(["task_id", "seed", "user_model", "parent_id"]):
            if values["parent_id"] is not None:
                raise DatasetError(
                    f"{path} holds branches, and several of them answer one job: `synth replay`"
                    " plays them again"
                )
            self.user = self.user or values["user_model"]
            self._places[values["task_id"], values["seed"]] = (index, row)
            self._tasks.setdefault(values["seed"], []).append(values["task_id"])
        self._rows = RowCache(self._dataset, _COLUMNS)
        self.model, self.sampling = _recorded_model_identity(self._dataset)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, key: Key) -> Record | None:
        """Return the rollout of a task under a seed, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        return record_of(self._rows.row(*place))

    def talk(self, opening: str, seed: int) -> Talk | None:
        """Return the user's part of the rollout under a seed that opened with these words, or
        None.
        """
        for task in self._tasks.get(seed, ()):
            record = self.find((task, seed))
            if record is not None and opening in [
                message["content"] for message in record.before(0)
            ]:
                return record.talk
        return None

    def openings(self) -> Iterator[tuple[Key, Sequence[Message]]]:
        """Yield each rollout's key and its opening messages, in the plan's order."""
        for _, _, values in self._scan(["task_id", "seed", "messages"]):
            messages: list[Message] = to_values({"messages": values["messages"]})["messages"]
            yield (values["task_id"], values["seed"]), messages[: opening_of(messages)]

    def _scan(self, columns: list[str]) -> Iterator[tuple[int, int, dict[str, Json]]]:
        """Yield each row's part, its position in it, and those columns."""
        for index, part in enumerate(self._dataset.parts):
            rows = (row for table in part.tables(columns) for row in table.to_pylist())
            for place, row in enumerate(rows):
                yield index, place, row


def model_identity_at(path: Path) -> tuple[str, Sampling]:
    """Return :func:`_recorded_model_identity` of the run in a directory. Raises
    :class:`DatasetError`.
    """
    with Dataset.open(path.expanduser()) as recorded:
        return _recorded_model_identity(recorded)


def _recorded_model_identity(dataset: Dataset) -> tuple[str, Sampling]:
    """Return the name and the sampling of the model that a dataset's rows name. Raises
    :class:`DatasetError` without a row.
    """
    row = next(dataset.rows(["model", "sampling"]), None)
    if row is None:
        raise DatasetError(f"{dataset.path} holds no row, so there is nothing to play back")
    return row["model"], Sampling(**row["sampling"])


def record_of(row: Mapping[str, Json]) -> Record:
    """Read the rollout of a row (JSON columns as Python values). Raises :class:`DatasetError`."""
    events = read_events(row["events"])
    turns = [event for event in events if isinstance(event, CompletionEvent) and event.is_turn]
    columns = [
        chain(row[name] or (), repeat(None))
        for name in ("token_ids", "logprobs", "provider_fields")
    ]
    trained = [
        message.get("train") is not False
        for message in row["messages"]
        if message["role"] == "assistant"
    ]
    completions = [
        completion_of(*known, train=train)
        for *known, train in zip(turns, *columns, chain(trained, repeat(True)), strict=False)
    ]
    return Record(
        row["messages"],
        row["tools"],
        completions,
        row["stop_reason"],
        *_compactions(events),
        _talk(events),
    )


def _talk(events: Sequence[RecordedEvent]) -> Talk:
    talk: list[tuple[str, UserTurn]] = []
    heard = ""
    for event in events:
        if isinstance(event, CompletionEvent) and event.is_turn:
            heard = event.content
        elif isinstance(event, UserTurnEvent):
            talk.append((heard, user_turn_of(event)))
    return talk


def _compactions(
    events: Sequence[RecordedEvent],
) -> tuple[dict[int, Completion], set[tuple[int, int]]]:
    """Return the summaries, and the positions at which the context was too long: a compaction's
    event directly follows its answer.
    """
    summaries: dict[int, Completion] = {}
    overflows: set[tuple[int, int]] = set()
    before: RecordedEvent | None = None
    for event in events:
        if isinstance(event, CompactionEvent):
            if isinstance(before, CompletionEvent) and before.event == "side_completion":
                summaries[event.turns] = completion_of(before)
            if event.reason == "overflow":
                overflows.add((event.step, event.left_out))
        before = event
    return summaries, overflows
