"""The example of a command keeps the contract, and is found by its path."""

from __future__ import annotations

from rich.console import Console

from examples.extensions import command
from synth.__main__ import main
from synth.core.config.compose import compose
from synth.launch import launch
from synth.testing import CommandConformance


class TestTheExample(CommandConformance):
    def main(self):
        return command.main


def test_it_counts_the_rows_of_a_run(tmp_path, capsys):
    where = f"output.dir={tmp_path / 'run'}"
    (job,) = compose(["env=library", "tasks.count=2", "runtime=inline", where])
    launch(job.config, Console(quiet=True))
    assert main(["examples.extensions.command:main", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out == "     2  success\n"
