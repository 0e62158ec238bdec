"""Middlewares around a rollout: the order of hooks, answers in the environment's place, own tools,
how it ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import AgentState, ToolInfo
from synth.core.agent.turn import CalledOffError, ToolInterface
from synth.core.types.events import Usage
from synth.errors import ModelError, OperatorError
from synth.middleware import AgentMiddleware, AgentTool, Ask, Execute, StopAgent, ToolAnswer
from synth.model import Completion, Conversation
from synth.verdict import StopReason
from tests.unit.agent.test_react import (
    BOX,
    DONE,
    OPENING,
    Lines,
    calls,
    check_transcript,
    dispatch,
    find,
)

INFOS = {"find": ToolInfo("find", read_only=True)}


def hands(**options: Any) -> ToolInterface:
    def check(call: ToolCall) -> ToolResult | None:
        parsed = BOX.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    return ToolInterface(
        dispatch, [each.to_openai() for each in BOX.tools], INFOS, check, **options
    )


async def play(model: Conversation, *middlewares: AgentMiddleware, **limits: Any) -> AgentRun:
    agent = ReactAgent(lambda _: model, hands(), AgentLimits(**limits), middlewares=middlewares)
    run = await agent.run(OPENING)
    check_transcript(run.messages)
    return run


class Scribe(AgentMiddleware):
    """Writes down which hook is called."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def on_register(self, agent: AgentState) -> Sequence[AgentTool]:
        self.log.append(f"{self.name} register")
        return ()

    async def agent_start(self, agent: AgentState) -> None:
        self.log.append(f"{self.name} start")

    async def before_llm_call(self, agent: AgentState) -> None:
        self.log.append(f"{self.name} before llm")

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        self.log.append(f"{self.name} asks")
        completion = await ask()
        self.log.append(f"{self.name} asked")
        return completion

    async def after_llm_call(self, agent: AgentState, completion: Completion) -> None:
        self.log.append(f"{self.name} after llm")

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        self.log.append(f"{self.name} before {call.id}")
        return None

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        self.log.append(f"{self.name} executes {call.id}")
        answered = await execute()
        self.log.append(f"{self.name} executed {call.id}")
        return answered

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        self.log.append(f"{self.name} after {answered.outcome.call.id}")
        return answered

    async def agent_finish(self, agent: AgentState) -> None:
        self.log.append(f"{self.name} finish {agent.run.stop_reason or type(agent.error).__name__}")


async def test_hooks_are_called_in_order_and_back():
    """Before in the configured order, after in reverse, around nested; three phases for the calls
    of one turn.
    """
    log: list[str] = []
    await play(Lines(calls(find("1"), find("2")), DONE), Scribe("a", log), Scribe("b", log))
    asked = [
        "a before llm",
        "b before llm",
        "a asks",
        "b asks",
        "b asked",
        "a asked",
        "b after llm",
        "a after llm",
    ]
    assert log == [
        *("a register", "b register", "a start", "b start"),
        *asked,
        *("a before 1", "b before 1", "a before 2", "b before 2"),
        *("a executes 1", "b executes 1", "b executed 1", "a executed 1"),
        *("a executes 2", "b executes 2", "b executed 2", "a executed 2"),
        *("b after 1", "a after 1", "b after 2", "a after 2"),
        *asked,
        *("b finish finished", "a finish finished"),
    ]


class Doorman(AgentMiddleware):
    name = "doorman"

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        return (
            ToolResult.failure("Not you.", category="permission_denied") if call.id == "2" else None
        )


async def test_a_denied_call_is_not_executed_and_the_record_says_who_answered():
    executed: list[str] = []

    class Watch(AgentMiddleware):
        async def around_tool_call(
            self, agent: AgentState, call: ToolCall, execute: Execute
        ) -> ToolAnswer:
            executed.append(call.id)
            return await execute()

    run = await play(Lines(calls(find("1"), find("2"), find("3")), DONE), Doorman(), Watch())
    assert executed == ["1", "3"]
    told = [each for each in run.recorded_events if each["event"] == "tool_result"]
    assert [each.get("by") for each in told] == [None, "doorman", None]
    assert json.loads(run.messages[4]["content"])["category"] == "permission_denied"
    assert [each.result.ok for each in run.outcomes] == [True, False, True]


async def test_what_the_model_is_told_may_change_and_what_happened_may_not():
    class Short(AgentMiddleware):
        async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
            return ToolAnswer(answered.outcome, "short", notes={"shortened": True})

    class Liar(AgentMiddleware):
        async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
            return ToolAnswer(
                type(answered.outcome)(answered.outcome.call, ToolResult({}), "{}"), "{}"
            )

    run = await play(Lines(calls(find("1")), DONE), Short())
    assert run.messages[3]["content"] == "short"
    assert run.recorded_events[1]["result"] == {"found": "Zoë"}
    assert run.recorded_events[1]["shortened"] is True
    with pytest.raises(TypeError, match="outcome"):
        await play(Lines(calls(find("1")), DONE), Liar())


class Notes(AgentMiddleware):
    name = "notes"

    def on_register(self, agent: AgentState) -> Sequence[AgentTool]:
        async def read(arguments: dict[str, Any]) -> ToolResult:
            return ToolResult({"line": arguments["line"]})

        schema = {
            "type": "object",
            "properties": {"line": {"type": "integer"}},
            "required": ["line"],
        }
        return [AgentTool("read_note", "Read a note.", schema, read)]


async def test_tools_of_its_own_are_offered_checked_and_run():
    offered: list[Any] = []
    model = Lines(
        calls(("1", "read_note", '{"line": 4}'), ("2", "read_note", '{"line": "x"}'), find("3")),
        DONE,
    )

    def converse(tools: Sequence[Any]) -> Conversation:
        offered.append([each["function"]["name"] for each in tools])
        return model

    run = await ReactAgent(converse, hands(), AgentLimits(), middlewares=[Notes()]).run(OPENING)
    assert offered == [["find", "read_note"]]
    assert run.messages[3]["content"] == '{"line":4}'
    assert run.outcomes[1].result.category == "invalid_arguments"
    assert [each.get("by") for each in run.recorded_events if each["event"] == "tool_result"] == [
        "notes",
        "notes",
        None,
    ]


async def test_two_tools_of_one_name_are_refused():
    class Twice(Notes):
        name = "twice"

    with pytest.raises(OperatorError, match="read_note"):
        await play(Lines(DONE), Notes(), Twice())


async def test_a_hook_ends_the_rollout_as_data():
    class Enough(AgentMiddleware):
        async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
            raise StopAgent(StopReason.COST_BUDGET)

    run = await play(Lines(calls(find("1"), find("2"))), Enough())
    assert run.stop_reason is StopReason.COST_BUDGET
    assert len(run.outcomes) == 2, "what was executed is recorded"


async def test_side_questions_and_answers_thrown_away_count():
    used = Usage(input_tokens=5, output_tokens=1)

    class Twice(AgentMiddleware):
        async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
            await agent.ask([{"role": "user", "content": "Well?"}])
            await ask()
            return await ask()

    run = await play(Lines(Completion(content="Done.", usage=used, cost_usd=0.5)), Twice())
    assert (len(run.completions), len(run.side)) == (1, 2)
    assert run.usage == Usage(15, 3)
    assert run.cost_usd == 1.5
    assert [each["event"] for each in run.recorded_events] == ["side_completion", "completion"]


async def test_another_context_is_sent_and_the_conversation_stays_whole():
    class Forget(AgentMiddleware):
        async def before_llm_call(self, agent: AgentState) -> None:
            if agent.step == 1:
                agent.memory.context = [OPENING[0], {"role": "user", "content": "Go on."}]

    model = Lines(calls(find("1")), calls(find("2")), DONE)
    opened: list[Conversation] = []
    agent = ReactAgent(
        lambda _: opened.append(model) or model,
        hands(),
        AgentLimits(),
        middlewares=[Forget()],  # type: ignore[func-returns-value]
    )
    run = await agent.run(OPENING)
    assert [len(each) for each in model.shown] == [2, 2, 4]
    assert model.shown[1][1]["content"] == "Go on."
    assert len(run.messages) == 7
    assert len(opened) == 2, "a model that was shown another history starts anew"


@pytest.mark.parametrize("error", [ModelError("gone"), ValueError("a bug")])
async def test_whatever_happens_every_started_middleware_finishes_once(error: Exception):
    log: list[str] = []
    with pytest.raises(type(error)):
        await play(Lines(calls(find("1")), error), Scribe("a", log), Scribe("b", log))
    ends = [line for line in log if "finish" in line]
    reason = "model_error" if isinstance(error, ModelError) else "ValueError"
    assert ends == [f"b finish {reason}", f"a finish {reason}"]


async def test_a_failing_finish_does_not_keep_the_others_from_theirs():
    class Bad(AgentMiddleware):
        async def agent_finish(self, agent: AgentState) -> None:
            raise ValueError("bad")

    log: list[str] = []
    with pytest.raises(ValueError, match="bad"):
        await play(Lines(DONE), Scribe("a", log), Bad())
    assert log[-1] == "a finish finished"


async def test_reads_of_one_turn_overlap_where_the_environment_allows():
    """Three calls that only read wait for each other: in order they would wait for ever. Results
    come in order.
    """
    together = asyncio.Barrier(3)

    async def slow(call: ToolCall) -> Any:
        await together.wait()
        return await dispatch(call)

    agent = ReactAgent(
        lambda _: Lines(calls(find("1", "x"), find("2", "y"), find("3", "z")), DONE),
        ToolInterface(slow, infos=INFOS, concurrent_reads=True),
        AgentLimits(),
    )
    run = await agent.run(OPENING)
    assert [each["content"] for each in run.messages if each["role"] == "tool"] == [
        '{"found":"x"}',
        '{"found":"y"}',
        '{"found":"z"}',
    ]


@pytest.mark.parametrize("at", range(1, 12))
async def test_a_rollout_that_is_cancelled_at_any_await_finishes_its_middlewares_once(at: int):
    """Every await of the loop is a step of the event loop here; the cancellation strikes after each
    number of them.
    """
    log: list[str] = []

    class Slow(Scribe):
        async def around_tool_call(
            self, agent: AgentState, call: ToolCall, execute: Execute
        ) -> ToolAnswer:
            await asyncio.sleep(0)
            return await execute()

        async def agent_finish(self, agent: AgentState) -> None:
            await asyncio.sleep(0)
            log.append("finish")

    class Thinking(Lines):
        async def complete(self, *arguments: Any) -> Completion:
            await asyncio.sleep(0)
            return await super().complete(*arguments)

    task = asyncio.create_task(
        play(Thinking(calls(find("1"), find("2")), DONE), Slow("a", []), Slow("b", []))
    )
    for _ in range(at):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert log == ["finish", "finish"]


@pytest.mark.parametrize(
    "hook", ["agent_start", "before_llm_call", "around_tool_call", "after_tool_call"]
)
async def test_the_deadline_holds_while_a_hook_hangs(hook: str):
    async def hang(*arguments: Any) -> Any:
        await asyncio.Event().wait()

    hanging = type("Hanging", (AgentMiddleware,), {hook: hang})
    run = await play(Lines(calls(find("1"))), hanging(), timeout_s=0.02)
    assert run.stop_reason is StopReason.TIME_BUDGET
    assert len(run.outcomes) == (hook == "after_tool_call"), "what was executed is recorded"


async def test_a_call_that_outlives_the_deadline_is_in_the_record():
    """What it did to the database has happened: a replay has to do it again."""

    async def slow(call: ToolCall) -> ToolOutcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise CalledOffError(await dispatch(call)) from None
        raise AssertionError("nobody sets the event")

    agent = ReactAgent(
        Lines(calls(find("a"), find("b")), DONE), ToolInterface(slow), AgentLimits(timeout_s=0.02)
    )
    run = await agent.run(OPENING)
    assert run.stop_reason is StopReason.TIME_BUDGET
    assert [each.call.id for each in run.outcomes] == ["a"]
    assert [each["event"] for each in run.recorded_events] == [
        "completion",
        "tool_result",
        "not_executed",
    ]
    check_transcript(run.messages)
