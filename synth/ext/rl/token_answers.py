"""The assistant message that the tokens of an answer say, for trainers that sample tokens."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from synth.core.agent.text_calls import calls_json, find_calls
from synth.core.models.thoughts import without_thoughts


class Tokenizer(Protocol):
    """What is used of a tokenizer of Transformers."""

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]: ...

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str: ...


def message_of(
    tokenizer: Tokenizer, tokens: Sequence[int], known: Container[str], turn: int
) -> dict[str, Any]:
    """Return the message with its calls, read in any form that ``agent.text_calls`` knows.

    Special tokens at the end are the end of the turn and belong to no call.
    """
    said = list(tokens)
    added = tokenizer.added_tokens_decoder
    while said and said[-1] in added and added[said[-1]].special:
        said.pop()
    text, calls = find_calls(tokenizer.decode(said), known)
    if not calls:
        text = tokenizer.decode(said, skip_special_tokens=True)
    message: dict[str, Any] = {"role": "assistant", "content": without_thoughts(text)}
    if calls:
        message["tool_calls"] = calls_json(calls, turn)
    return message
