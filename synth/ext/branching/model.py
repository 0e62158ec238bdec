"""A model that repeats the first turns of a recorded rollout, and then goes on by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synth.core.foundation.hashing import canonical, derive_seed
from synth.core.foundation.json_leaves import parsed
from synth.core.models.recap import read_request, without_recap
from synth.core.models.replay.model import ReplayedConversation
from synth.core.models.replay.records import Record, record_of
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.runner.recorded_plan import turn_places
from synth.core.types.events import Usage
from synth.errors import ModelRefusedRequest, TaskError
from synth.model import Completion, Conversation, Model, OnDelta
from synth.rollout import PartialUsage, RolloutContext
from synth.task import Branch, Job, Message, Task
from synth.wrapper import Play, RolloutWrapper

TRIES = 64
"""Seeds under which the scripted expert is asked whether it would have acted like the parent."""


class Branching(RolloutWrapper):
    """Plays the beginning of a branch as its parent did."""

    async def play(
        self, job: Job, context: RolloutContext, usage: PartialUsage, inner: Play
    ) -> dict[str, Any]:
        if job.branch is not None:
            context = replace(context, model=_BranchedModel(context.model, job.branch))
        return await inner(job, context, usage)


class _BranchedModel(Model):
    """Plays the beginning of ``branch``, then asks ``model``, which reads that beginning as its
    own.
    """

    def __init__(self, model: Model, branch: Branch) -> None:
        self._model, self._branch = model, branch
        self.name = model.name

    def start(self, task: Task, tools: Sequence[object], seed: int) -> _BranchedConversation:
        return _BranchedConversation(self._model, self._branch, task, tools)


class _BranchedConversation(ReplayedConversation):
    """One rollout. It costs nothing up to the branch."""

    def __init__(self, model: Model, branch: Branch, task: Task, tools: Sequence[object]) -> None:
        super().__init__(lambda: record_of(branch.row), f"the parent {branch.parent}")
        self._model, self._branch, self._task, self._tools = model, branch, task, tools
        self._own: Conversation | None = None

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        """Answer as the parent did up to the branch, then as the model does.

        Raises :class:`ModelRefusedRequest` if the beginning does not lead where it led.
        """
        step = self._branch.step
        if (request := read_request(messages)) is not None:
            if request.turns in self.record.summaries:
                return await super().complete(messages)
            return await self._opened().complete(messages, on_delta)
        shown, recap = without_recap(messages)
        turn = sum(message["role"] == "assistant" for message in shown)
        turn += 0 if recap is None else recap.turns
        if turn < step:
            return replace(await super().complete(messages), usage=Usage(), cost_usd=0.0)
        if turn == step and self._own is None:
            self.compare(self.record, shown, turn)
            if isinstance(self._model, ScriptedModel):
                self._own = await self._like_parent(self._model)
        return await self._opened().complete(messages, on_delta)

    def _opened(self) -> Conversation:
        """The model's conversation, which may be a new one about the same messages."""
        if self._own is None:
            self._own = self._model.start(self._task, self._tools, self._branch.seed)
        return self._own

    async def _like_parent(self, model: ScriptedModel) -> Conversation:
        """The expert under the first seed under which it would have acted like the parent: it goes
        on from its own acts, and knows what it saved from their results.
        """
        for number in range(TRIES):
            seed = derive_seed(self._branch.seed, number) if number else self._branch.seed
            expert = model.start(self._task, self._tools, seed)
            if await _agrees(expert, self.record):
                return expert
        raise ModelRefusedRequest(
            f"the scripted expert would not have come to turn {self._branch.step} of this parent by"
            " itself, so it cannot go on from there; a model at an endpoint can",
            False,
        )


async def _agrees(expert: Conversation, record: Record) -> bool:
    """True if the expert, asked turn by turn, acts as the record does."""
    for place, recorded in zip(turn_places(record.messages), record.completions, strict=True):
        try:
            own = await expert.complete(record.messages[:place])
        except TaskError:
            return False
        if _act(own) != _act(recorded):
            return False
    return True


def _act(completion: Completion) -> str:
    """The calls of a turn, or its words where it makes none."""
    if not completion.tool_calls:
        return completion.content
    return canonical([[call.name, parsed(call.arguments)] for call in completion.tool_calls])
