"""TRL's SFTTrainer: Parquet with the columns ``messages`` and ``tools``.

Arguments stay objects and unused keys stay absent, which is what chat templates render. ``datasets`` 5 loads the
file as it is: ``load_dataset("parquet", data_files=FILE)``.

In this format TRL trains on every assistant turn: it has no mask per message. Turns that must not be trained on
(``train: false``, for instance a malformed call) are cut at the end of a conversation; a row that has one before a
turn to train on is left out as a whole and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from synth.dataset.exporters.base import Example, Exporter, Row, trainable_part
from synth.dataset.exporters.files import write_parquet


class TrlSft(Exporter):
    name = "trl-sft"
    description = "TRL SFTTrainer: Parquet with messages and tools"
    suffix = ".parquet"

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            kept = trainable_part(row["messages"])
            if not kept:
                self.leave_out("no turn that may be trained on")
            elif any(message.get("train") is False for message in kept):
                self.leave_out("a turn that must not be trained on, and TRL has no mask per message")
            else:
                yield {"messages": list(kept), "tools": list(row["tools"])}

    def write(self, examples: Iterable[Example], out: Path) -> int:
        return write_parquet(examples, out, {"messages": "list<json>", "tools": "list<json>"})
