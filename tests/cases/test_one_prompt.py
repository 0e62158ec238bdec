"""huggingface/trl#6067, #5974, #6001: the observation of ``reset`` reached the policy in one of two trainers.

The same task has one prompt and one list of tools, whichever trainer asks for it, and the tokens of
a rollout that a trainer extends message by message are those of the whole conversation.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from tokenizers import Tokenizer

import synth
from synth.config import from_dict
from synth.core.api.episodes import RecordedTasks
from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.chat_template import ChatTemplate
from synth.ext.exporters.rendering.presets import MARKED, find_preset
from synth.ext.rl.planned_tasks import PlannedTasks
from synth.ext.rl.trl import TrlTasks
from synth.ext.serving.environment.client import EnvClient
from synth.ext.serving.environment.server import serve_env
from synth.ext.serving.environment.sessions import EnvSessions
from synth.ext.serving.live.world import open_live
from synth.launch import launch
from synth.prepare import prepare
from tests.tokenizer_file import write_tokenizer

FAMILY, COUNT, TOKEN = "lend_book", 2, "the-token-of-this-test"
JOB = {
    "env": {"name": "library"},
    "model": {"kind": "scripted"},
    "tasks": {"count": COUNT, "families": [FAMILY]},
    "runtime": {"kind": "inline"},
}

Opening = tuple[list[tuple[str, str]], list[Any]]
"""Roles and texts of the first messages, and the tools."""


def opening(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> Opening:
    first = [one for one in messages if one["role"] in {"system", "user"}][:2]
    return [(one["role"], one["content"]) for one in first], [tool["function"] for tool in tools]


def as_sent(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in the form of MCP, or of the Responses API, in the form of chat completions."""
    parameters = tool.get("input_schema", tool.get("parameters"))
    return {"name": tool["name"], "description": tool["description"], "parameters": parameters}


def decoded(values: Sequence[Any]) -> list[Any]:
    return [json.loads(value) if isinstance(value, str) else value for value in values]


def exports(run: Path, target: str, out: Path, **options: Any) -> list[dict[str, Any]]:
    export(run, target, out, options=options)
    if out.suffix == ".jsonl":
        return [json.loads(line) for line in out.read_text().splitlines()]
    return pq.read_table(out).to_pylist()


async def over_http(number: int) -> list[dict[str, Any]]:
    """The first observations of ``serve-env``'s own client and of OpenEnv's."""
    async with open_live(prepare(from_dict(JOB))) as live:
        sessions = EnvSessions(live, at_once=2, idle_s=60.0, longest_s=600.0)
        async with serve_env(sessions, TOKEN, "127.0.0.1") as url:
            own = await asyncio.to_thread(reset, url, number)
            async with (
                aiohttp.ClientSession() as http,
                http.ws_connect(f"{url}/openenv/{TOKEN}/ws") as socket,
            ):
                await socket.send_json({"type": "reset", "data": {"task": number}})
                return [own, (await socket.receive_json(timeout=60))["data"]["observation"]]


def reset(url: str, number: int) -> dict[str, Any]:
    with EnvClient(url, TOKEN) as client:
        return client.reset(number)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = from_dict(JOB | {"output": {"dir": str(tmp_path_factory.mktemp("one") / "run")}})
    return launch(config, Console(quiet=True)).directory


@pytest.mark.parametrize("name", MARKED)
def test_tokens_in_pieces_are_those_of_the_whole(name: str, run: Path, tmp_path: Path):
    file = str(write_tokenizer(tmp_path / "tokenizer.json"))
    whole = tmp_path / "tokens.parquet"
    export(run, "tokens", whole, template=name, tokenizer=file, keep_submit=True)
    (tokens, *_) = pq.read_table(whole).to_pylist()
    (row,) = (one for one in synth.load(run) if one["trajectory_id"] == tokens["trajectory_id"])
    template, pieces, seen = ChatTemplate(find_preset(name)), [], ""
    with RecordedTasks(run) as recorded, recorded.open(row["task_id"]) as episode:
        for message in (one for one in row["messages"] if one["role"] == "assistant"):
            asyncio.run(episode.step(message))
        for end in range(2, len(row["messages"]) + 1):
            text = template.render(episode.messages[:end], episode.tools)
            assert text.startswith(seen), "what a trainer has seen stays as it is"
            pieces += Tokenizer.from_file(file).encode(text[len(seen) :]).ids
            seen = text
    assert pieces == tokens["input_ids"]


def test_a_task_has_one_prompt_and_one_list_of_tools(run: Path, tmp_path: Path):
    row = next(iter(synth.load(run)))
    task = row["task_id"]
    doors = {"synth run": opening(row["messages"], row["tools"])}
    begun = (asyncio.run(over_http(number)) for number in range(COUNT))
    own, openenv = next(found for found in begun if found[0]["task_id"] == task)
    doors["serve-env"] = opening(own["messages"], own["tools"])
    told = [one for one in openenv["tools"] if one["name"] != "reply_to_user"]
    doors["OpenEnv"] = opening(openenv["messages"], [{"function": as_sent(one)} for one in told])
    with RecordedTasks(run) as recorded, recorded.open(task) as episode:
        doors["verl's loop"] = opening(episode.messages, episode.tools)
    (verl,) = (
        one
        for one in exports(run, "verl", tmp_path / "verl.parquet", agent="synth")
        if one["extra_info"]["task_id"] == task
    )
    doors["verl"] = opening(verl["prompt"], json.loads(verl["extra_info"]["tools"]))
    grpo = exports(run, "trl-grpo", tmp_path / "grpo.parquet")
    (one,) = (one for one in grpo if one["task_id"] == task)
    doors["trl-grpo"] = opening(decoded(one["prompt"]), decoded(one["tools"]))
    gym = exports(run, "nemo-gym", tmp_path / "gym.jsonl", agent="a")
    (request,) = (one["responses_create_params"] for one in gym if one["task_id"] == task)
    doors["nemo-gym"] = opening(request["input"], [{"function": as_sent(one)} for one in request["tools"]])  # fmt: skip
    with TrlTasks("library", [FAMILY], count=COUNT) as tasks:
        numbers = {one.id: number for number, one in enumerate(tasks.tasks)}
        prompt = tasks.rows()[numbers[task]]
        with tasks.open(prompt["task"]) as trl:
            doors["trl"] = opening(prompt["prompt"], trl.tools)
        assert tasks.environment().reset(**prompt) is None, "nothing is said that no prompt holds"
    planned = PlannedTasks(["env=library", f"tasks.count={COUNT}", f"tasks.families=[{FAMILY}]"])
    with planned.episode(asyncio.run(planned.task(task))) as played:
        doors["verifiers and inspect_ai"] = opening(played.messages, played.tools)
    for name, found in doors.items():
        assert found == doors["synth run"], name
