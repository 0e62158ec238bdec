"""Commands that their help defines: arguments, options, kinds and defaults are read in its text.

The text begins with the command. A paragraph below ``arguments:``, or below a heading with the word
``options``, has a line for each of them::

    synth peek

    Look at a run.

Arguments:
      DIR               a run directory
      [key=value...]    overrides
    options:
      --to NAME         the target (required)
      -n, --limit N|0   rows to list, 0 for all [default: 50]
      --view full|last  one of these words
      --where SQL       rows to look at (repeatable)
      --json            a flag
    options, one of these:
      --all             these two exclude each other
      --best N          a whole number of at least 1

``NAME...`` takes several words, ``[NAME]`` one or none. A name of :data:`KINDS` is checked and
converted, ``1-10`` is a whole number of this range, and any other name is text.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from synth.core.foundation.standard_output import say
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError

Arguments = argparse.Namespace
"""The values by name: ``--dry-run`` is ``dry_run``, ``DIR`` is ``dir``, ``key=value`` is
``overrides``.
"""

_TABLE = re.compile(r"^(arguments|[^\n]*options[^\n]*):\n((?:  .*\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^  (?! )(\S+(?: \S+)*)(.*(?:\n {3}.*)*)", re.MULTILINE)
_DEFAULT = re.compile(r"\[default: ([^]]*)\]")
_CHOICES = re.compile(r"[a-z_-]+(?:\|[a-z_-]+)+")
_RANGE = re.compile(r"(\d+)-(\d+)")


def _whole(least: int, most: int | None, text: str) -> int:
    if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number {bounds}")
    return int(text)


def _real(least: float, most: float, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least < value < most:
        bounds = f" above {least:g} and below {most:g}" if least > -math.inf else ""
        raise argparse.ArgumentTypeError(f"{text!r} must be a number{bounds}")
    return value


def _text(text: str) -> str:
    if not text.strip(" ,"):
        raise argparse.ArgumentTypeError("is empty")
    return text


def _names(text: str) -> list[str]:
    return [name for part in _text(text).split(",") if (name := part.strip())]


KINDS: dict[str, Callable[[str], Any]] = {
    "N": partial(_whole, 1, None),
    "N|0": partial(_whole, 0, None),
    **dict.fromkeys(("SECONDS", "MINUTES"), partial(_real, 0, 1_000_000)),
    **dict.fromkeys(("SQL", "ID"), _text),
    "A,B": _names,
    "PORT": partial(_whole, 0, 65_535),
    "REWARD": partial(_real, -math.inf, math.inf),
    **dict.fromkeys(("DIR", "FILE", "PATH", "DIR2", "BEFORE", "AFTER", "FILE|FOLDER"), Path),
}
"""What converts a word, by the name that it has in the help."""


class _Parser(argparse.ArgumentParser):
    """Prints the command's own text as its help."""

    def __init__(self, text: str, more: Callable[[], str]) -> None:
        prog, _, self._text = text.partition("\n")
        super().__init__(prog=prog, allow_abbrev=False)
        self._more = more
        needed = [prog]
        for heading, table in _TABLE.findall(text):
            exclusive = "one of" in heading
            group = self.add_mutually_exclusive_group() if exclusive else self
            for words, about in _ROW.findall(table):
                _add(group, words.replace(", ", " ").split(), " ".join(about.split()))
                if heading == "arguments" or "(required)" in about:
                    needed.append(words)
        self.usage = " ".join([*needed, "[options]"])

    def error(self, message: str) -> NoReturn:
        """Raise OperatorError with the usage, and with what an unknown option may have meant."""
        if found := re.match(r"unrecognized arguments: (--?([\w.-]+))", message):
            option, key = found.groups()
            near = hint(nearest(option, self._option_string_actions))
            message += f" (a config key has no dashes: {key}=VALUE)" if "." in key else near
        raise OperatorError(f"{message}\nusage: {self.usage}")

    def format_help(self) -> str:
        return f"usage: {self.usage}\n{self._text}{self._more()}"

    def print_help(self, file: object = None) -> None:  # argparse itself ignores a full disk
        say(self.format_help().rstrip(), flush=True)


class Command:
    """A command: called with its arguments, it returns the exit code of ``run(options)``."""

    def __init__(self, text: str, more: Callable[[], str], run: Callable[[Arguments], int]) -> None:
        self._text, self._more, self._run = text, more, run

    def __call__(self, arguments: Sequence[str]) -> int:
        """Raises OperatorError for arguments that the help lacks, and what the command raises."""
        return self._run(self.parser().parse_intermixed_args(arguments))

    def parser(self) -> argparse.ArgumentParser:
        """A parser of the arguments and options of the help."""
        return _Parser(self._text, self._more)


def command(
    text: str, more: Callable[[], str] = str
) -> Callable[[Callable[[Arguments], int]], Command]:
    r"""Make a command of a function of its options. ``more()`` is added to its help.

    >>> @command("synth twice\n\nDouble a number.\n\narguments:\n  N    the number\n")
    ... def twice(options):
    ...     print(2 * options.n)
    ...     return 0
    >>> twice(["21"])
    42
    0
    """
    return partial(Command, text, more)


def _add(group: Any, words: Sequence[str], about: str) -> None:
    """Add an argument or option with its names, and the names of what it takes."""
    flags = [word for word in words if word.startswith("-")]
    taken = words[len(flags) :]
    settings: dict[str, Any] = {"help": about.replace("%", "%%")}
    if not taken:
        group.add_argument(*flags, action="store_true", **settings)
        return
    optional, several = taken[0].startswith("["), "..." in taken[0]
    name = (taken[0][1:-1] if optional else taken[0]).removesuffix("...")
    settings |= {"metavar": name, **_kind(name)}
    if optional or several:
        settings["nargs"] = {"[": "*" if several else "?"}.get(taken[0][0], "+")
    if len(taken) > 1:
        settings |= {"nargs": len(taken), "metavar": tuple(taken)}
    if default := _DEFAULT.search(about):
        settings["default"] = default[1]
    if "(repeatable)" in about:
        settings |= {"action": "append", "default": []}
    if not flags:
        flags = ["overrides" if "=" in name else re.sub(r"\W", "_", name.lower())]
    else:
        settings |= {"required": "(required)" in about, "const": "" if optional else None}
    group.add_argument(*flags, **settings)


def _kind(name: str) -> dict[str, Any]:
    """The settings by which a word of this name is checked and converted."""
    if _CHOICES.fullmatch(name):
        return {"choices": name.split("|")}
    if span := _RANGE.fullmatch(name):
        return {"type": partial(_whole, int(span[1]), int(span[2]))}
    return {"type": KINDS.get(name, str)}
