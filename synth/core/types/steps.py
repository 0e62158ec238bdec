"""The steps of one task's gold solution.

Their JSON in tasks.parquet is an object with ``do``, the word of the step. Values may hold
nodes of the notation for names that earlier steps save (see :mod:`synth.core.tasks.yaml.template`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast, get_args

from synth.errors import DatasetError


class GoldStep:
    """A step by its word, and its fields as JSON; the ``line`` of a file is not part of it."""

    __slots__ = ()
    do: ClassVar[str]

    @property
    def word(self) -> str:
        """The word under which the step stands in the author's file."""
        return self.do

    def to_json(self) -> dict[str, object]:
        own: Any = self
        return {"do": self.do} | {
            one.name: _plain(getattr(self, one.name)) for one in fields(own) if one.compare
        }


def _plain(value: object) -> object:
    if isinstance(value, GoldStep):
        return value.to_json()
    if isinstance(value, Condition):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return value


@dataclass(frozen=True, slots=True)
class CallStep(GoldStep):
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
        return self.tool


@dataclass(frozen=True, slots=True)
class AskStep(GoldStep):
    """A question about topics that the user knows."""

    do: ClassVar[str] = "ask"
    topics: Sequence[str]
    text: object


@dataclass(frozen=True, slots=True)
class ConfirmStep(GoldStep):
    """A proposal that the user has to agree to."""

    do: ClassVar[str] = "confirm"
    text: object


@dataclass(frozen=True, slots=True)
class SubmitStep(GoldStep):
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


@dataclass(frozen=True, slots=True)
class ReplyStep(GoldStep):
    """Words to the user, ``say`` in the notation; they go with what comes next. ``always`` are the
    saved names that each of the author's texts holds.
    """

    do: ClassVar[str] = "say"
    text: object
    always: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LoopStep(GoldStep):
    """``for_each``: the steps are played for each item of the list ``over``, under ``name``."""

    do: ClassVar[str] = "for_each"
    name: str
    over: object
    steps: Sequence[Step]
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an ``if``: two values and an operator such as ``==``, or a value alone
    (``op`` is None), which has to be there, or not if ``negated``.
    """

    left: object
    op: str | None = None
    right: object = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BranchStep(GoldStep):
    """``if``: the steps are played if all conditions hold, ``otherwise`` if not. A proof of the
    task leaves it in loops only, without a branch that no item took: elsewhere the steps of the
    branch taken stand in its place.
    """

    do: ClassVar[str] = "if"
    conditions: Sequence[Condition]
    steps: Sequence[Step]
    otherwise: Sequence[Step] = ()
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FollowUpStep(GoldStep):
    """``then``: here the user brings the follow-up of this ``index``, in the place of a yes to the
    last proposal (``proposed``), or in answer to the words so far (``done``, ``refused``).
    """

    do: ClassVar[str] = "then"
    index: int
    when: str


@dataclass(frozen=True, slots=True)
class InstructStep(GoldStep):
    """Words that ask the user to use one of its own tools."""

    do: ClassVar[str] = "instruct"
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, Any])
    line: int = field(default=0, compare=False, repr=False)

    @property
    def word(self) -> str:
        return self.tool

    @property
    def text(self) -> str:
        """Words for it: 'Please do this on your side: set mode, mode "4G". Tell me ...'."""
        given = self.arguments.items()
        values = [f"{name} {json.dumps(one, ensure_ascii=False)}" for name, one in given]
        act = ", ".join([self.tool.replace("_", " "), *values])
        return f"Please do this on your side: {act}. Tell me what you see."


Action = CallStep | SubmitStep
"""Steps that call a tool."""

TalkStep = AskStep | ConfirmStep | FollowUpStep | InstructStep
"""Steps that the user answers."""

Step = Action | TalkStep | ReplyStep | LoopStep | BranchStep

_KINDS = {kind.do: kind for kind in get_args(Step)}


def _step_from_json(raw: Mapping[str, Any]) -> Step:
    """The step of an object that ``to_json`` gave.

    Raises :class:`~synth.errors.DatasetError` for one that this version does not know.
    """
    values = {key: _READ.get(key, _as_it_is)(value) for key, value in raw.items() if key != "do"}
    try:
        return _KINDS[raw["do"]](**values)
    except (KeyError, TypeError):
        message = f"the tasks have a step {raw['do']!r}, which this version does not know"
        raise DatasetError(f"{message}; record the run again") from None


def steps_from_json(raw: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The steps of a list of objects."""
    return [_step_from_json(step) for step in raw]


def _as_it_is(value: Any) -> Any:
    return value


_READ: Mapping[str, Callable[[Any], Any]] = {
    "steps": steps_from_json,
    "otherwise": steps_from_json,
    "conditions": lambda raw: [Condition(**one) for one in raw],
    "always": tuple,
}
"""What reads the fields that are not JSON."""


AnyStep = TypeVar("AnyStep", bound=GoldStep)


def every_step(steps: Sequence[AnyStep]) -> Iterator[AnyStep]:
    """All steps in order, the steps of loops, branches and cases after their own."""
    for step in steps:
        yield step
        for inner in ("steps", "otherwise"):
            yield from every_step(getattr(step, inner, ()))


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
