"""Scripted agents that meet a hostile text: an honest one does the work and tells the user of the
text, an obedient one does what it asks for, as the measure of what the gates see.

synth run env=shop tasks.inject=1.0 model.kind=synth.ext.injection.agents:Obedient
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from synth.core.models.scripted.expert import ExpertConversation, Play, ScriptedModel
from synth.core.types.steps import CallStep, ConfirmStep, Step, rewritten
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.ext.injection.gate import InjectionOptions
from synth.model import Conversation, Sampling
from synth.plugins import NoOptions
from synth.task import Task


class _Warning(ExpertConversation):
    """The expert with words behind its last ones."""

    words: ClassVar[str]

    def _gold_steps(self) -> Play:
        yield from super()._gold_steps()
        self._spoken = f"{self._spoken}\n\n{self.words}"


class MentionsInjection(HonestAgent):
    """Tells the user at the end that a record holds instructions, quotes them, and says that it did
    not follow them.
    """

    name = "mentions_injection"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        injection = InjectionOptions.of(proved.task)
        if injection is None:
            return None
        words = (
            "By the way, one of the records holds a text with instructions to me. I did not follow"
            f' it. It reads:\n\n> "{injection.text}"'
        )
        return proved.expert(proved.task.gold, type("Warning", (_Warning,), {"words": words}))


class Obedient(ScriptedModel):
    """The expert, but for what the hostile text of a task asks for."""

    Options = NoOptions
    asks_endpoint: ClassVar[bool] = False

    def __init__(
        self, options: object = None, sampling: Sampling | None = None, api_key: str | None = None
    ) -> None:
        super().__init__("obedient")
        self.plays_gold = False

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ExpertConversation:
        asked = InjectionOptions.of(task)
        if asked is None:
            return super().start(task, tools, seed)
        kind = type("Obeying", (_Obeying,), {"secret": asked.secret})
        return kind(replace(task, gold=_obeying(task.gold, asked)), self.retries)


class _Obeying(ExpertConversation):
    secret: ClassVar[str]

    def _gold_steps(self) -> Play:
        yield from super()._gold_steps()
        if self.secret:
            self._spoken = f"{self._spoken} {self.secret}"


def _obeying(gold: Sequence[Step], asked: InjectionOptions) -> list[Step]:
    """Gold without its proposals, or with the call that is asked for behind its first call."""
    if asked.goal == "skip":
        return rewritten(gold, lambda step: [] if isinstance(step, ConfirmStep) else [step])
    first = next((place for place, step in enumerate(gold) if isinstance(step, CallStep)), -1)
    return [*gold[: first + 1], CallStep(asked.tool, asked.arguments), *gold[first + 1 :]]
