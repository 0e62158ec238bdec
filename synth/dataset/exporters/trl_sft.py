"""TRL's SFTTrainer: Parquet with the columns ``messages`` and ``tools``.

Arguments stay objects and unused keys stay absent, as chat templates expect. ``datasets`` 5 loads
the file as it is: ``load_dataset("parquet", data_files=FILE)``.

In this format TRL trains on every assistant turn; there is no mask per message. Turns that must not
be trained on (``train: false``, for instance a malformed call) are removed at the end of a
conversation; a row with one before a turn to train on is left out as a whole and counted.

The view ``segments`` writes TRL's other format, ``prompt`` and ``completion`` beside ``tools``: one
example for each run of turns to train on, after the context that the model was sent. Train it with
``assistant_only_loss=True``, because completions contain tool results too; TRL then counts the loss
where both masks agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from synth.dataset.columns import Kind
from synth.dataset.exporters.base import Example, Exporter, Row, trainable_part, trained_runs
from synth.dataset.exporters.files import write_parquet


class TrlSft(Exporter):
    """Files for supervised fine-tuning with TRL."""

    name = "trl-sft"
    description = "TRL SFTTrainer: Parquet with messages and tools"
    suffix = ".parquet"
    columns = ("messages", "segments", "tools")
    views = ("full", "segments")

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            if self.view == "segments":
                yield from self._segments(row)
                continue
            (whole,) = self.conversations(row)
            kept = trainable_part(whole)
            if not kept:
                self.leave_out("no turn that may be trained on")
            elif any(message.get("train") is False for message in kept):
                self.leave_out(
                    "a turn that must not be trained on, and TRL has no mask per message"
                )
            else:
                yield {"messages": list(kept), "tools": list(row["tools"])}

    def _segments(self, row: Row) -> Iterator[Example]:
        conversations = self.conversations(row)
        runs = [run for messages in conversations for run in trained_runs(messages)]
        if not runs:
            self.leave_out("no turn that may be trained on")
        for prompt, completion in runs:
            yield {
                "prompt": list(prompt),
                "completion": list(completion),
                "tools": list(row["tools"]),
            }

    def write(self, examples: Iterable[Example], out: Path) -> int:
        names = (
            ("prompt", "completion", "tools") if self.view == "segments" else ("messages", "tools")
        )
        columns: dict[str, Kind] = dict.fromkeys(names, "list<json>")
        return write_parquet(examples, out, columns)
