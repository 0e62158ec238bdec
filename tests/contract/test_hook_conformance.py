"""Run hooks keep their contract, those that ship and the example; a run calls them."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from examples.extensions.run_hook import Summary
from synth.core.config.compose import compose
from synth.errors import OperatorError
from synth.ext.hub.card import CompleteCard
from synth.hook import RunHook
from synth.launch import launch
from synth.testing import HookConformance


class TestCompleteCard(HookConformance):
    def hook(self) -> RunHook:
        return CompleteCard(None)


class TestTheExample(HookConformance):
    def hook(self) -> RunHook:
        return Summary(None)


class Refuses(RunHook):
    def planned(self, run, directory, console):
        raise OperatorError("not on a Friday")


class Fails(RunHook):
    def sealed(self, report, run, console):
        raise OperatorError("the mail was not sent")


def _config(directory, *hooks):
    listed = f"extensions.hooks=[{','.join(hooks)}]"
    where = f"output.dir={directory}"
    (job,) = compose(["env=library", "tasks.count=2", "runtime=inline", where, listed])
    return job.config


def test_a_run_calls_its_hooks(tmp_path):
    done = launch(_config(tmp_path / "run", "examples.extensions.run_hook:Summary"), _quiet())
    summary = json.loads((done.directory / "summary.json").read_text())
    assert summary == {"world": "library", "rows": 2}


def test_a_hook_keeps_a_run_from_beginning_and_nothing_is_written(tmp_path):
    with pytest.raises(OperatorError, match="not on a Friday"):
        launch(_config(tmp_path / "run", f"{__name__}:Refuses"), _quiet())
    assert not (tmp_path / "run").exists()


def test_a_hook_that_fails_leaves_the_run_whole(tmp_path):
    said = io.StringIO()
    done = launch(_config(tmp_path / "run", f"{__name__}:Fails"), Console(file=said))
    assert done.status == "complete"
    assert "note: the mail was not sent" in said.getvalue()


def _quiet() -> Console:
    return Console(quiet=True)
