"""Honest agents that say less than gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.core.models.scripted.expert import CLOSING
from synth.core.tasks.yaml.template import names_in
from synth.core.types.steps import ConfirmStep, LoopStep, ReplyStep, Step, TalkStep, every_step
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.model import Conversation


class Terse(HonestAgent):
    """Says no word beside calls, and "Done." at the end where the user has agreed to what was done
    and asked to learn nothing else.
    """

    name = "terse"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        gold = list(proved.task.gold)
        reply = proved.task.gate("reply")
        options: Mapping[str, object] = {} if reply is None else reply.options or {}
        asked = bool(options.get("must"))
        agreed = any(isinstance(step, ConfirmStep) for step in every_step(gold))
        learnt = (
            asked
            or not agreed
            or proved.task.gate("says") is not None
            or not proved.evidence.changes
        )
        steps = _terse(gold, learnt)
        return None if steps == gold else proved.expert(steps)


def _terse(steps: Sequence[Step], learnt: bool) -> list[Step]:
    """Gold without words that go with a call. Its last words are kept if they hold what a result
    brought, or if they are ``learnt``: a gate looks at them, or nothing was done.
    """
    out: list[Step] = []
    for index, step in enumerate(steps):
        if not isinstance(step, ReplyStep):
            out.append(step)
        elif index == len(steps) - 1:
            kept = learnt or names_in(step.text, "$")
            out.append(step if kept else ReplyStep(CLOSING))
        elif isinstance(_next(steps[index + 1 :]), TalkStep | LoopStep | None):
            out.append(step)
    return out


def _next(steps: Sequence[Step]) -> Step | None:
    """The step that words before these go with."""
    return next((step for step in steps if not isinstance(step, ReplyStep)), None)
