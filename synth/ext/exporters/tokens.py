"""Token ids and loss masks: Parquet with ``input_ids``, ``assistant_masks``, ``num_tokens``,
``num_trained_tokens`` and the ids of trajectory and task.

The chat template (``--template``) must mark what the assistant generates; the tokenizer is the
model's ``tokenizer.json``. The mask is 1 for a token that is trained on: so a turn that must not be
trained on costs no row, which no text format of TRL can express. TRL's SFTTrainer takes the file as
it is, without a template and without ``assistant_only_loss``.

A template in a file takes its special tokens from the options ``bos`` and ``eos``, or else from the
``tokenizer_config.json`` beside the template or beside the tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from synth.errors import OperatorError
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row
from synth.ext.exporters.files import Columns
from synth.ext.exporters.rendering.presets import Preset, RenderError, special_tokens
from synth.plugins import resolve


@dataclass(frozen=True)
class _TokenOptions:
    """``bos`` and ``eos`` are the template's special tokens."""

    bos: str | None = None
    eos: str | None = None


class Tokens(ConversationExporter):
    """Tokens of conversations, and a mask of those that are trained on."""

    name = "tokens"
    description = "token ids and loss masks by --template and a tokenizer: Parquet, also for TRL"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("input_ids", "assistant_masks"), pa.list_(pa.int32())),
        **dict.fromkeys(("num_tokens", "num_trained_tokens"), "int64"),
        **dict.fromkeys(("trajectory_id", "task_id"), "str"),
    }
    length_limit = ("TRL", "SFTConfig(max_length=1024)")
    columns = ("trajectory_id", "task_id", "messages", "segments", "tools")
    encodes = True
    Options = _TokenOptions

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        self._encoder = self._masks()
        yield from super().rows(rows)

    def example(self, row: Row, messages: Sequence[Message]) -> Example | str:
        try:
            ids, mask = self._encoder.encode(messages, row["tools"])
        except RenderError as error:
            return f"the template does not render it: {error}"
        return {
            "input_ids": ids,
            "assistant_masks": mask,
            "num_tokens": len(ids),
            "num_trained_tokens": sum(mask),
            "trajectory_id": row["trajectory_id"],
            "task_id": row["task_id"],
        }

    def _masks(self) -> Any:
        if self.template is None or self.tokenizer is None:
            raise OperatorError(
                "tokens needs a chat template and a tokenizer: --template qwen3-training"
                " --tokenizer tokenizer.json"
            )
        kind: Any = resolve("synth.ext.exporters.rendering.masks:TokenMasks")
        return kind(self._with_tokens(self.template, self.tokenizer), self.tokenizer)

    def _with_tokens(self, preset: Preset, tokenizer: str) -> Preset:
        """Return the template with its special tokens.

        Raises :class:`OperatorError` for one that names a token which is not known.
        """
        found: dict[str, str | None] = {}
        beside = special_tokens(Path(tokenizer))
        for key, given, known in (
            ("bos", self.options.bos, preset.bos),
            ("eos", self.options.eos, preset.eos),
        ):
            choices = (given, known, beside.get(f"{key}_token"))
            found[key] = next((token for token in choices if token is not None), None)
            if found[key] is None and re.search(rf"\b{key}_token\b", preset.source):
                raise OperatorError(
                    f"--template {preset.name} names {key}_token, which is not known: put the"
                    f" model's tokenizer_config.json beside the template or the tokenizer, or give"
                    f" --option {key}=TOKEN"
                )
        return replace(preset, **found)
