"""Texts that are written into a conversation afterwards: honest ones pass at their place, and what
was not known there is named.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from envs.types import RowChange, ToolResult
from synth.core.types.checks import Gate
from synth.ext.rationales.turn_context import TurnContext
from synth.rewards import CallRecord
from synth.task import GoldEnd, Message, Task
from synth.user import Topic, UserRole

ASKED = "Please record a heart rate of 72 for Ada Nwosu, it was taken today."
FOUND = {"patients": [{"patient_id": 7, "name": "Ada Nwosu", "email": "ada@example.org"}]}
LATER = "Her allergy is penicillin, and please also book a follow-up for her."

TOOLS = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}
    for name, text, parameters in (
        ("find_patients", "Find patients by name.", {"properties": {"name": {"type": "string"}}}),
        ("record_vitals", "Record vital signs.", {"properties": {"patient_id": {}, "bpm": {}}}),
        ("list_vitals", "List vital signs.", {"properties": {"patient_id": {}}}),
    )
]

TASK = Task(
    id="t",
    family="record",
    env="ehr",
    prompt=ASKED,
    gold=(),
    now="2026-03-02T09:00:00",
    system="Look every patient up. Today is 2026-03-02.",
    gates=(Gate("state"), Gate("reply", {"acts": ["record_vitals"]})),
    end=GoldEnd(answer={"outcome": "recorded twice"}),
    user=UserRole(ASKED, {"allergy": Topic("It is the yellow rash from childhood days.")}),
)


def turn(name: str, /, **arguments: Any) -> Message:
    call = {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def result(name: str, value: Any) -> Message:
    return {"role": "tool", "tool_call_id": name, "name": name, "content": json.dumps(value)}


MESSAGES: list[Message] = [
    {"role": "system", "content": TASK.system},
    {"role": "user", "content": ASKED},
    turn("find_patients", name="Ada Nwosu"),
    result("find_patients", FOUND),
    turn("record_vitals", patient_id=7, bpm=72),
    result("record_vitals", {"vital_id": 5301, "status": "stored safely"}),
    turn("list_vitals", patient_id=7),
    result("list_vitals", {"vitals": [{"bpm": 72}, {"bpm": 64}]}),
    {"role": "assistant", "content": "Recorded: 72 bpm for Ada Nwosu."},
    {"role": "user", "content": LATER},
]

INSERT = RowChange("vitals", "insert", {"vital_id": 5301}, None, {"bpm": 72})
CALLS = [
    CallRecord("find_patients", {"name": "Ada Nwosu"}, True, None, True, (), ToolResult(FOUND)),
    CallRecord("record_vitals", {"bpm": 72}, True, None, False, (INSERT,), ToolResult({})),
]


def moment(place: int, done: int) -> TurnContext:
    arguments = [call["function"]["arguments"] for call in MESSAGES[place].get("tool_calls", ())]
    return TurnContext(
        TASK,
        MESSAGES[:place],
        MESSAGES[place + 1 :],
        [*arguments, MESSAGES[place]["content"]],
        CALLS[:done],
        TOOLS,
        frozenset({"record_vitals"}),
    )


FIRST, WRITE, CHECK = moment(2, 0), moment(4, 1), moment(6, 2)


def kinds(at: TurnContext, text: str) -> Sequence[str]:
    return list(dict.fromkeys(claim.check for claim in at.objections(text)))


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (FIRST, "I need the chart of Ada Nwosu first, so I look her up by name."),
        (FIRST, "The user wants a heart rate of 72 recorded, taken on 2026-03-02, which is today."),
        (FIRST, "Several patients may match, and I have to know which one it is."),
        (WRITE, "There is one match: patient 7, Ada Nwosu. I can record 72 bpm for her."),
        (WRITE, "The search found ada@example.org, so this is the right chart."),
        (WRITE, "I'll record the heart rate of 72 now."),
        (CHECK, "I've recorded the heart rate of 72; I check the list to be sure."),
        (CHECK, "The row has the id 5301 and is stored safely."),
    ],
)
def test_what_is_known_by_then_may_be_said(at: TurnContext, text: str):
    assert not list(at.objections(text))


@pytest.mark.parametrize(
    ("at", "text", "kind"),
    [
        (FIRST, "The pulse before was 9127.", "unknown value"),
        (FIRST, "It was measured on 2026-02-11.", "unknown value"),
        (FIRST, "I write to ada@example.org.", "unknown value"),
        (FIRST, "This must be patient 7.", "unknown value"),
        (WRITE, "The new row will have the id 5301.", "unknown value"),
        (FIRST, "I ask Tom Baker about it.", "unknown name"),
        (FIRST, "Then I tell Tom, who keeps the chart.", "unknown name"),
        (WRITE, "It will be stored safely then.", "future knowledge"),
        (
            WRITE,
            "The user wants to book a follow-up for her later, so I hurry.",
            "future knowledge",
        ),
        (CHECK, "There is the yellow rash from childhood days to ask about.", "future knowledge"),
        (FIRST, "In the end it is recorded twice.", "future knowledge"),
        (WRITE, "I've recorded the heart rate of 72.", "says that something was done"),
        (CHECK, "Nothing was recorded, so I check again.", "says that nothing was done"),
    ],
)
def test_what_came_later_or_was_not_done_is_named(at: TurnContext, text: str, kind: str):
    assert kind in kinds(at, text)


def test_an_objection_quotes_the_text_only():
    """The author is told what was wrong, and learns nothing of gold or of what comes later."""
    text = "The new row will have the id 5301, it is stored safely, and Tom Baker knows."
    words = [claim.words.casefold() for claim in WRITE.objections(text)]
    assert words
    assert all(part in text.casefold() for part in words)


def test_the_users_own_words_may_be_repeated():
    quoted = "The user says: please record a heart rate of 72 for Ada Nwosu, it was taken today."
    assert not kinds(FIRST, quoted)
