"""Rollout wrappers keep their contract, those that ship and the example; a run uses them."""

from __future__ import annotations

import pytest
from rich.console import Console

from examples.extensions.rollout_wrapper import Brief
from synth.config import from_dict, problems, to_dict
from synth.core.config.compose import compose
from synth.core.dataset.reader import Dataset
from synth.core.rerun.regrade import grade
from synth.core.rerun.replay import replay
from synth.ext.branching.model import Branching
from synth.ext.rationales.narrate import Rationales
from synth.launch import launch
from synth.middleware import MiddlewareHome
from synth.testing import WrapperConformance
from synth.wrapper import RolloutWrapper

NAME = "examples.extensions.rollout_wrapper:Brief"


class TestBranching(WrapperConformance):
    def wrapper(self, home: MiddlewareHome) -> RolloutWrapper:
        return Branching(None, home)


class TestRationales(WrapperConformance):
    def wrapper(self, home: MiddlewareHome) -> RolloutWrapper:
        return Rationales(None, home)


class TestTheExample(WrapperConformance):
    def wrapper(self, home: MiddlewareHome) -> RolloutWrapper:
        return Brief(Brief.Options(calls=1), home)


def _raw(**extensions) -> dict:
    (job,) = compose(["env=library", "tasks.count=3", "runtime=inline"])
    return to_dict(job.config) | {
        "extensions": {"wrappers": [], "hooks": [], "options": {}, **extensions}
    }


def _rows(tmp_path, **extensions):
    raw = _raw(**extensions)
    config = from_dict(raw | {"output": {**raw["output"], "dir": str(tmp_path)}})
    with Dataset.open(launch(config, Console(quiet=True)).directory) as dataset:
        return list(dataset.rows())


@pytest.mark.slow
def test_a_run_scores_by_a_wrapper_and_counts_it_in_its_digest(tmp_path):
    plain = _rows(tmp_path / "plain")
    scored = _rows(tmp_path / "own", wrappers=[NAME], options={NAME: {"calls": 1}})
    assert [row["reward"] for row in plain] == [1.0] * 3
    assert all(0 < row["reward"] < 1 for row in scored if row["num_tool_calls"] > 1)
    assert {row["outcome"] for row in scored} == {"success"}
    assert plain[0]["config_digest"] != scored[0]["config_digest"]


@pytest.mark.slow
def test_a_run_with_a_wrapper_replays_and_grades_the_same(tmp_path):
    _rows(tmp_path / "run", wrappers=[NAME], options={NAME: {"calls": 1}})
    assert replay(tmp_path / "run", lambda: None).differences == []
    assert grade(tmp_path / "run", None, None).changes == []


def test_mistakes_in_the_section_are_named():
    found = problems(_raw(wrappers=["judge"], hooks=["no_such_hook"], options={"x.y:Z": {}}))
    assert "extensions.wrappers: 'judge' has a section of its own" in found
    assert "extensions.options.x.y:Z: no list of extensions names it" in found
    assert any(one.startswith("extensions.hooks: unknown run hook 'no_such_hook'") for one in found)
