"""Token ids and loss masks of a conversation, by a template that marks what the assistant
generates.

Text is encoded as text: the tokenizer knows its control tokens under names that no text holds, and
the marks that the template itself writes are replaced by these names before it encodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer

from envs.unreadable import unreadable
from synth.errors import OperatorError
from synth.ext.exporters.base import Message
from synth.ext.exporters.rendering.chat_template import ChatTemplate, generated_parts
from synth.ext.exporters.rendering.control_marks import ControlMarks, is_mark, marks_of
from synth.ext.exporters.rendering.presets import MARKED, Preset, RenderError


class TokenMasks:
    """A template and a tokenizer. Raises :class:`~synth.errors.OperatorError` for a file that is
    no tokenizer.
    """

    def __init__(self, preset: Preset, tokenizer: str) -> None:
        self._template = ChatTemplate(preset)
        given = _tokenizer(tokenizer)
        self._control = _control_tokens(given, preset)
        self._marks = ControlMarks(self._control)
        self._names = {text: f"\ufdd3{number}\ufdd3" for text, number in self._control.items()}
        self._tokenizer, self._ids = _renamed(given, self._names)

    def encode(self, messages: Sequence[Message], tools: Sequence[Any]) -> Any:
        """Return the ids of the tokens, and 1 for each that is trained on, 0 for the others.

        Raises :class:`RenderError` for a conversation that the template refuses or whose text the
        tokenizer cannot encode as text, and
        :class:`~synth.errors.OperatorError` for a template without marks.
        """
        marked = self._template.render_marked(
            self._marks.inert(messages), self._marks.inert_value(tools)
        )
        text, spans = generated_parts(self._marks.replaced(marked, self._names))
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
        return self._original(encoded.ids), _mask(encoded.offsets, trained)

    def _original(self, ids: Sequence[int]) -> list[int]:
        """Return ids of the renamed tokenizer as ids of the model's."""
        forged = {number: text for text, number in self._control.items()}
        for number in ids:
            if number not in self._ids and number in forged:
                raise RenderError(f"the tokenizer reads {forged[number]} in a text")
        return [self._ids.get(number, number) for number in ids]


class TokenCount:
    """The number of tokens of a conversation. Raises as :class:`TokenMasks`."""

    def __init__(self, preset: Preset, tokenizer: str) -> None:
        self._template = ChatTemplate(preset)
        self._tokenizer = _tokenizer(tokenizer)

    def count(self, messages: Sequence[Message], tools: Sequence[Any]) -> int:
        """Return the number of tokens. Raises :class:`RenderError`."""
        text = self._template.render(messages, tools)
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def _tokenizer(file: str) -> Any:
    try:
        tokenizer: Any = Tokenizer.from_file(file)
    except Exception as error:
        # The package raises plain exceptions for every problem of the file.
        why = unreadable(error, "the tokenizer.json of a model")
        raise OperatorError(f"--tokenizer {file} cannot be read: {why}") from None
    tokenizer.no_truncation()
    return tokenizer


def _control_tokens(tokenizer: Any, preset: Preset) -> Mapping[str, int]:
    """Return the tokens that no text may become: special ones, and those that templates write.

    Others that were added, such as runs of blanks, are text.
    """
    written = marks_of(preset)
    added: Mapping[int, Any] = tokenizer.get_added_tokens_decoder()
    return {
        token.content: number
        for number, token in added.items()
        if token.special or token.content in written or is_mark(token.content)
    }


def _renamed(tokenizer: Any, names: Mapping[str, str]) -> tuple[Any, Mapping[int, int]]:
    """Return a tokenizer that knows tokens under other names, and the original ids of all that were
    added.
    """
    document: dict[str, Any] = json.loads(tokenizer.to_str())
    ids: dict[str, int] = {}
    for token in document["added_tokens"]:
        if token["content"] in names:
            token |= {"content": names[token["content"]], "normalized": False}
        ids[token["content"]] = token["id"]
    renamed: Any = Tokenizer.from_str(json.dumps(document))
    renamed.no_truncation()
    renamed.no_padding()
    return renamed, {renamed.token_to_id(name): number for name, number in ids.items()}


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
