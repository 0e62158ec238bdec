"""Episodes by hand: which task is the index-th, and what a player can and cannot reach."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.errors import OperatorError
from synth.models.scripted import ScriptedModel
from synth.types import Message
from tests.unit import small_world

README = Path(__file__).parents[2] / "README.md"


def test_tasks_are_numbered_through_and_an_index_past_the_last_is_told(tmp_path: Path):
    """The small family ends after three tasks; the others go on without it."""
    world = small_world.make(tmp_path / "world")
    ids: set[str] = set()
    for index in (0, 1, 5, 6, 7, 62):
        with synth.open(world, index=index) as episode:
            ids.add(episode.task.id)
    assert len(ids) == 6
    for index in (63, -1):
        with pytest.raises(OperatorError, match=f"there is no task {index}: they are numbered from 0 to 62"):
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


def snippet(name: str) -> str:
    """The README's Python block that holds a word."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (found,) = [each for each in blocks if name in each]
    return found


def test_the_five_lines_by_hand_work(capsys: pytest.CaptureFixture[str]):
    """The user answers the README's question with a date."""
    exec(compile(snippet("episode.say"), "README.md", "exec"), {})
    *_, last = capsys.readouterr().out.splitlines()
    assert re.search(r"\d{4}-\d\d-\d\d.*\{.* 0\.0$", last)


def test_the_five_lines_for_reinforcement_learning_earn_the_reward_that_the_policy_deserves():
    """One policy plays the reference solution, one only talks."""
    names: dict[str, Any] = {}
    exec(compile(snippet("def rollout"), "README.md", "exec"), names)
    family = "cancel_which_order"
    with synth.open("shop", family) as episode:
        expert = ScriptedModel().start(episode.task, episode.tools, 0)

    def play(messages: list[Message], tools: list[Any]) -> Message:
        completion = expert.next_turn(messages)
        calls = [
            {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
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
