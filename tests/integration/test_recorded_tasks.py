"""The tasks of a run, opened again by their ids: what an agent loop of a trainer plays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import synth
from synth.core.api.episodes import RecordedTasks
from synth.core.models.scripted.expert import ExpertConversation
from synth.errors import DatasetError, OperatorError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("recorded") / "run"
    overrides = ("tasks.count=8", "tasks.universes=2", "runtime=inline", f"output.dir={home}")
    synth.run("env=shop", *overrides)
    return home


@pytest.fixture(scope="module")
def tasks(run: Path) -> Iterator[RecordedTasks]:
    with RecordedTasks(run) as tasks:
        yield tasks


def play(tasks: RecordedTasks, task_id: str) -> float | None:
    """Play gold by steps, as a trainer does."""

    async def steps() -> float | None:
        with tasks.open(task_id) as episode:
            expert = ExpertConversation(episode.task)
            while not episode.done:
                turn = expert.next_turn(episode.messages)
                calls = [
                    {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                    for call in turn.tool_calls
                ]
                message = {"role": "assistant", "content": turn.content, "tool_calls": calls}
                await episode.step(message)
            return (await episode.scored()).reward

    return asyncio.run(steps())


def test_ids_are_those_of_the_rows_and_gold_earns_the_reward(run: Path, tasks: RecordedTasks):
    rows = list(synth.load(run).rows())
    assert sorted(tasks.ids) == sorted(row["task_id"] for row in rows)
    for row in rows:
        with tasks.open(row["task_id"]) as episode:
            count = len(episode.messages)
            shown = [(item["role"], item["content"]) for item in row["messages"][:count]]
            assert shown == [(item["role"], item["content"]) for item in episode.messages]
            assert [tool["function"]["name"] for tool in episode.tools] == [
                tool["function"]["name"] for tool in row["tools"]
            ]
    assert [play(tasks, task_id) for task_id in tasks.ids] == [1.0] * 8


def test_threads_play_side_by_side(tasks: RecordedTasks):
    with ThreadPoolExecutor(8) as pool:
        rewards = list(pool.map(lambda task_id: play(tasks, task_id), tasks.ids * 3))
    assert rewards == [1.0] * 24


def test_an_unknown_id_and_a_folder_without_a_run_are_one_sentence(
    tasks: RecordedTasks, tmp_path: Path
):
    with pytest.raises(OperatorError, match="the run has no task t0"):
        tasks.open("t0")
    with pytest.raises(DatasetError):
        RecordedTasks(tmp_path)
