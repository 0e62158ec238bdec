"""The travellers of the pipeline: frozen, picklable, plain data that may cross a process.

Words are those of the README's glossary: a *task* is what is asked, a *job* is a task, a sample and a seed,
a *completion* is one answer of a model, a *verdict* is one verifier's finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from envs.types import ToolCall

Json = Any
Message = dict[str, Json]
"""A chat message with OpenAI's keys; ``content`` is always a string, unused keys are absent."""


class StopReason(StrEnum):
    """Why a rollout ended."""

    FINISHED = "finished"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - not a password
    TIME_BUDGET = "time_budget"
    COST_BUDGET = "cost_budget"
    TRUNCATED = "truncated"
    CONTEXT_OVERFLOW = "context_overflow"
    REFUSED = "refused"
    USER_ENDED = "user_ended"
    MODEL_ERROR = "model_error"
    ENVIRONMENT_ERROR = "environment_error"


class Outcome(StrEnum):
    """What a rollout came to; ``unscored`` goes with a null reward."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one completion or of many; None where the endpoint did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        def plus(left: int | None, right: int | None) -> int | None:
            return right if left is None else left if right is None else left + right

        return Usage(
            plus(self.input_tokens, other.input_tokens),
            plus(self.output_tokens, other.output_tokens),
            plus(self.cached_tokens, other.cached_tokens),
            plus(self.reasoning_tokens, other.reasoning_tokens),
        )


@dataclass(frozen=True, slots=True)
class GoldEnd:
    """What the gold solution leaves behind: net row changes (as JSON) and the submitted answer, if any.

    ``calls`` counts its tool calls, ``writes`` are the places among them (from 0) of those that changed rows, ``played``
    are the calls themselves: ``{"tool": ..., "arguments": {...}}``.
    """

    changes: Sequence[Mapping[str, Json]] = ()
    answer: Mapping[str, Json] | None = None
    calls: int = 0
    writes: Sequence[int] = ()
    played: Sequence[Mapping[str, Json]] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that a user tells when asked: ``says`` is the answer, ``words`` are what a question about it mentions,
    ``asked`` is how the expert asks.
    """

    says: str
    words: Sequence[str] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """When a user agrees: a question that restates every one of ``mentions`` is answered with ``says``.

    ``act`` are words for what will be done: a question that proposes another act and says none of them is not agreed to.
    ``declines`` is what the user says instead where this task's user does not want it after all; None: consents.
    """

    mentions: Sequence[str] = ()
    says: str = "Yes, please go ahead."
    declines: str | None = None
    act: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class UserRole:
    """All that the user of a task is and knows. Whoever plays the user gets this and the agent's words, nothing else."""

    opening: str
    knows: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    consent: Consent | None = None
    persona: str = ""

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> UserRole:
        consent = raw.get("consent")
        return cls(
            opening=raw["opening"],
            knows={name: Topic(**topic) for name, topic in raw["knows"].items()},
            consent=None if consent is None else Consent(**consent),
            persona=raw.get("persona", ""),
        )


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user does when the agent has spoken. ``ends`` is the signal that the conversation is over, and no text.

    ``told`` names the topics that were answered, ``consents`` says whether this turn agrees. ``fault`` says what the
    user did wrong (a leak, a broken role): such a rollout is unscored. ``discarded`` are a model's drafts that were not sent, each
    ``{"text", "kinds", "why"}``; ``by_rule`` says that its words are the rules' because no draft would do. The rest is what it
    cost.
    """

    text: str = ""
    ends: bool = False
    told: Sequence[str] = ()
    consents: bool = False
    declines: bool = False
    fault: str | None = None
    discarded: Sequence[Mapping[str, Json]] = ()
    by_rule: bool = False
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked, with all that is needed to play it and to judge it; JSON throughout.

    ``gold`` is a list of resolved steps (see :mod:`synth.tasks.steps`), ``answer`` the JSON Schema of the
    ``submit`` tool's parameters (None: no such tool), ``compare_answer`` how each field compares,
    ``compare`` how columns compare (``table.column`` -> rule), ``gates`` the gates in order,
    ``oracle_sql`` independent queries and ``oracle`` the values that they gave, ``end`` what gold leaves
    behind; the last two are filled in when the task is proved. ``user`` is who answers the agent (None: nobody does,
    and a turn without tool calls ends the rollout), ``accept`` other right ends than gold's, each
    ``{"bind": {name: sql}, "must": [sql], "may_change": {table: {"where": sql, "columns": [...] or null,
    "ops": [...] or null, "at_most": n or null}}}``, ``transient`` whether writes may be undone again (allow, forbid),
    ``difficulty`` how hard its author thinks that it is (simple, moderate, challenging).
    """

    id: str
    family: str
    env: str
    prompt: str
    gold: Sequence[Json]
    slots: Mapping[str, Json] = field(default_factory=dict[str, Any])
    key: Json = None
    branch: str | None = None
    universe: int = 0
    split: str = "train"
    now: str = "2026-01-01T09:00:00"
    seed: int = 0
    system: str = ""
    answer: Mapping[str, Json] | None = None
    compare_answer: Mapping[str, Json] = field(default_factory=dict[str, Any])
    compare: Mapping[str, Json] = field(default_factory=dict[str, Any])
    gates: Sequence[Json] = ("state",)
    oracle_sql: Mapping[str, str] = field(default_factory=dict[str, str])
    oracle: Mapping[str, Json] = field(default_factory=dict[str, Any])
    user: UserRole | None = None
    accept: Sequence[Json] = ()
    transient: str = "allow"
    difficulty: str | None = None
    end: GoldEnd | None = None

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Task:
        end, user = raw.get("end"), raw.get("user")
        fields: dict[str, Any] = {
            **raw,
            "end": GoldEnd(**end) if end is not None else None,
            "user": UserRole.from_json(user) if user is not None else None,
        }
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Job:
    """One planned rollout. ``index`` is its place in the plan, ``id`` its content address (the trajectory's id)."""

    index: int
    id: str
    task: Task
    sample: int
    seed: int


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer while it is written; ``text`` is new text, of a tool call its arguments' (its name first)."""

    kind: Literal["content", "reasoning", "tool_call"]
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model, as it emitted it.

    ``finish_reason`` is OpenAI's word (stop, length, tool_calls, content_filter, ...), ``refusal`` the text of a
    refusal, ``cost_usd`` None where the price is unknown, ``provider`` whatever else the endpoint said that is kept.
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
    provider: Mapping[str, Json] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verifier's finding. ``score`` is in [0, 1], or None where it could not judge; a ``gate`` multiplies."""

    verifier: str
    score: float | None
    reason: str
    gate: bool = True
    weight: float = 1.0
    detail: Mapping[str, Json] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Json]:
        return {
            "verifier": self.verifier,
            "score": self.score,
            "reason": self.reason,
            "gate": self.gate,
            "weight": self.weight,
            "detail": dict(self.detail),
        }
