"""The contexts of a rollout as they were sent, for the ``segments`` column: a model trains on what
it saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from synth.core.agent.memory import ConversationMemory
from synth.task import Message


def segments(memory: ConversationMemory) -> list[object]:
    """Return each context with the turns made in it; empty if the whole conversation was always
    sent.

    ``{"first_turn": 4, "last_turn": 6, "messages": [...]}``: turns are numbered from 0, each is in
    one segment, and the assistant's messages of other turns in it have ``"train": false``.
    """
    turns = [
        index for index, message in enumerate(memory.messages) if message["role"] == "assistant"
    ]
    if not memory.spans or memory.spans[0].turn >= len(turns):
        return []
    whole = memory.messages[: turns[memory.spans[0].turn]]
    sent: list[list[Message]] = [whole, *(span.messages for span in memory.spans)]
    bounds = pairwise([0, *(span.turn for span in memory.spans), len(turns)])
    return [
        {"first_turn": start, "last_turn": end - 1, "messages": _trained(messages, end - start)}
        for messages, (start, end) in zip(sent, bounds, strict=True)
        if end > start
    ]


def _trained(messages: Sequence[Message], last: int) -> list[Message]:
    """Return the messages with only the last so many turns to train on."""
    turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    older = set(turns[: len(turns) - last])
    return [
        {**message, "train": False} if index in older else message
        for index, message in enumerate(messages)
    ]
