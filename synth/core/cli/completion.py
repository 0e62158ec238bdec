"""``synth completion``: the script by which a shell completes commands, options and overrides."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from argcomplete import autocomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import configs_dir, world_names
from synth.core.foundation.standard_output import stdout
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError
from synth.plugins import ENGINES, EXPORTERS, EXTENSION_POINTS, WORLDS, ExtensionPoint, resolve

SHELLS = ("bash", "zsh", "fish")

PROGRAMS = ("synth", "synth-worlds")

HELP = """synth completion

Print the script by which a shell completes commands, options, overrides and their values.

arguments:
  SHELL               bash, zsh, fish

examples, for this session:
  bash, zsh   eval "$(synth completion bash)"      (zsh: compinit first)
  fish        synth completion fish | source

for every session:
  bash        synth completion bash > ~/.local/share/bash-completion/completions/synth
  zsh         synth completion zsh > ~/.zfunc/_synth    (a folder of $fpath, before compinit)
  fish        synth completion fish > ~/.config/fish/completions/synth.fish
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Print the script; returns 0. Raises OperatorError for an unknown shell."""
    shell: str = options.shell
    if shell not in SHELLS:
        near = hint(nearest(shell, SHELLS))
        raise OperatorError(f"unknown shell {shell!r}{near} (shells: {', '.join(SHELLS)})")
    stdout().write(shellcode(PROGRAMS, shell=shell))
    return 0


def answer(commands: Mapping[str, tuple[str, str]]) -> None:
    """Write the completions of the line that the shell put into ``COMP_LINE``, and end the process.

    ``commands`` has each command's module and line of help. Only the module of the command in the
    line is imported.
    """
    line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
    words = line.split()
    chosen = words[1] if len(words) > 1 else ""
    if chosen in commands and (len(words) > 2 or line[-1].isspace()):
        parser = resolve(f"{commands[chosen][0]}:main").parser()
        for action in _actions(parser):
            vars(action)["completer"] = _completer(action)
        os.environ["_ARGCOMPLETE"] = "2"  # the words before the command's own: synth COMMAND
    else:
        parser = argparse.ArgumentParser(prog="synth")
        parser.add_argument("--version", action="store_true", help="the version")
        chooser = parser.add_subparsers()
        for name, (_, about) in commands.items():
            chooser.add_parser(name, help=about, add_help=False)
    autocomplete(parser, always_complete_options="long")


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _completer(action: argparse.Action) -> Callable[..., Iterable[str]] | None:
    """The completer of an argument, by its name, else of files, or of nothing. None is the
    default of argcomplete: the argument's choices, else files.
    """
    if (found := _BY_NAME.get(action.dest)) is not None:
        return found
    if action.choices is not None:
        return None
    if "DIR" in str(action.metavar):
        return _folders
    return _paths if action.type is Path or "FILE" in str(action.metavar) else partial(_given, ())


def _shown(complete: Callable[[str], Iterable[str]], prefix: str, **_: object) -> list[str]:
    """Paths without hidden ones, unless a dot was typed."""
    hidden = prefix.rpartition("/")[2].startswith(".")
    paths = list(complete(prefix))
    return [one for one in paths if hidden or one.rstrip("/").rpartition("/")[2][:1] != "."]


_folders = partial(_shown, DirectoriesCompleter())
_paths = partial(_shown, FilesCompleter())


def _overrides(prefix: str, parsed_args: Arguments, **_: object) -> Iterable[str]:
    folders = [configs_dir()]
    if getattr(parsed_args, "config_dir", None) is not None:
        folders.append(parsed_args.config_dir.expanduser())
    return resolve("synth.core.cli.override_completion:completions")(prefix, folders)


def _config_names(prefix: str, parsed_args: Arguments, **_: object) -> Iterable[str]:
    own = [] if parsed_args.config_dir is None else [parsed_args.config_dir.expanduser()]
    return sorted({file.stem for folder in (configs_dir(), *own) for file in folder.glob("*.yaml")})


def _worlds(prefix: str, **_: object) -> Iterable[str]:
    """Names of worlds, and paths of folders."""
    return [*world_names(), *_names(WORLDS), *_folders(prefix)]


def _given(names: Sequence[str], **_: object) -> Sequence[str]:
    return names


def _names(point: ExtensionPoint, **_: object) -> list[str]:
    return [found.name for found in point.all()]


_BY_NAME: dict[str, Callable[..., Iterable[str]]] = {
    "overrides": _overrides,
    "config_name": _config_names,
    "world": _worlds,
    "to": partial(_names, EXPORTERS),
    "database": partial(_names, ENGINES),
    "kind": partial(_given, [f"{one.kind}s".replace(" ", "-") for one in EXTENSION_POINTS]),
    "shell": partial(_given, SHELLS),
}
"""What completes an argument, by the name that it has in every command."""
