"""The travellers of the pipeline: frozen, picklable, plain data that may cross a process.

Words are those of the glossary: a *task* is what is asked, a *job* is a task, a sample and
a seed, a *completion* is one answer of a model, a *verdict* is one verifier's finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal

from envs.types import ToolCall
from synth.types.acts import Act
from synth.types.checks import AlternativeEnd, Gate, find_gate
from synth.types.steps import Step, steps_from_json
from synth.types.surface import Surface

Json = Any
Message = dict[str, Json]
"""A chat message with OpenAI's keys; ``content`` is always a string, unused keys are absent."""


class StopReason(StrEnum):
    """The reason for which a rollout ended."""

    FINISHED = "finished"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - not a password
    TIME_BUDGET = "time_budget"
    COST_BUDGET = "cost_budget"
    TRUNCATED = "truncated"
    CONTEXT_OVERFLOW = "context_overflow"
    EMPTY_REPLY = "empty_reply"
    REFUSED = "refused"
    USER_ENDED = "user_ended"
    MODEL_ERROR = "model_error"
    ENVIRONMENT_ERROR = "environment_error"


class Outcome(StrEnum):
    """The result of a rollout; ``unscored`` goes with a null reward."""

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
    """The end of the gold solution: net row changes (as JSON) and the submitted answer, if any.

    ``calls`` counts its tool calls, ``writes`` holds the indices (from 0) of the calls that changed
    rows, ``played`` the calls themselves: ``{"tool": ..., "arguments": {...}}``. ``reply`` is what
    it tells the user, the JSON of a :class:`synth.types.reply.GoldReply`; None if that is unknown.
    ``asked`` are the topics that it asked for before its first write; None if they are unknown.
    ``work`` is the difficulty by kind (:mod:`synth.types.difficulty`); None if it is unknown.
    """

    changes: Sequence[Mapping[str, Json]] = ()
    answer: Mapping[str, Json] | None = None
    calls: int = 0
    writes: Sequence[int] = ()
    played: Sequence[Mapping[str, Json]] = ()
    reply: Mapping[str, Json] | None = None
    asked: Sequence[str] | None = None
    work: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that a user tells when asked: ``says`` is the answer, ``words`` are what a question
    about it mentions, ``asked`` is how the expert asks.
    """

    says: str
    words: Sequence[str] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """The condition of a user's consent: a question that restates every one of ``mentions`` is
    answered with ``says``.

    ``act`` holds words for the act: a question that proposes another act and has none of these
    words is not agreed to. ``declines`` is the answer of a user who does not want it after all;
    None for a user who consents. A yes licenses calls of the tools that it ``covers``; none named
    stands for all. A question that holds one of ``never`` is not agreed to. Neither is one
    that does not say what would be done. A fact counts in any of its ``forms`` ("the
    Visa that ends in 7447"); a question that names one of its ``rivals`` and not the fact is wrong,
    and so is one with another value where it need not name one of ``if_named``.
    """

    mentions: Sequence[str] = ()
    says: str = "Yes, please go ahead."
    declines: str | None = None
    act: Sequence[str] = ()
    covers: Sequence[str] = ()
    never: Sequence[str] = ()
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    rivals: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    if_named: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Sequel:
    """What a user wants later: ``says`` is said in the place of the yes to the first proposal that
    could have it (``proposed``), or once the agent reports an end (``done``).

    ``knows`` is added to what the user knows; ``consents``, if there are any, take the place of the
    conditions so far. A ``fresh`` wish is a new request: what the user knew and agreed to before
    belongs to the earlier one.
    """

    when: Literal["proposed", "done", "refused"]
    says: str
    knows: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    consents: Sequence[Consent] = ()
    fresh: bool = False

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Sequel:
        knows = {name: Topic(**topic) for name, topic in raw["knows"].items()}
        consents = [Consent(**one) for one in raw["consents"]]
        return cls(raw["when"], raw["says"], knows, consents, raw.get("fresh", False))


@dataclass(frozen=True, slots=True)
class UserRole:
    """All that the user of a task is and knows. Whoever plays the user gets this and the agent's
    words, nothing else.

    ``consent`` is the first condition of consent, ``others`` hold more. ``then`` is what the user
    wants later, in order.
    """

    opening: str
    knows: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    consent: Consent | None = None
    persona: str = ""
    others: Sequence[Consent] = ()
    then: Sequence[Sequel] = ()

    @property
    def consents(self) -> Sequence[Consent]:
        """The conditions of consent from the beginning."""
        return () if self.consent is None else (self.consent, *self.others)

    @property
    def every_consent(self) -> Sequence[Consent]:
        """The conditions of consent, those of later wishes too."""
        return (*self.consents, *(one for sequel in self.then for one in sequel.consents))

    @property
    def requests(self) -> Sequence[int]:
        """The later wishes that are requests of their own, by their place in ``then``."""
        return [index for index, sequel in enumerate(self.then) if sequel.fresh]

    @property
    def every_topic(self) -> Mapping[str, Topic]:
        """What the user knows at any time."""
        out = dict(self.knows)
        for sequel in self.then:
            out.update(sequel.knows)
        return out

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> UserRole:
        consent = raw.get("consent")
        return cls(
            opening=raw["opening"],
            knows={name: Topic(**topic) for name, topic in raw["knows"].items()},
            consent=None if consent is None else Consent(**consent),
            persona=raw.get("persona", ""),
            others=[Consent(**one) for one in raw.get("others", ())],
            then=[Sequel.from_json(one) for one in raw.get("then", ())],
        )


@dataclass(frozen=True, slots=True)
class UserTurn:
    """One turn of the user, after the agent has spoken.

    ``ends`` signals that the conversation is over. ``told`` names the topics that were answered,
    ``consents`` is set if this turn agrees, ``covers`` then names the tools that it licenses (none:
    all), and ``then`` is the number of the later wish that it brings. ``fault`` names a mistake of
    the user (a leak, a broken role), which leaves the rollout unscored. ``discarded`` holds a
    model's drafts that were not sent, each ``{"text", "kinds", "why"}``; ``by_rule`` is set if the
    rules spoke because no draft was good enough. ``corrects`` is set if this turn objects to facts
    of a proposal. ``usage`` and ``cost_usd`` are the cost of the
    turn.
    """

    text: str = ""
    ends: bool = False
    told: Sequence[str] = ()
    consents: bool = False
    declines: bool = False
    fault: str | None = None
    discarded: Sequence[Mapping[str, Json]] = ()
    by_rule: bool = False
    covers: Sequence[str] = ()
    then: int | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A task: the request, and everything that is needed to play and to judge it.

    - ``gold``: the steps of the reference solution; ``end``: its end, known after the proof.
    - ``answer``: the JSON Schema of the answer that is due (None: none), with the rule of each
      field in ``compare_answer``.
    - ``form``: the parameters of ``submit`` where all families of the world share them; None: they
      are those of ``answer``.
    - ``compare``: the rules of columns (``table.column`` -> rule).
    - ``gates``: the gates in order.
    - ``oracle_sql``: independent queries; ``oracle``: their values, known once the task is proved.
    - ``user``: the role of a user who knows more than the request says, or agrees under a
      condition; ``role`` is the role that is played, by default that of a user who only knows the
      request.
    - ``alternatives``: right ends other than gold's.
    - ``transient``: ``allow`` or ``forbid`` writes that are undone again.
    - ``difficulty``: the author's estimate (simple, moderate, challenging).
    - ``surface``: the names that the agent is shown; None for the world's own. Everything else in
      the task is in the world's own names.
    - ``phrasing``: the name of the wording in which the user asks, those of the parts of a composed
      task joined, and the voice behind a slash; None if it has no name.
    - ``parts``: the tasks of a composed task, one for each request, in order. Each is judged by
      its own gates, answer and words; gold and user of the whole are theirs one after another.
    """

    id: str
    family: str
    env: str
    prompt: str
    gold: Sequence[Step]
    slots: Mapping[str, Json] = field(default_factory=dict[str, Any])
    key: Json = None
    case: str | None = None
    universe: int = 0
    split: str = "train"
    now: str = "2026-01-01T09:00:00"
    seed: int = 0
    system: str = ""
    answer: Mapping[str, Json] | None = None
    form: Mapping[str, Json] | None = None
    compare_answer: Mapping[str, Json] = field(default_factory=dict[str, Any])
    compare: Mapping[str, Json] = field(default_factory=dict[str, Any])
    gates: Sequence[Gate] = (Gate("state"),)
    oracle_sql: Mapping[str, str] = field(default_factory=dict[str, str])
    oracle: Mapping[str, Json] = field(default_factory=dict[str, Any])
    user: UserRole | None = None
    alternatives: Sequence[AlternativeEnd] = ()
    transient: str = "allow"
    difficulty: str | None = None
    end: GoldEnd | None = None
    surface: Surface | None = None
    parts: Sequence[Task] = ()
    phrasing: str | None = None

    @property
    def request_count(self) -> int:
        """Number of requests: more than one in a composed task."""
        return max(1, len(self.parts))

    @property
    def asked_together(self) -> bool:
        """True for a composed task whose requests all come in its first message."""
        return len(self.parts) > 1 and not self.role.requests

    @property
    def submit_parameters(self) -> Mapping[str, Json] | None:
        """The parameters of ``submit`` as the agent is shown them; None: there is no such tool."""
        return self.answer if self.form is None else self.form

    @property
    def role(self) -> UserRole:
        """The role of the user who answers the agent."""
        return self.user or UserRole(self.prompt)

    @property
    def gate_names(self) -> frozenset[str]:
        return frozenset(gate.name for gate in self.gates)

    def gate(self, name: str) -> Gate | None:
        """The gate of that name; None if the task has none."""
        return find_gate(self.gates, name)

    def to_json(self) -> dict[str, Json]:
        """The task as JSON; :meth:`from_json` reads it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return own | {
            "gold": [step.to_json() for step in self.gold],
            "gates": [gate.to_json() for gate in self.gates],
            "alternatives": [end.to_json() for end in self.alternatives],
            "user": None if self.user is None else asdict(self.user),
            "end": None if self.end is None else asdict(self.end),
            "surface": None if self.surface is None else self.surface.to_json(),
            "parts": [part.to_json() for part in self.parts],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Task:
        end, user, surface = raw.get("end"), raw.get("user"), raw.get("surface")
        values: dict[str, Any] = {
            **raw,
            "gold": steps_from_json(raw["gold"]),
            "gates": tuple(Gate.from_json(gate) for gate in raw.get("gates", ("state",))),
            "alternatives": tuple(
                AlternativeEnd.from_json(end) for end in raw.get("alternatives", ())
            ),
            "end": GoldEnd(**end) if end is not None else None,
            "user": UserRole.from_json(user) if user is not None else None,
            "surface": None if surface is None else Surface.from_json(surface),
            "parts": tuple(cls.from_json(part) for part in raw.get("parts", ())),
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Branch:
    """The beginning of a rollout that another one has played.

    ``parent`` is the id of that trajectory, ``step`` the number of its turns that are played again,
    ``row`` what its row holds of them: ``messages``, ``tools``, ``events`` and the columns with one
    entry per completion. ``seed`` is that of the model from there on.
    """

    parent: str
    step: int
    seed: int
    row: Mapping[str, Json]


NarratedPart = Literal["reasoning", "words", "reply"]
"""Texts that a teacher writes into a turn: the assistant's reasoning, its words beside calls, its
last words.
"""


@dataclass(frozen=True, slots=True)
class Narration:
    """A recorded trajectory into which a teacher writes texts; its calls stay as they are.

    ``source`` is the trajectory's id, ``row`` what its row holds. ``parts`` are the texts that are
    asked for, each of them ``tries`` times at most.
    """

    source: str
    row: Mapping[str, Json]
    parts: Sequence[NarratedPart]
    tries: int


@dataclass(frozen=True, slots=True)
class Job:
    """One planned rollout. ``index`` is its place in the plan, ``id`` its content address (the
    trajectory's id). ``branch`` is its beginning where another rollout played that; ``seed`` is
    then the parent's, because the user and the faults of the beginning follow from it. So it is
    with ``narration``, a whole rollout that is played again.
    """

    index: int
    id: str
    task: Task
    sample: int
    seed: int
    branch: Branch | None = None
    narration: Narration | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer while it is written; ``text`` is new text, of a tool call its arguments'
    (its name first).
    """

    kind: Literal["content", "reasoning", "tool_call"]
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model, as it emitted it.

    ``finish_reason`` is OpenAI's word (stop, length, tool_calls, content_filter, ...) or
    ``malformed`` (an answer that the endpoint could not put together), ``refusal`` the text of a
    refusal, ``cost_usd`` None where the price is unknown, ``provider`` whatever else
    the endpoint said that is kept. ``train`` is False for a turn that was made wrong on purpose: it
    stays in the conversation, and nothing is trained on it. ``acts`` are the turn's acts as data,
    for the user only: no message and no export holds them.
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
    train: bool = True
    acts: Sequence[Act] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verifier's finding. ``score`` is in [0, 1], or None where it could not judge; a ``gate``
    multiplies.
    """

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
