"""Conversations for supervised fine-tuning: an example of each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from synth.ext.exporters.base import Example, Exporter, Message, Row


class ConversationExporter(Exporter):
    """One example of each conversation; a subclass gives it the form of a target.

    ``has_masks`` is False if the target trains on every turn of a conversation, or on the last one
    where the unit is a turn.
    """

    columns = ("messages", "segments", "tools")
    views = ("full", "segments")
    has_masks: ClassVar[bool] = True

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            masked = self.has_masks or self.unit == "turn"
            for messages in self.trained(row) if masked else self.unmasked(row):
                example = self.example(row, messages)
                if isinstance(example, str):
                    self.leave_out(row, example)
                else:
                    self.exported(row, messages)
                    yield example

    @abstractmethod
    def example(self, row: Row, messages: Sequence[Message]) -> Example | str:
        """Return the example of a conversation, or the reason why there is none."""
