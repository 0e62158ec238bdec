"""TRL's SFTTrainer: Parquet with the columns ``messages`` and ``tools``.

Arguments stay objects and unused keys stay absent, as chat templates expect. ``datasets`` 5 loads
the file as it is: ``load_dataset("parquet", data_files=FILE)``.

In this format TRL trains on every assistant turn; there is no mask per message, not even with a
template that marks generation. Turns that must not be trained on (``train: false``, for instance a
malformed call) are removed at the end of a conversation; a row with one before a turn to train on
is left out as a whole and counted.

The view ``segments`` and the unit ``turn`` write TRL's other format, ``prompt`` and ``completion``
beside ``tools``: one example for each run of turns to train on (for each turn), after the context
that the model was sent. No row is left out for a turn that must not be trained on: it is part of a
prompt. Train it with ``assistant_only_loss=True``, because completions contain tool results too;
TRL then counts the loss where both masks agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from synth.ext.exporters.base import Example, Exporter, Row, trained_runs
from synth.ext.exporters.files import Columns


class TrlSft(Exporter):
    """Files for supervised fine-tuning with TRL."""

    name = "trl-sft"
    description = "TRL SFTTrainer: Parquet with messages and tools"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = dict.fromkeys(("messages", "tools"), "list<json>")
    length_limit = ("TRL", "SFTConfig(max_length=1024)")
    columns = ("messages", "segments", "tools")
    views = ("full", "segments")

    @property
    def _in_runs(self) -> bool:
        return self.view == "segments" or self.unit == "turn"

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            tools = list(row["tools"])
            if self._in_runs:
                for messages in self.trained(row):
                    for prompt, completion in trained_runs(messages):
                        self.exported(row, [*prompt, *completion], len(prompt))
                        yield {
                            "prompt": list(prompt),
                            "completion": list(completion),
                            "tools": tools,
                        }
            else:
                for messages in self.unmasked(row):
                    self.exported(row, messages)
                    yield {"messages": list(messages), "tools": tools}

    def write(self, examples: Iterable[Example], out: Path) -> int:
        names = ("prompt", "completion", "tools") if self._in_runs else tuple(self.parquet)
        return self.written(examples, out, dict.fromkeys(names, "list<json>"))
