"""A command's help defines its arguments and options, and bad ones end in one message."""

from pathlib import Path

import pytest

from synth.core.cli.command import command
from synth.errors import OperatorError

HELP = """synth peek

Look at a run.

arguments:
  DIR               a run directory
  [key=value...]    overrides
options:
  --to NAME         the target (required)
  -n, --limit N|0   rows to list, 0 for all [default: 50]
  --view full|last  what is shown of a row,
                    from its start [default: full]
  --names A,B       columns
  --pair BEFORE AFTER  two runs
  --tries 1-10      attempts
  --idle SECONDS    100% of the time [default: 2.5]
  --config [NAME]   a section
  --where SQL       a condition (repeatable)
options, one of these:
  --all             everything
  --best N          the best of all

examples:
  synth peek out --to x     options:
"""


@command(HELP, lambda: "and more\n")
def peek(options):
    raise LookupError(vars(options))


def options_of(*words):
    with pytest.raises(LookupError) as found:
        peek(["out", "--to", "x", *words])
    return found.value.args[0]


def test_defaults_are_those_of_the_help():
    assert options_of() == {
        "dir": Path("out"),
        "overrides": [],
        "to": "x",
        "limit": 50,
        "view": "full",
        "names": None,
        "pair": None,
        "tries": None,
        "idle": 2.5,
        "config": None,
        "where": [],
        "all": False,
        "best": None,
    }


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["a=1", "--all", "b=2"], "overrides", ["a=1", "b=2"]),
        (["-n", "0"], "limit", 0),
        (["--view", "last"], "view", "last"),
        (["--names", "a, b,"], "names", ["a", "b"]),
        (["--pair", "a", "b"], "pair", [Path("a"), Path("b")]),
        (["--tries", "10"], "tries", 10),
        (["--config"], "config", ""),
        (["--config", "model"], "config", "model"),
        (["--where", "a", "--where", "b"], "where", ["a", "b"]),
        (["--best", "3"], "best", 3),
    ],
)
def test_words_are_converted_by_their_names(words, name, value):
    assert options_of(*words)[name] == value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required"),
        (["out"], "the following arguments are required: --to"),
        (["out", "--to", "x", "--lim", "3"], "unrecognized arguments: --lim"),
        (["out", "--to", "x", "--limt", "3"], "did you mean --limit?"),
        (["out", "--to", "x", "--a.b=3"], "a config key has no dashes: a.b=VALUE"),
        (["out", "--to", "x", "--limit", "-1"], "'-1' must be a whole number of at least 0"),
        (["out", "--to", "x", "--best", "0"], "'0' must be a whole number of at least 1"),
        (["out", "--to", "x", "--tries", "11"], "'11' must be a whole number from 1 to 10"),
        (["out", "--to", "x", "--idle", "nan"], "'nan' must be a number above 0 and below 1e+06"),
        (["out", "--to", "x", "--names", ","], "argument --names: is empty"),
        (["out", "--to", "x", "--where", " "], "argument --where: is empty"),
        (["out", "--to", "x", "--view", "none"], "invalid choice: 'none'"),
        (["out", "--to", "x", "--all", "--best", "1"], "not allowed with argument --all"),
    ],
)
def test_bad_words_are_refused_with_the_usage(words, message):
    with pytest.raises(OperatorError) as refused:
        peek(words)
    first, second = str(refused.value).splitlines()
    assert message in first
    assert second == "usage: synth peek DIR [key=value...] --to NAME [options]"


def test_the_help_is_the_text_below_the_usage(capsys):
    with pytest.raises(SystemExit) as left:
        peek(["--help"])
    usage, _, rest = capsys.readouterr().out.partition("\n")
    assert left.value.code == 0
    assert usage == "usage: synth peek DIR [key=value...] --to NAME [options]"
    assert rest == f"{HELP.partition(chr(10))[2]}and more\n"
