"""The steps of one task's gold solution.

Their JSON in tasks.parquet is an object with ``do``, the word of the step. Values may hold
nodes of the notation for names that earlier steps save (see :mod:`synth.core.tasks.yaml.template`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from synth.errors import DatasetError


@dataclass(frozen=True, slots=True)
class CallStep:
    """A tool call. ``save`` names values of its result (see :mod:`synth.core.tasks.yaml.saves`),
    ``fails`` is the category of the error with which it is meant to fail, ``line`` its line in the
    author's file.
    """

    do: ClassVar[str] = "call"
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, Any])
    save: Mapping[str, str | Mapping[str, object]] = field(default_factory=dict[str, Any])
    fails: str | None = None
    line: int = field(default=0, compare=False, repr=False)

    @property
    def word(self) -> str:
        """The word under which the step stands in the author's file."""
        return self.tool

    def to_json(self) -> dict[str, object]:
        return {
            "do": self.do,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "save": dict(self.save),
            "fails": self.fails,
        }


@dataclass(frozen=True, slots=True)
class AskStep:
    """A question about topics that the user knows."""

    do: ClassVar[str] = "ask"
    topics: Sequence[str]
    text: object

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {"do": self.do, "topics": list(self.topics), "text": self.text}


@dataclass(frozen=True, slots=True)
class ConfirmStep:
    """A proposal that the user has to agree to."""

    do: ClassVar[str] = "confirm"
    text: object

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {"do": self.do, "text": self.text}


@dataclass(frozen=True, slots=True)
class SubmitStep:
    """The answer, handed in by the tool ``submit``."""

    do: ClassVar[str] = "submit"
    save: ClassVar[Mapping[str, str]] = MappingProxyType({})
    fails: ClassVar[str | None] = None
    fields: Mapping[str, object]
    line: int = field(default=0, compare=False, repr=False)

    @property
    def tool(self) -> str:
        return self.do

    @property
    def arguments(self) -> Mapping[str, object]:
        return self.fields

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {"do": self.do, "fields": dict(self.fields)}


@dataclass(frozen=True, slots=True)
class ReplyStep:
    """Words to the user, ``say`` in the notation; they go with what comes next. ``always`` are the
    saved names that each of the author's texts holds.
    """

    do: ClassVar[str] = "say"
    text: object
    always: Sequence[str] = ()

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {"do": self.do, "text": self.text, "always": list(self.always)}


@dataclass(frozen=True, slots=True)
class LoopStep:
    """``for_each``: the steps are played for each item of the list ``over``, under ``name``."""

    do: ClassVar[str] = "for_each"
    name: str
    over: object
    steps: Sequence[Step]
    line: int = field(default=0, compare=False, repr=False)

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        steps = [step.to_json() for step in self.steps]
        return {"do": self.do, "name": self.name, "over": self.over, "steps": steps}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an ``if``: two values and an operator such as ``==``, or a value alone
    (``op`` is None), which has to be there, or not if ``negated``.
    """

    left: object
    op: str | None = None
    right: object = None
    negated: bool = False

    def to_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BranchStep:
    """``if``: the steps are played if all conditions hold, ``otherwise`` if not. A proof of the
    task leaves it in loops only, without a branch that no item took: elsewhere the steps of the
    branch taken stand in its place.
    """

    do: ClassVar[str] = "if"
    conditions: Sequence[Condition]
    steps: Sequence[Step]
    otherwise: Sequence[Step] = ()
    line: int = field(default=0, compare=False, repr=False)

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {
            "do": self.do,
            "conditions": [condition.to_json() for condition in self.conditions],
            "steps": [step.to_json() for step in self.steps],
            "otherwise": [step.to_json() for step in self.otherwise],
        }


@dataclass(frozen=True, slots=True)
class FollowUpStep:
    """``then``: here the user brings the follow-up of this ``index``, in the place of a yes to the
    last proposal (``proposed``), or in answer to the words so far (``done``, ``refused``).
    """

    do: ClassVar[str] = "then"
    index: int
    when: str

    @property
    def word(self) -> str:
        return self.do

    def to_json(self) -> dict[str, object]:
        return {"do": self.do, "index": self.index, "when": self.when}


Step = (
    CallStep | AskStep | ConfirmStep | SubmitStep | ReplyStep | LoopStep | BranchStep | FollowUpStep
)
Action = CallStep | SubmitStep
"""Steps that call a tool."""

TalkStep = AskStep | ConfirmStep | FollowUpStep
"""Steps that the user answers."""


def _step_from_json(raw: Mapping[str, Any]) -> Step:
    """The step of an object that ``to_json`` gave. Raises ValueError for an unknown ``do``."""
    match raw["do"]:
        case "call":
            save = dict(raw.get("save") or {})
            return CallStep(raw["tool"], raw.get("arguments") or {}, save, raw.get("fails"))
        case "ask":
            return AskStep(list(raw.get("topics", ())), raw["text"])
        case "confirm":
            return ConfirmStep(raw["text"])
        case "submit":
            return SubmitStep(raw["fields"])
        case "say":
            return ReplyStep(raw["text"], tuple(raw.get("always", ())))
        case "for_each":
            return LoopStep(raw["name"], raw["over"], steps_from_json(raw["steps"]))
        case "if":
            conditions = [Condition(**condition) for condition in raw["conditions"]]
            steps, otherwise = map(steps_from_json, (raw["steps"], raw["otherwise"]))
            return BranchStep(conditions, steps, otherwise)
        case "then":
            return FollowUpStep(raw["index"], raw["when"])
        case other:
            message = f"the tasks have a step {other!r}, which this version does not know"
            raise DatasetError(f"{message}; record the run again")


def steps_from_json(raw: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The steps of a list of objects."""
    return [_step_from_json(step) for step in raw]


def every_step(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps in order, the steps of loops and branches after their own."""
    for step in steps:
        yield step
        if isinstance(step, LoopStep | BranchStep):
            yield from every_step(step.steps)
        if isinstance(step, BranchStep):
            yield from every_step(step.otherwise)


def rewritten(steps: Sequence[Step], change: Callable[[Step], Sequence[Step]]) -> list[Step]:
    """Replace each step, also in loops and branches, by the steps that ``change`` gives."""
    out: list[Step] = []
    for step in steps:
        if isinstance(step, LoopStep):
            out.append(replace(step, steps=rewritten(step.steps, change)))
        elif isinstance(step, BranchStep):
            inner, otherwise = (rewritten(part, change) for part in (step.steps, step.otherwise))
            out.append(replace(step, steps=inner, otherwise=otherwise))
        else:
            out += change(step)
    return out
