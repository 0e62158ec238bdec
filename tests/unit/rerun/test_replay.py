"""Replay of recorded calls and conversations. Each malformed call of the corpus of
:mod:`tests.unit.agent.test_malformed` is replayed there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from envs.types import Limits, ToolCall
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.core.agent.memory import RAW_KEY
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.database import DatabaseConfig
from synth.core.dataset.store.wire import decode, encode, to_values, to_wire
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.rerun.replay import differences
from synth.core.runner.setup import limits_of
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.model import Completion
from synth.plan import job
from synth.rollout import RolloutContext, play
from synth.task import Message
from tests.unit import small_world, talking_world
from tests.unit.scripted_model import Answering

CALLS = [
    ("find_items", '{"name":"Desk"}'),
    ("find_items", '{"name":' + "[" * 5000 + "]" * 5000 + "}"),
    ("find_items", '{"' + RAW_KEY + '":"x","name":"Desk"}'),
    ("\ud800", '{"name":"a\x00b"}'),
]
IDS = ("x", "", "\ud800", "x")


def wild(messages: Sequence[Message]) -> Completion:
    """Send one odd call after the other, two in each turn."""
    at = sum(message["role"] == "tool" for message in messages)
    if at >= len(CALLS):
        return Completion(content="I cannot do this.")
    sent = [ToolCall(IDS[number], *CALLS[number]) for number in (at, at + 1)]
    return Completion(tool_calls=sent, finish_reason="tool_calls")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory):
    world = load_world(small_world.make(tmp_path_factory.mktemp("replay") / "world"))
    with world.template() as template:
        task = asyncio.run(prove(FamilyTasks(world, template).task("price", 0, 0), world, template))
        limits = limits_of(DatabaseConfig())
        stage = RolloutContext(world, Templates(world), Answering(wild), limits, AgentLimits())
        row = asyncio.run(play(job(0, task, 1, 0), stage))
        kept = to_values(decode(encode(to_wire(row))))

        def again(changed: Any) -> list[str]:
            return asyncio.run(differences(changed, task, world, template, limits))

        yield kept, again


def test_what_was_played_comes_out_the_same_again(played: Any):
    """NUL and lone surrogates too, which no column of a dataset can hold as they are."""
    row, again = played
    assert again(row) == []


def test_a_call_that_was_altered_in_the_transcript_is_named(played: Any):
    row, again = played
    messages = [dict(each) for each in row["messages"]]
    at = next(at for at, each in enumerate(messages) if "tool_calls" in each)
    first = messages[at]["tool_calls"][0]
    other = {**first, "function": {"name": "find_items", "arguments": {"name": "Lamp"}}}
    messages[at]["tool_calls"] = [other, *messages[at]["tool_calls"][1:]]
    (line,) = again({**row, "messages": messages})
    assert 'call 0 (find_items, x): the model emitted {"arguments":{"name":"Desk"}' in line


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory):
    """A rollout with a scripted user, as it comes out of its Parquet cells."""
    world = load_world(talking_world.make(tmp_path_factory.mktemp("replay") / "talking"))
    with world.template() as template:
        task = asyncio.run(
            prove(FamilyTasks(world, template).task("plan_asked", 0, 0), world, template)
        )
        limits = limits_of(DatabaseConfig())
        stage = RolloutContext(world, Templates(world), ScriptedModel(), Limits(), AgentLimits())
        kept = to_values(decode(encode(to_wire(asyncio.run(play(job(0, task, 1, 0), stage))))))

        def again(changed: Any, users: str = "scripted") -> list[str]:
            return asyncio.run(differences(changed, task, world, template, limits, user=users))

        yield kept, again


def test_a_conversation_comes_out_the_same_again(conversation: Any):
    row, again = conversation
    assert [each["event"] for each in row["events"]].count("user_turn") == 3
    assert again(row) == []


def test_the_users_recorded_turns_are_what_is_judged(conversation: Any):
    """Whoever the user was, a replay needs no model: without the consent of the record, the reward
    is another.
    """
    row, again = conversation
    events = [
        {**each, "consents": False} if each["event"] == "user_turn" else each
        for each in row["events"]
    ]
    (line,) = again({**row, "events": events}, users="my_package.users:Somebody")
    assert line == "reward was 1.0, is now 0.0"


def test_the_scripted_user_is_asked_again(conversation: Any):
    row, again = conversation
    events = [dict(each) for each in row["events"]]
    first = next(each for each in events if each["event"] == "user_turn")
    first["text"] = first["text"].replace("On ", "By ")
    lines = again({**row, "events": events})
    assert len(lines) == 2
    assert "the user's answer to Could you tell me the day? was" in lines[0]
    assert lines[1] == "the user's messages are not those of the events"
