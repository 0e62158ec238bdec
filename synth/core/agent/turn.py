"""The tool calls of one turn: before hooks in order, execution, then results and after hooks in
order.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby

from envs.errors import ToolError
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.core.agent import events
from synth.core.agent.completion_reading import AS_TEXT, CompletionReading
from synth.core.agent.stack import Stack
from synth.core.agent.state import AgentState, ToolInfo
from synth.core.foundation.hashing import canonical
from synth.core.types.events import ToolResultEvent
from synth.errors import OperatorError
from synth.middleware import AgentMiddleware, AgentTool, ToolAnswer

Dispatch = Callable[[ToolCall], Awaitable[ToolOutcome]]


class CalledOffError(Exception):
    """A dispatcher was cancelled during a call that could not be interrupted; ``outcome`` is the
    call's result.
    """

    def __init__(self, outcome: ToolOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def _sound(call: ToolCall) -> ToolResult | None:
    return None


def _unheard(text: str) -> None:
    """Keep no account of words."""


def _as_they_are(calls: Sequence[ToolCall], count: int) -> None:
    """Keep no account of calls: nothing has to be put in order."""


@dataclass(frozen=True)
class ToolInterface:
    """The tools of an agent. ``tools`` are the schemas that a model is offered; ``infos`` holds the
    traits of each.

    ``check`` returns the problem of a call without executing it. With ``concurrent_reads``
    read-only calls may overlap; ``settle(calls, count)`` is called when such calls have ended: the
    first ``count`` of them belong to the rollout, in their order, and the others, executed or not,
    do not. ``utter`` is given the words of each completion that the user does not get.
    """

    call: Dispatch
    tools: Sequence[object] = ()
    infos: Mapping[str, ToolInfo] = field(default_factory=dict[str, ToolInfo])
    check: Callable[[ToolCall], ToolResult | None] = _sound
    concurrent_reads: bool = False
    settle: Callable[[Sequence[ToolCall], int], None] = _as_they_are
    utter: Callable[[str], object] = _unheard


class OwnTools:
    """Tools of the middlewares, by name."""

    def __init__(
        self, owned: Sequence[tuple[AgentMiddleware, AgentTool]], taken: Sequence[str]
    ) -> None:
        names = [*taken, *(tool.name for _, tool in owned)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise OperatorError(f"agent.middleware: two tools are named {', '.join(twice)}")
        self._owned = {tool.name: (owner, tool) for owner, tool in owned}
        self._box = _box(
            canonical([[tool.name, tool.description, tool.parameters] for _, tool in owned])
        )

    def __contains__(self, name: str) -> bool:
        return name in self._owned

    @property
    def schemas(self) -> list[object]:
        return [tool.to_openai() for tool in self._box.tools]

    @property
    def infos(self) -> dict[str, ToolInfo]:
        return {name: ToolInfo(name, read_only=True, own=True) for name in self._owned}

    def check(self, call: ToolCall) -> ToolResult | None:
        parsed = self._box.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    async def run(self, call: ToolCall) -> tuple[ToolOutcome, str]:
        """Return the outcome of a call, and the name of the middleware that owns the tool."""
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
    """Return a toolbox of these names, descriptions and schemas (canonical JSON), with validators
    compiled once.
    """

    def never(arguments: dict[str, object], db: object) -> ToolResult:
        raise AssertionError("a middleware's tool is run by the agent")

    return Toolbox(
        [
            Tool(name, text, schema, never, read_only=True)
            for name, text, schema in json.loads(tools)
        ]
    )


class TurnExecutor:
    """Executor of the calls of turns; keeps their outcomes."""

    def __init__(
        self, agent: AgentState, interface: ToolInterface, own: OwnTools, stack: Stack
    ) -> None:
        self._agent, self._interface, self._own, self._stack = agent, interface, own, stack
        self._notes: dict[str, Mapping[str, object]] = {}

    async def answer(self, calls: Sequence[ToolCall], reading: CompletionReading) -> None:
        """Answer the calls of one turn, in order. Executed calls are recorded even if the turn is
        cut off.

        Raises the environment's exceptions for bugs and broken infrastructure, and exceptions of
        hooks.
        """
        answers: list[ToolAnswer | None] = [None] * len(calls)
        if reading.refused:
            answers = [self._denied(call, AS_TEXT, "agent") for call in calls]
        self._notes = dict(zip((call.id for call in calls), reading.notes, strict=False))
        recorded = 0
        try:
            for index, call in enumerate(calls):
                if self._agent.has_subscribers:
                    self._agent.emit(events.ToolCall(call=call))
                if answers[index] is None:
                    answers[index] = await self._stack.before_tool(self._agent, call, self._denied)
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

    async def _after(self, answer: ToolAnswer) -> ToolAnswer:
        try:
            return await self._stack.after_tool(self._agent, answer)
        except BaseException:
            self._record(answer)  # a hook that fails does not undo the call
            raise

    def _groups(
        self, calls: Sequence[ToolCall], answers: Sequence[ToolAnswer | None]
    ) -> Iterator[list[int]]:
        """Return the indices of the calls to execute, grouped with read-only neighbours that may
        overlap.
        """
        waiting = [index for index, answer in enumerate(answers) if answer is None]
        infos = self._agent.tools

        def reads(position: int) -> bool:
            info = infos.get(calls[position].name)
            return info is None or info.read_only  # a tool that is not there changes nothing either

        for only_read, group in groupby(waiting, reads):
            if only_read and self._interface.concurrent_reads:
                yield list(group)
            else:
                yield from ([index] for index in group)

    async def _execute(
        self, places: Sequence[int], calls: Sequence[ToolCall], answers: list[ToolAnswer | None]
    ) -> None:
        async def one(position: int) -> None:
            try:
                answers[position] = await self._stack.execute(
                    self._agent, calls[position], partial(self._innermost, calls[position])
                )
            except CalledOffError as late:
                answers[position] = self._answered(late.outcome)
                raise asyncio.CancelledError from None

        if len(places) == 1:
            await one(places[0])
            return
        tasks = [asyncio.ensure_future(one(index)) for index in places]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            # A turn's calls have happened up to the first that has not: what only read behind that
            # one is forgotten.
            count = next(
                (n for n, index in enumerate(places) if answers[index] is None), len(places)
            )
            for index in places[count:]:
                answers[index] = None
            self._interface.settle([calls[index] for index in places], count)

    async def _innermost(self, call: ToolCall) -> ToolAnswer:
        if call.name in self._own:
            outcome, by = await self._own.run(call)
            return self._answered(outcome, by)
        return self._answered(await self._interface.call(call))

    def _answered(self, outcome: ToolOutcome, by: str | None = None) -> ToolAnswer:
        result = outcome.result
        return ToolAnswer(
            outcome,
            outcome.content if result.ok else result.content(self._agent.limits.error_style),
            by,
        )

    def _denied(self, call: ToolCall, result: ToolResult, by: str) -> ToolAnswer:
        return self._answered(ToolOutcome(call, result, result.content()), by)

    def _record(self, answer: ToolAnswer) -> None:
        agent, outcome = self._agent, answer.outcome
        agent.run.outcomes.append(outcome)
        agent.record(
            ToolResultEvent(
                id=outcome.call.id,
                name=outcome.call.name,
                result=outcome.result.payload(),
                by=answer.by,
                notes={**self._notes.get(outcome.call.id, {}), **answer.notes},
            )
        )
        agent.memory.add_result(outcome, answer.content)
        if agent.has_subscribers:
            result_event = events.ToolResult(
                call=outcome.call, result=outcome.result, content=answer.content, by=answer.by
            )
            agent.emit(result_event)
            if outcome.changes:
                agent.emit(events.RowChanges(call=outcome.call, changes=outcome.changes))
