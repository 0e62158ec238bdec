"""Assignment of a request to one of many known rollouts: a server keeps no state, and requests
carry no job id.

The opening messages identify the task; tasks with equal openings are distinguished by their tools.
Samples of a task are distinguished by the request's ``seed`` (``model.send_seed=true`` sends it).
Without one, requests with the same messages are given in turn to the samples with the same history:
each sample is then played once, in some rollout of its task, unless a client asks twice or stops
halfway.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synth.core.foundation.hashing import canonical, digest
from synth.core.models.openai.wire import canonical_message
from synth.core.models.recap import opening_of, read_request, without_recap
from synth.core.models.replay.model import ReplayedConversation
from synth.core.models.replay.records import Key, Records
from synth.errors import ModelRefusedRequest
from synth.model import Completion, wire_seed
from synth.task import Message


class KnownRollout(ABC):
    """One known rollout: its opening messages, its job's seed, and its answers."""

    opening: Sequence[Message]
    seed: int

    @abstractmethod
    async def tools(self) -> Sequence[object]:
        """Return the tools that its model is offered."""

    @abstractmethod
    async def said(self, messages: Sequence[Message]) -> bool:
        """Tell whether the assistant's turns among these messages are its own."""

    @abstractmethod
    async def answer(self, messages: Sequence[Message]) -> Completion:
        """Return its next completion. Raises :class:`~synth.errors.ModelError` if it has none for
        these messages.
        """


class RecordedRolloutIndex:
    """Handler for :func:`synth.ext.serving.openai_server.serve` that answers for all the rollouts
    it is given.

    A conversation whose first turns are left out is identified by its opening, a request for a
    summary by the user's request.
    """

    def __init__(self, voices: Iterable[KnownRollout]) -> None:
        self._by_opening: dict[str, list[KnownRollout]] = {}
        for rollout in voices:
            for key in (_opening(rollout.opening), _asked(rollout.opening)):
                self._by_opening.setdefault(key, []).append(rollout)
        self._dealt: Counter[str] = Counter()

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = [canonical_message(message) for message in request["messages"]]
        voice = await self._choose(request, messages)
        return await voice.answer(messages)

    async def _choose(self, request: dict[str, Any], messages: Sequence[Message]) -> KnownRollout:
        summary = read_request(messages)
        if summary is not None:
            messages = summary.messages
        first = opening_of(messages)
        opening = without_recap(messages[:first])[0]
        known = self._by_opening.get(_opening(opening) if summary is None else _asked(opening), [])
        if not known:
            raise ModelRefusedRequest(
                "no task that is served opens like this: serve the world, tasks, universes and"
                " seed that the run plans",
                False,
            )
        known = await _preferred(known, request)
        if len(known) > 1 and first < len(messages):
            known = [rollout for rollout in known if await rollout.said(messages)]
        if not known:
            raise ModelRefusedRequest(
                "the assistant's turns in this conversation are not those of any served rollout",
                False,
            )
        return known[0] if len(known) == 1 else self._deal(messages, known)

    def _deal(self, messages: Sequence[Message], known: Sequence[KnownRollout]) -> KnownRollout:
        """Choose among rollouts with the same history: each is used once in a round."""
        key = digest(messages)
        self._dealt[key] += 1
        return known[(self._dealt[key] - 1) % len(known)]


async def _preferred(
    known: Sequence[KnownRollout], request: Mapping[str, Any]
) -> Sequence[KnownRollout]:
    """Keep the rollouts with the request's seed, then those with its tools, if there are any."""
    seed = request.get("seed")
    known = [rollout for rollout in known if wire_seed(rollout.seed) == seed] or known
    if len(known) <= 1:
        return known
    offered = canonical(request.get("tools", []))
    return [
        rollout for rollout in known if canonical(list(await rollout.tools())) == offered
    ] or known


def _opening(messages: Sequence[Message]) -> str:
    return canonical([[message["role"], message["content"]] for message in messages])


def _asked(messages: Sequence[Message]) -> str:
    """Return the opening without the system's part, which no request for a summary holds."""
    return f"asked {_opening([message for message in messages if message['role'] != 'system'])}"


def turn_of(message: Message) -> str:
    """Return text and calls of an assistant message, without the ids of the calls."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return canonical([message["content"], [[call["name"], call["arguments"]] for call in calls]])


class RecordedVoice(KnownRollout):
    """A rollout of a recorded run."""

    def __init__(self, records: Records, key: Key, opening: Sequence[Message]) -> None:
        self._records, self._key = records, key
        self.opening, self.seed = opening, key[1]

    async def tools(self) -> Sequence[object]:
        return ReplayedConversation.of(self._records, self._key).record.tools

    async def said(self, messages: Sequence[Message]) -> bool:
        now = [turn_of(message) for message in messages if message["role"] == "assistant"]
        recorded = ReplayedConversation.of(self._records, self._key).record.messages
        was = [turn_of(message) for message in recorded if message["role"] == "assistant"]
        recap = without_recap(messages)[1]
        left_out = recap.turns if recap is not None else 0
        return now == was[left_out : left_out + len(now)]

    async def answer(self, messages: Sequence[Message]) -> Completion:
        return await ReplayedConversation.of(self._records, self._key).complete(messages)
