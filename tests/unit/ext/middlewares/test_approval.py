"""Approval: who is asked about what, and that a denial is a result."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from envs.types import ToolResult
from synth.agent import ReactAgent
from synth.core.agent import events
from synth.core.agent.event_stream import EventStream
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import ToolInfo
from synth.core.agent.turn import ToolInterface
from synth.errors import OperatorError
from synth.ext.middlewares import ApprovalConfig
from synth.ext.middlewares.approval import ApproverModel, Callback, Request, make, matches
from synth.middleware import MiddlewareHome, start
from synth.model import Completion
from tests.unit.agent.test_react import BOX, DONE, OPENING, calls, dispatch, find
from tests.unit.scripted_model import Lines

asked: list[Request] = []


def yes(request: Request) -> bool:
    asked.append(request)
    return True


async def no(request: Request) -> str:
    return "not today"


async def never(request: Request) -> bool:
    await asyncio.Event().wait()
    return True


def wrong(request: Request) -> bool:
    return bool(request.arguments["nothing"])


def check(call: Any) -> ToolResult | None:
    parsed = BOX.parse(call)
    return parsed if isinstance(parsed, ToolResult) else None


async def play(risk: str, event_stream: EventStream | None = None, **options: Any) -> AgentRun:
    info = ToolInfo("find", read_only=risk == "read", destructive=risk == "destructive")
    maker = make(ApprovalConfig(**options), MiddlewareHome(Path()))
    agent = ReactAgent(
        Lines(calls(find("1"), ("2", "find", "{"), find("3", "Ada")), DONE),
        ToolInterface(dispatch, infos={"find": info}, check=check),
        AgentLimits(),
        middlewares=[start("approval", maker)],
        event_stream=event_stream,
    )
    return await agent.run(OPENING)


def answers(run: AgentRun) -> list[str | None]:
    return [each.result.category for each in run.outcomes]


DENIED, MALFORMED = "permission_denied", "malformed_call"


@pytest.mark.parametrize(
    ("mode", "risk", "denied"),
    [
        ("auto_approve", "destructive", False),
        ("normal", "read", False),
        ("normal", "write", False),
        ("normal", "destructive", True),
        ("strict", "read", False),
        ("strict", "write", True),
        ("strict", "destructive", True),
    ],
)
async def test_the_mode_says_which_risk_is_asked_about(mode: str, risk: str, denied: bool):
    """There is nobody to ask here, so what would be asked is denied; a call that is wrong anyhow
    gets its own result.
    """
    run = await play(risk, mode=mode)
    assert answers(run) == ([DENIED, MALFORMED, DENIED] if denied else [None, MALFORMED, None])


async def test_a_denial_is_told_recorded_and_not_executed():
    run = await play("destructive")
    first = next(each for each in run.recorded_events if each["event"] == "tool_result")
    assert first["by"] == "approval"
    assert "nobody to approve it" in json.loads(run.messages[3]["content"])["message"]
    assert run.messages[2]["tool_calls"][0]["id"] == run.messages[3]["tool_call_id"] == "1"


async def test_a_function_decides_and_the_request_is_an_event():
    event_stream = EventStream()
    feed = event_stream.subscribe()
    asked.clear()
    assert answers(await play("destructive", event_stream, callback=f"{__name__}:yes")) == [
        None,
        MALFORMED,
        None,
    ]
    assert [each.arguments for each in asked] == [{"name": "Zoë"}, {"name": "Ada"}]
    await event_stream.aclose()
    assert [each.call.id async for each in feed if isinstance(each, events.ApprovalRequest)] == [
        "1",
        "3",
    ]
    run = await play("destructive", callback=f"{__name__}:no")
    assert "not today" in run.messages[3]["content"]


async def test_no_answer_in_time_is_a_denial():
    run = await play("destructive", callback=f"{__name__}:never", timeout_s=0.01)
    assert answers(run) == [DENIED, MALFORMED, DENIED]
    assert "nobody answered in time" in run.messages[3]["content"]


async def test_a_function_that_raises_is_a_bug_and_no_denial():
    with pytest.raises(KeyError):
        await play("destructive", callback=f"{__name__}:wrong")


async def test_rules_come_first():
    assert answers(await play("destructive", allow=["find:name=Z*"])) == [None, MALFORMED, DENIED]
    assert answers(await play("read", mode="auto_approve", deny=["f*:name=Ada"])) == [
        None,
        MALFORMED,
        DENIED,
    ]


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        *[("find", True), ("f*", True), ("find:name=A?a", True), ("find:n=1*", True)],
        *[("find:name=B*", False), ("find:age=*", False), ("lose", False)],
    ],
)
def test_a_rule_is_a_glob_of_tools_and_of_an_argument(rule: str, fits: bool):
    assert matches(rule, "find", {"name": "Ada", "n": 12}) is fits


async def test_a_model_decides_by_the_policy():
    heard: list[Completion] = []
    request = Request("find", {"name": "Ada"}, "write", OPENING, heard.append)
    judge = Lines(Completion(content="Yes, go on."))
    assert await ApproverModel(judge, "Be strict.").decide(request) is None
    assert [each.content for each in heard] == ["Yes, go on."]
    assert judge.shown[0][0]["content"] == "Be strict."
    assert '"Ada"' in judge.shown[0][1]["content"]
    for said, why in [
        ("No, the user did not ask.", "the user did not ask."),
        ("**No** - too much", "too much"),
        ("Not allowed: too much.", "Not allowed: too much."),
        ("Yesterday's order was another.", "Yesterday's order was another."),
        ("no", "it was refused"),
    ]:
        assert await ApproverModel(Lines(Completion(content=said)), "").decide(request) == why
    assert await ApproverModel(Lines(Completion(content="**Yes**.")), "").decide(request) is None
    assert await Callback(lambda request: False).decide(request) == "it was refused"


def test_a_function_that_is_not_there_is_said():
    with pytest.raises(OperatorError, match="nothing_there"):
        make(ApprovalConfig(callback="tests.unit.agent:nothing_there"), MiddlewareHome(Path()))
