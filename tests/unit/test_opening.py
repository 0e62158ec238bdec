"""Episodes by hand: which task is the index-th, and what a player can and cannot reach."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import synth
from synth.errors import OperatorError
from tests.unit import small_world


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
