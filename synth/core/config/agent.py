"""The agent's part of the config: the loop, and the middlewares around it, a section each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, Strict

from synth.core.config.types import (
    MoreThanZero,
    NotNegative,
    Positive,
    Section,
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
class LoggingConfig(Section):
    """Options of ``logging``: a line of JSON for each step's doings, correlated by run, job and
    step.

    ``contents`` adds what the model said and what tools returned, ``max_mb`` bounds each worker's
    file.
    """

    level: Literal["info", "debug"] = "info"
    contents: Annotated[bool, Strict()] = False
    max_mb: Positive = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryConfig(Section):
    """Options of ``retry``, which makes a request again that failed for a passing reason;
    ``model.max_retries`` counts no more then.

    Waits are drawn between 0 and ``first_s * 2**n`` seconds, at most ``longest_s``, beside what the
    endpoint asks for; ``total_s`` bounds those of a rollout together. ``tools``: failed tool calls
    as well, unseen by the model.
    """

    max_retries: Annotated[int, Strict(), Field(ge=0)] = 5
    first_s: MoreThanZero = 0.5
    longest_s: MoreThanZero = 20.0
    total_s: MoreThanZero = 300.0
    tools: Annotated[bool, Strict()] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsConfig(Section):
    """Options of ``faults``: tool calls fail as databases do: a share of ``rate``, by the kinds
    named, on the tools named (None: all). A rollout meets at most ``max_per_rollout`` of them, and
    one and the same call ``max_in_row`` in a row.
    """

    rate: Share = 0.1
    kinds: Annotated[list[FaultKind], BeforeValidator(one_or_many), Field(min_length=1)] = field(
        default_factory=lambda: list[FaultKind](get_args(FaultKind))
    )
    max_per_rollout: Positive = 10
    max_in_row: Positive = 2
    slow_s: NotNegative = 1.0
    tools: Annotated[list[Text], BeforeValidator(one_or_many), Field(min_length=1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionConfig(Section):
    """Options of ``compaction``, which replaces older turns by a summary that the model writes,
    and how.

    Before a turn whose prompt would have ``threshold_tokens`` (None: the share ``threshold`` of
    ``context_window``), all but the last ``keep_turns`` turns are summarised, with ``prompt`` as
    the instruction (None: one that ships). A summary of more than ``max_summary_tokens``
    (estimated) is not taken. ``keep_user_words`` leaves the user's words in the context.
    """

    context_window: Positive | None = None
    threshold: Share = 0.75
    threshold_tokens: Positive | None = None
    keep_turns: Positive = 3
    keep_user_words: Annotated[bool, Strict()] = True
    max_summary_tokens: Positive = 1_000
    prompt: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffloadConfig(Section):
    """Options of ``offload``: ``max_chars`` is the longest result that is shown whole,
    of a longer one ``head_chars`` and ``tail_chars`` are. One call reads at most ``read_chars`` of
    it.
    """

    max_chars: Positive = 8_000
    head_chars: Positive = 1_000
    tail_chars: Annotated[int, Strict(), Field(ge=0)] = 400
    read_chars: Positive = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalConfig(Section):
    """Options of ``approval``: the tool calls that somebody is asked about before they are
    executed, by the risk of their tool,
    and who that is.

    ``deny`` and ``allow`` are rules that come first: a glob of tools, ``refund_*``, or one with an
    argument's, ``refund_*:reason=*test*``. ``callback`` is a function of yours
    (``package.module:attribute``), ``model`` names one of ``models``, which reads ``policy``; with
    neither, what would be asked is denied. What that model costs is counted apart.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig(Section):
    """The loop, and where it stops; a limit of None does not stop it. All limits are of one
    rollout; a composed task (``tasks.compose``) has the turns and tool calls of each request.

    ``max_total_tokens`` and ``max_cost_usd`` count all that the model is asked, and with
    ``count_user`` also what plays the user. ``text_calls`` says what becomes of a call that a model
    writes as text: it is answered by what is wrong with it (``refuse``), executed (``parse``) or
    text like any other (``off``). ``repair`` mends arguments that are almost JSON. Neither kind of
    turn is trained on. ``middleware`` names what wraps the calls, in order, the first outermost: a
    name that ships (and has its section here) or ``package.module:attribute``, whose options stand
    in ``options`` under that name.
    """

    kind: Literal["react"] = "react"
    max_turns: Positive = 30
    max_tool_calls: Positive = 100
    max_total_tokens: Positive | None = None
    max_cost_usd: MoreThanZero | None = None
    count_user: Annotated[bool, Strict()] = False
    timeout_s: MoreThanZero | None = None
    error_style: Literal["plain", "structured", "advice"] = "structured"
    text_calls: Literal["off", "refuse", "parse"] = "refuse"
    repair: Annotated[bool, Strict()] = False
    middleware: list[Text] = field(default_factory=list[str])
    logging: LoggingConfig = field(default_factory=LoggingConfig)
    approval: ApprovalConfig = field(default_factory=ApprovalConfig)
    retry: RetryConfig = field(default_factory=RetryConfig)
    faults: FaultsConfig = field(default_factory=FaultsConfig)
    compaction: CompactionConfig = field(default_factory=CompactionConfig)
    offload: OffloadConfig = field(default_factory=OffloadConfig)
    options: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
