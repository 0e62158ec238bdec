"""A task is one request with everything that plays and judges it; a job is one planned rollout.

All of it is frozen, picklable, plain data that may cross a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from synth.core.types.checks import EndRules, Gate, find_gate
from synth.core.types.steps import Step, steps_from_json
from synth.user import UserRole

Json = Any
Message = dict[str, Json]
"""A chat message with OpenAI's keys; ``content`` is always a string, unused keys are absent."""


@dataclass(frozen=True, slots=True)
class GoldEnd:
    """The end of the gold solution: net row changes (as JSON) and the submitted answer, if any.

    ``calls`` counts its tool calls, ``writes`` holds the indices (from 0) of the calls that changed
    rows, ``played`` the calls themselves: ``{"tool": ..., "arguments": {...}}``. ``reply`` is what
    it tells the user, the JSON of a :class:`synth.core.types.reply.GoldReply`; None if that is
    unknown. ``asked`` maps each topic that gold asked for before a write to the tools that it
    wrote with afterwards, with the number of their writes before; empty for a topic that comes
    before all writes. ``work`` is the difficulty by kind
    (:mod:`synth.core.types.difficulty`); None if it is unknown.
    """

    changes: Sequence[Mapping[str, Json]] = ()
    answer: Mapping[str, Json] | None = None
    calls: int = 0
    writes: Sequence[int] = ()
    played: Sequence[Mapping[str, Json]] = ()
    reply: Mapping[str, Json] | None = None
    asked: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    work: Mapping[str, int] | None = None

    def to_json(self) -> dict[str, Json]:
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True)
class Task:
    """A task: the request, and everything that is needed to play and to judge it.

    - ``gold``: the steps of the reference solution; ``end``: its end, known after the proof.
    - ``answer``: the JSON Schema of the answer that is due; None: none.
    - ``form``: the parameters of ``submit`` where all families of the world share them; None: the
      parameters are ``answer``; empty: the tool is not offered.
    - ``rules``: how an end and an answer are compared with gold's.
    - ``gates``: the gates in order.
    - ``oracle_sql``: independent queries; ``oracle``: their values, known once the task is proved.
    - ``user``: the role of a user who knows more than the request says, or agrees under a
      condition; ``role`` is the role that is played, by default a user who only knows the
      request.
    - ``parts``: the tasks of a composed task, one for each request, in order. Each is judged by
      its own gates, answer and words; gold and user of the whole are theirs one after another.
    - ``extras``: what capabilities add, as JSON under a name of theirs. Of ours: ``renaming``, the
      names that the agent is shown (:func:`synth.core.types.renaming.renaming_of`); ``phrasing``,
      the name of the wording in which the user asks, with the voice behind a slash; ``setup``, the
      calls before its beginning (:mod:`synth.core.tasks.setup_calls`); ``tools``, the names of the
      tools that are offered, where they are not all;
      ``difficulty``, the author's estimate.
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
    rules: EndRules = field(default_factory=EndRules)
    gates: Sequence[Gate] = (Gate("state"),)
    oracle_sql: Mapping[str, str] = field(default_factory=dict[str, str])
    oracle: Mapping[str, Json] = field(default_factory=dict[str, Any])
    user: UserRole | None = None
    end: GoldEnd | None = None
    parts: Sequence[Task] = ()
    extras: Mapping[str, Json] = field(default_factory=dict[str, Any])

    def with_extra(self, name: str, value: Json) -> Task:
        """The task with what a capability adds under a name; None takes it away."""
        kept = {key: found for key, found in self.extras.items() if key != name}
        return replace(self, extras=kept if value is None else {**kept, name: value})

    @property
    def request_count(self) -> int:
        """Number of requests: more than one in a composed task."""
        return max(1, len(self.parts))

    @property
    def submit_parameters(self) -> Mapping[str, Json] | None:
        """The parameters of ``submit`` as the agent is shown them; None: there is no such tool."""
        return self.answer if self.form is None else self.form or None

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
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return own | {
            "gold": [step.to_json() for step in self.gold],
            "gates": [gate.to_json() for gate in self.gates],
            "rules": self.rules.to_json(),
            "user": None if self.user is None else self.user.to_json(),
            "end": None if self.end is None else self.end.to_json(),
            "parts": [part.to_json() for part in self.parts],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Task:
        end, user = raw.get("end"), raw.get("user")
        values: dict[str, Any] = {
            **raw,
            "gold": steps_from_json(raw["gold"]),
            "gates": tuple(Gate.from_json(gate) for gate in raw.get("gates", ("state",))),
            "rules": EndRules.from_json(raw["rules"]),
            "end": None if end is None else GoldEnd(**end),
            "user": UserRole.from_json(user) if user is not None else None,
            "parts": tuple(cls.from_json(part) for part in raw.get("parts", ())),
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Branch:
    """The beginning of a rollout that another one has played.

    ``parent`` is the id of that trajectory, ``step`` the number of its turns that are played again,
    ``row`` what its row holds of them: ``messages``, ``tools``, ``events`` and the columns with one
    entry per completion. ``seed`` is the model's from there on.
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
