"""TRL's SFTTrainer: Parquet with the columns ``messages`` and ``tools``.

Arguments stay objects and unused keys stay absent, which is what chat templates render. ``datasets`` 5 loads the
file as it is: ``load_dataset("parquet", data_files=FILE)``.

In this format TRL trains on every assistant turn: it has no mask per message. Turns that must not be trained on
(``train: false``, for instance a malformed call) are cut at the end of a conversation; a row that has one before a
turn to train on is left out as a whole and counted.

The view ``segments`` writes TRL's other format, ``prompt`` and ``completion`` beside ``tools``: an example for each stretch of
turns to train on, under what the model was sent before it. Train it with ``assistant_only_loss=True``, because the results of
tools stand in the completion too; TRL then counts the loss where both masks agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from synth.dataset.columns import Kind
from synth.dataset.exporters.base import Example, Exporter, Row, trainable_part, trained_runs
from synth.dataset.exporters.files import write_parquet


class TrlSft(Exporter):
    name = "trl-sft"
    description = "TRL SFTTrainer: Parquet with messages and tools"
    suffix = ".parquet"
    columns = ("messages", "segments", "tools")
    views = ("full", "segments")

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            if self.view == "segments":
                yield from self._seen(row)
                continue
            (whole,) = self.conversations(row)
            kept = trainable_part(whole)
            if not kept:
                self.leave_out("no turn that may be trained on")
            elif any(message.get("train") is False for message in kept):
                self.leave_out("a turn that must not be trained on, and TRL has no mask per message")
            else:
                yield {"messages": list(kept), "tools": list(row["tools"])}

    def _seen(self, row: Row) -> Iterator[Example]:
        runs = [run for each in self.conversations(row) for run in trained_runs(each)]
        if not runs:
            self.leave_out("no turn that may be trained on")
        for prompt, completion in runs:
            yield {"prompt": list(prompt), "completion": list(completion), "tools": list(row["tools"])}

    def write(self, examples: Iterable[Example], out: Path) -> int:
        names = ("prompt", "completion", "tools") if self.view == "segments" else ("messages", "tools")
        columns: dict[str, Kind] = dict.fromkeys(names, "list<json>")
        return write_parquet(examples, out, columns)
