"""Which of many known rollouts a request belongs to: a server keeps no state, and requests carry no job's id.

The opening messages name the task; tasks that open alike are told apart by their tools. Samples of a task are told apart by
the request's ``seed`` (``model.send_seed=true`` sends it). Without one, requests with the same messages are dealt in turn to
the samples that have said the same so far: each sample is then played once, in some rollout of its task, unless a client
asks twice or stops halfway.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from synth.canonical import canonical, digest
from synth.errors import ModelRefusedRequest
from synth.models.base import wire_seed
from synth.models.recap import opening_of, read_request, without_recap
from synth.models.records import Key, Records
from synth.models.replay import ReplayedConversation
from synth.models.wire import canonical_message
from synth.types import Completion, Message

Json = Any


class Voice(ABC):
    """One rollout that is known: how it opens, its job's seed, and what it says."""

    opening: Sequence[Message]
    seed: int

    @abstractmethod
    async def tools(self) -> Sequence[Json]:
        """The tools that its model is offered."""

    @abstractmethod
    async def said(self, messages: Sequence[Message]) -> bool:
        """Whether the assistant's turns among these messages are its own."""

    @abstractmethod
    async def answer(self, messages: Sequence[Message]) -> Completion:
        """What it says next. Raises :class:`~synth.errors.ModelError` where it has nothing to say to these messages."""


class Repertoire:
    """A handler for :func:`synth.models.server.serve` that answers for all the voices it is given.

    A conversation whose first turns are left out is known by how it opened, a request for a summary by what the user asked.
    """

    def __init__(self, voices: Iterable[Voice]) -> None:
        self._by_opening: dict[str, list[Voice]] = {}
        for each in voices:
            for key in (_opening(each.opening), _asked(each.opening)):
                self._by_opening.setdefault(key, []).append(each)
        self._dealt: Counter[str] = Counter()

    async def __call__(self, request: dict[str, Json]) -> Completion:
        messages = [canonical_message(each) for each in request["messages"]]
        voice = await self._choose(request, messages)
        return await voice.answer(messages)

    async def _choose(self, request: dict[str, Json], messages: Sequence[Message]) -> Voice:
        summary = read_request(messages)
        if summary is not None:
            messages = summary.messages
        first = opening_of(messages)
        opening = without_recap(messages[:first])[0]
        known = self._by_opening.get(_opening(opening) if summary is None else _asked(opening), [])
        if not known:
            raise ModelRefusedRequest(
                "no task that is served opens like this: serve the world, tasks, universes and seed that the run plans",
                False,
            )
        known = [each for each in known if wire_seed(each.seed) == request.get("seed")] or known
        if len(known) > 1:
            offered = canonical(request.get("tools", []))
            known = [each for each in known if canonical(list(await each.tools())) == offered] or known
        if len(known) > 1 and first < len(messages):
            known = [each for each in known if await each.said(messages)]
        if not known:
            raise ModelRefusedRequest("the assistant's turns in this conversation are not what is said here", False)
        return known[0] if len(known) == 1 else self._deal(messages, known)

    def _deal(self, messages: Sequence[Message], known: Sequence[Voice]) -> Voice:
        """Whose turn it is of those that have said the same so far: each is asked once in a round."""
        key = digest(messages)
        self._dealt[key] += 1
        return known[(self._dealt[key] - 1) % len(known)]


def _opening(messages: Sequence[Message]) -> str:
    return canonical([[each["role"], each["content"]] for each in messages])


def _asked(messages: Sequence[Message]) -> str:
    """The opening without the system's part, which no request for a summary holds."""
    return f"asked {_opening([each for each in messages if each['role'] != 'system'])}"


def turn_of(message: Message) -> str:
    """What an assistant message says and calls, whatever the ids of the calls."""
    calls = [each["function"] for each in message.get("tool_calls", ())]
    return canonical([message["content"], [[each["name"], each["arguments"]] for each in calls]])


class RecordedVoice(Voice):
    """A rollout of a recorded run."""

    def __init__(self, records: Records, key: Key, opening: Sequence[Message]) -> None:
        self._records, self._key = records, key
        self.opening, self.seed = opening, key[1]

    async def tools(self) -> Sequence[Json]:
        return ReplayedConversation(self._records, self._key).record.tools

    async def said(self, messages: Sequence[Message]) -> bool:
        now = [turn_of(each) for each in messages if each["role"] == "assistant"]
        recorded = ReplayedConversation(self._records, self._key).record.messages
        was = [turn_of(each) for each in recorded if each["role"] == "assistant"]
        recap = without_recap(messages)[1]
        left_out = recap.turns if recap is not None else 0
        return now == was[left_out : left_out + len(now)]

    async def answer(self, messages: Sequence[Message]) -> Completion:
        return await ReplayedConversation(self._records, self._key).complete(messages)
