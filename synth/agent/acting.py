"""The tool calls of one turn: before hooks in order, execution, then results and after hooks in order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

from envs.errors import ToolError
from envs.tool import Tool
from envs.toolbox import Toolbox
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import events
from synth.agent.middleware.base import AgentMiddleware, AgentTool, Answered
from synth.agent.middleware.stack import Stack
from synth.agent.reading import AS_TEXT, Reading
from synth.agent.state import AgentState, ToolInfo
from synth.canonical import canonical
from synth.errors import OperatorError

Json = Any
Dispatch = Callable[[ToolCall], Awaitable[ToolOutcome]]


class CalledOffError(Exception):
    """A dispatcher was cancelled while a call ran that could not be broken off; ``outcome`` is what came of it."""

    def __init__(self, outcome: ToolOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def _sound(call: ToolCall) -> ToolResult | None:
    return None


def _as_they_are(calls: Sequence[ToolCall], count: int) -> None:
    """Nobody keeps an account of calls that would have to be put in order."""


@dataclass(frozen=True)
class Hands:
    """What an agent acts with. ``tools`` are the schemas that a model is offered; ``infos`` tells more of each.

    ``check`` says what is wrong with a call without executing it. With ``concurrent_reads`` calls that only read may overlap;
    ``settle(calls, count)`` is told when such ones have ended: the first ``count`` of them are what happened, in their order,
    and the others, executed or not, are not part of the rollout.
    """

    call: Dispatch
    tools: Sequence[Json] = ()
    infos: Mapping[str, ToolInfo] = field(default_factory=dict[str, ToolInfo])
    check: Callable[[ToolCall], ToolResult | None] = _sound
    concurrent_reads: bool = False
    settle: Callable[[Sequence[ToolCall], int], None] = _as_they_are


class OwnTools:
    """The middlewares' own tools, by name."""

    def __init__(self, owned: Sequence[tuple[AgentMiddleware, AgentTool]], taken: Sequence[str]) -> None:
        names = [*taken, *(tool.name for _, tool in owned)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise OperatorError(f"agent.middleware: two tools are named {', '.join(twice)}")
        self._owned = {tool.name: (owner, tool) for owner, tool in owned}
        self._box = _box(canonical([[tool.name, tool.description, tool.parameters] for _, tool in owned]))

    def __contains__(self, name: str) -> bool:
        return name in self._owned

    @property
    def schemas(self) -> list[Json]:
        return [each.to_openai() for each in self._box.tools]

    @property
    def infos(self) -> dict[str, ToolInfo]:
        return {name: ToolInfo(name, read_only=True, own=True) for name in self._owned}

    def check(self, call: ToolCall) -> ToolResult | None:
        parsed = self._box.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    async def run(self, call: ToolCall) -> tuple[ToolOutcome, str]:
        """The outcome of a call, and the name of the middleware whose tool it is."""
        owner, tool = self._owned[call.name]
        parsed = self._box.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content()), owner.name
        try:
            result = await tool.run(parsed[1])
        except ToolError as error:
            result = ToolResult.failure(error.message, category=error.category)
        return ToolOutcome(call, result, result.content(), parsed[1]), owner.name


@lru_cache(maxsize=64)
def _box(tools: str) -> Toolbox:
    """A toolbox of these names, descriptions and schemas (canonical JSON), its validators compiled once."""

    def never(arguments: dict[str, Json], db: object) -> ToolResult:
        raise AssertionError("a middleware's tool is run by the agent")

    return Toolbox([Tool(name, text, schema, never, read_only=True) for name, text, schema in json.loads(tools)])


class Acting:
    """Answers the calls of turns and keeps what came of them."""

    def __init__(self, agent: AgentState, hands: Hands, own: OwnTools, stack: Stack) -> None:
        self._agent, self._hands, self._own, self._stack = agent, hands, own, stack
        self._notes: dict[str, Mapping[str, Json]] = {}

    async def answer(self, calls: Sequence[ToolCall], reading: Reading) -> None:
        """Answer the calls of one turn, in order. What was executed is recorded, also where this is cut off.

        Raises what the environment raises for bugs and broken infrastructure, and what hooks raise.
        """
        answers: list[Answered | None] = [None] * len(calls)
        if reading.refused:
            answers = [self._denied(call, AS_TEXT, "agent") for call in calls]
        self._notes = dict(zip((call.id for call in calls), reading.notes, strict=False))
        recorded = 0
        try:
            for at, call in enumerate(calls):
                if self._agent.heard:
                    self._agent.emit(events.ToolCall(**self._place(), call=call))
                if answers[at] is None:
                    answers[at] = await self._stack.before_tool(self._agent, call, self._denied)
            for together in self._groups(calls, answers):
                await self._execute(together, calls, answers)
            for answer in answers:
                assert answer is not None
                recorded += 1
                self._record(await self._after(answer))
        finally:
            for answer in answers[recorded:]:
                if answer is None:
                    break
                self._record(answer)

    async def _after(self, answer: Answered) -> Answered:
        try:
            return await self._stack.after_tool(self._agent, answer)
        except BaseException:
            self._record(answer)  # a hook that fails does not undo the call
            raise

    def _groups(self, calls: Sequence[ToolCall], answers: Sequence[Answered | None]) -> Iterator[list[int]]:
        """Places of the calls to be executed, those together that may overlap: neighbours that only read."""
        waiting = [at for at, answer in enumerate(answers) if answer is None]
        infos = self._agent.tools

        def reads(at: int) -> bool:
            info = infos.get(calls[at].name)
            return info is None or info.read_only  # a tool that is not there changes nothing either

        for only_read, group in groupby(waiting, reads):
            if only_read and self._hands.concurrent_reads:
                yield list(group)
            else:
                yield from ([at] for at in group)

    async def _execute(self, places: Sequence[int], calls: Sequence[ToolCall], answers: list[Answered | None]) -> None:
        async def one(at: int) -> None:
            try:
                answers[at] = await self._stack.execute(self._agent, calls[at], partial(self._innermost, calls[at]))
            except CalledOffError as late:
                answers[at] = self._answered(late.outcome)
                raise asyncio.CancelledError from None

        if len(places) == 1:
            await one(places[0])
            return
        tasks = [asyncio.ensure_future(one(at)) for at in places]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            # A turn's calls have happened up to the first that has not: what only read behind that one is forgotten.
            count = next((n for n, at in enumerate(places) if answers[at] is None), len(places))
            for at in places[count:]:
                answers[at] = None
            self._hands.settle([calls[at] for at in places], count)

    async def _innermost(self, call: ToolCall) -> Answered:
        if call.name in self._own:
            outcome, by = await self._own.run(call)
            return self._answered(outcome, by)
        return self._answered(await self._hands.call(call))

    def _answered(self, outcome: ToolOutcome, by: str | None = None) -> Answered:
        result = outcome.result
        return Answered(outcome, outcome.content if result.ok else result.content(self._agent.limits.error_style), by)

    def _denied(self, call: ToolCall, result: ToolResult, by: str) -> Answered:
        return self._answered(ToolOutcome(call, result, result.content()), by)

    def _record(self, answer: Answered) -> None:
        agent, outcome = self._agent, answer.outcome
        agent.run.outcomes.append(outcome)
        event = {
            "event": "tool_result",
            "id": outcome.call.id,
            "name": outcome.call.name,
            "result": outcome.result.payload(),
        }
        if answer.by is not None:
            event["by"] = answer.by
        notes = {**self._notes.get(outcome.call.id, {}), **answer.notes}
        agent.run.events.append(event | notes if notes else event)
        agent.memory.add_result(outcome, answer.content)
        if agent.heard:
            told = events.ToolResult(
                **self._place(), call=outcome.call, result=outcome.result, content=answer.content, by=answer.by
            )
            agent.emit(told)

    def _place(self) -> dict[str, Any]:
        return {"rollout_id": self._agent.rollout_id, "step": self._agent.step}
