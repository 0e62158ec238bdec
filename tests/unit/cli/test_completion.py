"""Shells complete the command line: real bash, zsh and fish, each at a terminal of its own."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest

from synth.__main__ import COMMANDS, main
from synth.core.cli.completion import SHELLS
from synth.plugins import resolve

BASH = """
PS1='$ '
source {script}
show() {{ printf '%s\\n' "$READLINE_LINE" >> {typed}; READLINE_LINE=''; READLINE_POINT=0; }}
bind -x '"\\C-x": show'
bind 'set bell-style none'
touch {ready}
"""
ZSH = """
PS1='$ '
autoload -U compinit; compinit -u -d {home}/dump
source {script}
show() {{ print -r -- "$BUFFER" >> {typed}; BUFFER='' }}
zle -N show; bindkey '^X' show
touch {ready}
"""

COMPLETED = [
    ("synth repl", "synth replay "),
    ("synth export out --vi", "synth export out --view "),
    ("synth export out --to trl-sf", "synth export out --to trl-sft "),
    ("synth run env=libr", "synth run env=library "),
    ("synth run tasks.samp", "synth run tasks.samples="),
    ("synth run seed=3 --prev", "synth run seed=3 --preview "),
    ("synth run seed=3 preflight=f", "synth run seed=3 preflight=false "),
    ("synth run -m model=scripted,rep", "synth run -m model=scripted,replay "),
    (
        "synth run --config-dir own experiment=nigh",
        "synth run --config-dir own experiment=nightly ",
    ),
    ("synth check libr", "synth check library "),
    ("synth list task-s", "synth list task-sources "),
]
"""A line before the key of completion, and after it."""


def shell(name):
    found = shutil.which(name)
    if found is None:
        assert "SYNTH_REQUIRE_SHELLS" not in os.environ, f"{name} is not installed"
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with `synth` on the path, and a folder of config groups."""
    program = tmp_path / "bin" / "synth"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m synth "$@"\n')
    program.chmod(0o755)
    (tmp_path / "own" / "experiment").mkdir(parents=True)
    (tmp_path / "own" / "experiment" / "nightly.yaml").write_text("")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wait(found, terminal, seconds=60.0):
    """Read what the shell shows until ``found`` is true."""
    shown, until = b"", time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, shown.decode(errors="replace")
        if select.select([terminal], [], [], 0.05)[0]:
            shown += os.read(terminal, 65_536)


def typed_at_a_terminal(command, setup, home, lines):
    """Type each line and the key of completion; what stands on the command line then."""
    typed, ready = home / "typed", home / "ready"
    typed.write_text("")
    (home / "setup").write_text(
        setup.format(script=home / "script", typed=typed, ready=ready, home=home)
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    try:
        os.write(terminal, f". {home / 'setup'}\r".encode())
        wait(ready.exists, terminal)
        for count, line in enumerate(lines, start=1):
            os.write(terminal, line.encode() + b"\t")
            # The shell reads the next key when it has completed the line.
            os.write(terminal, b"\x18")
            wait(lambda count=count: len(typed.read_text().splitlines()) >= count, terminal)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    return typed.read_text().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "setup"),
    [("bash", ["--norc", "--noprofile", "-i"], BASH), ("zsh", ["-f", "-i"], ZSH)],
)
def test_a_shell_completes_a_line(name, options, setup, home, capsys):
    path = shell(name)
    assert main(["completion", name]) == 0
    (home / "script").write_text(capsys.readouterr().out)
    lines = [line for line, _ in COMPLETED]
    assert typed_at_a_terminal([path, *options], setup, home, lines) == [
        after for _, after in COMPLETED
    ]


@pytest.mark.slow
def test_fish_completes_a_line(home, capsys):
    path = shell("fish")
    assert main(["completion", "fish"]) == 0
    (home / "script").write_text(capsys.readouterr().out)
    asks = "\n".join(f"echo (complete -C '{line}')" for line, _ in COMPLETED)
    done = subprocess.run(
        [path, "--no-config", "-c", f"source {home / 'script'}\n{asks}"],
        capture_output=True,
        text=True,
        check=True,
    )
    last_words = [after.split()[-1] for _, after in COMPLETED]
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == last_words


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_parser_that_names_it(name):
    parser = resolve(f"{COMMANDS[name][0]}:main").parser()
    assert parser.prog == f"synth {name}"


@pytest.mark.parametrize("name", SHELLS)
def test_the_script_is_for_both_programs(name, capsys):
    assert main(["completion", name]) == 0
    out = capsys.readouterr().out
    assert "synth-worlds" in out
    assert "_ARGCOMPLETE" in out


def test_an_unknown_shell_is_refused_with_the_known_ones(capsys):
    assert main(["completion", "fsh"]) == 2
    err = capsys.readouterr().err
    assert "did you mean fish?" in err
    assert "bash, zsh, fish" in err


def test_commands_and_options_are_completed_without_heavy_imports(tmp_path):
    """`-X importtime` lists what was imported by the process that the shell asks."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "synth"],
        env=os.environ
        | {
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "answer"),
            "_ARGCOMPLETE_IFS": "\n",
            "COMP_LINE": "synth run --dr",
            "COMP_POINT": "14",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "answer").read_text().split() == ["--dry-run"]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "argcomplete" in imported
    assert not imported & {"hydra", "pydantic", "pyarrow", "sqlalchemy", "ray", "rich"}
