"""``synth mcp``, played by the client of the official SDK over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from synth.core.dataset.reader import Dataset
from synth.ext.serving.mcp.transports import MAX_BODY, serve_http
from tests.e2e.command import COMMAND, synth
from tests.unit import talking_world
from tests.unit.ext.serving.live_world import Desk, desk, run_of

PRICES = {'Lamp "XL"': "9.5", "Chair": "20.0", "Desk": "120.25"}
TOKEN = "the-token-of-this-test"
JUDGED = ("reward", "verdict", "gate", "outcome", "score")
ERAS = ("auto", "legacy")


@asynccontextmanager
async def client(url: str, mode: str = "auto", token: str = TOKEN) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as opened,
    ):
        yield opened


@asynccontextmanager
async def served(run: Any, **options: Any) -> AsyncIterator[tuple[Desk, str]]:
    async with desk(run, **options) as at, serve_http(at.book, "talk", TOKEN) as url:
        yield at, url


def text_of(result: Any) -> str:
    return "".join(part.text for part in result.content)


async def play(player: Client) -> str:
    """Play a task of the family `price` to its end; returns everything that the player saw."""
    tools = await player.list_tools()
    task = await player.get_prompt("task")
    policy = await player.read_resource("synth://policy")
    (item,) = (name for name in PRICES if name in task.messages[0].content.text)
    found = await player.call_tool("find_items", {"name": item})
    assert PRICES[item] in text_of(found)
    handed_in = await player.call_tool("submit", {"price": float(PRICES[item])})
    assert handed_in.meta is None or "synth/session-over" not in handed_in.meta
    last = await player.call_tool("reply_to_user", {"text": f"It costs {PRICES[item]}."})
    assert last.meta is not None
    assert last.meta["synth/session-over"] is True
    after = await player.call_tool("find_items", {"name": item})
    assert after.is_error
    assert "user_ended" in text_of(after)
    return repr([tools, task, policy, found, handed_in, last, after])


@pytest.mark.slow
def test_by_standard_input_and_output_two_eras_make_one_dataset(tmp_path: Path):
    """Each client starts the command anew; the second continues the recording of the first."""
    world, out = tmp_path / "talk", tmp_path / "out"
    world.mkdir()
    talking_world.make(world)
    command = [*COMMAND, "mcp", str(world), "--families", "price", "--count", "2"]
    command += ["--record", str(out), "--model-name", "teacher", "--scores", "scores.jsonl"]

    async def session(mode: str) -> str:
        server = StdioServerParameters(
            command=command[0], args=command[1:], cwd=tmp_path, env=dict(os.environ)
        )
        async with Client(server, mode=mode) as player:
            return await play(player)

    seen = [asyncio.run(session(mode)) for mode in ERAS]
    scores = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [score["reward"] for score in scores] == [1.0, 1.0]
    assert not [word for word in JUDGED for text in seen if word in text.lower()]
    with Dataset.open(out) as dataset:
        rows = list(dataset.rows())
    assert [(row["model"], row["reward"]) for row in rows] == [("teacher", 1.0)] * 2
    roles = ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [message["role"] for message in rows[0]["messages"]] == roles
    for words in (["inspect"], ["replay"], ["grade"], ["export", "--to", "trl-sft"]):
        name, *more = words
        synth(name, str(out), *more, cwd=tmp_path)
    assert "0 rewards changed" in synth("grade", str(out), cwd=tmp_path, code=None).stdout


@pytest.mark.parametrize("mode", ERAS)
async def test_over_http_a_rollout_is_played_recorded_and_kept_from_the_player(
    tmp_path: Path, mode: str
):
    out = tmp_path / "out"
    async with (
        served(run_of(tmp_path), record=out) as (at, url),
        client(f"{url}/mine", mode) as player,
    ):
        seen = await play(player)
    (report,) = at.reports
    assert report.reward == 1.0
    assert not [word for word in JUDGED if word in seen.lower()]
    with Dataset.open(out) as dataset:
        assert [row["reward"] for row in dataset.rows()] == [1.0]


async def test_the_next_client_of_a_path_gets_the_next_task(tmp_path: Path):
    """The newest version knows no disconnect: a new connection ends what was left there."""
    prompts = []
    async with served(run_of(tmp_path)) as (at, url):
        for _ in range(2):
            async with client(f"{url}/agent") as player:
                prompts.append((await player.get_prompt("task")).messages[0].content.text)
                await player.call_tool("all_items", {})
        assert len(at.reports) == 1
    assert len(set(prompts)) == 2
    assert len(at.reports) == 2


async def test_after_its_end_the_prompt_is_the_next_task(tmp_path: Path):
    async with served(run_of(tmp_path)) as (at, url), client(url) as player:
        await play(player)
        await play(player)
        assert [report.reward for report in at.reports] == [1.0, 1.0]


@pytest.mark.parametrize("token", ["wrong", TOKEN[:-1], TOKEN + "x"])
async def test_a_wrong_token_is_refused(tmp_path: Path, token: str):
    async with served(run_of(tmp_path)) as (at, url), httpx2.AsyncClient() as http:
        for method in ("GET", "POST", "DELETE"):
            refused = await http.request(method, url, headers={"Authorization": f"Bearer {token}"})
            assert refused.status_code == 401
            assert refused.json()["error"]["type"] == "unauthorized"
            assert TOKEN not in refused.text
        assert at.book.open == 0


async def test_hostile_requests_are_typed_errors(tmp_path: Path):
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
    }
    async with served(run_of(tmp_path)) as (_, url), httpx2.AsyncClient(headers=headers) as http:
        malformed = await http.post(url, content=b"{not json")
        assert malformed.status_code == 400
        assert malformed.json()["error"]["code"] == -32700
        huge = await http.post(url, content=b'"' + b"x" * MAX_BODY + b'"')
        assert huge.status_code == 413
        elsewhere = await http.post(url.replace("/mcp", "/etc/passwd"), content=b"{}")
        assert elsewhere.json()["error"]["type"] == "not_found"
        foreign = await http.post(url, content=b"{}", headers={"Host": "evil.example:80"})
        assert foreign.status_code == 421
        async with client(url) as player:
            unknown = await player.call_tool("drop_everything", {"now": True})
            assert json.loads(text_of(unknown))["category"] == "unknown_tool"
            large = await player.call_tool("find_items", {"name": "x" * 2_000_000})
            assert large.is_error
            assert text_of(large).startswith("too_large")
            silent = await player.call_tool("reply_to_user", {"text": 7})
            assert text_of(silent).startswith("bad_arguments")
            for ask in (
                lambda: player.get_prompt("gold"),
                lambda: player.read_resource("synth://gold"),
                lambda: player.read_resource("file:///etc/passwd"),
            ):
                await refused(ask)
            await play(player)


async def refused(ask: Callable[[], Any]) -> None:
    with pytest.raises(MCPError, match="unknown"):
        await ask()


@pytest.mark.slow
async def test_the_server_seals_its_recording_when_it_is_stopped(tmp_path: Path):
    world = tmp_path / "talk"
    world.mkdir()
    talking_world.make(world)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "synth", "mcp", str(world), "--http", "--record", "out"),
        *("--families", "price", "--count", "3", "--token-env", "MCP_TOKEN", "--json"),
        cwd=tmp_path,
        env={**os.environ, "MCP_TOKEN": TOKEN},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    url = json.loads(await process.stdout.readline())["url"]
    async with client(f"{url}/left") as player:
        await player.call_tool("all_items", {})
    process.send_signal(signal.SIGTERM)
    said, scores = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, scores.decode()
    assert TOKEN.encode() not in said + scores
    assert b"session left: price (job 0): reward 0, empty_reply" in scores
    with Dataset.open(tmp_path / "out") as dataset:
        assert [row["stop_reason"] for row in dataset.rows()] == ["empty_reply"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "unknown world"),
        (["library", "--families", "nothing"], "nothing"),
        (["library", "--universe", "3"], "universe"),
        (["library", "--token-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(tmp_path: Path, words: list[str], message: str):
    done = synth("mcp", *words, cwd=tmp_path, code=None)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_standard_input_has_to_be_a_client(tmp_path: Path):
    (tmp_path / "requests").write_text("{}\n", "utf-8")
    with (tmp_path / "requests").open() as file:
        done = subprocess.run(
            [*COMMAND, "mcp", "library"],
            cwd=tmp_path,
            stdin=file,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--http" in done.stderr
