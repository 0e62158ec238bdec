"""Other orders of gold's calls that need nothing which an earlier call has not brought."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.tasks.yaml.template import names_in
from synth.core.types.steps import CallStep, LoopStep, Step
from synth.rewards import CallRecord

_Order = Callable[[Sequence[CallStep]], list[CallStep]]


@dataclass(frozen=True)
class CallKinds:
    """The tools that only read, and those whose calls changed rows when gold was played."""

    reads: Collection[str]
    writes: Collection[str]


def reads_reversed(steps: Sequence[Step], kinds: CallKinds) -> list[Step]:
    """Neighbouring reads in reverse order, as far as none needs what another saves."""

    def order(run: Sequence[CallStep]) -> list[CallStep]:
        fixed = {index for index, step in enumerate(run) if step.tool not in kinds.reads}
        before = [
            {
                other
                for other in range(index)
                if index in fixed or other in fixed or _needs(step, run[other])
            }
            for index, step in enumerate(run)
        ]
        return _sorted_last_first(run, before)

    return _each_run(steps, order)


def writes_reversed(
    steps: Sequence[Step], kinds: CallKinds, overlap: Collection[tuple[str, str]] = ()
) -> list[Step]:
    """All reads as early as they can be, and writes in reverse order, as far as none needs what
    another saves. The order of tools that are in ``overlap`` together is kept.
    """

    def order(run: Sequence[CallStep]) -> list[CallStep]:
        free = {index for index, step in enumerate(run) if step.tool in kinds.reads}
        movable = free | {index for index, step in enumerate(run) if step.tool in kinds.writes}
        before = [
            {
                other
                for other in range(index)
                if _needs(step, run[other])
                or index not in movable
                or other not in movable
                or (step.tool, run[other].tool) in overlap
            }
            for index, step in enumerate(run)
        ]
        return _sorted_last_first(run, before, free)

    return _each_run(steps, order)


def overlapping(calls: Sequence[CallRecord]) -> set[tuple[str, str]]:
    """Pairs of tools whose calls changed one row."""
    touched = [(call.name, _rows(call.changes)) for call in calls if call.changes]
    return {
        pair
        for index, (name, rows) in enumerate(touched)
        for other, others in touched[:index]
        if rows & others
        for pair in ((name, other), (other, name))
    }


def _rows(changes: Sequence[RowChange]) -> set[str]:
    return {canonical([change.table, dict(change.key)]) for change in changes}


def _each_run(steps: Sequence[Step], order: _Order) -> list[Step]:
    """Reorder each run of neighbouring calls, also in loops."""
    out: list[Step] = []
    run: list[CallStep] = []
    for step in steps:
        if isinstance(step, CallStep):
            run.append(step)
            continue
        out += order(run)
        run = []
        if isinstance(step, LoopStep):
            out.append(replace(step, steps=_each_run(step.steps, order)))
        else:
            out.append(step)
    return [*out, *order(run)]


def _needs(step: CallStep, earlier: CallStep) -> bool:
    """True if a step uses, or saves again, a name that an earlier one saves or uses."""
    uses, earlier_uses = (
        names_in([dict(one.arguments), dict(one.save)], "$") for one in (step, earlier)
    )
    return bool(set(earlier.save) & (uses | set(step.save)) or set(step.save) & earlier_uses)


def _sorted_last_first(
    run: Sequence[CallStep], before: Sequence[set[int]], first: Collection[int] = ()
) -> list[CallStep]:
    """A topological order that takes the last call that is ready; ``first`` go ahead of others,
    in their own order.
    """
    return [run[index] for index in _topological(before, first)]


def _topological(before: Sequence[set[int]], first: Collection[int]) -> Iterator[int]:
    done: set[int] = set()
    while len(done) < len(before):
        ready = [
            index for index in range(len(before)) if index not in done and before[index] <= done
        ]
        ahead = [index for index in ready if index in first]
        chosen = ahead[0] if ahead else ready[-1]
        done.add(chosen)
        yield chosen
