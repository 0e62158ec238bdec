"""Faults on purpose, so that a dataset teaches recovery: some tool calls fail as real databases fail now and then.

A fault is one that an agent can notice: an error in the engine's own words, or a wait; never a stale, an empty or a wrong
result. The call has no effect (a slow one has all of it), and the environment does not see it, so that replay, grading and
verification are as without faults. Which calls are hit follows from the job's seed and the call's place alone: the same job has
the same schedule on every engine. The same call is hit at most ``max_in_row`` times in a row, so that a retry succeeds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.toolbox import parse_arguments
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent.middleware.base import AgentMiddleware, Answered, Execute, Made, MiddlewareHome
from synth.agent.middleware.fault_words import said_by
from synth.agent.state import AgentState
from synth.canonical import canonical, derive_seed
from synth.config_agent import FaultKind
from synth.tasks.words import SUBMIT

Json = Any

SLOW = "slow"


@dataclass(frozen=True, slots=True)
class FaultOptions:
    """``rate`` is the share of calls that are hit, ``tools`` are the only ones hit (None: all), ``slow_s`` is a slow call's wait."""

    rate: float
    kinds: Sequence[FaultKind]
    max_per_rollout: int
    max_in_row: int
    slow_s: float
    tools: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class _Due:
    """What is to happen to a call: ``place`` counts the calls that could have been hit, from 0."""

    place: int
    key: str
    arguments: Mapping[str, Json]


class FaultInjectionMiddleware(AgentMiddleware):
    """Injects the faults of one rollout."""

    name = "faults"

    def __init__(self, options: FaultOptions, engine: str) -> None:
        self._options, self._engine = options, engine
        self._places = self._injected = 0
        self._due: dict[str, _Due] = {}
        self._attempts: dict[str, int] = {}
        self._in_row: dict[str, int] = {}

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        """Give the call its place. Calls that are wrong by themselves never reach a database."""
        info, only = agent.tools.get(call.name), self._options.tools
        if info is None or info.own or call.name == SUBMIT or (only is not None and call.name not in only):
            return None  # handing in an answer asks no database
        arguments = parse_arguments(call.arguments)
        if isinstance(arguments, ToolResult) or agent.check(call) is not None:
            return None
        self._due[call.id] = _Due(self._places, canonical([call.name, arguments]), arguments)
        self._places += 1
        return None

    async def around_tool_call(self, agent: AgentState, call: ToolCall, execute: Execute) -> Answered:
        due = self._due.get(call.id)
        kind = None if due is None else self._drawn(agent.seed, call.id, due)
        if due is None or kind is None:
            return await execute()
        note = {"fault": {"kind": kind, "place": due.place}}
        if kind == SLOW:
            await asyncio.sleep(self._options.slow_s)
            answered = await execute()
            return replace(answered, notes={**answered.notes, **note})
        result = said_by(self._engine, kind)
        outcome = ToolOutcome(call, result, result.content(), due.arguments)
        return Answered(outcome, result.content(agent.limits.error_style), self.name, note)

    def _drawn(self, seed: int, call_id: str, due: _Due) -> str | None:
        """The kind of fault that hits this attempt at a call, if any; a middleware around this one may attempt it again."""
        attempt = self._attempts.get(call_id, 0)
        self._attempts[call_id] = attempt + 1
        options, row = self._options, self._in_row.get(due.key, 0)
        chance = random.Random(derive_seed(seed, "fault", due.place, attempt))
        hit, kind = chance.random() < options.rate, chance.choice(list(options.kinds))
        if not hit or row >= options.max_in_row or self._injected >= options.max_per_rollout:
            self._in_row[due.key] = 0
            return None
        self._injected += 1
        self._in_row[due.key] = 0 if kind == SLOW else row + 1
        return kind


def injected(events: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """The faults of a rollout by its events, in order: the call's place among all calls, its id, its tool, what happened."""
    found: list[dict[str, Json]] = []
    results = [each for each in events if each["event"] == "tool_result"]
    for at, event in enumerate(results):
        tries: Sequence[Mapping[str, Json]] = [*event.get("retried", ()), event]
        found += [
            {"call": at, "id": event["id"], "name": event["name"], "kind": each["fault"]["kind"]}
            for each in tries
            if "fault" in each
        ]
    return found


def make(options: Mapping[str, Json], home: MiddlewareHome) -> Made:
    """The factory that ``faults`` names; ``options`` are the keys of ``agent.faults``."""
    chosen = FaultOptions(**options)
    return Made(lambda: FaultInjectionMiddleware(chosen, home.engine))
