"""Middlewares that ship: approval, compaction, offload, logging, retries, injected faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, Strict

from synth.core.config.rules import DOTTED
from synth.core.config.section import ConfigSection
from synth.core.config.types import (
    Finding,
    MoreThanZero,
    NotNegative,
    Plain,
    Positive,
    Share,
    Text,
    one_or_many,
)

FaultKind = Literal[
    "lock_timeout",
    "deadlock",
    "serialization_failure",
    "connection_dropped",
    "service_unavailable",
    "slow",
]
"""What can be made to happen to a tool call; all of it is seen by whoever makes the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggingConfig(ConfigSection):
    """Options of ``logging``: a line of JSON for each step's doings, correlated by run, job and
    step.

    ``level`` ``debug`` adds each hook of the loop, ``contents`` adds what the model said and what
    tools returned, ``max_mb`` bounds each worker's file.
    """

    place: ClassVar[str] = "agent.logging"
    not_data: ClassVar[Mapping[str, str]] = {"": "a log is not part of the data"}

    level: Literal["info", "debug"] = "info"
    contents: Annotated[bool, Strict()] = False
    max_mb: Positive = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryConfig(ConfigSection):
    """Options of ``retry``, which makes a request again that failed for a passing reason;
    ``model.max_retries`` counts no more then.

    Waits are the model's: ``first_s * 2**n`` seconds, at most ``longest_s``, or what the endpoint
    asks for; ``total_s`` bounds a rollout's waits together. ``tools``: failed tool calls as well,
    unseen by the model.
    """

    place: ClassVar[str] = "agent.retry"
    not_data: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("max_retries", "first_s", "longest_s", "total_s"),
        "decides how patient a request is, never what an answer is",
    )

    max_retries: Annotated[int, Strict(), Field(ge=0)] = 5
    first_s: MoreThanZero = 0.5
    longest_s: MoreThanZero = 20.0
    total_s: MoreThanZero = 300.0
    tools: Annotated[bool, Strict()] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsConfig(ConfigSection):
    """Options of ``faults``: tool calls fail as databases do: a share of ``rate``, by the ``kinds``
    named, on the ``tools`` named (None: all but submit). ``slow`` takes ``slow_s`` seconds. A
    rollout meets at most ``max_per_rollout`` of them, and one and the same call ``max_in_row`` in a
    row.
    """

    place: ClassVar[str] = "agent.faults"

    rate: Share = 0.1
    kinds: Annotated[list[FaultKind], BeforeValidator(one_or_many), Field(min_length=1)] = field(
        default_factory=lambda: list[FaultKind](get_args(FaultKind))
    )
    max_per_rollout: Positive = 10
    max_in_row: Positive = 2
    slow_s: NotNegative = 1.0
    tools: Annotated[list[Text], BeforeValidator(one_or_many), Field(min_length=1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionConfig(ConfigSection):
    """Options of ``compaction``, which replaces older turns by a summary that the model writes,
    and how.

    Before a turn whose prompt would have ``threshold_tokens`` (None: the share ``threshold`` of
    ``context_window``), all but the last ``keep_turns`` turns are summarised, with ``prompt`` as
    the instruction (None: one that ships). A summary of more than ``max_summary_tokens``
    (estimated) is not taken. ``keep_user_words`` leaves the user's words in the context.
    """

    place: ClassVar[str] = "agent.compaction"

    context_window: Positive | None = None
    threshold: Share = 0.75
    threshold_tokens: Positive | None = None
    keep_turns: Positive = 3
    keep_user_words: Annotated[bool, Strict()] = True
    max_summary_tokens: Positive = 1_000
    prompt: Text | None = None

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        sizes = ("agent.compaction.context_window", "agent.compaction.threshold_tokens")
        own = cls.own(config)
        known = own["context_window"] is not None or own["threshold_tokens"] is not None
        if "compaction" in config["agent"]["middleware"] and not known:
            why = f"how long is too long? set {sizes[0]} (the model's) or {sizes[1]}"
            yield ("agent.middleware", *sizes), f"agent.compaction: {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffloadConfig(ConfigSection):
    """Options of ``offload``: ``max_chars`` is the longest result that is shown whole,
    of a longer one ``head_chars`` and ``tail_chars`` are. One call reads at most ``read_chars`` of
    it.
    """

    place: ClassVar[str] = "agent.offload"

    max_chars: Positive = 8_000
    head_chars: Positive = 1_000
    tail_chars: Annotated[int, Strict(), Field(ge=0)] = 400
    read_chars: Positive = 4_000

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        own = cls.own(config)
        shown = own["head_chars"] + own["tail_chars"]
        if shown > own["max_chars"]:
            most = f"more than max_chars ({own['max_chars']})"
            why = f"head_chars and tail_chars are {shown} together, {most}"
            yield cls.dotted(), f"agent.offload: {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalConfig(ConfigSection):
    """Options of ``approval``: the tool calls that somebody is asked about before they are
    executed, and who that is. ``mode`` ``auto_approve`` asks about nothing, ``normal`` about
    destructive tools, ``strict`` about all that write.

    ``deny`` and ``allow`` are rules that come first: a glob of tools, ``refund_*``, or one with an
    argument's, ``refund_*:reason=*test*``. ``callback`` is a function of yours
    (``package.module:attribute``), ``model`` names one of ``models``, which reads ``policy``; with
    neither, what would be asked is denied, as it is without an answer in ``timeout_s``. What that
    model costs is counted apart.
    """

    place: ClassVar[str] = "agent.approval"
    asks: ClassVar[str] = "model"

    mode: Literal["auto_approve", "normal", "strict"] = "normal"
    allow: Annotated[list[Text], BeforeValidator(one_or_many)] | None = None
    deny: Annotated[list[Text], BeforeValidator(one_or_many)] | None = None
    callback: Text | None = None
    model: Text | None = None
    policy: Text = (
        "You approve or refuse an agent's tool calls. Approve what the user asked for. "
        "Answer Yes, or No and the reason in one sentence."
    )
    timeout_s: MoreThanZero = 60.0

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        own = cls.own(config)
        callback, key = own["callback"], "agent.approval.callback"
        if callback is not None and DOTTED.fullmatch(callback) is None:
            yield (key,), f"{key}: must be package.module:attribute, not {callback!r}"
        if callback is not None and own["model"] is not None:
            both = (key, "agent.approval.model")
            yield both, f"{key}: who decides? agent.approval.model is set too"
