"""Honest agents that read or write in another order than gold, read more, or mend a mistake."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.models.scripted.expert import ExpertConversation
from synth.core.tasks.yaml.template import names_in
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.types.steps import Action, CallStep, LoopStep, Step, every_step
from synth.core.validation.honest.base import HonestAgent, HonestResult, ProvedTask
from synth.model import Completion, Conversation
from synth.plugins import REWARDS
from synth.rewards import CallRecord
from synth.task import Task

_Order = Callable[[Sequence[CallStep]], list[CallStep]]


@dataclass(frozen=True)
class CallKinds:
    """The tools that only read, and those whose calls changed rows when gold was played."""

    reads: Collection[str]
    writes: Collection[str]


def reads_reversed(steps: Sequence[Step], kinds: CallKinds) -> list[Step]:
    """Neighbouring reads in reverse order, as far as none needs what another saves."""
    return _reversed(steps, lambda one, other: {one, other} <= {*kinds.reads})


def writes_reversed(
    steps: Sequence[Step], kinds: CallKinds, overlap: Collection[tuple[str, str]] = ()
) -> list[Step]:
    """All reads as early as they can be, and writes in reverse order, as far as none needs what
    another saves. The order of tools that are in ``overlap`` together is kept.
    """
    movable = {*kinds.reads, *kinds.writes}

    def free(one: str, other: str) -> bool:
        return {one, other} <= movable and (one, other) not in overlap

    return _reversed(steps, free, kinds.reads)


def _reversed(
    steps: Sequence[Step], free: Callable[[str, str], bool], first: Collection[str] = ()
) -> list[Step]:
    """Each run of neighbouring calls, also in loops, in reverse order: calls of tools that are
    ``free`` to change places, and of which none needs what another saves. Calls of the tools
    ``first`` go ahead of others, in their own order.
    """

    def order(run: Sequence[CallStep]) -> list[CallStep]:
        before = [
            {
                index
                for index, other in enumerate(run[:place])
                if not free(step.tool, other.tool) or _needs(step, other)
            }
            for place, step in enumerate(run)
        ]
        early = {place for place, step in enumerate(run) if step.tool in first}
        return [run[index] for index in _topological(before, early)]

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


def _topological(before: Sequence[set[int]], first: Collection[int]) -> Iterator[int]:
    """An order that takes the last call that is ready; ``first`` go ahead of others."""
    done: set[int] = set()
    while len(done) < len(before):
        ready = [
            index for index in range(len(before)) if index not in done and before[index] <= done
        ]
        ahead = [index for index in ready if index in first]
        chosen = ahead[0] if ahead else ready[-1]
        done.add(chosen)
        yield chosen


MORE = 6
"""The most reads that are made besides gold's."""


def _call_kinds(proved: ProvedTask) -> CallKinds:
    """The kinds of a world's tools, writes as gold's playing showed them."""
    return CallKinds(
        {name for name, tool in proved.tools.items() if tool.read_only},
        {call.name for call in proved.evidence.calls if call.changes},
    )


class ReadsMore(HonestAgent):
    """Looks at what it need not know, before it begins: lists, and more about whom gold reads."""

    name = "reads_more"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        wanted = list(_other_reads(proved))
        outcomes = await proved.try_out(wanted)
        found = [
            CallStep(tool, arguments)
            for (tool, arguments), outcome in zip(wanted, outcomes, strict=True)
            if outcome.result.ok
        ]
        return proved.expert([*found[:MORE], *proved.task.gold]) if found else None

    def applies(self, proved: ProvedTask, result: HonestResult) -> bool:
        """A gate of the world's author decides what may be read."""
        return not result.lost_to or any(name in REWARDS.builtin for name in result.lost_to)


class ReadsInAnotherOrder(HonestAgent):
    """Reads in the reverse order, where none of the reads needs what another brings."""

    name = "reads_otherwise"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        gold = list(proved.task.gold)
        steps = reads_reversed(gold, _call_kinds(proved))
        return None if steps == gold else proved.expert(steps)


class _BackwardConversation(ExpertConversation):
    """The expert that goes through each list from its end."""

    def _items(self, over: list[object]) -> list[object]:
        return over[::-1]


def _other_reads(proved: ProvedTask) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Calls of tools that only read, with arguments of gold's own calls, which gold does not make.

    A tool without required arguments is called without any.
    """
    known = {
        name: value
        for call in proved.evidence.calls
        if call.ok and call.arguments
        for name, value in call.arguments.items()
    }
    made = {call.name for call in proved.evidence.calls}
    for tool in proved.may_call():
        required = tool.parameters.get("required", ())
        if tool.read_only and tool.name not in made and all(name in known for name in required):
            yield tool.name, {name: known[name] for name in required}


class WritesInAnotherOrder(HonestAgent):
    """Makes independent writes in the reverse order, and goes through lists from their end."""

    name = "writes_otherwise"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        gold, kinds = list(proved.task.gold), _call_kinds(proved)
        steps = writes_reversed(gold, kinds, overlapping(proved.evidence.calls))
        loops = [step for step in every_step(gold) if isinstance(step, LoopStep)]
        return proved.expert(steps, _BackwardConversation) if loops or steps != gold else None

    def applies(self, proved: ProvedTask, result: HonestResult) -> bool:
        """Writes depend on each other if one fails, or a read brings another result than gold's."""
        gold, calls = proved.evidence.calls, result.evidence.calls
        if len(calls) != len(gold) or _failed(gold) != _failed(calls):
            return False
        results = {_key(call): _result(call) for call in gold}
        return all(
            results.get(_key(call), _result(call)) == _result(call)
            for call in calls
            if call.read_only
        )


class CorrectsItself(HonestAgent):
    """Makes its first write, or else its first call, with a wrong argument; reads the error, and
    makes it again as it should be.
    """

    name = "corrects_itself"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        calls = [call for call in proved.evidence.calls if call.name != SUBMIT]
        writes = [index for index, call in enumerate(calls) if call.changes]
        for index in dict.fromkeys([*writes[:1], *range(len(calls))][:3]):
            before = [(call.name, call.arguments or {}) for call in calls[:index]]
            for wrong in _wrong(proved, calls[index]):
                *_, outcome = await proved.try_out([*before, (calls[index].name, wrong)])
                if not outcome.result.ok and not outcome.changes:
                    return _SlippingConversation(proved.task, index, wrong)
        return None


class _SlippingConversation(ExpertConversation):
    """The expert that makes its call number ``slip`` with wrong arguments first."""

    def __init__(self, task: Task, slip: int, wrong: Mapping[str, object]) -> None:
        self._slip: int | None = slip
        self._wrong = wrong
        super().__init__(task, retries=None)

    def _call(
        self, step: Action, tool: str, arguments: Mapping[str, object]
    ) -> Generator[Completion, str, str]:
        if self._slip == len(self.steps):
            self._slip = None
            yield from super()._call(step, tool, self._wrong)
        return (yield from super()._call(step, tool, arguments))


def _wrong(proved: ProvedTask, call: CallRecord) -> Iterator[Mapping[str, object]]:
    """Arguments with which a call may fail: a value that there is not, one left out."""
    arguments = dict(call.arguments or {})
    properties: Mapping[str, Any] = proved.tools[call.name].parameters.get("properties", {})
    for name, value in arguments.items():
        if "enum" not in properties.get(name, {}) and not isinstance(value, bool):
            yield {**arguments, name: _absent(value)}
    for name in proved.tools[call.name].parameters.get("required", ()):
        yield {key: value for key, value in arguments.items() if key != name}


def _absent(value: object) -> object:
    """A value of the same type that no row has."""
    if isinstance(value, int):
        return value + 900_000_000
    return f"{value} (?)" if isinstance(value, str) else None


def _failed(calls: Sequence[CallRecord]) -> int:
    return sum(not call.ok for call in calls)


def _key(call: CallRecord) -> str:
    return canonical([call.name, dict(call.arguments or {})])


def _result(call: CallRecord) -> str:
    return "" if call.result is None else call.result.content()
