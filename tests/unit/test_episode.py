"""Episodes with a user: what is said, stepped and judged, and what no user ever gets to see."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.sandboxes.base import Template
from envs.types import Limits, ToolCall, ToolOutcome, ToolResult
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.families import FamilyTasks
from synth.core.types.events import Usage
from synth.core.types.steps import ReplyStep
from synth.core.users import AbsentUser
from synth.core.users.scripted.user import GO_ON, NOTHING_TO_ADD, ScriptedUser
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import OperatorError, TaskError
from synth.plan import job
from synth.rollout import RolloutContext, play
from synth.task import Message, Task
from synth.user import User, UserConversation, UserRole, UserTurn
from tests.unit import talking_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return load_world(talking_world.make(tmp_path_factory.mktemp("episode") / "world"))


@pytest.fixture(scope="module")
def tasks(world: World, template: Template) -> Mapping[str, Task]:
    """The first task of each family and case, proved."""
    source = FamilyTasks(world, template)
    found = [source.task(family.id, at, 0) for family in source.families for at in (0, 1)]
    return {each.case or each.family: asyncio.run(prove(each, world, template)) for each in found}


def called(tool: str, **arguments: Any) -> Message:
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def test_a_task_with_a_user_is_played_by_hand(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    task = tasks["plan_asked"]
    name, day = task.slots["name"], task.slots["day"]

    async def by_hand(episode: Episode) -> None:
        assert (await episode.say("For which day?")).told == ("day",)
        assert (await episode.say(f"Plan {name} for {day}?")).consents
        await episode.call("plan_item", {"name": name, "due": day})
        assert not episode.done
        assert (await episode.say("Planned.")).ends

    with Episode(task, world, template) as episode:
        asyncio.run(by_hand(episode))
        assert episode.done
        assert episode.said == "Planned."
        assert [(each.after, tuple(each.told), each.consents) for each in episode.turns] == [
            (0, ("day",), False),
            (0, (), True),
            (1, (), False),
        ]
        assert episode.score().reward == 1.0


def test_a_write_before_the_question_costs_the_reward(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    """The end state is right, and the day was right by luck: the process was not."""
    task = tasks["plan_asked"]
    with Episode(task, world, template) as episode:
        asyncio.run(
            episode.call("plan_item", {"name": task.slots["name"], "due": task.slots["day"]})
        )
        asyncio.run(episode.say("For which day?"))
        asyncio.run(episode.say(f"Plan {task.slots['name']} for {task.slots['day']}?"))
        assert episode.score().reward == 0.0


def test_steps_are_messages_in_and_messages_out(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    task = tasks["plan_asked"]
    name, day = task.slots["name"], task.slots["day"]
    with Episode(task, world, template) as episode:
        opening = len(episode.messages)
        (result,) = asyncio.run(episode.step(called("find_items", name=name)))
        assert (result["role"], result["tool_call_id"], result["name"]) == (
            "tool",
            "a",
            "find_items",
        )
        assert asyncio.run(episode.step(said("Which day is it for?"))) == [
            {"role": "user", "content": f"On {day}, please."}
        ]
        asyncio.run(episode.step(said(f"Plan {name} for {day}?")))
        asyncio.run(
            episode.step(called("plan_item", name=name, due=day) | {"content": "Which colour?"})
        )
        assert len(episode.turns) == 2, "the user does not hear what is said beside a call"
        assert asyncio.run(episode.step(said("Planned."))) == []
        assert episode.done
        assert [each["role"] for each in episode.messages[opening:]] == [
            "assistant", "tool", "assistant", "user", "assistant", "user", "assistant", "tool", "assistant"
        ]  # fmt: skip
        assert episode.score().reward == 1.0
        with pytest.raises(OperatorError, match="the episode is over"):
            asyncio.run(episode.step(said("And?")))


CALL = {"id": "a", "function": {"name": "find_items", "arguments": "{}"}}
UNWRITTEN = {"function": {"name": "find", "arguments": {"name": {1}}}}


def of_assistant(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", **fields}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("For which day?", "of the role assistant, not str"),
        (None, "of the role assistant, not NoneType"),
        ({"content": "For which day?"}, "of the role assistant, not None"),
        ({"role": "bot", "content": "For which day?"}, "of the role assistant, not 'bot'"),
        (of_assistant(content=5), "content of an assistant message is a string"),
        (of_assistant(content=[{"type": "image_url"}]), "content of an assistant message is a str"),
        (of_assistant(tool_calls=CALL), "of an assistant message is a list or null, not dict"),
        (of_assistant(tool_calls=[CALL, None]), "an entry of tool_calls is"),
        (of_assistant(tool_calls=[CALL["function"]]), "an entry of tool_calls is"),
        (of_assistant(tool_calls=[{"function": {"name": None}}]), "an entry of tool_calls is"),
        (of_assistant(function_call=CALL["function"]), "an entry of tool_calls: function_call is"),
        (of_assistant(tool_calls=[UNWRITTEN]), "the arguments of find are JSON text or an object"),
    ],
)
def test_a_step_that_is_no_message_says_so_and_plays_nothing(
    world: World, template: Template, tasks: Mapping[str, Task], message: Any, why: str
):
    with Episode(tasks["plan_asked"], world, template) as episode:
        before = list(episode.messages)
        with pytest.raises(OperatorError, match=why):
            asyncio.run(episode.step(message))
        assert (episode.messages, episode.calls, episode.done) == (before, [], False)


@pytest.mark.parametrize(
    "message",
    [
        {"content": "For which day?", "tool_calls": None},
        {"content": "For which day?", "tool_calls": []},
        {"content": [{"type": "text", "text": "For which "}, {"type": "text", "text": "day?"}]},
        {"content": "For which day?\ud800"},
    ],
)
def test_the_forms_in_which_an_assistant_may_speak(
    world: World, template: Template, tasks: Mapping[str, Task], message: Message
):
    with Episode(tasks["plan_asked"], world, template) as episode:
        (reply,) = asyncio.run(episode.step({"role": "assistant", **message}))
        assert reply["role"] == "user"
        assert episode.turns[0].told == ("day",)


@pytest.mark.parametrize("message", [{}, {"content": None}, {"content": "", "tool_calls": None}])
def test_an_empty_turn_ends_the_conversation(
    world: World, template: Template, tasks: Mapping[str, Task], message: Message
):
    with Episode(tasks["plan_asked"], world, template) as episode:
        assert asyncio.run(episode.step({"role": "assistant", **message})) == []
        assert episode.done


def test_a_step_takes_arguments_as_text_or_object_and_malformed_ones_are_a_result(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    with Episode(tasks["price"], world, template) as episode:
        message = called("find_items")
        for arguments, ok in (
            ({"name": "Desk"}, True),
            ('{"name": "Desk"}', True),
            ('{"name": ', False),
        ):
            message["tool_calls"][0]["function"]["arguments"] = arguments
            (result,) = asyncio.run(episode.step(message))
            assert ('"error"' not in result["content"]) is ok
        with pytest.raises(OperatorError, match="of the role assistant, not 'user'"):
            asyncio.run(episode.step({"role": "user", "content": "Hello"}))


def test_without_a_user_words_end_the_episode(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    with Episode(tasks["price"], world, template, user=AbsentUser()) as episode:
        assert asyncio.run(episode.step(said("What do you mean?"))) == []
        assert episode.done
        assert episode.turns == []
        assert episode.evidence().said == "What do you mean?"


def test_every_task_has_a_user_who_answers_briefly(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    assert tasks["price"].user is None
    with Episode(tasks["price"], world, template) as episode:
        (answer,) = asyncio.run(episode.step(said("What do you mean?")))
        assert answer["content"] in NOTHING_TO_ADD
        (answer,) = asyncio.run(episode.step(said("Let me look that up.")))
        assert answer["content"] in GO_ON
        assert not episode.done
        assert asyncio.run(episode.step(said("It costs 3.50."))) == []
        assert episode.done


def test_evidence_asks_the_end_state_read_only(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    with Episode(tasks["plan_asked"], world, template) as episode:
        asyncio.run(episode.call("plan_item", {"name": "Desk", "due": "2026-04-04"}))
        query = episode.evidence().query
        assert query is not None
        assert query("SELECT due FROM items WHERE name = :n", {"n": "Desk"}) == [
            {"due": "2026-04-04"}
        ]
        with pytest.raises(TaskError, match="the query"):
            query("DELETE FROM items", {})
        assert len(episode.diff().changes) == 1


class Listening(User):
    """The scripted user, with everything that ever reaches it written down."""

    name = "listening"

    def __init__(self) -> None:
        self.reached: list[Any] = []

    def start(self, role: UserRole, seed: int) -> UserConversation:
        self.reached += [role, seed]
        return _Ear(ScriptedUser().start(role, seed), self.reached)


class _Ear(UserConversation):
    def __init__(self, inner: UserConversation, reached: list[Any]) -> None:
        self._inner, self._reached = inner, reached

    async def reply(self, text: str) -> UserTurn:
        self._reached.append(text)
        return await self._inner.reply(text)


async def roll(task: Task, world: World, user: User) -> Mapping[str, Any]:
    templates = Templates(world, "sqlite")
    try:
        stage = RolloutContext(world, templates, ScriptedModel(), Limits(), AgentLimits(), user)
        return await play(job(0, task, 1, 0), stage)
    finally:
        templates.close()


@pytest.mark.parametrize("which", ["plan_asked", "cheap", "dear"])
def test_a_user_is_reached_by_its_role_and_the_agents_words_only(
    which: str, world: World, tasks: Mapping[str, Task]
):
    task, user = tasks[which], Listening()
    row = asyncio.run(roll(task, world, user))
    assert row["reward"] == 1.0
    assert row["stop_reason"] == "user_ended"
    assert row["user_model"] == "listening"
    role, _, *heard = user.reached
    assert role == task.user
    assert heard == [
        each["content"]
        for each in row["messages"]
        if each["role"] == "assistant" and "tool_calls" not in each
    ]
    everything = pickle.dumps(user.reached).decode("latin-1") + json.dumps(
        [repr(each) for each in user.reached]
    )
    for hidden in ("find_items", "plan_item", "item_id", 'colour": "red', task.id, "save", "gates"):
        assert hidden not in everything
    results = [each["content"] for each in row["messages"] if each["role"] == "tool"]
    assert results
    assert not any(each in everything for each in results)


def test_who_did_not_have_to_talk_has_a_user_all_the_same(world: World, tasks: Mapping[str, Task]):
    user = Listening()
    row = asyncio.run(roll(tasks["price"], world, user))
    assert (row["user_model"], row["stop_reason"], row["reward"]) == ("listening", "user_ended", 1)
    assert user.reached[0] == UserRole(tasks["price"].prompt)


def test_with_users_none_nobody_answers(world: World, tasks: Mapping[str, Task]):
    row = asyncio.run(roll(tasks["price"], world, AbsentUser()))
    assert (row["user_model"], row["stop_reason"], row["reward"]) == (None, "finished", 1.0)


class Paid(User):
    """Says the same whatever it hears, at a price; its second turn may have a fault."""

    name = "paid"

    def __init__(self, fault: str | None) -> None:
        self.fault = fault

    def start(self, role: UserRole, seed: int) -> UserConversation:
        return _Said(
            [
                UserTurn("On some day.", told=("day",), usage=Usage(7, 3), cost_usd=0.25),
                UserTurn("Yes.", consents=True, fault=self.fault, usage=Usage(9, 1), cost_usd=0.5),
                UserTurn(ends=True, usage=Usage(11, 1), cost_usd=0.125),
            ]
        )


class _Said(UserConversation):
    def __init__(self, turns: Sequence[UserTurn]) -> None:
        self._turns = iter(turns)

    async def reply(self, text: str) -> UserTurn:
        return next(self._turns)


def test_what_a_user_costs_stands_apart(world: World, tasks: Mapping[str, Task]):
    row = asyncio.run(roll(tasks["plan_asked"], world, Paid(None)))
    assert (row["user_input_tokens"], row["user_output_tokens"], row["user_cost_usd"]) == (
        27,
        5,
        0.875,
    )
    assert (row["input_tokens"], row["cost_usd"]) == (None, None)
    assert (row["reward"], row["blame"]) == (1.0, None)


def test_a_users_own_fault_leaves_the_rollout_unscored(world: World, tasks: Mapping[str, Task]):
    row = asyncio.run(roll(tasks["plan_asked"], world, Paid("it gave away the price")))
    assert (row["reward"], row["outcome"], row["blame"]) == (None, "unscored", "user")
    assert row["verdicts"][0]["reason"] == "the user is at fault: it gave away the price"
    assert [each["fault"] for each in row["events"] if each["event"] == "user_turn"] == [
        None,
        "it gave away the price",
        None,
    ]


def test_the_agent_is_to_blame_for_what_it_did_not_do(world: World, tasks: Mapping[str, Task]):
    lazy = replace(tasks["plan_asked"], gold=[ReplyStep("Done.")])
    row = asyncio.run(roll(lazy, world, ScriptedUser()))
    assert (row["reward"], row["outcome"], row["blame"]) == (0.0, "failure", "agent")


def test_a_cancelled_call_in_a_thread_is_waited_for(
    world: World, template: Template, tasks: Mapping[str, Task], monkeypatch: pytest.MonkeyPatch
):
    """Else it would go on in the sandbox while the episode is scored and closed."""
    started, go_on = threading.Event(), threading.Event()

    def slow(self: DatabaseExecutableEnvironment, call: ToolCall) -> ToolOutcome:
        started.set()
        go_on.wait()
        result = ToolResult({"late": True})
        return ToolOutcome(call, result, result.content(), {})

    def not_inline(self: DatabaseExecutableEnvironment, tool: str) -> bool:
        return False

    monkeypatch.setattr(DatabaseExecutableEnvironment, "call", slow)
    monkeypatch.setattr(DatabaseExecutableEnvironment, "inline", not_inline)

    async def cancel() -> None:
        with Episode(next(iter(tasks.values())), world, template) as episode:
            call = asyncio.create_task(episode.call("anything", {}))
            await asyncio.to_thread(started.wait)
            call.cancel()
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert [each.name for each in episode.calls] == ["anything"]

    asyncio.run(cancel())


async def test_what_is_over_is_gone_at_once(
    world: World, template: Template, tasks: Mapping[str, Task]
):
    """A rollout leaves nothing for the garbage collector to find: in a worker that would be
    thousands of transcripts.
    """
    task = next(each for each in tasks.values())
    gc.collect()
    gc.disable()
    try:
        with Episode(task, world, template) as episode:
            agent = episode.agent(ScriptedModel())
            run = await agent.run(episode.messages, episode.say)
        gone = [weakref.ref(each) for each in (agent, run, episode)]
        del agent, run, episode
        assert [each() for each in gone] == [None, None, None]
    finally:
        gc.enable()
