"""Events have one JSON form each, and a schema that is made from the same classes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import synth
from envs.types import RowChange, ToolCall, ToolResult
from synth.core.agent import events
from synth.core.agent.events import AgentEvent, agent_events_schema
from synth.core.models.emission import read_events
from synth.core.types import events as recorded
from synth.core.types.events import (
    MiddlewareEvent,
    RecordedEvent,
    Usage,
    event_from_json,
    recorded_schema,
)
from synth.errors import DatasetError
from synth.model import Completion, Delta
from synth.verdict import StopReason, Verdict

CALL = ToolCall("call_0", "find_items", '{"name": "Lamp\\ud800"}')
CHANGE = RowChange("items", "update", {"item_id": 1}, {"due": None}, {"due": "2026-04-03"})

LIVE = [
    events.AgentStart(rollout_id="r", tools=["find_items"]),
    events.StepStart(rollout_id="r", step=1),
    events.ContentDelta(rollout_id="r", step=1, delta=Delta("content", "Hi")),
    events.ContentComplete(
        step=1, completion=Completion(content="", tool_calls=(CALL,), usage=Usage(3, 1))
    ),
    events.ToolCall(step=1, call=CALL),
    events.ToolResult(step=1, call=CALL, result=ToolResult({"due": None}), content="{}", by="x"),
    events.ToolResult(
        call=CALL,
        result=ToolResult.failure("No.", category="not_found", error="NotFound"),
        content="No.",
    ),
    events.Compaction(before=9, after=3, detail={"turns": 2}),
    events.ApprovalRequest(call=CALL, risk="write"),
    events.RowChanges(step=1, call=CALL, changes=[CHANGE]),
    events.UserTurnRequest(step=2, text="On which day?"),
    events.UserReply(step=2, text="On Monday.", ends=False),
    events.RolloutScore(
        step=3, reward=1.0, outcome="success", verdicts=[Verdict("state", 1.0, "").to_json()]
    ),
    events.RolloutScore(reward=None, outcome="unscored", verdicts=[]),
    events.StepEnd(step=1),
    events.AgentError(error=ValueError("bad sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e")),
    events.AgentFinish(stop_reason=StopReason.FINISHED),
    events.AgentFinish(stop_reason=None),
]


def kinds(base: type) -> set[str]:
    """The names of the event classes of a module."""
    module = events if base is AgentEvent else recorded
    return {
        name
        for name, item in vars(module).items()
        if isinstance(item, type) and issubclass(item, base) and item is not base
    }


def test_each_kind_of_event_is_in_the_schema():
    Draft202012Validator.check_schema(agent_events_schema())
    Draft202012Validator.check_schema(recorded_schema())
    assert kinds(AgentEvent) <= agent_events_schema()["$defs"].keys()
    assert kinds(RecordedEvent) - {"MiddlewareEvent"} <= recorded_schema()["$defs"].keys()
    assert kinds(AgentEvent) == {type(event).__name__ for event in LIVE}


@pytest.mark.parametrize("event", LIVE, ids=lambda event: event.event)
def test_the_form_of_a_running_event_is_json_that_its_schema_takes(event: AgentEvent):
    form = event.to_json()
    assert next(iter(form)) == "event"
    Draft202012Validator(agent_events_schema()).validate(json.loads(json.dumps(form)))


def test_a_result_keeps_its_nulls_and_an_error_shows_no_secret():
    assert LIVE[5].to_json()["result"] == {"due": None}
    assert "4f9a8b" not in json.dumps(LIVE[10].to_json())


def test_recorded_events_come_back_to_the_letter_and_fit_the_schema(tmp_path: Path):
    validator = Draft202012Validator(recorded_schema())
    seen: set[str] = set()
    run = synth.run(
        "env=shop", tasks={"count": 8}, runtime={"kind": "inline"}, output={"dir": tmp_path / "run"}
    )
    for row in run.dataset.rows(["events"]):
        for raw, event in zip(row["events"], read_events(row["events"]), strict=True):
            assert json.dumps(event.to_json()) == json.dumps(raw)
            validator.validate(raw)
            seen.add(event.event)
    assert {"completion", "tool_result", "user_turn"} <= seen


NOTED = {
    "event": "tool_result",
    "id": "call_0",
    "name": "find_items",
    "result": None,
    "by": "cache",
    "repaired": {"arguments": "{}", "how": ["closed a brace"]},
    "fault": {"kind": "slow"},
}


@pytest.mark.parametrize(
    "raw",
    [
        NOTED,
        {"event": "not_executed", "ids": ["a", "b"]},
        {"event": "mine", "tool": "find_items", "by": None},
        {
            "event": "compaction",
            "reason": "overflow",
            "step": 3,
            "turns": 2,
            "left_out": 0,
            "kept": 1,
            "failed": "no_gain",
        },
    ],
    ids=lambda raw: raw["event"],
)
def test_an_event_keeps_the_keys_that_it_has_and_their_order(raw: dict[str, object]):
    assert json.dumps(event_from_json(raw).to_json()) == json.dumps(raw)


def test_an_event_of_somebody_elses_middleware_is_kept_as_it_is():
    event = event_from_json({"event": "mine", "n": 1})
    assert event == MiddlewareEvent(event="mine", details={"n": 1})
    assert dataclasses.is_dataclass(event)


@pytest.mark.parametrize("raw", [{"event": "completion"}, {"no": "kind"}])
def test_an_event_that_is_none_is_an_error_of_the_dataset(raw: dict[str, object]):
    with pytest.raises(DatasetError, match="an event cannot be read"):
        read_events([raw])


def test_a_null_in_a_changed_row_is_kept():
    event = events.RowChanges(call=CALL, changes=[CHANGE]).to_json()
    assert event["changes"] == [CHANGE.to_json()]
    assert event["changes"][0]["before"] == {"due": None}
