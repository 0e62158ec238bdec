"""The command line's front door: finds the command, runs it, and turns what goes wrong into one clear message.

Commands are imported by path, and only when called, so that ``synth --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from envs.errors import DatabaseConfigError, EnvsError, WorldError
from synth.credentials import redact
from synth.errors import ConfigProblems, DatasetError, ModelError, OperatorError, SynthError, TaskError
from synth.nearest import hint, nearest
from synth.shipped import version

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("synth.cli.run", "make a dataset: a world, a model, tasks (Hydra overrides, -m for a sweep)"),
    "inspect": ("synth.cli.inspect", "look into a dataset, also of a run that is going on or was killed"),
    "check": ("synth.cli.check", "let a world prove itself: tools, tasks, gold solutions, verifiers"),
    "schema": ("synth.cli.schema", "print the JSON Schema of tasks.yaml, for editors"),
    "replay": ("synth.cli.replay", "do a dataset's tool calls again on fresh databases and compare"),
    "grade": ("synth.cli.grade", "judge a dataset's trajectories again, by the verifiers and tasks of today"),
    "reseed": ("synth.cli.reseed", "(re)create a world's database from its schema.sql and seed.sql"),
    "export": ("synth.cli.export", "write a dataset in the form that a trainer reads"),
}
"""Each command: the module whose ``main(argv) -> int`` it is, and one line of help."""

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

OPERATOR, FAILED, INTERRUPTED, PIPE_CLOSED = 2, 1, 130, 141

# What somebody has to mend before anything can start; everything else that fails is a failure of the work itself.
# A model's error comes this far only from the preflight: during a run it becomes a row. A dataset that is not there or
# cannot be read is among them, so that 1 from `synth replay` always means a difference.
_TO_MEND = (OperatorError, WorldError, DatabaseConfigError, TaskError, ModelError, DatasetError)


def usage() -> str:
    width = max(len(name) for name in COMMANDS)
    table = "\n".join(f"  {name:<{width}}  {words}" for name, (_, words) in COMMANDS.items())
    return (
        "usage: synth COMMAND [arguments]\n\n"
        "Verified tool-use training data from real databases.\n\n"
        f"commands:\n{table}\n\n"
        "options:\n"
        "  --help     this text; `synth COMMAND --help` has the command's own\n"
        "  --version  the version\n"
        "  --debug    with any command: show the traceback of an error\n\n"
        f"{EXAMPLES}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done; 1 failed or different; 2 something to mend first (arguments, paths, config, world, tasks, dataset, key,
    endpoint); 130 interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    options = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in options
    words = [word for word in options if word != "--debug"] + given[len(options) :]
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except SystemExit as leaving:  # argparse
        return _exit_code(leaving)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _close_stdout()
        return PIPE_CLOSED
    except Exception as error:
        _report(error, words, debug=debug)
        return OPERATOR if isinstance(error, _TO_MEND) else FAILED
    return code


def _dispatch(words: Sequence[str]) -> int:
    command, *rest = words or ["--help"]
    if command in {"--help", "-h", "help"}:
        if command == "help" and rest and rest[0] in COMMANDS:
            return _dispatch([rest[0], "--help"])
        print(usage(), end="")
        return 0
    if command in {"--version", "-V"}:
        print(f"synth {version()}")
        return 0
    if command not in COMMANDS:
        raise OperatorError(_unknown(command, rest))
    module, _ = COMMANDS[command]
    return int(importlib.import_module(module).main(list(rest)))


def _unknown(command: str, rest: Sequence[str]) -> str:
    if "=" in command:
        return f"{command!r} is an override; the command comes first: synth run {' '.join([command, *rest])}"
    what = "option" if command.startswith("-") else "command"
    near = hint(nearest(command, COMMANDS))
    return f"{command!r} is no {what} of synth{near} (commands: {', '.join(COMMANDS)}; see `synth --help`)"


def _report(error: Exception, words: Sequence[str], *, debug: bool) -> None:
    """One message on stderr, without secrets; the traceback only where it was asked for."""
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
    if isinstance(error, OSError):  # a full disk, a missing permission: the machine's doing
        return f"error: {error}\nWhere it happened: {again}"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return (
        f"error: {type(error).__name__}: {error}{where}\n"
        f"This is a bug in synth, not in what you did. The whole traceback: {again}"
    )


def _exit_code(leaving: SystemExit) -> int:
    if isinstance(leaving.code, str):
        print(redact(leaving.code), file=sys.stderr)
        return FAILED
    return leaving.code or 0


def _close_stdout() -> None:
    """Keep the interpreter's own flush at exit from complaining about a reader that has left."""
    # Under a test or a notebook standard output has no file behind it, and there is nothing to keep quiet.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
