"""The contract of a model: something that continues a conversation.

A :class:`Model` is a resident: one per worker, shared by its rollouts, never sent between processes.
:meth:`Model.start` opens a :class:`Conversation`, which is one rollout's and may keep what it needs
(encoded bytes, a place in the gold solution) between calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from synth.errors import ModelError
from synth.types import Completion, Delta, Message, Task, Usage

Json = Any
OnDelta = Callable[[Delta], None]

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


class Gate(Protocol):
    """Stands before an endpoint and says who may ask when: rates, and how many at once. A model without one asks freely.

    Each attempt is made inside of one :meth:`slot`, and reported before it is left. The wait between the attempts of one
    request (:class:`synth.models.backoff.Backoff`) is the model's, outside of slots; what others wait is the gate's.
    """

    def slot(self, tokens_estimate: int) -> AbstractAsyncContextManager[None]:
        """Wait for the right to make one attempt, which will cost about so many tokens, prompt and answer."""
        ...

    def report(self, error: ModelError | None, retry_after_s: float | None, usage: Usage | None = None) -> None:
        """What came of the attempt that this task has a slot for: None for an answer, whose ``usage`` corrects the estimate.

        ``retry_after_s`` is the wait that the endpoint asked for.
        """
        ...


class Conversation(ABC):
    """One rollout's talk with a model."""

    @abstractmethod
    async def complete(self, messages: Sequence[Message], on_delta: OnDelta | None = None) -> Completion:
        """Answer the whole list, which only grows between calls.

        ``on_delta`` is told the answer while it is written, by a model that can; what it was told of an attempt that broke
        off is told again. The completion is the same either way.

        Raises :class:`synth.errors.ModelError` or one of its subclasses.
        """


class Model(ABC):
    """Something that can be asked. ``gate`` is put before it by whoever shares its endpoint with others."""

    name: str
    gate: Gate | None = None

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
