"""Contract tests of :class:`synth.middleware.AgentMiddleware`, on small rollouts."""

from __future__ import annotations

import asyncio
import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import RowChange, ToolCall, ToolOutcome, ToolResult
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import AgentState, RolloutIdentity, ToolInfo
from synth.core.agent.turn import ToolInterface
from synth.core.types.events import Usage
from synth.middleware import AgentMiddleware, MiddlewareHome, MiddlewareMaker, start
from synth.model import Completion, Conversation, OnDelta
from synth.task import Message
from synth.testing.model_conformance import copied

OPENING: Sequence[Message] = (
    {"role": "system", "content": "Keep the book."},
    {"role": "user", "content": "Look things up, write one down, then tell me."},
)


def _look(arguments: dict[str, object], db: object) -> ToolResult:
    return ToolResult({"found": arguments["word"], "text": "lorem ipsum " * 400})


_WORD: Mapping[str, object] = {
    "type": "object",
    "properties": {"word": {"type": "string", "description": "The word."}},
    "required": ["word"],
    "additionalProperties": False,
}
BOX = Toolbox(
    [
        Tool("look", "Look a word up.", _WORD, _look, read_only=True),
        Tool("write", "Write a word down.", _WORD, _look),
    ]
)
INFOS = {"look": ToolInfo("look", read_only=True), "write": ToolInfo("write", destructive=True)}
TURNS: Sequence[Sequence[tuple[str, str, str]]] = (
    (("a", "look", '{"word":"one"}'), ("b", "look", '{"word":"two"}')),
    (("a", "write", '{"word":"three"}'), ("", "look", '{"word":'), ("d", "nothing", "{}")),
    (("e", "look", '{"word":"four"}'),),
)


class _Script(Conversation):
    """Model that makes the calls of :data:`TURNS`, then answers; a side question, without tools,
    gets a summary.
    """

    def __init__(
        self, tools: Sequence[object], progress: list[int], seen: list[list[Message]]
    ) -> None:
        self._tools, self._progress, self._seen = tools, progress, seen

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        await asyncio.sleep(0)
        usage = Usage(len(json.dumps(messages)) // 4, 20)
        if not self._tools:
            return Completion(content="A summary: look, write, look.", usage=usage)
        self._seen.append(copy.deepcopy(list(messages)))
        number = self._progress[0]
        self._progress[0] += 1
        if number >= len(TURNS):
            return Completion(content="It is done.", usage=usage)
        calls = tuple(ToolCall(*action) for action in TURNS[number])
        return Completion(tool_calls=calls, finish_reason="tool_calls", usage=usage)


class _Watch(AgentMiddleware):
    """Outermost middleware: keeps the final answers, and counts the ends of the rollout."""

    name = "exam"

    def __init__(self) -> None:
        self.finished = 0

    async def agent_finish(self, agent: AgentState) -> None:
        self.finished += 1


class Desk:
    """Environment of the test: records the calls that it executed."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.executed: list[ToolOutcome] = []
        self._stop_at = stop_at
        self.reached = asyncio.Event()

    async def call(self, call: ToolCall) -> ToolOutcome:
        if len(self.executed) == self._stop_at:
            self.reached.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        parsed = BOX.parse(call)
        if isinstance(parsed, ToolResult):
            outcome = ToolOutcome(call, parsed, parsed.content())
        else:
            result = _look(parsed[1], None)
            changes = (
                (RowChange("book", "insert", {"word": parsed[1]["word"]}),)
                if call.name == "write"
                else ()
            )
            outcome = ToolOutcome(call, result, result.content(), parsed[1], changes)
        self.executed.append(outcome)
        return outcome


def _check(call: ToolCall) -> ToolResult | None:
    parsed = BOX.parse(call)
    return parsed if isinstance(parsed, ToolResult) else None


class MiddlewareConformance(ABC):
    """Contract tests of a middleware. Subclass it as ``Test...``, build the maker and set its
    options.
    """

    options: Any = None
    """Options of the extension: an instance of its ``Options``, or a mapping."""

    @abstractmethod
    def make(self, options: Any, home: MiddlewareHome) -> MiddlewareMaker:
        """Return the maker, built by the factory that a config names."""

    async def play(self, home: Path, desk: Desk) -> tuple[AgentRun, list[list[Message]], _Watch]:
        """Play one rollout. Returns the run, every request sent to the model, and the watch."""
        maker = self.make(self.options, MiddlewareHome(home))
        watch, seen, progress = _Watch(), list[list[Message]](), [0]
        agent = ReactAgent(
            lambda tools: _Script(tools, progress, seen),
            ToolInterface(desk.call, [tool.to_openai() for tool in BOX.tools], INFOS, _check),
            AgentLimits(),
            middlewares=[watch, start("examined", maker)],
            identity=RolloutIdentity("r0", 0, 7, "t0"),
        )
        try:
            return await agent.run(OPENING), seen, watch
        finally:
            assert watch.finished == 1
            await maker.aclose()
            await maker.aclose()

    async def test_its_options_travel(self) -> None:
        assert copied(self.options) == self.options

    async def test_each_rollout_has_its_own(self, tmp_path: Path) -> None:
        maker = self.make(self.options, MiddlewareHome(tmp_path))
        assert maker.start() is not maker.start()
        await maker.aclose()

    async def test_every_request_is_valid_and_each_call_has_one_result_in_order(
        self, tmp_path: Path
    ) -> None:
        run, seen, _ = await self.play(tmp_path, Desk())
        assert run.stop_reason is not None
        for messages in [*seen, run.messages]:
            due: list[str] = []
            for message in messages:
                if message["role"] == "tool":
                    assert message["tool_call_id"] == due.pop(0)
                    continue
                assert not due
                assert isinstance(message["content"], str)
                due = [call["id"] for call in message.get("tool_calls", ())]
            assert not due
            json.dumps(messages, allow_nan=False).encode()

    async def test_the_record_says_who_answered_what_the_environment_did_not(
        self, tmp_path: Path
    ) -> None:
        desk = Desk()
        run, _, _ = await self.play(tmp_path, desk)
        results = [event for event in run.recorded_events if event["event"] == "tool_result"]
        assert len(results) == len(run.outcomes)
        executed = [event["id"] for event in results if "by" not in event]
        assert executed == [outcome.call.id for outcome in desk.executed]
        json.dumps(run.recorded_events, allow_nan=False)

    async def test_what_happened_stays_as_it_was(self, tmp_path: Path) -> None:
        """A middleware changes the text for the model, never a call's result or its row changes."""
        desk = Desk()
        run, _, _ = await self.play(tmp_path, desk)
        kept = {outcome.call.id: outcome for outcome in run.outcomes}
        assert all(kept[outcome.call.id] is outcome for outcome in desk.executed)

    async def test_a_cancelled_rollout_is_cancelled(self, tmp_path: Path) -> None:
        """A middleware neither swallows a cancellation nor hangs, at any point, and the others
        finish as well.
        """
        for index in range(3):
            desk = Desk(stop_at=index)
            task = asyncio.create_task(self.play(tmp_path, desk))
            waiting = asyncio.create_task(desk.reached.wait())
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if (
                task.done()
            ):  # it answered so much itself that the environment was not reached so often
                task.result()
                continue
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    async def test_rollouts_beside_each_other_come_out_the_same(self, tmp_path: Path) -> None:
        runs = await asyncio.gather(*(self.play(tmp_path, Desk()) for _ in range(8)))
        assert len({json.dumps([run.messages, run.recorded_events]) for run, _, _ in runs}) == 1
