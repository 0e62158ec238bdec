"""The contexts of a rollout as they were sent, for the ``segments`` column: what a model saw is what it is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from synth.agent.memory import ConversationMemory
from synth.types import Message

Json = Any


def segments(memory: ConversationMemory) -> list[Json]:
    """Each context with the turns that were made in it; empty where what was sent is always the whole conversation.

    ``{"first_turn": 4, "last_turn": 6, "messages": [...]}``: turns are numbered from 0, each is in one segment, and in that the
    assistant's messages of other turns have ``"train": false``.
    """
    turns = [at for at, each in enumerate(memory.messages) if each["role"] == "assistant"]
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
    """The messages, with none but the last so many turns to train on."""
    turns = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    older = set(turns[: len(turns) - last])
    return [{**each, "train": False} if at in older else each for at, each in enumerate(messages)]
