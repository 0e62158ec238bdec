"""A mistake in an extension of one's own is named as one, not as a bug of synth."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.__main__ import main

pytestmark = pytest.mark.slow

MODULE = """
from synth.hook import RunHook
from synth.transform import TaskTransform

class Planned(RunHook):
    def planned(self, run, directory, console): pass

class Sealed(RunHook):
    def sealed(self, report, run, console): pass

class Broken(RunHook):
    def sealed(self, report, run, console): return {}["x"]

class Apply(TaskTransform):
    def apply(self, tasks): pass

def none(words): pass

def broken(words): return {}["x"]
"""

SHORT = """
from synth.transform import TaskTransform

class Short(TaskTransform):
    def changed(self, task, index): return task
"""


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_mistakes.py").write_text(MODULE, "utf-8")
    (tmp_path / "own_short.py").write_text(SHORT, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        (
            "extensions.hooks=[own_mistakes:Planned]",
            "own_mistakes:Planned.planned returned NoneType",
        ),
        ("extensions.hooks=[own_mistakes:Apply]", "own_mistakes:Apply is not a run hook"),
        ("tasks.transforms=[own_mistakes:Apply]", "own_mistakes:Apply.apply returned NoneType"),
        (
            "tasks.transforms=[own_mistakes:Sealed]",
            "own_mistakes:Sealed is not a subclass of synth.transform.TaskTransform",
        ),
        (
            "tasks.transforms=[own_short:Short]",
            "must take what TaskTransform.changed(self, task, index, *, first) takes",
        ),
        ("extensions.hooks=[own_mistakes:Broken]", "is complete; the hook Broken failed after it"),
    ],
)
def test_a_run_names_the_extension(
    override: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "env=library", "tasks.count=2", "runtime=inline", "output.dir=out"]
    assert main([*run, override]) != 0
    said = capsys.readouterr().err
    assert words in said
    assert "bug in synth" not in said


def test_a_report_that_a_hook_loses_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "env=library", "tasks.count=2", "runtime=inline", "output.dir=out"]
    assert main([*run, "extensions.hooks=[own_mistakes:Sealed]"]) == 0
    assert "own_mistakes:Sealed.sealed returned NoneType, not RunReport" in capsys.readouterr().err


def test_a_command_may_return_nothing_and_its_error_names_its_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["own_mistakes:none"]) == 0
    assert main(["own_mistakes:broken"]) != 0
    assert "own_mistakes.py:19, an extension" in capsys.readouterr().err
