"""TRL's KTOTrainer: Parquet with the columns ``prompt``, ``completion``, ``label`` and ``tools``.

Every scored row is an example; ``label`` is true for a success. The completion of a success is its
last run of turns to train on, so that a turn that must not be trained on (and what leads to it) is
part of the prompt. The completion of a failure is all that comes after the opening.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from synth.ext.exporters.base import (
    Example,
    Exporter,
    Message,
    Row,
    last_turn,
    prompt_part,
    trained_runs,
    without_marks,
)
from synth.ext.exporters.files import Columns
from synth.ext.exporters.row_policy import Unit


class TrlKto(Exporter):
    """Rollouts that are desirable or not, for TRL."""

    name = "trl-kto"
    description = "TRL KTOTrainer: Parquet with prompt, completion and label"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "completion", "tools"), "list<json>"),
        "label": "bool",
    }
    length_limit = ("TRL", "KTOConfig(max_length=1024)")
    columns = ("messages", "tools", "outcome")
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            messages, label = row["messages"], row["outcome"] == "success"
            cut = _good(messages) if label else _bad(messages)
            if cut is None:
                self.leave_out(
                    row, "no turn that may be trained on" if label else "no turn of the assistant"
                )
                continue
            prompt, completion = cut
            self.exported(row, [*prompt, *completion], len(prompt))
            yield {
                "prompt": without_marks(prompt),
                "completion": without_marks(completion),
                "label": label,
                "tools": list(row["tools"]),
            }


_Cut = tuple[Sequence[Message], Sequence[Message]] | None


def _good(messages: Sequence[Message]) -> _Cut:
    return next(iter([*trained_runs(messages)][::-1]), None)


def _bad(messages: Sequence[Message]) -> _Cut:
    start, end = len(prompt_part(messages)), last_turn(messages)
    return (messages[:start], messages[start:end]) if end > start else None
