# PYTHON_ARGCOMPLETE_OK
"""Entry point of the command line: find the command, run it, and turn an error into one message.

A command is imported only when it is called, so that ``synth --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from envs.errors import DatabaseConfigError, EnvsError, WorldError
from synth.core.foundation import own_process
from synth.core.foundation.credentials import redact
from synth.core.foundation.shipped import version
from synth.core.foundation.standard_output import keep_for_reports, say, stdout
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import (
    ConfigProblems,
    DatasetError,
    ModelError,
    OperatorError,
    SynthError,
    TaskError,
)
from synth.plugins import MORE_COMMANDS, PluginError, find_module, resolve

_CORE = """
run core.cli.run make a dataset: a world, a model, tasks (Hydra overrides, -m for a sweep)
inspect core.cli.inspect show what is in a dataset, also of a run that is going on or was killed
check core.cli.check prove a world: tools, tasks, gold solutions, verifiers
export ext.exporters.cli write a dataset in the format of a trainer
replay core.cli.replay execute a dataset's tool calls again on fresh databases and compare
grade core.cli.grade judge a dataset's trajectories again with the current verifiers and tasks
new ext.authoring.cli.new write a new world: a copy of the smallest, or one from a database
list core.cli.extensions list worlds, models, users and other extensions
reseed core.cli.reseed (re)create a world's database from its schema.sql and seed.sql
""".strip()

_MORE = """
view ext.view.cli write a dataset as one HTML page: transcripts beside their row changes, plots
branch ext.branching.cli sample other continuations of recorded rollouts
narrate ext.rationales.cli have a teacher write reasoning and words into rollouts
eval ext.evaluation.cli.eval evaluate a model on held-out tasks, with intervals
join ext.authoring.cli.join make one world of several, with tools under prefixed names
draft ext.authoring.cli.draft let a model write task families for a world, and prove them
rephrase ext.authoring.cli.rephrase let a model write other words for users, and prove them
play core.cli.play play a task by hand in the terminal, with the score at the end
schema core.cli.schema print the JSON Schema of tasks.yaml, for editors
calibrate ext.evaluation.cli.calibrate measure the gate `reply` on transcripts of models
clean core.cli.clean drop databases, roles and files that dead runs left behind
decontaminate ext.hub.cli.decontaminate list or leave out rows that overlap with benchmarks
card ext.hub.cli.card write the whole card of a run, with a check for contamination
push ext.hub.cli.push publish a run on the Hugging Face Hub, with its card
pull ext.hub.cli.pull fetch a published run, to inspect and replay it
completion core.cli.completion print the script that completes commands in a shell
serve-model ext.serving.cli.serve_model serve the expert or a recorded run, as OpenAI does
serve-env ext.serving.cli.serve_env serve a world as an environment over HTTP, for RL trainers
mcp ext.serving.cli.mcp serve a world over the Model Context Protocol and record players
serve-agent ext.serving.cli.serve_agent watch a model at work in a browser: approve, answer
""".strip()

COMMANDS = {
    name: (f"synth.{module}", about)
    for name, module, about in (line.split(maxsplit=2) for line in f"{_CORE}\n{_MORE}".splitlines())
}
"""Each command: its module, whose ``main(argv) -> int`` is called, and one line of help. A command
of another distribution is an entry point of :data:`synth.plugins.MORE_COMMANDS`.
"""

CORE = tuple(line.split()[0] for line in _CORE.splitlines())
"""The commands that the help shows first; their options are stable."""

EXAMPLES = """\
examples:
  synth run                                          a small job; needs no key and no network
  synth run env=ehr_db tasks.count=200 seed=7 output.dir=out/ehr
  synth run model=openai model.name=gpt-4.1-mini     the key comes from $OPENAI_API_KEY
  synth run env.path=/path/to/world                  a world of your own
  synth inspect out/ehr                              what came of it
  synth replay out/ehr                               the same again, compared
  synth export out/ehr --to trl-sft
"""

_HELP = frozenset({"help", "-h", "--help"})
"""Words that argparse itself answers on standard output."""

OPERATOR, FAILED, INTERRUPTED, PIPE_CLOSED = 2, 1, 130, 141

# Errors that somebody has to mend before anything can start; any other error is a failure of the
# work itself. A model's error gets here only from the preflight: during a run it becomes a row. A
# dataset that is missing or cannot be read is one of them, so that exit code 1 of `synth replay`
# always means a difference.
_TO_MEND = (
    OperatorError,
    PluginError,
    WorldError,
    DatabaseConfigError,
    TaskError,
    ModelError,
    DatasetError,
)


EXTRAS = {
    "push": ("hf", "huggingface_hub", "detect_secrets"),
    "pull": ("hf", "huggingface_hub"),
    "mcp": ("mcp", "mcp", "uvicorn"),
}
"""Commands that need an extra: its name, and packages of it."""


def usage() -> str:
    others = [name for name in COMMANDS if name not in CORE]
    foreign = list(MORE_COMMANDS.all())
    width = max(len(name) for name in (*COMMANDS, *(one.name for one in foreign)))
    groups = {
        "commands": [(name, COMMANDS[name][1]) for name in CORE],
        "more commands, whose options may change": [
            (name, f"{COMMANDS[name][1]}{_missing(name)}") for name in others
        ],
        "of other packages": [(one.name, f"{one.distribution} {one.version}") for one in foreign],
    }
    table = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<{width}}  {about}" for name, about in lines)])
        for title, lines in groups.items()
        if lines
    )
    return (
        "usage: synth COMMAND [arguments]\n\n"
        "Verified tool-use training data from real databases.\n\n"
        f"{table}\n\n"
        "options:\n"
        "  --help     this text; `synth COMMAND --help` has the command's own\n"
        "  --version  the version\n"
        "  --debug    with any command: show the traceback of an error\n\n"
        f"{EXAMPLES}"
    )


def _missing(command: str) -> str:
    """A remark on the extra that a command lacks."""
    extra, *packages = EXTRAS.get(command, ("",))
    lacks = any(find_module(package) is None for package in packages)
    return f" (pip install 'synth-worlds[{extra}]')" if lacks else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done; 1 failed or different; 2 something to mend first (arguments, paths, config, world,
    tasks, dataset, key, endpoint); 130 interrupted.
    """
    if argv is None:
        _begin()
    given = list(sys.argv[1:] if argv is None else argv)
    options = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in options
    words = [word for word in options if word != "--debug"] + given[len(options) :]
    try:
        code = _dispatch(words)
        stdout().flush()
    except SystemExit as leaving:  # argparse
        return _exit_code(leaving)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except Exception as error:
        _report(error, words, debug=debug)
        return OPERATOR if isinstance(error, _TO_MEND) else FAILED
    finally:
        try:
            stdout().flush()
        except OSError:
            _close_stdout()
        # The process ends, and looking for cycles once more costs a tenth of a second. DuckDB's
        # binding needs it: it prints each object that is still there as leaked.
        if argv is None and "duckdb" not in sys.modules:
            gc.freeze()
    return code


def _begin() -> None:
    """Prepare a process of its own."""
    own_process.begin()
    if {"_ARGCOMPLETE", "COMP_LINE", "COMP_POINT"} <= os.environ.keys():
        resolve(f"{COMMANDS['completion'][0]}:answer")(
            COMMANDS
        )  # a shell asks, and the process ends here
    keep_for_reports(apart=_HELP.isdisjoint(sys.argv[1:]))


def _dispatch(words: Sequence[str]) -> int:
    command, *rest = words or ["--help"]
    if command in {"--help", "-h", "help"}:
        if command == "help" and rest and rest[0] in COMMANDS:
            return _dispatch([rest[0], "--help"])
        say(usage().rstrip())
        return 0
    if command in {"--version", "-V"}:
        say(f"synth {version()}")
        return 0
    if command in COMMANDS:
        return _run_own(command, rest)
    if ":" in command or any(one.name == command for one in MORE_COMMANDS.all()):
        command_main = MORE_COMMANDS.load(command)
    else:
        raise OperatorError(_unknown(command, rest))
    return int(command_main(list(rest)) or 0)


def _run_own(command: str, rest: Sequence[str]) -> int:
    """Run a shipped command, which looks at its arguments before it needs an extra."""
    try:
        return int(resolve(f"{COMMANDS[command][0]}:main")(list(rest)) or 0)
    except (ImportError, PluginError) as error:
        advice = isinstance(error.__cause__ or error, ImportError) and _missing(command)
        if not advice:
            raise
        what = f"synth {command} needs packages that are not installed{advice}"
        raise OperatorError(what) from error


def _unknown(command: str, rest: Sequence[str]) -> str:
    if "=" in command:
        return (
            f"{command!r} is an override; the command comes first: synth run"
            f" {' '.join([command, *rest])}"
        )
    kind = "option" if command.startswith("-") else "command"
    known = [*COMMANDS, *(one.name for one in MORE_COMMANDS.all())]
    near = hint(nearest(command, known))
    return f"unknown {kind} {command!r}{near} (commands: {', '.join(known)}; see `synth --help`)"


def _report(error: Exception, words: Sequence[str], *, debug: bool) -> None:
    """Print one message on stderr, without secrets, and the traceback if it was asked for."""
    if debug:
        print(redact("".join(traceback.format_exception(error))), file=sys.stderr, end="")
    print(redact(_message(error, words)), file=sys.stderr)


def _message(error: Exception, words: Sequence[str]) -> str:
    if isinstance(error, ConfigProblems):
        if len(error.problems) == 1:
            return f"error: {error.problems[0]}"
        lines = "\n".join(f"  {line}" for line in error.problems)
        return f"error: {len(error.problems)} problems with this configuration:\n{lines}"
    if isinstance(error, (SynthError, EnvsError)):
        return f"error: {error}"
    again = " ".join(["synth", *words, "--debug"])
    if isinstance(error, OSError):  # a full disk, a missing permission: not an error of synth
        return f"error: {error}\nWhere it happened: {again}"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    own = next(filter(_is_foreign, reversed(frames)), None)
    bug = "This is a bug in synth, not in what you did."
    whose = bug if own is None else f"It came from {own.filename}:{own.lineno}, an extension."
    return f"error: {type(error).__name__}: {error}{where}\n{whose} The whole traceback: {again}"


def _is_foreign(frame: traceback.FrameSummary) -> bool:
    """True for code that is part of neither synth nor an installed library."""
    path = Path(frame.filename)
    ours = (Path(__file__).parent, Path(__file__).parents[1] / "envs")
    places = (*ours, Path(sys.prefix), Path(sys.base_prefix))
    return path.is_file() and not any(map(path.is_relative_to, places))


def _exit_code(leaving: SystemExit) -> int:
    if isinstance(leaving.code, str):
        print(redact(leaving.code), file=sys.stderr)
        return FAILED
    return leaving.code or 0


def _close_stdout() -> None:
    """Keep the flush at exit from reporting a reader that has gone, or a full disk."""
    # Under a test or in a notebook, standard output may have no file descriptor.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stdout().fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
