"""The protocol of NeMo Gym's resources servers: routes for tools, a cookie, a final verify."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from synth.core.models.scripted.expert import ExpertConversation
from tests.unit.ext.serving.test_environment import TOKEN, Served, message_of, served

COOKIE = "synth_session"


class Agent:
    """Speaks as NeMo Gym's agents do: what it sends are the cookies of the last response."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self.cookies: Mapping[str, str] = {}

    async def post(self, path: str, body: object) -> httpx2.Response:
        self._http.cookies.clear()
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookie} if cookie else {}
        answer = await self._http.post(path, json=body, headers=headers)
        self.cookies = dict(answer.cookies)
        return answer


@asynccontextmanager
async def agent_of(world: Served, token: str = TOKEN) -> AsyncIterator[Agent]:
    url = world.url.replace("://", f"://synth:{token}@")
    async with httpx2.AsyncClient(base_url=url, timeout=60) as http:
        yield Agent(http)


async def row_of(world: Served, number: int) -> dict[str, Any]:
    task = await world.live.task(number)
    return {
        "responses_create_params": {"input": [{"role": "user", "content": task.prompt}]},
        "task_id": task.id,
        "env_digest": world.live.run.world.digest,
        "_ng_task_index": number,
    }


def says(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


async def play(agent: Agent, world: Served, number: int) -> list[dict[str, Any]]:
    """Play gold, with the reply tool for words before the last; returns the response's output."""
    expert = ExpertConversation(await world.live.task(number))
    messages: list[dict[str, Any]] = []
    output: list[dict[str, Any]] = []
    while True:
        turn = expert.next_turn(messages)
        messages.append(message_of(turn))
        if turn.content.startswith(("Planned.", "It costs")):
            return [*output, says(turn.content)]
        for call in turn.tool_calls:
            answer = await agent.post(f"/{call.name}", json.loads(call.arguments))
            assert answer.status_code == 200, answer.text
            messages.append({"role": "tool", "tool_call_id": call.id, "content": answer.text})
            named = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            output += [
                {"type": "function_call", **named},
                {"type": "function_call_output", "call_id": call.id, "output": answer.text},
            ]
        if not turn.tool_calls:
            answer = await agent.post("/reply_to_user", {"text": turn.content})
            assert answer.json()["over"] is False
            messages.append({"role": "user", "content": answer.json()["user"]})


@pytest.mark.parametrize("number", [0, 1])
async def test_gold_earns_one_and_words_alone_earn_nothing(tmp_path: Path, number: int):
    families = ("plan_asked", "price")
    async with served(tmp_path, families=families) as world, agent_of(world) as agent:
        row = await row_of(world, number)
        assert row["task_id"].startswith(families[number])
        begun = await agent.post("/seed_session", row)
        assert (begun.status_code, begun.json()["task_id"]) == (200, row["task_id"])
        body = row | {"response": {"id": "resp_1", "output": await play(agent, world, number)}}
        verified = await agent.post("/verify", body)
        assert verified.status_code == 200, verified.text
        answer = verified.json()
        assert {key: answer[key] for key in body} == body
        assert (answer["reward"], answer["outcome"]) == (1.0, "success")
        again = await agent.post("/verify", body)
        assert again.json() == answer, "a lost answer is asked for again"
        await agent.post("/seed_session", row)
        guess = row | {"response": {"output": [{"type": "reasoning", "id": "x"}, says("Done.")]}}
        assert (await agent.post("/verify", guess)).json()["reward"] == 0.0
        assert world.sessions.open == 0


async def test_two_sessions_at_once_do_not_meet(tmp_path: Path):
    async with served(tmp_path) as world, agent_of(world) as one, agent_of(world) as other:
        row = await row_of(world, 0)
        for agent in (one, other):
            await agent.post("/seed_session", row)
        assert world.sessions.open == 2
        assert one.cookies[COOKIE] != other.cookies[COOKIE]
        played = row | {"response": {"output": await play(one, world, 0)}}
        idle = row | {"response": {"output": []}}
        assert (await other.post("/verify", idle)).json()["reward"] == 0.0
        assert (await one.post("/verify", played)).json()["reward"] == 1.0


async def test_a_wrong_call_is_a_result_and_the_cookie_stays(tmp_path: Path):
    async with served(tmp_path) as world, agent_of(world) as agent:
        await agent.post("/seed_session", await row_of(world, 0))
        name = agent.cookies[COOKIE]
        for path, body, words in (
            ("/no_such_tool", {}, "no_such_tool"),
            ("/find_items", {"colour": 5}, "colour"),
        ):
            answer = await agent.post(path, body)
            assert (answer.status_code, agent.cookies) == (200, {COOKIE: name})
            assert words in answer.json()["message"], answer.text
        for path, body, words in (
            ("/find_items", ["x"], "the body is a JSON object"),
            ("/reply_to_user", {"words": "x"}, "reply_to_user takes"),
            ("/verify", {}, "a response, an object"),
            ("/verify", {"response": {"output": 5}}, "response.output is a list of objects"),
            ("/verify", {"response": {"output": [says("x") | {"content": 5}]}}, "content of a"),
        ):
            answer = await agent.post(path, body)
            assert (answer.status_code, agent.cookies) == (400, {COOKIE: name})
            assert words in answer.json()["error"]["message"]
        assert world.sessions.open == 1


async def test_strangers_are_refused(tmp_path: Path):
    async with served(tmp_path, at_once=1) as world, agent_of(world) as agent:
        row = await row_of(world, 0)
        for change, words in (
            ({"task_id": None}, "a row has a task_id"),
            ({"task_id": "another"}, "no task 'another' among the 4 that are served"),
            ({"env_digest": "0" * 16}, "another version of the world"),
        ):
            answer = await agent.post("/seed_session", row | change)
            assert (answer.status_code, agent.cookies) == (400, {})
            assert words in answer.json()["error"]["message"]
        unknown = await agent.post("/find_items", {})
        assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found")
        assert "POST /seed_session first" in unknown.json()["error"]["message"]
        agent.cookies = {COOKIE: "another"}
        assert (await agent.post("/verify", row | {"response": {"output": []}})).status_code == 404
        await agent.post("/seed_session", row)
        async with agent_of(world) as late, agent_of(world, "wrong") as stranger:
            assert (await late.post("/seed_session", row)).status_code == 429
            assert (await stranger.post("/seed_session", row)).status_code == 401
        async with httpx2.AsyncClient() as http:
            for header in ("Basic", "Basic !", "Basic /w==", f"Digest {TOKEN}"):
                answer = await http.get(world.url, headers={"Authorization": header})
                assert answer.status_code == 401
        assert world.sessions.open == 1


async def test_a_lease_that_ended_says_so_and_has_no_reward(tmp_path: Path):
    async with served(tmp_path, max_turns=1) as world, agent_of(world) as agent:
        row = await row_of(world, 0)
        body = row | {"response": {"output": [says("Done.")]}}
        await agent.post("/seed_session", row)
        assert (await agent.post("/find_items", {"name": "x"})).status_code == 200
        assert (await agent.post("/find_items", {"name": "x"})).status_code == 410
        judged = (await agent.post("/verify", body)).json()
        assert (judged["reward"], judged["stop_reason"]) == (0.0, "max_turns")
    async with served(tmp_path, longest_s=0.01, idle_s=0.1) as world, agent_of(world) as agent:
        await agent.post("/seed_session", row)
        await asyncio.sleep(0.5)
        answer = await agent.post("/verify", body)
        assert answer.status_code == 410
        assert "ended without a reward: " in answer.json()["error"]["message"]


async def test_a_tool_with_a_path_of_the_protocol_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("synth.ext.serving.environment.server.RESERVED", frozenset({"find_items"}))
    async with served(tmp_path) as world, agent_of(world) as agent:
        answer = await agent.post("/seed_session", await row_of(world, 0))
        assert answer.status_code == 400
        assert answer.json()["error"]["message"].endswith("/find_items")
        assert world.sessions.open == 0


async def test_a_rollout_of_a_trainer_is_large(tmp_path: Path):
    async with served(tmp_path) as world, agent_of(world) as agent:
        row = await row_of(world, 0)
        await agent.post("/seed_session", row)
        large = says("Done.") | {"generation_log_probs": [-0.123456789] * 300_000}
        body = row | {"response": {"output": [large]}}
        answer = (await agent.post("/verify", body)).json()
        assert (answer["reward"], answer["response"]) == (0.0, body["response"])


async def test_rewards_are_averaged(tmp_path: Path):
    async with served(tmp_path) as world, agent_of(world) as agent:
        rewards = ((0, 1.0), (0, 0.0), (1, 1))
        rollouts = [{"_ng_task_index": task, "reward": reward} for task, reward in rewards]
        answer = (await agent.post("/aggregate_metrics", {"verify_responses": rollouts})).json()
        assert answer["key_metrics"] == {"mean/reward": pytest.approx(2 / 3)}
        assert answer["group_level_metrics"] == [
            {"_ng_task_index": 0, "mean/reward": 0.5},
            {"_ng_task_index": 1, "mean/reward": 1.0},
        ]
        empty = await agent.post("/aggregate_metrics", {"verify_responses": []})
        assert empty.json() == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}
        wrong = await agent.post("/aggregate_metrics", {"verify_responses": [{"reward": None}]})
        assert wrong.status_code == 400
