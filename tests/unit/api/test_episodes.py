"""Episodes by hand: which task is the index-th, and what a player can and cannot reach."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import synth
from envs.connection import connect_args, parse_url
from synth.core.models.scripted.expert import ScriptedModel
from synth.errors import OperatorError
from synth.task import Message
from tests.documents import block_with
from tests.servers import VARIABLES, server
from tests.unit import small_world

pytestmark = pytest.mark.slow


def test_tasks_are_numbered_through_and_an_index_past_the_last_is_told(tmp_path: Path):
    """The small family ends after three tasks; the others go on without it."""
    world = small_world.make(tmp_path / "world")
    ids: set[str] = set()
    for index in (0, 1, 5, 6, 7, 62):
        with synth.open(world, index=index) as episode:
            ids.add(episode.task.id)
    assert len(ids) == 6
    for index in (63, -1):
        with pytest.raises(
            OperatorError, match=f"unknown task {index}: tasks are numbered from 0 to 62"
        ):
            synth.open(world, index=index)


def test_an_answer_that_was_handed_in_is_out_of_reach(tmp_path: Path):
    with synth.open(small_world.make(tmp_path / "world"), family="price") as episode:
        wrong = asyncio.run(episode.call("submit", {"price": -1}))
        assert isinstance(wrong.arguments, dict)
        assert episode.task.end is not None
        assert episode.task.end.answer is not None
        wrong.arguments.update(episode.task.end.answer)
        assert episode.score().reward == 0.0
        again = asyncio.run(episode.call("submit", dict(episode.task.end.answer)))
        assert again.result.category == "duplicate"
        assert episode.score().reward == 0.0


def test_the_five_lines_by_hand_work(capsys: pytest.CaptureFixture[str]):
    """The user answers the README's question with a date."""
    exec(compile(block_with("python", "episode.say"), "README.md", "exec"), {})
    *_, last = capsys.readouterr().out.splitlines()
    assert re.search(r"\d{4}-\d\d-\d\d.*\{.* 0\.0$", last)


def test_the_five_lines_for_reinforcement_learning_earn_the_reward_that_the_policy_deserves():
    """One policy plays the reference solution, one only talks."""
    names: dict[str, Any] = {}
    exec(compile(block_with("python", "def rollout"), "python.md", "exec"), names)
    family = "cancel_which_order"
    with synth.open("shop", family) as episode:
        expert = ScriptedModel().start(episode.task, episode.tools, 0)

    def play(messages: list[Message], tools: list[Any]) -> Message:
        completion = expert.next_turn(messages)
        calls = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.name, "arguments": each.arguments},
            }
            for each in completion.tool_calls
        ]
        return {"role": "assistant", "content": completion.content, "tool_calls": calls}

    messages, reward = names["rollout"](play, family=family)
    assert reward == 1.0
    assert {"assistant", "tool", "user"} == {each["role"] for each in messages[2:]}
    messages, reward = names["rollout"](
        lambda *_: {"role": "assistant", "content": "Which order is it?"}, family=family
    )
    assert reward == 0.0
    assert len(messages) == 60


SERVERS = {"postgres": "postgresql", "mariadb": "mariadb", "mysql": "mariadb"}


def place_on(database: str) -> dict[str, Any]:
    """Where an engine's episodes are opened."""
    server(SERVERS[database])
    return {"database": database, "dsn_env_var": VARIABLES[SERVERS[database]]}


def played(**place: Any) -> tuple[Any, ...]:
    """What the reference solution of one task shows and leaves."""
    with synth.open("ehr_db", "record_heart_rate", index=3, **place) as episode:
        run = asyncio.run(episode.agent(ScriptedModel()).run(episode.messages))
        shown = [each.content for each in run.outcomes]
        assert len(shown) > 1
        assert episode.diff()
        return (
            episode.task.id,
            episode.messages,
            shown,
            episode.diff(),
            episode.state_hash(),
            episode.score(),
        )


@pytest.mark.parametrize(
    ("database", "sandbox"), [("postgres", "pooled"), ("postgres", "cloned"), ("mariadb", "pooled")]
)
def test_an_episode_on_a_server_is_the_same(database: str, sandbox: str):
    place = place_on(database)
    *here, _, score = played()
    for _ in range(2):  # the second finds what the first has built
        *there, _, judged = played(**place, sandbox=sandbox)
        assert there == here
        assert judged.reward == score.reward == 1.0


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (
            {"database": "postgre"},
            r"database: unknown engine 'postgre'; did you mean postgres\? \(known: sqlite, ",
        ),
        (
            {"database": "mariadb", "dsn_env_var": "NO_SUCH_URL"},
            "dsn_env_var: the variable NO_SUCH_URL is not set",
        ),
        ({"dsn_env_var": "PATH"}, "dsn_env_var: SQLite has no server"),
        (
            {"database": "mysql", "sandbox": "copied"},
            "sandbox: 'copied' is none of pooled, cloned; did you mean cloned",
        ),
    ],
)
def test_a_place_that_is_none_is_told(place: dict[str, Any], words: str):
    with pytest.raises(OperatorError, match=words):
        synth.open("ehr_db", **place)


@pytest.mark.parametrize("database", SERVERS)
def test_what_was_built_on_a_server_is_dropped_when_the_process_ends(database: str):
    """Also where an episode was left open."""
    place = place_on(database)
    code = f"""
import synth
episode = synth.open("ehr_db", "record_heart_rate", **{place!r})
import gc
from envs.sandboxes.base import Template
(template,) = [each for each in gc.get_objects() if isinstance(each, Template)]
print(vars(template).get("database") or vars(template)["_database"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    token = done.stdout.strip().rpartition("_")[0]
    assert re.fullmatch("envs_[0-9a-f]{12}", token)
    url = parse_url(server(SERVERS[database]))
    engine = sqlalchemy.create_engine(
        url, poolclass=sqlalchemy.NullPool, connect_args=connect_args(url)
    )
    listed = "SELECT datname FROM pg_database" if database == "postgres" else "SHOW DATABASES"
    with engine.connect() as connection:
        names = connection.exec_driver_sql(listed).scalars().all()
    assert not [each for each in names if each.startswith(token)]
