"""``serve-env``: tasks over HTTP as leases of sandboxes, scored by the verifiers."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from envs.errors import SandboxError
from synth.core.models.scripted.expert import ExpertConversation
from synth.errors import OperatorError
from synth.ext.serving.cli.serve_env import main
from synth.ext.serving.environment.client import EnvClient, EnvError
from synth.ext.serving.environment.server import serve_env
from synth.ext.serving.environment.sessions import EnvSessions
from synth.ext.serving.live.world import LiveWorld, open_live
from synth.model import Completion
from synth.task import Message, Task
from tests.e2e.command import serving
from tests.unit.ext.serving.live_world import run_of

TOKEN = "the-token-of-this-test"


class Served:
    def __init__(self, url: str, sessions: EnvSessions, live: LiveWorld) -> None:
        self.url, self.sessions, self.live = url, sessions, live
        self.clients: list[EnvClient] = []

    def client(self, token: str = TOKEN) -> EnvClient:
        self.clients.append(EnvClient(self.url, token))
        return self.clients[-1]


@asynccontextmanager
async def served(
    folder: Path,
    *,
    at_once: int = 8,
    idle_s: float = 60.0,
    longest_s: float = 600.0,
    host: str = "127.0.0.1",
    families: Sequence[str] = ("plan_asked",),
    compose: Mapping[int, float] | None = None,
    **agent: object,
) -> AsyncIterator[Served]:
    run = run_of(folder, families, count=4, model="scripted", compose=compose, **agent)
    async with open_live(run) as live:
        sessions = EnvSessions(live, at_once=at_once, idle_s=idle_s, longest_s=longest_s)
        async with serve_env(sessions, TOKEN, host) as url:
            world = Served(url, sessions, live)
            yield world
            for client in world.clients:
                client.disconnect()


def message_of(completion: Completion) -> Message:
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
        for call in completion.tool_calls
    ]
    return {"role": "assistant", "content": completion.content, "tool_calls": calls}


def play(env: EnvClient, number: int, task: Task) -> dict[str, Any]:
    """Play gold; returns the last step."""
    begun = env.reset(number)
    messages, expert = list(begun["messages"]), ExpertConversation(task)
    while True:
        message = message_of(expert.next_turn(messages))
        step = env.step(message)
        messages += [message, *step["messages"]]
        if step["done"]:
            env.close()
            return step


async def test_gold_earns_the_reward_and_words_alone_do_not(tmp_path: Path):
    async with served(tmp_path) as world:
        for number in range(4):
            task = await world.live.task(number)
            with world.client() as env:
                step = await asyncio.to_thread(play, env, number, task)
                assert (step["reward"], step["outcome"]) == (1.0, "success")
        with world.client() as env:
            begun = await asyncio.to_thread(env.reset, 3)
            assert begun["tools"]
            assert begun["task_id"] == (await world.live.task(3)).id
            await asyncio.to_thread(lambda: env.step(tool="no_such_tool", arguments={}))
            ended = await asyncio.to_thread(env.close)
            assert (ended["reward"], ended["stop_reason"]) == (0.0, "closed")
        assert world.sessions.open == 0


async def test_the_sessions_of_a_task_share_it_and_nothing_else(tmp_path: Path):
    """A group of samples: one gold, sandboxes of their own."""
    async with served(tmp_path) as world:
        task = await world.live.task(1)
        one, other = world.client(), world.client()
        first = await asyncio.to_thread(one.reset, 1)
        step = await asyncio.to_thread(play, other, 1, task)
        assert step["reward"] == 1
        assert first["task_id"] == task.id
        ended = await asyncio.to_thread(one.close)
        assert ended["reward"] == 0, "what another session did is not in this one's database"


async def test_leases_end_and_a_score_can_be_asked_for_again(tmp_path: Path):
    async with served(tmp_path, at_once=2, idle_s=4.0) as world:
        idle, used = world.client(), world.client()
        await asyncio.to_thread(idle.reset, 0)
        name = (await asyncio.to_thread(used.reset, 1))["session"]
        with pytest.raises(EnvError, match="2 sessions are open"):
            await asyncio.to_thread(world.client().reset)
        for _ in range(11):
            await asyncio.sleep(0.4)
            await asyncio.to_thread(lambda: used.step(tool="nothing"))
        with pytest.raises(EnvError, match="this session is over: idle") as error:
            await asyncio.to_thread(lambda: idle.step(text="hello"))
        assert error.value.status == 410
        assert (await asyncio.to_thread(idle.close))["reward"] is None
        assert world.sessions.open == 1
        ended = await asyncio.to_thread(used.close)
        used.session = name
        assert await asyncio.to_thread(used.close) == ended, "a lost answer is asked for again"
    async with served(tmp_path / "second", longest_s=0.3, idle_s=0.4) as world:
        env = world.client()
        await asyncio.to_thread(env.reset)
        await asyncio.sleep(0.7)
        assert world.sessions.open == 0


async def test_a_sandbox_that_cannot_be_given_back_holds_up_no_other_lease(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    def broken() -> None:
        raise SandboxError("the server is gone")

    async with served(tmp_path, idle_s=0.3) as world:
        name = (await asyncio.to_thread(world.client().reset, 0))["session"]
        world.sessions._open[name].resources.callback(broken)
        await asyncio.to_thread(world.client().reset, 1)
        await asyncio.sleep(0.7)
        assert world.sessions.open == 0
    assert "the sandbox of task 0 was not given back" in caplog.text


async def test_turns_are_limited(tmp_path: Path):
    async with served(tmp_path, max_turns=2) as world:
        env = world.client()
        await asyncio.to_thread(env.reset, 0)
        assert not (await asyncio.to_thread(lambda: env.step(tool="x")))["done"]
        last = await asyncio.to_thread(lambda: env.step(tool="x"))
        assert (last["done"], last["stop_reason"], last["reward"]) == (True, "max_turns", 0.0)
        with pytest.raises(EnvError, match="over"):
            await asyncio.to_thread(lambda: env.step(tool="x"))


@pytest.mark.parametrize(
    ("style", "shown"), [("plain", "Error: "), ("structured", '{"status":"error"')]
)
async def test_errors_have_the_form_of_the_config(tmp_path: Path, style: str, shown: str):
    async with served(tmp_path, error_style=style) as world:
        env = world.client()
        await asyncio.to_thread(env.reset, 0)
        step = await asyncio.to_thread(lambda: env.step(tool="find_item", arguments={}))
        text = step["messages"][0]["content"]
        assert text.startswith(shown)
        assert "advice" not in text


def test_middlewares_are_refused():
    with pytest.raises(OperatorError, match=r"agent.middleware: an environment has no middlewares"):
        main(["library", "--families", "lend_book", "--count", "1", "agent.middleware=[retry]"])


async def test_the_calls_of_one_step_are_limited_like_all_others(tmp_path: Path):
    async with served(tmp_path, max_tool_calls=3, text_calls="parse") as world:
        env = world.client()
        name = (await asyncio.to_thread(env.reset, 0))["session"]
        function = {"name": "all_items", "arguments": {}}
        calls = [{"id": str(number), "function": function} for number in range(50)]
        said = '<tool_call>{"name": "all_items", "arguments": {}}</tool_call>'
        await asyncio.to_thread(env.step, {"role": "assistant", "content": said})
        episode = world.sessions._open[name].episode
        message = {"role": "assistant", "content": "", "tool_calls": calls}
        step = await asyncio.to_thread(env.step, message)
        assert (step["done"], step["stop_reason"]) == (True, "max_tool_calls")
        assert [shown["tool_call_id"] for shown in step["messages"]] == ["0", "1"]
        assert len(episode.calls) == 3
        assert len(episode.messages[-3]["tool_calls"]) == 2, "each call kept has its result"


async def test_a_composed_task_has_the_turns_of_each_request(tmp_path: Path):
    families = ("plan_asked", "price")
    async with served(tmp_path, max_turns=2, families=families, compose={2: 1.0}) as world:
        env = world.client()
        assert "+" in (await asyncio.to_thread(env.reset, 0))["family"]
        steps = [await asyncio.to_thread(lambda: env.step(tool="x")) for _ in range(4)]
        assert [step["done"] for step in steps] == [False, False, False, True]
        assert steps[-1]["stop_reason"] == "max_turns"


ODD_STEPS: list[tuple[dict[str, Any], str]] = [
    ({}, "a step has one of"),
    ({"tool": "x", "text": "y"}, "a step has one of"),
    ({"tool": "x", "argument": {}}, "a step has one of"),
    ({"message": 5}, "takes an assistant message"),
    ({"tool": 5}, "tool_calls"),
    ({"text": 5}, "text is a string"),
    ({"text": None}, "text is a string"),
]


async def test_odd_steps_are_refused_and_the_session_goes_on(tmp_path: Path):
    async with served(tmp_path) as world:
        env = world.client()
        await asyncio.to_thread(env.reset, 0)
        for body, words in ODD_STEPS:
            with pytest.raises(EnvError, match=words) as error:
                await asyncio.to_thread(env._send, "POST", f"/sessions/{env.session}/step", body)
            assert error.value.status == 400
            assert not (await asyncio.to_thread(lambda: env.step(tool="x")))["done"]


async def test_strangers_and_absent_tasks_are_refused(tmp_path: Path):
    async with served(tmp_path) as world:
        with pytest.raises(EnvError, match="send the token") as error:
            await asyncio.to_thread(world.client("another").describe)
        assert error.value.status == 401
        env = world.client()
        for method in ("GET", "POST", "PUT"):
            with pytest.raises(EnvError, match="no such path, or no session"):
                await asyncio.to_thread(env._send, method, "/nowhere", {})
        assert (await asyncio.to_thread(env.describe))["tasks"] == 4
        for task in (4, -1, 10**30):
            with pytest.raises(EnvError, match="task is a number from 0 to 3"):
                await asyncio.to_thread(env.reset, task)
        for body in ({"task": "0"}, {"task": True}, {"tsk": 0}, {"task": 1.5}):
            with pytest.raises(EnvError, match="the body is"):
                await asyncio.to_thread(env._send, "POST", "/sessions", body)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        async with httpx2.AsyncClient(base_url=world.url, headers=headers) as http:
            assert "session" in (await http.post("/sessions", content=b"")).json()
            assert "a step has one" in (await http.post("/sessions/x/step", content=b"")).text
        env.session = "nobody"
        with pytest.raises(EnvError, match="unknown session"):
            await asyncio.to_thread(lambda: env.step(text="x"))


async def test_a_session_that_the_server_lost_is_forgotten(tmp_path: Path):
    async with served(tmp_path) as world:
        env = world.client()
        env.session = "lost-by-a-restart"
        await asyncio.to_thread(env.reset)
        assert (await asyncio.to_thread(env.close))["stop_reason"] == "closed"
        env.session = "lost-by-a-restart"
        with pytest.raises(EnvError, match="unknown session") as error:
            await asyncio.to_thread(env.close)
        assert (error.value.status, env.session) == (404, None)


async def test_an_address_of_ipv6_is_a_url(tmp_path: Path):
    async with served(tmp_path, host="::1") as world:
        assert world.url.startswith("http://[::1]:")
        assert (await asyncio.to_thread(world.client().describe))["tasks"] == 4


@pytest.mark.slow
async def test_two_hundred_sessions_at_once(tmp_path: Path):
    """All are open before the first step, and each earns its reward."""
    async with served(tmp_path, at_once=200) as world:
        tasks = [await world.live.task(number) for number in range(4)]
        clients = [world.client() for _ in range(200)]
        times: list[float] = []

        def begin(place: int) -> list[Message]:
            return clients[place].reset(place % 4)["messages"]

        def go_on(place: int, messages: list[Message]) -> float:
            expert = ExpertConversation(tasks[place % 4])
            while True:
                message = message_of(expert.next_turn(messages))
                began = time.perf_counter()
                step = clients[place].step(message)
                times.append(time.perf_counter() - began)
                messages += [message, *step["messages"]]
                if step["done"]:
                    clients[place].close()
                    return step["reward"]

        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(32) as pool:
            begun = await asyncio.gather(
                *(loop.run_in_executor(pool, begin, place) for place in range(200))
            )
            assert world.sessions.open == 200
            with pytest.raises(EnvError, match="200 sessions are open"):
                await asyncio.to_thread(world.client().reset)
            rewards = await asyncio.gather(
                *(
                    loop.run_in_executor(pool, go_on, place, messages)
                    for place, messages in enumerate(begun)
                )
            )
        assert set(rewards) == {1.0}
        assert world.sessions.open == 0
        assert statistics.median(times) < 1.0


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(tmp_path: Path):
    with serving("serve-env", "ehr_db", "--count", "4", "--json", cwd=tmp_path) as line:
        printed = json.loads(line)
        with EnvClient(printed["url"], printed["token"]) as env:
            assert env.reset(2)["messages"][-1]["role"] == "user"
            assert env.describe()["sessions"]["open"] == 1
