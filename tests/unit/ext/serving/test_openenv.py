"""The protocol of OpenEnv's clients: one WebSocket is one session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from synth.core.models.scripted.expert import ExpertConversation
from tests.unit.ext.serving.test_environment import TOKEN, Served, message_of, served


class Client:
    """What OpenEnv's clients send and read."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def ask(self, kind: str, **data: Any) -> dict[str, Any]:
        await self._socket.send_str(json.dumps({"type": kind, "data": data}))
        return json.loads(await self._socket.receive_str(timeout=60))


@asynccontextmanager
async def connected(world: Served, token: str = TOKEN) -> AsyncIterator[Client]:
    url = f"{world.url}/openenv/{token}/ws"
    async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
        yield Client(socket)


async def play(client: Client, world: Served, number: int, *, mcp: bool) -> dict[str, Any]:
    """Play gold in one of the two forms of actions; returns the last answer's data."""
    begun = (await client.ask("reset", task=number))["data"]
    expert = ExpertConversation(await world.live.task(number))
    messages = list(begun["observation"]["messages"])
    step: dict[str, Any] = begun
    while not step["done"]:
        turn = expert.next_turn(messages)
        messages.append(message_of(turn))
        if mcp and not turn.tool_calls:
            reply = {"tool_name": "reply_to_user", "arguments": {"text": turn.content}}
            actions = [{"type": "call_tool", **reply}]
        elif mcp:
            actions = [
                {
                    "type": "call_tool",
                    "tool_name": call.name,
                    "arguments": json.loads(call.arguments),
                }
                for call in turn.tool_calls
            ]
        else:
            actions = [
                {"text": turn.content, "tool": call.name, "arguments": json.loads(call.arguments)}
                for call in turn.tool_calls
            ] or [{"text": turn.content}]
        for action in actions:
            answer = await client.ask("step", **action)
            assert answer["type"] == "observation", answer
            step = answer["data"]
            for follow in step["observation"]["messages"]:
                if follow["role"] == "tool":
                    follow["tool_call_id"] = turn.tool_calls[0].id
                messages.append(follow)
    return step


@pytest.mark.parametrize("mcp", [False, True])
async def test_gold_earns_the_reward_in_both_forms_of_actions(tmp_path: Path, mcp: bool):
    async with served(tmp_path) as world, connected(world) as client:
        step = await play(client, world, 1, mcp=mcp)
        assert step["reward"] == 1.0
        assert step["observation"]["outcome"] == "success"
        over = await client.ask("step", text="And now?")
        assert over["type"] == "error"
        assert "over" in over["data"]["message"]
        assert not (await client.ask("reset", task=1))["data"]["done"]
        assert (await client.ask("state"))["data"]["step_count"] == 0
        assert world.sessions.open == 1
    assert world.sessions.open == 0


async def test_a_client_that_goes_gives_its_sandbox_back(tmp_path: Path):
    async with served(tmp_path) as world:
        async with connected(world) as client:
            await client.ask("reset", seed=6)
            assert world.sessions.open == 1
        async with connected(world) as client:
            assert (await client.ask("reset", seed=6))["data"]["observation"]["task"] == 6 % 4
            assert world.sessions.open == 1


async def test_tools_are_listed_in_the_form_of_mcp(tmp_path: Path):
    async with served(tmp_path) as world, connected(world) as client:
        assert "reset" in (await client.ask("step", type="list_tools"))["data"]["message"]
        await client.ask("reset")
        tools = (await client.ask("step", type="list_tools"))["data"]["observation"]["tools"]
        assert {"name", "description", "input_schema"} == set(tools[0])
        assert tools[-1]["name"] == "reply_to_user"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("{", "INVALID_JSON", "not JSON"),
        ("[]", "INVALID_JSON", "a JSON object"),
        ('{"type": "reset", "data": 7}', "VALIDATION_ERROR", "data is an object"),
        ('{"type": "reset", "data": {"task": "one"}}', "VALIDATION_ERROR", "task is a number"),
        ('{"type": "reset", "data": {"task": 99}}', "VALIDATION_ERROR", "from 0 to"),
        ('{"type": "dance"}', "UNKNOWN_TYPE", "dance"),
        ('{"type": "step", "data": {"text": 7}}', "VALIDATION_ERROR", "strings"),
        ('{"type": "step", "data": {}}', "VALIDATION_ERROR", "strings"),
        ('{"type": "step", "data": {"text": null}}', "VALIDATION_ERROR", "strings"),
        (
            '{"type": "step", "data": {"tool": "x", "arguments": []}}',
            "VALIDATION_ERROR",
            "arguments",
        ),
        ('{"type": "step", "data": {"word": "x"}}', "VALIDATION_ERROR", "no 'word'"),
    ],
)
async def test_what_is_wrong_is_one_error_and_the_talk_goes_on(
    tmp_path: Path, text: str, code: str, words: str
):
    async with served(tmp_path) as world, connected(world) as client:
        if '"step"' in text:
            await client.ask("reset")
        socket = client._socket  # pyright: ignore[reportPrivateUsage]
        await socket.send_str(text)
        answer = json.loads(await socket.receive_str(timeout=60))
        assert (answer["type"], answer["data"]["code"]) == ("error", code), answer
        assert words in answer["data"]["message"]
        assert (await client.ask("reset", task=0))["type"] == "observation"


async def test_the_token_stands_in_the_path(tmp_path: Path):
    async with served(tmp_path) as world, aiohttp.ClientSession() as http:
        root = f"{world.url}/openenv"
        async with http.get(f"{root}/another/schema") as answer:
            assert answer.status == 401
        async with http.get(f"{root}/another/ws") as answer:
            assert answer.status == 401
        async with http.get(f"{root}/{TOKEN}/schema") as answer:
            assert (await answer.json())["action"]["required"] == ["text"]
        async with http.get(f"{root}/{TOKEN}/health") as answer:
            assert await answer.json() == {"status": "healthy"}
        async with http.get(f"{root}/{TOKEN}/metadata") as answer:
            assert (await answer.json())["description"]
