"""The branches of a task's solution that its proof has taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from synth.core.types.steps import BranchStep, LoopStep, Step


def branches_taken(steps: Sequence[Step], taken: Sequence[tuple[BranchStep, bool]]) -> list[Step]:
    """Replace each ``if`` by the steps of the branch that was taken.

    In loops, whose items may differ, the ``if`` stays, without a branch that no item took.
    """
    sides: dict[int, set[bool]] = {}
    for step, held in taken:
        sides.setdefault(id(step), set()).add(held)
    out: list[Step] = []
    for step in steps:
        if isinstance(step, BranchStep):
            held = True in sides.get(id(step), ())
            out += branches_taken(step.steps if held else step.otherwise, taken)
        elif isinstance(step, LoopStep):
            out.append(replace(step, steps=_taken_in_loop(step.steps, sides)))
        else:
            out.append(step)
    return out


def _taken_in_loop(steps: Sequence[Step], sides: Mapping[int, set[bool]]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, LoopStep):
            out.append(replace(step, steps=_taken_in_loop(step.steps, sides)))
        elif isinstance(step, BranchStep):
            held = sides.get(id(step), set[bool]())
            then, otherwise = (
                _taken_in_loop(part, sides) if side in held else ()
                for side, part in ((True, step.steps), (False, step.otherwise))
            )
            out.append(replace(step, steps=then, otherwise=otherwise))
        else:
            out.append(step)
    return out
