"""The contract of an exporter.

One object serves one export: it turns the rows of the dataset into examples
(:meth:`Exporter.rows`), counts what it leaves out, and writes the examples
(:meth:`Exporter.write`). The selection of rows, the place of the file and its appearance as a whole
or not at all are the business of :mod:`synth.dataset.exporters.job`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from synth.dataset.exporters.rendering.presets import Preset
from synth.dataset.exporters.row_policy import REASONING, Calls, Ids, Unit

Row = Mapping[str, Any]
"""A row of the dataset, JSON columns decoded, with at least the exporter's ``columns``."""
Message = Mapping[str, Any]
Example = dict[str, Any]
"""One training example with the keys of the target."""
View = Literal["full", "segments"]
"""Treatment of a row whose context was compacted during the rollout: the whole conversation as one,
or each context as it was sent to the model.
"""

MinReward = float | Literal["success"] | None
"""The rows that are exported: those with at least that reward, successes, or (None) all scored
ones. A success passes every gate; a world's weighted scores may put its reward below 1.
"""


class ConversationGate(Protocol):
    """A check of conversations by a chat template, before they are exported."""

    name: str

    def reason(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the reason why a conversation is refused; empty if it is exported."""
        ...

    def lost_reasoning(self, messages: Sequence[Message], tools: Sequence[Any]) -> Collection[int]:
        """Return the positions of messages whose reasoning the template does not render."""
        ...


class Exporter(ABC):
    """A file format of a trainer or a service.

    ``description`` is one line, ``suffix`` the ending of the file's name (empty for a directory),
    ``name`` the part of the default file name before it, ``columns`` the columns of the dataset
    that :meth:`rows` reads. ``min_reward`` says which rows are exported unless the operator says
    otherwise: ``"success"``, those that pass every gate; a number, those with at least that reward;
    None, every scored row (for targets that learn from contrast). ``views`` are the supported
    views, ``units`` the supported units. ``calls`` and ``ids`` are the forms that the target needs
    of calls, unless the operator asks for others. ``by_task`` is True if the exporter reads
    :attr:`task_sizes`, ``prompts`` if it exports only the opening of a task's first row: a template
    is then asked about that one, for all rows of the task. ``keeps_reasoning`` is False if the
    target has no place for the reasoning of a turn.

    An exporter with options declares their typed model, a dataclass or a pydantic model, as the
    class attribute ``Options``; it is constructed with an instance of it, filled in from
    ``synth export --option key=value``. An exporter without ``Options`` is constructed without
    arguments.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("messages", "tools")
    min_reward: ClassVar[MinReward] = "success"
    views: ClassVar[tuple[View, ...]] = ("full",)
    units: ClassVar[tuple[Unit, ...]] = ("rollout", "turn")
    calls: ClassVar[Calls] = "parallel"
    ids: ClassVar[Ids] = "recorded"
    by_task: ClassVar[bool] = False
    prompts: ClassVar[bool] = False
    keeps_reasoning: ClassVar[bool] = True
    Options: ClassVar[type[object] | None] = None
    view: View = "full"
    """The view of this export."""
    unit: Unit = "rollout"
    """The unit of this export: :meth:`rows` gets a row for each rollout, or for each turn to train
    on, in which every other turn has ``train: false``.
    """
    template: Preset | None = None
    """The chat template of this export, if the operator names one."""
    gate: ConversationGate | None = None
    """The check of this export by its chat template."""
    task_sizes: Mapping[str, int] | None = None
    """Number of rows of each task in the stream, less those refused by the template so far; None if
    it is not known.
    """

    def __init__(self, options: object | None = None) -> None:
        self.options: Any = options
        self.left_out: Counter[str] = Counter()
        self.compacted = 0
        """Rows exported as one conversation although the model never saw it as a whole."""
        self.lost_reasoning: Counter[str] = Counter()
        """Exported turns that lose their reasoning, by reason."""

    @abstractmethod
    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        """Yield the examples that these rows make, in order.

        A row that the target cannot express is counted by :meth:`leave_out`. The whole stream
        passes through, in the order of the plan, so that a target may pair the samples of one task.
        """

    @abstractmethod
    def write(self, examples: Iterable[Example], out: Path) -> int:
        """Write all examples to ``out``, which does not exist yet, and flush them to disk.

        Returns the number of examples.
        """

    def leave_out(self, reason: str) -> None:
        """Count a row that is not exported; the reason is printed for the operator."""
        self.left_out[reason] += 1

    def rendered(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row that the trainer renders with the chat template.

        Needs the columns ``messages`` and ``segments``.
        """
        segments: Sequence[Row] = row["segments"] if self.view == "segments" else ()
        conversations: list[Sequence[Message]] = [part["messages"] for part in segments]
        conversations = conversations or [row["messages"]]
        return [messages[: last_turn(messages)] for messages in conversations]

    def exported(self, messages: Sequence[Message], tools: Sequence[Any], start: int = 0) -> None:
        """Count the turns of an exported conversation that are trained on, from the message
        ``start`` on, and lose their reasoning. An exporter calls it for each conversation.
        """
        turns = {
            index
            for index, message in enumerate(messages)
            if index >= start and message.get("train") is not False
            if any(message.get(key) for key in REASONING)
        }
        if turns and not self.keeps_reasoning:
            self.lost_reasoning[f"{self.name} has no place for it"] += len(turns)
        elif turns and self.gate is not None:
            lost = turns.intersection(self.gate.lost_reasoning(messages, tools))
            if lost:
                self.lost_reasoning[f"{self.gate.name} does not render it"] += len(lost)

    def trained(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row up to their last turn to train on; a row without one is counted.

        Needs the columns ``messages`` and ``segments``.
        """
        parts = [part for whole in self.conversations(row) if (part := trainable_part(whole))]
        if not parts:
            self.leave_out("no turn that may be trained on")
        return parts

    def unmasked(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row for a target that trains on every turn of the assistant.

        A conversation with a turn that must not be trained on is left out and counted.
        """
        parts = self.trained(row)
        kept = [part for part in parts if not has_untrained(part)]
        for _ in range(len(parts) - len(kept)):
            self.leave_out(f"a turn that must not be trained on, and {self.name} has no loss masks")
        return kept

    def conversations(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row in the view of this export; needs the columns ``messages`` and
        ``segments``.
        """
        if self.view == "segments" and row["segments"]:
            return [segment["messages"] for segment in row["segments"]]
        self.compacted += bool(row["segments"])
        return [row["messages"]]


def has_untrained(messages: Sequence[Message]) -> bool:
    """Tell whether a conversation has a turn that must not be trained on."""
    return any(message.get("train") is False for message in messages)


def prompt_part(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages before the first turn of the assistant."""
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            return messages[:index]
    return messages


def last_turn(messages: Sequence[Message]) -> int:
    """Return the number of messages up to the last turn of the assistant."""
    turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return turns[-1] + 1 if turns else 0


def without_marks(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without ``train``, for a target that does not know it."""
    return [
        {key: value for key, value in message.items() if key != "train"} for message in messages
    ]


def trained_runs(
    messages: Sequence[Message],
) -> Iterator[tuple[Sequence[Message], Sequence[Message]]]:
    """Yield each run of turns to train on, ending with an assistant turn, after its context."""
    start: int | None = None
    end = 0
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        if message.get("train") is not False:
            start, end = index if start is None else start, index + 1
        elif start is not None:
            yield messages[:start], messages[start:end]
            start = None
    if start is not None:
        yield messages[:start], messages[start:end]


def trainable_part(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the conversation up to the last assistant turn to train on; empty if there is none.

    What follows it (an unanswered tool result, a truncated turn) has nothing to teach.
    """
    for end in range(len(messages), 0, -1):
        if messages[end - 1]["role"] == "assistant" and messages[end - 1].get("train") is not False:
            return messages[:end]
    return ()
