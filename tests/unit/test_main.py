"""The dispatcher: help, errors as one message, exit codes."""

import os
import re
import subprocess
import sys
from functools import partial
from operator import getitem
from pathlib import Path

import pytest

from envs.errors import SandboxError, ScriptError
from synth import __main__ as program
from synth.__main__ import COMMANDS, CORE, EXTRAS, main
from synth.errors import ConfigProblems, DatasetError, ModelAuthError, OperatorError, TaskError
from tests.sample_rows import row, write_run

run = partial(subprocess.run, capture_output=True, text=True, check=False, input="")


def synth(*words, first=("-m", "synth"), **options):
    return run([sys.executable, *first, *words], **options)


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Make a command of the given body; it is dispatched by path, as the real ones are."""

    def make(body):
        name = f"command_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(f"def main(argv):\n    {body}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setitem(COMMANDS, "try", (name, "a command of this test"))
        monkeypatch.delitem(sys.modules, name, raising=False)

    return make


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_with_examples(words, capsys):
    assert main(words) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert "synth run model=openai" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_help_shows_the_core_first_and_the_extra_that_a_command_lacks(capsys, monkeypatch):
    found = program.find_module
    monkeypatch.setattr(program, "find_module", lambda name: None if name == "mcp" else found(name))
    assert main(["--help"]) == 0
    first, _, rest = capsys.readouterr().out.partition("more commands")
    assert set(CORE) <= set(COMMANDS)
    assert set(EXTRAS) <= set(COMMANDS)
    assert len(re.findall(r"^  [a-z]", first, re.MULTILINE)) == len(CORE) == 9
    assert rest.count("pip install") == 1
    assert "(pip install 'synth-worlds[mcp]')" in rest


WITHOUT = """
import sys
sys.modules["mcp"] = sys.modules["huggingface_hub"] = None
from synth import __main__ as program
program.find_module = lambda _: None
sys.exit(program.main(sys.argv[1:]))
"""
"""The command where these packages are not installed; in a process that has not imported them."""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("mcp", "library"), 2, "(pip install 'synth-worlds[mcp]')"),
        (("push", "library", "me/w", "--license", "mit"), 2, "(pip install 'synth-worlds[hf]')"),
        (("pull", "--help"), 0, ""),
    ],
)
def test_a_command_without_its_extra_says_how_to_install_it(words, status, said):
    done = synth(*words, first=("-c", WITHOUT))
    assert done.returncode == status
    assert said in done.stderr


def test_what_is_wrong_with_the_arguments_comes_before_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(program, "find_module", lambda _: None)
    assert main(["push"]) == main(["push", "nowhere"]) == main(["push", "nowhere", "me/run"]) == 2
    said = capsys.readouterr().err
    assert "pip install" not in said
    assert "unknown world 'nowhere'" in said


def test_a_command_of_another_package_is_named_by_its_path(command, capsys):
    command("print(argv); return 3")
    module, _ = COMMANDS.pop("try")
    assert main([f"{module}:main", "a", "--b"]) == 3
    assert capsys.readouterr().out == "['a', '--b']\n"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("synth 0.")


@pytest.mark.parametrize("words", [("export", "--to", "trl-sft"), ("inspect",)])
def test_a_condition_leaves_nothing_on_stderr(tmp_path, words):
    write_run(tmp_path / "run", [row(0)])
    command, *options = words
    done = synth(command, "run", *options, "--where", "reward = 1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr


def test_python_m_synth_runs_the_same():
    done = synth("rnu")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "did you mean run?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inspekt", "out"], "did you mean inspect?"),
        (["seed=3", "env=x"], "synth run seed=3 env=x"),
        (["--what"], "unknown option '--what'"),
    ],
)
def test_an_unknown_command_is_the_operators(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OperatorError("mend it"), 2),
        (ConfigProblems(["a: wrong", "b: wrong"]), 2),
        (TaskError("mend it", "tasks.yaml", 3, "fam"), 2),
        (ScriptError("mend it", "seed.sql", 12), 2),
        (ModelAuthError("mend it"), 2),
        (DatasetError("broken"), 2),
        (SandboxError("lost"), 1),
        (OSError(28, "No space left on device", "out"), 1),
        (ValueError("a bug"), 1),
    ],
)
def test_each_error_is_one_message_and_its_exit_code(error, code, command, capsys, monkeypatch):
    command("raise ERROR")
    module, _ = COMMANDS["try"]
    __import__(module).ERROR = error
    assert main(["try"]) == code
    plain = capsys.readouterr()
    assert plain.out == ""
    assert plain.err.startswith("error: ")
    assert "Traceback" not in plain.err
    assert main(["--debug", "try"]) == main(["try", "--debug"]) == code
    assert capsys.readouterr().err.count("Traceback (most recent call last)") == 2


def test_a_bug_says_that_it_is_one_and_where(monkeypatch, capsys):
    monkeypatch.setattr("synth.__main__.version", partial(getitem, {}, "x"))
    assert main(["--version", "a=1"]) == 1
    err = capsys.readouterr().err
    assert "KeyError: 'x' (__main__.py:" in err
    assert "This is a bug in synth" in err
    assert "synth --version a=1 --debug" in err


def test_several_problems_are_listed_below_each_other(command, capsys):
    command(
        "from synth.errors import ConfigProblems; raise ConfigProblems(['a: wrong', 'b: wrong'])"
    )
    assert main(["try"]) == 2
    assert (
        capsys.readouterr().err
        == "error: 2 problems with this configuration:\n  a: wrong\n  b: wrong\n"
    )


def test_no_secret_reaches_the_terminal(command, capsys, monkeypatch):
    """An error that carries a key is shown without it, with and without the traceback."""
    monkeypatch.setenv("OPENAI_API_KEY", "correct-horse-battery-staple")
    command("raise ValueError('no: ' + __import__('os').environ['OPENAI_API_KEY'])")
    assert main(["try"]) == main(["try", "--debug"]) == 1
    assert "correct-horse" not in capsys.readouterr().err


def test_debug_behind_a_double_dash_is_the_commands_own(command):
    command("return 0 if argv == ['--', '--debug'] else 9")
    assert main(["try", "--", "--debug"]) == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return 7", 7),
        ("raise SystemExit(2)", 2),
        ("raise SystemExit", 0),
        ("raise SystemExit('bad')", 1),
        ("raise KeyboardInterrupt", 130),
        ("raise BrokenPipeError", 141),
    ],
)
def test_exit_codes(body, code, command):
    command(body)
    assert main(["try"]) == code


@pytest.mark.parametrize(
    ("where", "codes", "said"),
    [
        ("talk | head -c 1", {141}, ""),
        ("talk >&-", {0}, ""),
        ("talk >/dev/full", {1}, "No space left on device"),
        ("run --help >/dev/full", {1}, "No space left on device"),
    ],
)
def test_standard_output_that_takes_nothing(where, codes, said, tmp_path):
    """A reader that leaves, a service without streams (dvc#10041, torchx#418), a full disk."""
    (tmp_path / "chatty.py").write_text(
        "from synth.core.foundation.standard_output import say\n"
        "def main(argv):\n    say('x' * 10_000_000)\n    return 0\n"
    )
    code = "from synth.__main__ import *; COMMANDS['talk'] = ('chatty', ''); sys.exit(main())"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
    shell = f'set -o pipefail; {sys.executable} -c "{code}" {where}'
    done = run(["bash", "-c", shell], env=environment)
    assert done.returncode in codes
    assert said in done.stderr if said else not done.stderr
    assert "Traceback" not in done.stderr
