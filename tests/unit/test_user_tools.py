"""A user with tools of its own: on the phone line of ``examples/action_lists``, what the agent asks
the user to do is done on the same rows, told in words, recorded and judged.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from envs.errors import WorldError
from envs.sandboxes.base import Template
from envs.types import RowChange, ToolCall, ToolResult
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.database import DatabaseConfig
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.rerun.replay import differences
from synth.core.rewards.requests import evidence_of_requests
from synth.core.runner.setup import limits_of
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.setup_calls import SETUP
from synth.core.types.reply import Act
from synth.core.users.scripted.instructions import UserTools
from synth.core.validation.check import Options
from synth.core.validation.prove import prove
from synth.episode import MOST_USER_CALLS, Episode
from synth.evidence import CallRecord, Evidence, TurnRecord
from synth.ext.action_lists.cli import check_list
from synth.ext.action_lists.tasks import ListSettings, list_tasks
from synth.plan import job
from synth.rollout import RolloutContext, play
from synth.task import Task
from synth.user import FollowUp, Topic, User, UserConversation, UserRole, UserTurn
from tests.user_endpoint import Player, acts, simulated

LISTS = Path(__file__).parents[2] / "examples" / "action_lists"
GRANT: dict[str, Any] = {
    "name": "grant_permission",
    "description": "Give an app a permission.",
    "parameters": {
        "properties": {
            **{key: {"type": "string"} for key in ("app_name", "permission")},
            "scope": {"enum": ["photos", "new photos"]},
        },
        "required": ["permission"],
    },
    "read_only": False,
}
DEPOSIT: dict[str, Any] = {
    "name": "deposit_check",
    "description": "Pay in.",
    "parameters": {"properties": {"amount": {"type": "number"}}, "required": ["amount"]},
    "read_only": False,
}
ON = ToolCall.of("set_data_roaming", {"on": True})


@pytest.fixture(scope="module")
def world() -> World:
    return load_world(LISTS / "phone")


@pytest.fixture(scope="module")
def roam(world: World, template: Template) -> Task:
    return asyncio.run(prove(FamilyTasks(world, template).task("roam", 0, 0), world, template))


def test_no_agent_is_offered_a_tool_of_the_user(world: World, template: Template, roam: Task):
    with Episode(roam, world, template) as episode:
        assert "set_data_roaming" not in json.dumps([episode.tools, episode.messages])
        outcome = asyncio.run(episode.call("set_data_roaming", {"on": True}))
        assert outcome.result.category == "unknown_tool"
        assert not episode.diff().changes


@pytest.mark.parametrize(
    ("text", "stated", "reward"),
    [
        ("Bitte.", [Act("instruct", tools=["set_data_roaming"], arguments={"on": True})], 1.0),
        ("Now turn on data roaming on your phone, please. What do you see?", (), 1.0),
        ("Please turn data roaming off.", (), 0.0),
        ("Please switch on mobile data.", (), 0.0),
        ("Please turn roaming on, then restart the phone.", (), 0.0),
        ("Your data roaming is on.", (), 0.0),
        ("Bitte.", [Act("instruct", tools=["set_torch"])], 0.0),
    ],
)
async def test_only_the_right_instruction_earns_the_reward(
    world: World, template: Template, roam: Task, text: str, stated: Sequence[Act], reward: float
):
    with Episode(roam, world, template) as episode:
        await episode.say("What is your number?")
        await episode.call("find_line", {"phone_number": "555-0141"})
        await episode.call("allow_roaming", {"line_id": 11})
        turn = await episode.say(text, stated)
        await episode.say("Your phone finds data in France now.")
        assert [call.name for call in episode.calls] == ["find_line", "allow_roaming"]
        assert [call.name for call in episode.turns[1].calls] == [one.name for one in turn.calls]
        assert episode.score().reward == reward
        if reward:
            assert turn.text == "Done. It says: data roaming 1."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Could you restart your phone?", {"restart_phone": {}}),
        ("Please choose the network mode 4g.", {"set_network_mode": {"mode": "4G"}}),
        ("Can you check whether data roaming is on?", {"look_at_settings": {}}),
        ("Turn the saver off on your phone.", {"set_data_saver": {"on": False}}),
        (
            "Please:\n1. Turn on data roaming\n2. Restart the phone",
            {"set_data_roaming": {"on": True}, "restart_phone": {}},
        ),
        ("Please give me your phone number.", {}),
        ("Could you tell me the place and phone number?", {}),
        ("Please don't restart your phone.", {}),
        ("Shall I turn on data roaming?", {}),
        ("Would you like me to restart the phone?", {}),
        (
            'Please grant permission with app name "Chat" and permission "sms".',
            {"grant_permission": {"app_name": "Chat", "permission": "sms"}},
        ),
        (
            'Please grant permission with permission "read" for new photos.',
            {"grant_permission": {"permission": "read", "scope": "new photos"}},
        ),
        ("Please deposit the check, phone number 5.", {"deposit_check": {"amount": 5}}),
        ("May I have your permission to restart the phone?", {}),
        ("Please toggle data.", "Which one do you mean: set data roaming or set mobile data or"),
        ("Please change the network mode.", 'I can set network mode. What should "mode" be?'),
    ],
)
def test_a_tool_is_found_by_the_words_of_its_name_and_description(
    world: World, template: Template, roam: Task, text: str, found: object
):
    more = [GRANT, DEPOSIT] if "deposit" in text else [GRANT]
    with Episode(roam, world, template) as episode:
        knows = {"number": Topic("555-0141.", ["phone number"])}
        role = replace(episode.role, knows=knows, tools=[*episode.role.tools, *more])
    turn = UserTools(role).asked(text, (), 0) or UserTurn()
    if isinstance(found, str):
        assert turn.text.startswith(found)
    else:
        assert {call.name: json.loads(call.arguments) for call in turn.calls} == found


class _Caller(User):
    """Makes these calls, and again if it ``repeats``."""

    name = "caller"

    def __init__(self, *calls: ToolCall, repeats: bool | None = None) -> None:
        self.calls, self.repeats = calls, repeats

    def start(self, role: UserRole, seed: int) -> UserConversation:
        return (_Talk if self.repeats is None else _Seeing)(self)


class _Talk(UserConversation):
    def __init__(self, user: _Caller) -> None:
        self.user, self.seen = user, list[ToolResult]()

    async def reply(self, text: str) -> UserTurn:
        return UserTurn(calls=self.user.calls)


class _Seeing(_Talk):
    async def observe(self, results: Sequence[ToolResult]) -> UserTurn:
        self.seen += results
        calls = self.user.calls if self.user.repeats else ()
        return UserTurn("" if calls else f"{len(self.seen)} seen", calls=calls, cost_usd=1.0)


async def test_a_user_that_calls_has_to_observe_and_to_come_to_an_end(
    world: World, template: Template, roam: Task
):
    blind = Episode(roam, world, template, user=_Caller(ON))
    with blind, pytest.raises(NotImplementedError, match="needs `observe`"):
        await blind.say("Hello")
    bad = ToolCall.of("allow_roaming", {"line_id": 11})
    with Episode(roam, world, template, user=_Caller(ON, bad, repeats=False)) as episode:
        turn = await episode.say("Hello")
        assert (turn.text, turn.cost_usd, len(turn.calls)) == ("2 seen", 1.0, 2)
        assert [call.category for call in episode.turns[0].calls] == [None, "unknown_tool"]
        assert [change.table for change in episode.diff().changes] == ["phone"]
    with Episode(roam, world, template, user=_Caller(ON, repeats=True)) as episode:
        turn = await episode.say("Hello")
        assert (turn.ends, turn.fault) == (True, "calls without end")
        assert len(turn.calls) == MOST_USER_CALLS + 1
        assert episode.score().reward is None


def _flip(row: dict[str, Any]) -> None:
    (turn,) = [one for one in row["events"] if one.get("calls")]
    turn["calls"][0]["arguments"] = '{"on": false}'


@pytest.mark.parametrize("change", [None, _flip])
def test_a_recorded_rollout_is_replayed_with_the_calls_of_its_user(
    world: World, template: Template, roam: Task, change: Callable[[Any], None] | None
):
    limits = limits_of(DatabaseConfig())
    context = RolloutContext(world, Templates(world), ScriptedModel(), limits, AgentLimits())
    first = {"mobile_data": False, "network_mode": "2G"}  # no part of the diff
    roam = roam.with_extra(SETUP, [{"tool": "set_phone", "arguments": first}])
    row = asyncio.run(play(job(0, roam, 1, 0), context))
    assert (row["reward"], row["num_tool_calls"]) == (1.0, 2)
    assert not any("calls" in message for message in row["messages"])
    if change is not None:
        change(row)
    lines = asyncio.run(differences(row, roam, world, template, limits))
    assert any("state_diff was" in line for line in lines) is (change is not None)


async def test_a_model_that_plays_the_user_uses_its_tools_by_the_rules(
    world: World, template: Template, roam: Task
):
    act = {"kind": "instruct", "topics": [], "tools": ["set_data_roaming"]}
    heard = acts(act | {"arguments": {"on": True}})
    async with simulated(Player(lambda _: "It says 1 now.", lambda _: heard)) as user:
        with Episode(roam, world, template, user=user) as episode:
            turn = await episode.say("Flip that roaming thing.")
            assert [call.name for call in turn.calls] == ["set_data_roaming"]
            assert turn.text == "It says 1 now."
            assert [change.table for change in episode.diff().changes] == ["phone"]


def test_a_list_with_calls_of_the_user_is_proved(template: Template, world: World):
    settings = ListSettings.of(str(LISTS / "phone.json"), "auto")
    report = check_list(LISTS / "phone", settings, Options(), lambda _: None)
    proved = [one.id for one in report.findings if one.kind is None]
    assert proved == ["abroad", "mode", "card", "saver"]
    torch, flight = (one.reasons[0] for one in report.findings[-2:])
    assert "set_torch" in torch
    assert flight.startswith('setup call 1 (set_phone {"flight_mode":true}): ')


@pytest.mark.parametrize(("text", "reward"), [("It uses 5G.", 1.0), ("I cannot do 5G.", 0.0)])
def test_any_word_of_what_the_user_did_is_enough(
    world: World, template: Template, text: str, reward: float
):
    settings = ListSettings.of(str(LISTS / "phone.json"), "auto")
    (task,) = list_tasks(settings, world, template, None, 0).find("phone", {"task_id": "mode"})
    with Episode(asyncio.run(prove(task, world, template)), world, template) as episode:
        for words in ("Please set the network mode to 5G.", text):
            asyncio.run(episode.say(words))
        assert episode.score().reward == reward


def test_rows_of_the_user_belong_to_the_request_that_they_were_changed_for(roam: Task):
    def changed(*path: int) -> CallRecord:
        changes = [
            RowChange("phone", "update", {"id": 1}, {"mode": old}, {"mode": new})
            for old, new in pairwise(path)
        ]
        return CallRecord("a", {}, True, None, False, changes)

    role = UserRole("", then=[FollowUp("done", "And this?", fresh=True)])
    task = replace(roam, parts=(roam, roam), user=role)
    turns = [TurnRecord(1, calls=[changed(1, 2)]), TurnRecord(2, then=0), TurnRecord(2)]
    turns.append(TurnRecord(2, calls=[changed(3, 4)]))
    evidence = Evidence(task, (), [changed(0, 1), changed(2, 3)], None, turns=turns)
    found = [one.changes for one in evidence_of_requests(evidence) if one is not None]
    assert [[(row.before, row.after) for row in rows] for rows in found] == [
        [({"mode": 0}, {"mode": 3})],
        [({"mode": 3}, {"mode": 4})],
    ]


def test_a_tool_of_the_user_runs_no_free_sql(tmp_path: Path):
    shutil.copytree(LISTS / "phone", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "executors.py"
    file.write_text(file.read_text().replace('"user", read_only=True', '"user", free_sql=True'))
    with pytest.raises(WorldError, match="the user's tools run no free SQL"):
        load_world(tmp_path)
