"""The steps of a family's gold solution before its slots are known, and of one task.

Values are compiled (see :mod:`synth.core.tasks.yaml.template`): they hold nodes for slots and for
names that earlier steps save. :func:`realise` fills in the slots of one task and chooses its case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from synth.core.foundation.hashing import derive_seed
from synth.core.tasks.yaml.conditions import filled as filled_condition
from synth.core.tasks.yaml.saves import Save, fill_save
from synth.core.tasks.yaml.template import fill, names_in
from synth.core.tasks.yaml.user import question
from synth.core.types.steps import (
    AskStep,
    BranchStep,
    CallStep,
    Condition,
    ConfirmStep,
    FollowUpStep,
    LoopStep,
    ReplyStep,
    Step,
    SubmitStep,
)


@dataclass(frozen=True)
class Phrasing:
    """One text or several, compiled; each task draws one of them."""

    texts: Sequence[object]

    def drawn(self, number: int, slots: Mapping[str, object]) -> object:
        """The text that a number draws, with the slots filled in."""
        return fill(self.texts[number % len(self.texts)], "$slot", slots)

    @property
    def always(self) -> Sequence[str]:
        """The saved names that each text holds."""
        return sorted(set[str].intersection(*(names_in(text, "$") for text in self.texts)))


@dataclass(frozen=True)
class CallTemplate:
    """A call of a tool; ``save`` is compiled (see :mod:`synth.core.tasks.yaml.saves`)."""

    do: ClassVar[str] = "call"
    tool: str
    arguments: Mapping[str, object]
    save: Mapping[str, Save] = field(default_factory=dict[str, Save])
    fails: str | None = None
    line: int = field(default=1, compare=False, repr=False)

    @property
    def values(self) -> list[object]:
        return [dict(self.arguments), dict(self.save)]


@dataclass(frozen=True)
class AskTemplate:
    do: ClassVar[str] = "ask"
    topics: Sequence[str]
    values: ClassVar[list[object]] = []


@dataclass(frozen=True)
class ConfirmTemplate:
    """``line`` is the line of the step in tasks.yaml."""

    do: ClassVar[str] = "confirm"
    phrasing: Phrasing
    line: int = field(default=1, compare=False, repr=False)

    @property
    def values(self) -> list[object]:
        return list(self.phrasing.texts)


@dataclass(frozen=True)
class SubmitTemplate:
    do: ClassVar[str] = "submit"
    fields: Mapping[str, object]
    line: int = field(default=1, compare=False, repr=False)

    @property
    def values(self) -> list[object]:
        return [dict(self.fields)]


@dataclass(frozen=True)
class SayTemplate:
    do: ClassVar[str] = "say"
    phrasing: Phrasing

    @property
    def values(self) -> list[object]:
        return list(self.phrasing.texts)


@dataclass(frozen=True)
class LoopTemplate:
    do: ClassVar[str] = "for_each"
    name: str
    over: object
    steps: Sequence[StepTemplate]
    line: int = field(default=1, compare=False, repr=False)

    @property
    def values(self) -> list[object]:
        return [self.over]


@dataclass(frozen=True)
class BranchTemplate:
    """``if``: the steps of a condition, and those to play otherwise."""

    do: ClassVar[str] = "if"
    conditions: Sequence[Condition]
    steps: Sequence[StepTemplate]
    otherwise: Sequence[StepTemplate] = ()
    line: int = field(default=1, compare=False, repr=False)

    @property
    def values(self) -> list[object]:
        return [value for one in self.conditions for value in (one.left, one.right)]


@dataclass(frozen=True)
class CaseTemplate:
    """Steps of one case only."""

    do: ClassVar[str] = "case"
    case: str
    steps: Sequence[StepTemplate]
    values: ClassVar[list[object]] = []


@dataclass(frozen=True)
class FollowUpTemplate:
    """``then``: the place of a follow-up of the user."""

    do: ClassVar[str] = "then"
    index: int
    when: str
    values: ClassVar[list[object]] = []


PlainTemplate = (
    CallTemplate
    | FollowUpTemplate
    | AskTemplate
    | ConfirmTemplate
    | SubmitTemplate
    | SayTemplate
    | LoopTemplate
    | BranchTemplate
)
"""Steps of every case."""

StepTemplate = PlainTemplate | CaseTemplate


def every_template(steps: Sequence[StepTemplate]) -> Iterator[StepTemplate]:
    """All steps in order, also in cases, loops and branches."""
    for step in steps:
        yield step
        if isinstance(step, LoopTemplate | CaseTemplate | BranchTemplate):
            yield from every_template(step.steps)
        if isinstance(step, BranchTemplate):
            yield from every_template(step.otherwise)


def tools_called(steps: Sequence[StepTemplate]) -> frozenset[str]:
    """The names of the tools that the steps of any case call."""
    return frozenset(step.tool for step in every_template(steps) if isinstance(step, CallTemplate))


def values_in(steps: Sequence[StepTemplate]) -> list[object]:
    """All compiled values of the steps, to look for names in."""
    return [value for step in every_template(steps) for value in step.values]


def in_case(steps: Sequence[StepTemplate], case: str | None) -> Iterator[PlainTemplate]:
    """The steps of one case, in order, without branching."""
    for step in steps:
        if not isinstance(step, CaseTemplate):
            yield step
        elif step.case == case:
            yield from in_case(step.steps, case)


def realise(
    steps: Sequence[StepTemplate],
    slots: Mapping[str, object],
    case: str | None,
    draw: int,
    asked: Mapping[str, str] | None = None,
) -> list[Step]:
    """The steps of one task: slots filled in, the case chosen, texts drawn by ``draw``.

    ``asked`` holds the expert's question about each topic. An argument that is null is left out.
    """
    out: list[Step] = []
    for step in in_case(steps, case):
        match step:
            case SayTemplate():
                out.append(ReplyStep(step.phrasing.drawn(draw, slots), tuple(step.phrasing.always)))
            case ConfirmTemplate():
                seed = derive_seed(draw, "confirm", len(out))
                out.append(ConfirmStep(step.phrasing.drawn(seed, slots)))
            case AskTemplate():
                out.append(AskStep(list(step.topics), question(step.topics, asked or {})))
            case FollowUpTemplate():
                out.append(FollowUpStep(step.index, step.when))
            case LoopTemplate():
                inner = realise(step.steps, slots, case, draw, asked)
                out.append(LoopStep(step.name, fill(step.over, "$slot", slots), inner, step.line))
            case BranchTemplate():
                conditions = [filled_condition(one, slots) for one in step.conditions]
                inner, otherwise = (
                    realise(part, slots, case, draw, asked) for part in (step.steps, step.otherwise)
                )
                out.append(BranchStep(conditions, inner, otherwise, step.line))
            case SubmitTemplate():
                out.append(SubmitStep(fill(dict(step.fields), "$slot", slots), step.line))
            case CallTemplate():
                out.append(_call_step(step, slots))
    return out


def _call_step(step: CallTemplate, slots: Mapping[str, object]) -> CallStep:
    filled = fill(dict(step.arguments), "$slot", slots)
    arguments = {name: value for name, value in filled.items() if value is not None}
    save = {name: fill_save(path, "$slot", slots) for name, path in step.save.items()}
    return CallStep(step.tool, arguments, save, step.fails, step.line)
