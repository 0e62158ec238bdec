"""The contract of a model: a source of continuations of a conversation.

A :class:`Model` is a resident: one per worker, shared by its rollouts, never sent between
processes. :meth:`Model.start` opens a :class:`Conversation`, which belongs to one rollout and may
keep state (encoded bytes, a place in the gold solution) between calls.

A model extension is a callable or class ``(options, sampling, api_key) -> Model``, named in
``model.kind``. Two attributes on it are optional:

- ``Options``: a dataclass or pydantic model of its options. Fields that are also keys of the
  config's ``model`` section (``name``, ``base_url``, ``timeout_s``) take the section's values, the
  others come from ``model.options``; errors name the key (``model.options.temperature_schedule``).
  The extension gets an instance; without ``Options`` it gets the section as a mapping.
- ``asks_endpoint`` (default True): True if it needs the key that ``model.api_key_env`` names and
  the run's rate limiter.
- ``ignores``: fields of ``Options`` whose values change nothing but names in the data. The account
  of a run names them where they are set.

:class:`synth.testing.ModelConformance` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from envs.plugins import Contract
from envs.types import ToolCall
from synth.core.models.thoughts import says_nothing
from synth.core.types.events import Usage
from synth.core.types.reply import Act
from synth.errors import ModelError, ModelRefusedRequest
from synth.task import Message, Task


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer while it is written; ``text`` is new text, of a tool call its arguments'
    (its name first).
    """

    kind: Literal["content", "reasoning", "tool_call"]
    text: str


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed attempt at a request that was made again, after a wait: ``HTTP 429``, 1.5 s."""

    reason: str
    waited_s: float

    def to_json(self) -> dict[str, object]:
        return {"reason": self.reason, "waited_s": round(self.waited_s, 3)}


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model, as it emitted it.

    ``finish_reason`` is OpenAI's word (stop, length, tool_calls, content_filter, ...) or
    ``malformed`` (an answer that the endpoint could not put together), ``refusal`` the text of a
    refusal, ``cost_usd`` None where the price is unknown, ``provider`` whatever else
    the endpoint said that is kept. ``train`` is False for a turn that was made wrong on purpose: it
    stays in the conversation, and nothing is trained on it. ``acts`` are the turn's acts as data,
    for the user only: no message and no export holds them. ``retries`` are the attempts that failed
    before this answer came.
    """

    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    reasoning_content: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    token_ids: Sequence[int] | None = None
    logprobs: Sequence[float] | None = None
    provider: Mapping[str, Any] = field(default_factory=dict[str, Any])
    train: bool = True
    acts: Sequence[Act] = ()
    retries: Sequence[Retry] = ()


OnDelta = Callable[[Delta], None]

_SEED_MASK = 0x7FFF_FFFF

MALFORMED = "malformed"
"""Finish reason of an answer that the endpoint could not put together: a tool call that it could
not read, an announced call that is missing, a message of another role.
"""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters by which an answer is drawn; None leaves one to the endpoint.

    ``seed`` is filled in per rollout.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, object] = field(default_factory=dict[str, object])
    seed: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the parameters that are set, for the record's ``sampling`` column."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }
        out: dict[str, object] = {key: value for key, value in named.items() if value is not None}
        return out | ({"extra_body": dict(self.extra_body)} if self.extra_body else {})


def missing_answer(completion: Completion) -> str | None:
    """Reason for which a completion is no answer: it is malformed, or has neither words nor a call
    of a named tool. Thoughts and special tokens are not words.

    A refusal is an answer, and so is one that was cut off after it had cost tokens.
    """
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        return None
    if completion.finish_reason == MALFORMED:
        said = completion.provider.get("role") or completion.provider.get("finish_reason")
        return f"a malformed answer ({said})" if said else "a malformed answer"
    if completion.tool_calls:
        named = any(call.name.strip() for call in completion.tool_calls)
        return None if named else "a tool call without a name"
    if not says_nothing(completion.content):
        return None
    if completion.finish_reason == "length" and (
        completion.content.strip() or completion.reasoning_content or completion.usage.output_tokens
    ):
        return None
    return "an answer without content"


def first_answer(completion: Completion) -> Completion:
    """Return the answer to a rollout's first prompt. Raises
    :class:`~synth.errors.ModelRefusedRequest` where the endpoint's filter let nothing of it
    through: the agent has done nothing that could be judged.
    """
    withheld = completion.finish_reason == "content_filter"
    if withheld and not completion.content and not completion.tool_calls:
        raise ModelRefusedRequest(
            "the endpoint's content filter withholds the answer to the first prompt:"
            f" {completion.refusal or 'it gives no reason'} (change the filter, the world's words"
            " or the model)",
            False,
        )
    return completion


def wire_seed(seed: int) -> int:
    """Reduce a rollout's seed to 31 bits, which fit the seed of every server."""
    return seed & _SEED_MASK


class RateLimiter(Protocol):
    """Limit of the requests to an endpoint, per minute and at once.

    A model without one asks freely.

    Each attempt is made inside of one :meth:`slot` and reported before the slot is left. The wait
    between the attempts of one request (:class:`synth.core.models.openai.endpoint.Backoff`) is made
    by the model, outside of slots.
    """

    def slot(self, tokens_estimate: int) -> AbstractAsyncContextManager[None]:
        """Wait for permission to make one attempt.

        ``tokens_estimate`` counts the tokens of prompt and answer together.
        """
        ...

    def report(
        self, error: ModelError | None, retry_after_s: float | None, usage: Usage | None = None
    ) -> None:
        """Report the result of the attempt in this task's slot: None, or the error.

        ``retry_after_s`` is the wait that the endpoint asked for; the ``usage`` of an answer
        corrects the estimate.
        """
        ...


class Conversation(Contract, ABC):
    """One rollout's conversation with a model."""

    @abstractmethod
    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        """Answer the whole list, which only grows between calls.

        ``on_delta`` is called with pieces of the answer while it is written, by a model that can
        stream; pieces of an attempt that broke off are repeated. The completion is the same either
        way.

        Raises :class:`synth.errors.ModelError` or one of its subclasses.
        """


class Model(Contract, ABC):
    """A model that can be asked. ``limiter`` is set by the owner of a shared endpoint."""

    name: str
    limiter: RateLimiter | None = None

    async def preflight(self) -> list[str]:
        """Check, without spending a token, that it can be asked at all. Returns warnings.

        Raises :class:`synth.errors.ModelError` if it cannot.
        """
        return []

    async def probe(
        self, task: Task, tools: Sequence[object], messages: Sequence[Message], seed: int
    ) -> Completion | None:
        """Ask for a short answer to a rollout's first prompt, once. None: nothing is asked.

        Raises :class:`synth.errors.ModelError` with the endpoint's own words.
        """
        return None

    @abstractmethod
    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        """Open a rollout's conversation; cheap.

        ``task`` holds the gold solution: only scripted and replayed models may read it.
        """

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        return
