"""The model of a recorded run, played back: a run can be repeated without asking, or paying,
anybody.

Each rollout of the same plan finds its record by task and seed, and gets the recorded emissions
verbatim. The messages must be those that the recorded model was shown; otherwise the rollout is an
error, because no model answered them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from synth.core.dataset.sanitize import sanitize
from synth.core.models.recap import read_request, without_recap
from synth.core.models.replay.records import ADVICE, Key, Record, Records
from synth.errors import ContextOverflow, DatasetError, ModelError, ModelRefusedRequest
from synth.model import Completion, Conversation, Model, OnDelta, Sampling
from synth.plugins import extension
from synth.task import Message, Task
from synth.verdict import StopReason


class ReplayModel(Model):
    """The model of a run's directory; ``name`` is the recorded model's, because the words are its
    own.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        self.name = records.model

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ReplayedConversation:
        return ReplayedConversation.of(self._records, (task.id, seed))


class ReplayedConversation(Conversation):
    """One recorded rollout, which ``find`` reads; ``where`` names it in messages. The messages
    determine the turn that is asked for.
    """

    def __init__(self, find: Callable[[], Record | None], where: str) -> None:
        self._find_record, self._where = find, where
        self._record: Record | None = None

    @classmethod
    def of(cls, records: Records, key: Key) -> ReplayedConversation:
        """The rollout of a task under a seed."""
        task, seed = key
        where = f"{records.path}: the rollout of task {task} under seed {seed}"
        return cls(partial(records.find, key), where)

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        record, request = self.record, read_request(messages)
        if request is not None:
            return self._summary(record, request.turns)
        messages, recap = without_recap(messages)
        left_out = recap.turns if recap is not None else 0
        turn = left_out + sum(message["role"] == "assistant" for message in messages)
        if (turn, left_out) in record.overflows:
            raise ContextOverflow(f"{self._where} overflowed the context before turn {turn}", False)
        if turn >= len(record.completions):
            raise self._ended(record)
        self.compare(record, messages, turn)
        return record.completions[turn]

    def _summary(self, record: Record, turns: int) -> Completion:
        if turns not in record.summaries:
            raise ModelRefusedRequest(
                f"{self._where} holds no summary of its first {turns} turns", False
            )
        return record.summaries[turns]

    @property
    def record(self) -> Record:
        """The recorded rollout. Raises :class:`ModelRefusedRequest` if it does not exist or cannot
        be read.
        """
        if self._record is None:
            self._record = self._find()
        return self._record

    def _find(self) -> Record:
        try:
            record = self._find_record()
        except DatasetError as error:
            raise ModelRefusedRequest(f"{self._where} cannot be read: {error}", False) from None
        if record is None:
            raise ModelRefusedRequest(f"{self._where} is not there; {ADVICE}", False)
        return record

    def compare(self, record: Record, messages: Sequence[Message], turn: int) -> None:
        """Raise an error if the last messages are not those that the recorded turn answered."""
        last = max(
            (index for index, message in enumerate(messages) if message["role"] == "assistant"),
            default=-1,
        )
        shown = [_shown(sanitize(message)[0]) for message in messages[last + 1 :]]
        recorded = [_shown(message) for message in record.before(turn)]
        for now, was in zip_longest(shown, recorded):
            if now != was:
                otherwise = (
                    f"the model was shown {_words(was)}, and would now be shown {_words(now)}"
                )
                raise ModelRefusedRequest(f"{self._where}: before turn {turn} {otherwise}", False)

    def _ended(self, record: Record) -> ModelRefusedRequest:
        """Return the error that ended the recorded rollout, if it was the model's."""
        if record.stop_reason == StopReason.CONTEXT_OVERFLOW:
            return ContextOverflow(f"{self._where} overflowed the context here", False)
        turns = f"{len(record.completions)} turns ({record.stop_reason})"
        advice = "play it back under the limits of its own run"
        return ModelRefusedRequest(
            f"{self._where} has {turns}, and one more is asked for: {advice}", False
        )


def _shown(message: Message) -> dict[str, object]:
    """Return the visible part of a message that is not the model's own."""
    return {key: message[key] for key in ("role", "content", "tool_call_id") if key in message}


def _words(message: Message | None) -> str:
    if message is None:
        return "nothing more"
    text: str = message["content"]
    return f"{message['role']}: {text if len(text) <= 200 else f'{text[:197]}...'}"


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Options of ``model=replay``: the recorded run's directory."""

    path: str


@extension(ReplayOptions, asks_endpoint=False)
def make(options: ReplayOptions, sampling: Sampling, api_key: str | None) -> ReplayModel:
    """Build the model that ``model=replay`` names. Raises :class:`ModelError`."""
    try:
        return ReplayModel(Records(Path(options.path).expanduser()))
    except DatasetError as error:
        raise ModelError(f"model.path: {error}", False) from None
