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
from typing import Any, ClassVar

Json = Any
Row = Mapping[str, Json]
"""A row of the dataset, JSON columns decoded, with the exporter's ``columns`` at least."""
Message = Mapping[str, Json]
Example = dict[str, Json]
"""One training example, in the target's own words."""


class Exporter(ABC):
    """Somebody's format.

    ``name`` is what ``--to`` takes, ``description`` one line, ``suffix`` the file's ending (empty: a directory),
    ``columns`` the columns of the dataset that :meth:`rows` reads. ``min_reward`` is the reward from which on a row is
    taken unless the operator says otherwise; None takes every scored row (for targets that learn from contrast).
    """

    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("messages", "tools")
    min_reward: ClassVar[float | None] = 1.0

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()

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


def trainable_part(messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation up to the last assistant turn that may be trained on; empty where there is none.

    What follows it (an unanswered tool result, a turn that was cut off) has nothing to teach.
    """
    for end in range(len(messages), 0, -1):
        if messages[end - 1]["role"] == "assistant" and messages[end - 1].get("train") is not False:
            return messages[:end]
    return ()
