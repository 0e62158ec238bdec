"""Honest agents that read more than gold, or in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from synth.core.models.scripted.expert import ExpertConversation
from synth.core.types.steps import CallStep
from synth.core.validation.honest.base import HonestAgent, HonestResult, ProvedTask
from synth.core.validation.honest.step_order import CallKinds, reads_reversed
from synth.model import Conversation
from synth.plugins import REWARDS

MORE = 6
"""The most reads that are made besides gold's."""


def call_kinds(proved: ProvedTask) -> CallKinds:
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
        steps = reads_reversed(gold, call_kinds(proved))
        return None if steps == gold else proved.expert(steps)


class BackwardConversation(ExpertConversation):
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
