"""The contract of an exporter.

One object serves one export: it turns the dataset's rows into examples (:meth:`Exporter.rows`), counts what it has to
leave out, and writes the examples (:meth:`Exporter.write`). Which rows it is given, where the file goes and that it
appears there as a whole or not at all is not its business: see :mod:`synth.dataset.exporters.job`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

Json = Any
Row = Mapping[str, Json]
"""A row of the dataset, JSON columns decoded, with the exporter's ``columns`` at least."""
Message = Mapping[str, Json]
Example = dict[str, Json]
"""One training example, in the target's own words."""
View = Literal["full", "segments"]
"""Of a row whose context was compacted on the way: the whole conversation, or each context as the model was sent it."""


class Exporter(ABC):
    """Somebody's format.

    ``name`` is what ``--to`` takes, ``description`` one line, ``suffix`` the file's ending (empty: a directory),
    ``columns`` the columns of the dataset that :meth:`rows` reads. ``min_reward`` is the reward from which on a row is
    taken unless the operator says otherwise; None takes every scored row (for targets that learn from contrast).
    ``views`` are those that it knows, and ``view`` the one that is asked for.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("messages", "tools")
    min_reward: ClassVar[float | None] = 1.0
    views: ClassVar[tuple[View, ...]] = ("full",)
    view: View = "full"

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.unseen = 0
        """Rows exported as a whole conversation that the model never saw as a whole."""

    @abstractmethod
    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        """The examples that these rows make, in order; a row that the target cannot express goes to `leave_out`.

        It sees the whole stream, in the order of the plan, so that a target may pair the samples of one task.
        """

    @abstractmethod
    def write(self, examples: Iterable[Example], out: Path) -> int:
        """Write all examples to ``out``, which does not exist yet, flushed to disk; returns how many there were."""

    def leave_out(self, reason: str) -> None:
        """Count a row that is not exported; the reason is shown to the operator."""
        self.left_out[reason] += 1

    def conversations(self, row: Row) -> Sequence[Sequence[Message]]:
        """What a row holds in the view that is asked for; takes the columns ``messages`` and ``segments``."""
        if self.view == "segments" and row["segments"]:
            return [each["messages"] for each in row["segments"]]
        self.unseen += bool(row["segments"])
        return [row["messages"]]


def trained_runs(messages: Sequence[Message]) -> Iterator[tuple[Sequence[Message], Sequence[Message]]]:
    """Each stretch of turns that may be trained on, with all that stands before it; it ends with the assistant."""
    start: int | None = None
    end = 0
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        if message.get("train") is not False:
            start, end = at if start is None else start, at + 1
        elif start is not None:
            yield messages[:start], messages[start:end]
            start = None
    if start is not None:
        yield messages[:start], messages[start:end]


def trainable_part(messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation up to the last assistant turn that may be trained on; empty where there is none.

    What follows it (an unanswered tool result, a turn that was cut off) has nothing to teach.
    """
    for end in range(len(messages), 0, -1):
        if messages[end - 1]["role"] == "assistant" and messages[end - 1].get("train") is not False:
            return messages[:end]
    return ()
