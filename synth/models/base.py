"""The contract of a model: something that continues a conversation.

A :class:`Model` is a resident: one per worker, shared by its rollouts, never sent between processes.
:meth:`Model.start` opens a :class:`Conversation`, which is one rollout's and may keep what it needs
(encoded bytes, a place in the gold solution) between calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.types import Completion, Message, Task

Json = Any

_SEED_MASK = 0x7FFF_FFFF


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn; None leaves a parameter to the endpoint. ``seed`` is filled in per rollout."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, Json] = field(default_factory=dict[str, Any])
    seed: int | None = None

    def to_json(self) -> dict[str, Json]:
        """The parameters that are set, for the record's ``sampling`` column."""
        named = {"temperature": self.temperature, "top_p": self.top_p, "max_tokens": self.max_tokens}
        out: dict[str, Json] = {key: value for key, value in named.items() if value is not None}
        return out | ({"extra_body": dict(self.extra_body)} if self.extra_body else {})


def wire_seed(seed: int) -> int:
    """A rollout's seed as requests carry it: it fits the seed of every server, 32 bits and signed ones included."""
    return seed & _SEED_MASK


class Conversation(ABC):
    """One rollout's talk with a model."""

    @abstractmethod
    async def complete(self, messages: Sequence[Message]) -> Completion:
        """Answer the whole list, which only grows between calls.

        Raises :class:`synth.errors.ModelError` or one of its subclasses.
        """


class Model(ABC):
    """Something that can be asked."""

    name: str

    async def preflight(self) -> list[str]:
        """Find out, without spending a token, whether it can be asked at all; returns warnings.

        Raises :class:`synth.errors.ModelError` where it cannot.
        """
        return []

    @abstractmethod
    def start(self, task: Task, tools: Sequence[Json], seed: int) -> Conversation:
        """Open a rollout's conversation; cheap. A real model looks at nothing of ``task``: it holds the gold."""

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        return
