"""The ReAct loop: ask, record, dispatch, repeat, and always say why it stopped."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs.types import ErrorStyle, ToolCall, ToolOutcome
from synth.agent.memory import ConversationMemory
from synth.errors import ContextOverflow
from synth.models.base import Conversation
from synth.types import Completion, Message, StopReason, Usage, UserTurn

Json = Any
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: JSON text in a dataset cannot hold them."""

Dispatch = Callable[[ToolCall], Awaitable[ToolOutcome]]
Say = Callable[[str], Awaitable[UserTurn]]


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What one rollout may use. ``max_total_tokens`` counts input and output of all its completions."""

    max_turns: int = 30
    max_tool_calls: int = 100
    max_total_tokens: int | None = None
    timeout_s: float | None = None
    error_style: ErrorStyle = "structured"


@dataclass
class AgentRun:
    """What a rollout did. ``events`` are the raw emissions, results and user's turns in order, without times."""

    messages: list[Message]
    stop_reason: StopReason = StopReason.FINISHED
    events: list[Json] = field(default_factory=list[Any])
    outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    completions: list[Completion] = field(default_factory=list[Completion])
    turns: list[UserTurn] = field(default_factory=list[UserTurn])

    @property
    def said(self) -> str:
        """The assistant's last words: those of its last turn without tool calls."""
        return next((each.content for each in reversed(self.completions) if not each.tool_calls), "")

    @property
    def usage(self) -> Usage:
        """Of the model; the user's is apart."""
        return _sum(self.completions)

    @property
    def cost_usd(self) -> float | None:
        """The sum where every completion's price is known, else None."""
        return _cost(self.completions)

    @property
    def user_usage(self) -> Usage:
        return _sum(self.turns)

    @property
    def user_cost_usd(self) -> float | None:
        return _cost(self.turns)


def _sum(spent: Sequence[Completion | UserTurn]) -> Usage:
    total = Usage()
    for each in spent:
        total += each.usage
    return total


def _cost(spent: Sequence[Completion | UserTurn]) -> float | None:
    costs = [each.cost_usd for each in spent]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


class ReactAgent:
    """Drives one conversation against one dispatcher of tool calls. Knows neither task nor database."""

    def __init__(self, conversation: Conversation, dispatch: Dispatch, limits: AgentLimits) -> None:
        self._conversation = conversation
        self._dispatch = dispatch
        self._limits = limits

    async def run(self, messages: Sequence[Message], say: Say | None = None) -> AgentRun:
        """Work until a limit, or until the user ends the conversation.

        ``say`` brings the user a turn without tool calls; where there is nobody to talk to (None), such a turn is the end.
        What is said beside tool calls, the user does not hear.

        Raises :class:`synth.errors.ModelError` when the model, or one that plays the user, cannot be asked, and what the
        dispatcher raises for bugs and broken infrastructure; everything that the model itself does wrong is a result.
        """
        memory = ConversationMemory(messages)
        run = AgentRun(memory.messages)
        deadline = asyncio.timeout(self._limits.timeout_s)
        try:
            async with deadline:
                run.stop_reason = await self._loop(memory, run, say)
        except TimeoutError:
            if not deadline.expired():
                raise  # somebody else's: a bug or broken infrastructure, not the end of our time
            run.stop_reason = StopReason.TIME_BUDGET
            self._close_open_calls(memory, run)
        return run

    async def _loop(self, memory: ConversationMemory, run: AgentRun, say: Say | None) -> StopReason:
        for _ in range(self._limits.max_turns):
            try:
                completion = await self._conversation.complete(memory.messages)
            except ContextOverflow:
                return StopReason.CONTEXT_OVERFLOW
            run.completions.append(completion)
            run.events.append(_completion_event(completion))
            calls = memory.add_completion(completion)
            if completion.refusal is not None or completion.finish_reason == "content_filter":
                self._close_open_calls(memory, run)
                return StopReason.REFUSED
            if completion.finish_reason == "length":
                self._close_open_calls(memory, run)
                return StopReason.TRUNCATED
            if not calls and say is None:
                return StopReason.FINISHED
            if not calls and say is not None and await self._hear(memory, run, say, completion.content):
                return StopReason.USER_ENDED
            for call in calls:
                if len(run.outcomes) >= self._limits.max_tool_calls:
                    self._close_open_calls(memory, run)
                    return StopReason.MAX_TOOL_CALLS
                outcome = await self._dispatch(call)
                self._record(memory, run, outcome)
            if self._spent(run):
                return StopReason.TOKEN_BUDGET
        return StopReason.MAX_TURNS

    async def _hear(self, memory: ConversationMemory, run: AgentRun, say: Say, text: str) -> bool:
        """Bring the user what was said, and its answer to the model; whether the user ended instead."""
        turn = await say(text)
        run.turns.append(turn)
        run.events.append(user_event(turn))
        if not turn.ends:
            memory.add_reply(turn.text)
        return turn.ends

    def _record(self, memory: ConversationMemory, run: AgentRun, outcome: ToolOutcome) -> None:
        run.outcomes.append(outcome)
        run.events.append(
            {
                "event": "tool_result",
                "id": outcome.call.id,
                "name": outcome.call.name,
                "result": outcome.result.payload(),
            }
        )
        memory.add_result(outcome, outcome.result.content(self._limits.error_style))

    def _spent(self, run: AgentRun) -> bool:
        limit = self._limits.max_total_tokens
        usage = run.usage
        return limit is not None and (usage.input_tokens or 0) + (usage.output_tokens or 0) >= limit

    def _close_open_calls(self, memory: ConversationMemory, run: AgentRun) -> None:
        """Leave no call without a result: those of a turn that was cut off were not executed."""
        last = next((each for each in reversed(memory.messages) if each["role"] == "assistant"), None)
        answered = {each["tool_call_id"] for each in memory.messages if each["role"] == "tool"}
        open_calls = [each for each in (last or {}).get("tool_calls", []) if each["id"] not in answered]
        if last is None or not open_calls:
            return
        last["tool_calls"] = [each for each in last["tool_calls"] if each["id"] in answered]
        if not last["tool_calls"]:
            del last["tool_calls"]
        last["train"] = False
        run.events.append({"event": "not_executed", "ids": [each["id"] for each in open_calls]})


def _call_entry(call: ToolCall) -> Json:
    """A call as it came. What no reader of a dataset can hold stands under ``escaped`` too: name and arguments as JSON."""
    entry: dict[str, Json] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if _UNREADABLE.search(call.name) or _UNREADABLE.search(call.arguments):
        entry["escaped"] = json.dumps([call.name, call.arguments])
    return entry


def call_of(entry: Mapping[str, Json], call_id: str) -> ToolCall:
    """The call of a completion event's entry, to the letter, under the id that its result has."""
    name, arguments = json.loads(entry["escaped"]) if "escaped" in entry else (entry["name"], entry["arguments"])
    return ToolCall(call_id, name, arguments)


def user_event(turn: UserTurn) -> dict[str, Json]:
    """What the user did, for the record; it stands after the completion that it answers."""
    return {
        "event": "user_turn",
        "text": turn.text,
        "told": list(turn.told),
        "consents": turn.consents,
        "declines": turn.declines,
        "ends": turn.ends,
        "fault": turn.fault,
    }


def _completion_event(completion: Completion) -> Json:
    """The emission as it came, for the record: raw argument strings, malformed ones included."""
    event: dict[str, Json] = {
        "event": "completion",
        "content": completion.content,
        "finish_reason": completion.finish_reason,
        "tool_calls": [_call_entry(each) for each in completion.tool_calls],
    }
    if completion.reasoning_content is not None:
        event["reasoning_content"] = completion.reasoning_content
    if completion.refusal is not None:
        event["refusal"] = completion.refusal
    return event
