"""Completions of a recorded run, played back: any run can be repeated without asking, or paying, anybody.

Each rollout of the same plan finds its record by task and seed, and gets what its model emitted, to the letter. What it is
shown must be what the recorded one was shown; where it is not, the rollout is an error, because no model said this there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from synth.dataset.sanitize import sanitize
from synth.errors import ContextOverflow, DatasetError, ModelError, ModelRefusedRequest
from synth.models.base import Conversation, Model, OnDelta, Sampling
from synth.models.recap import read_request, without_recap
from synth.models.records import Key, Record, Records
from synth.types import Completion, Message, StopReason, Task

Json = Any


class ReplayModel(Model):
    """The model of a run's directory; ``name`` is the recorded one's, because these are its words."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.name = records.model

    def start(self, task: Task, tools: Sequence[Json], seed: int) -> ReplayedConversation:
        return ReplayedConversation(self._records, (task.id, seed))


class ReplayedConversation(Conversation):
    """One recorded rollout. Which of its turns is asked for, the messages tell."""

    def __init__(self, records: Records, key: Key) -> None:
        self._records, self._key = records, key
        self._record: Record | None = None

    async def complete(self, messages: Sequence[Message], on_delta: OnDelta | None = None) -> Completion:
        record, request = self.record, read_request(messages)
        if request is not None:
            return self._summary(record, request.turns)
        messages, recap = without_recap(messages)
        left_out = recap.turns if recap is not None else 0
        turn = left_out + sum(each["role"] == "assistant" for each in messages)
        if (turn, left_out) in record.overflows:
            raise ContextOverflow(f"{self._where()} overflowed the context before turn {turn}", False)
        if turn >= len(record.completions):
            raise self._ended(record)
        self._compare(record, messages, turn)
        return record.completions[turn]

    def _summary(self, record: Record, turns: int) -> Completion:
        if turns not in record.summaries:
            raise ModelRefusedRequest(f"{self._where()} holds no summary of its first {turns} turns", False)
        return record.summaries[turns]

    @property
    def record(self) -> Record:
        """What is played back. Raises :class:`ModelRefusedRequest` where it is not there or cannot be read."""
        if self._record is None:
            self._record = self._find()
        return self._record

    def _find(self) -> Record:
        try:
            record = self._records.find(self._key)
        except DatasetError as error:
            raise ModelRefusedRequest(f"{self._where()} cannot be read: {error}", False) from None
        if record is None:
            advice = "a replay answers the jobs of its own plan: the same world, tasks, samples and seed"
            raise ModelRefusedRequest(f"{self._where()} is not there; {advice}", False)
        return record

    def _compare(self, record: Record, messages: Sequence[Message], turn: int) -> None:
        """Refuse to go on where the last messages are not those that the recorded turn answered."""
        last = max((at for at, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
        shown = [_shown(sanitize(each)[0]) for each in messages[last + 1 :]]
        recorded = [_shown(each) for each in record.before(turn)]
        for now, was in zip_longest(shown, recorded):
            if now != was:
                otherwise = f"the model was shown {_words(was)}, and would now be shown {_words(now)}"
                raise ModelRefusedRequest(f"{self._where()}: before turn {turn} {otherwise}", False)

    def _ended(self, record: Record) -> ModelRefusedRequest:
        """What follows the last completion: what followed it in the record, where that was the model's doing."""
        if record.stop_reason == StopReason.CONTEXT_OVERFLOW:
            return ContextOverflow(f"{self._where()} overflowed the context here", False)
        turns = f"{len(record.completions)} turns ({record.stop_reason})"
        advice = "play it back under the limits of its own run"
        return ModelRefusedRequest(f"{self._where()} has {turns}, and one more is asked for: {advice}", False)

    def _where(self) -> str:
        task, seed = self._key
        return f"{self._records.path}: the rollout of task {task} under seed {seed}"


def _shown(message: Message) -> dict[str, Json]:
    """What a model is shown of a message that is not its own."""
    return {key: message[key] for key in ("role", "content", "tool_call_id") if key in message}


def _words(message: Message | None) -> str:
    if message is None:
        return "nothing more"
    text: str = message["content"]
    return f"{message['role']}: {text if len(text) <= 200 else f'{text[:197]}...'}"


def make(options: Mapping[str, Json], sampling: Sampling, api_key: str | None) -> ReplayModel:
    """The factory that ``model=replay`` names; ``path`` is the run's directory, as this process sees it."""
    try:
        return ReplayModel(Records(Path(options["path"]).expanduser()))
    except DatasetError as error:
        raise ModelError(f"model.path: {error}", False) from None
