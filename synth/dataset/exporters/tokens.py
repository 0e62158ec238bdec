"""Token ids and loss masks: Parquet with ``input_ids``, ``assistant_masks``, ``num_tokens``,
``num_trained_tokens`` and the ids of trajectory and task.

The chat template (``--template``) must mark what the assistant generates; the tokenizer is the
model's ``tokenizer.json``. The mask is 1 for a token that is trained on: so a turn that must not be
trained on costs no row, which no text format of TRL can express. TRL's SFTTrainer takes the file as
it is, without a template and without ``assistant_only_loss``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.exporters.base import Example, Exporter, Row
from synth.dataset.exporters.files import write_plain_parquet
from synth.dataset.exporters.rendering.presets import RenderError
from synth.errors import OperatorError
from synth.plugins import PluginError, resolve

_SCHEMA = pa.schema(
    [
        pa.field("input_ids", pa.list_(pa.int32())),
        pa.field("assistant_masks", pa.list_(pa.int32())),
        pa.field("num_tokens", pa.int64()),
        pa.field("num_trained_tokens", pa.int64()),
        pa.field("trajectory_id", pa.string()),
        pa.field("task_id", pa.string()),
    ]
)


@dataclass(frozen=True)
class TokenOptions:
    """``tokenizer`` is the model's file ``tokenizer.json``."""

    tokenizer: str = ""


class Tokens(Exporter):
    """Tokens of conversations, and a mask of those that are trained on."""

    name = "tokens"
    description = "token ids and loss masks by --template and a tokenizer: Parquet, also for TRL"
    suffix = ".parquet"
    columns = ("trajectory_id", "task_id", "messages", "segments", "tools")
    views = ("full", "segments")
    Options = TokenOptions

    def __init__(self, options: TokenOptions | None = None) -> None:
        super().__init__(options or TokenOptions())

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        masks = self._masks()
        for row in rows:
            for messages in self.trained(row):
                try:
                    ids, mask = masks.encode(messages, row["tools"])
                except RenderError as error:
                    self.leave_out(f"the template does not render it: {error}")
                    continue
                self.exported(messages, row["tools"])
                yield {
                    "input_ids": ids,
                    "assistant_masks": mask,
                    "num_tokens": len(ids),
                    "num_trained_tokens": sum(mask),
                    "trajectory_id": row["trajectory_id"],
                    "task_id": row["task_id"],
                }

    def _masks(self) -> Any:
        if self.template is None or not self.options.tokenizer:
            raise OperatorError(
                "tokens needs a chat template and a tokenizer: --template qwen3-training --option"
                " tokenizer=tokenizer.json"
            )
        try:
            kind: Any = resolve("synth.dataset.exporters.rendering.masks:TokenMasks")
        except PluginError as error:
            raise OperatorError(
                "tokens needs jinja2 and tokenizers: pip install 'synth-worlds[templates]'"
            ) from error
        return kind(self.template, self.options.tokenizer)

    def write(self, examples: Iterable[Example], out: Path) -> int:
        return write_plain_parquet(examples, out, _SCHEMA)
