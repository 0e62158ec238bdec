"""The steps of a family's gold solution before its slots are known, and of one task.

Values are compiled (see :mod:`synth.core.tasks.yaml.template`): they hold nodes for slots and for
names that earlier steps save. :func:`realise` fills in the slots of one task and chooses its case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from synth.core.foundation.hashing import derive_seed
from synth.core.tasks.yaml.conditions import filled as filled_condition
from synth.core.tasks.yaml.saves import fill_save
from synth.core.tasks.yaml.template import fill, names_in
from synth.core.tasks.yaml.user import question
from synth.core.types.steps import (
    AskStep,
    BranchStep,
    CallStep,
    Condition,
    ConfirmStep,
    FollowUpStep,
    GoldStep,
    InstructStep,
    LoopStep,
    ReplyStep,
    Step,
    SubmitStep,
    every_step,
)


@dataclass(frozen=True)
class AskTemplate(GoldStep):
    do: ClassVar[str] = "ask"
    topics: Sequence[str]


@dataclass(frozen=True)
class ConfirmTemplate(GoldStep):
    """One of ``texts`` is drawn for each task; ``line`` is the line of the step in tasks.yaml."""

    do: ClassVar[str] = "confirm"
    texts: Sequence[object]
    line: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True)
class SayTemplate(GoldStep):
    """One of ``texts`` is drawn for each task."""

    do: ClassVar[str] = "say"
    texts: Sequence[object]

    @cached_property
    def always(self) -> Sequence[str]:
        """The saved names that all texts hold."""
        return tuple(sorted(set[str].intersection(*(names_in(text, "$") for text in self.texts))))


@dataclass(frozen=True)
class LoopTemplate(GoldStep):
    do: ClassVar[str] = "for_each"
    name: str
    over: object
    steps: Sequence[StepTemplate]
    line: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True)
class BranchTemplate(GoldStep):
    """``if``: the steps of a condition, and those to play otherwise."""

    do: ClassVar[str] = "if"
    conditions: Sequence[Condition]
    steps: Sequence[StepTemplate]
    otherwise: Sequence[StepTemplate] = ()
    line: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True)
class CaseTemplate(GoldStep):
    """Steps of one case only."""

    do: ClassVar[str] = "case"
    case: str
    steps: Sequence[StepTemplate]


PlainTemplate = (CallStep | FollowUpStep | InstructStep | SubmitStep) | (
    AskTemplate | ConfirmTemplate | SayTemplate | LoopTemplate | BranchTemplate
)
"""Steps of every case."""

StepTemplate = PlainTemplate | CaseTemplate


def tools_called(steps: Sequence[StepTemplate]) -> frozenset[str]:
    """The names of the tools that the steps of any case call."""
    return frozenset(step.tool for step in every_step(steps) if isinstance(step, CallStep))


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
                out.append(ReplyStep(_drawn(step.texts, draw, slots), step.always))
            case ConfirmTemplate():
                seed = derive_seed(draw, "confirm", len(out))
                out.append(ConfirmStep(_drawn(step.texts, seed, slots)))
            case AskTemplate():
                out.append(AskStep(list(step.topics), question(step.topics, asked or {})))
            case FollowUpStep():
                out.append(step)
            case LoopTemplate():
                inner = realise(step.steps, slots, case, draw, asked)
                out.append(LoopStep(step.name, fill(step.over, "$slot", slots), inner, step.line))
            case BranchTemplate():
                conditions = [filled_condition(one, slots) for one in step.conditions]
                inner, otherwise = (
                    realise(part, slots, case, draw, asked) for part in (step.steps, step.otherwise)
                )
                out.append(BranchStep(conditions, inner, otherwise, step.line))
            case SubmitStep():
                out.append(replace(step, fields=fill(dict(step.fields), "$slot", slots)))
            case CallStep() | InstructStep():
                out.append(_call_step(step, slots))
    return out


def _drawn(texts: Sequence[object], number: int, slots: Mapping[str, object]) -> object:
    """The text that a number draws, with the slots filled in."""
    return fill(texts[number % len(texts)], "$slot", slots)


def _call_step(
    step: CallStep | InstructStep, slots: Mapping[str, object]
) -> CallStep | InstructStep:
    filled = fill(dict(step.arguments), "$slot", slots)
    arguments = {name: value for name, value in filled.items() if value is not None}
    if isinstance(step, InstructStep):
        return replace(step, arguments=arguments)
    save = {name: fill_save(path, "$slot", slots) for name, path in step.save.items()}
    return replace(step, arguments=arguments, save=save)
