"""Token ids and loss masks of a conversation, by a template that marks what the assistant
generates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer

from synth.dataset.exporters.base import Message
from synth.dataset.exporters.rendering.chat_template import ChatTemplate
from synth.dataset.exporters.rendering.presets import MARKED, Preset, RenderError
from synth.errors import OperatorError


class TokenMasks:
    """A template and a tokenizer. Raises :class:`~synth.errors.OperatorError` for a file that is
    no tokenizer.
    """

    def __init__(self, preset: Preset, tokenizer: str) -> None:
        self._template = ChatTemplate(preset)
        try:
            self._tokenizer: Any = Tokenizer.from_file(tokenizer)
        except Exception as error:
            # The package raises plain exceptions for every problem of the file.
            raise OperatorError(f"tokenizer: {tokenizer} cannot be read: {error}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, messages: Sequence[Message], tools: Sequence[Any]) -> Any:
        """Return the ids of the tokens, and 1 for each that is trained on, 0 for the others.

        Raises :class:`RenderError` for a conversation that the template refuses, and
        :class:`~synth.errors.OperatorError` for a template without marks.
        """
        text, spans = self._template.render_marked(messages, tools)
        turns = [message for message in messages if message["role"] == "assistant"]
        name = self._template.name
        if turns and not spans:
            raise OperatorError(
                f"--template {name} does not mark what the assistant generates, so that it gives no"
                f" loss masks; presets that do: {', '.join(MARKED)}"
            )
        if len(spans) != len(turns):
            raise RenderError(f"{len(turns)} turns, but {len(spans)} marks")
        trained = [
            span for span, turn in zip(spans, turns, strict=True) if turn.get("train") is not False
        ]
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, _mask(encoded.offsets, trained)


def _mask(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return 1 for each token inside a span; both are in order."""
    mask: list[int] = []
    position = 0
    for start, end in offsets:
        while position < len(spans) and spans[position][1] <= start:
            position += 1
        inside = position < len(spans) and spans[position][0] <= start < end <= spans[position][1]
        mask.append(int(inside))
    return mask
