"""A pager for what is longer than a terminal: ``$PAGER``, or less."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Generator

from synth.core.foundation.standard_output import stdout
from synth.core.screen.screen import Screen

_LESS = "FRX"  # ends at once if all fits, passes colours, leaves the text on the screen


@contextlib.contextmanager
def paged(*, wanted: bool = True) -> Generator[Screen]:
    """A screen whose text goes through the pager if standard output is a terminal.

    Leaving early is fine: what the reader does not read is not written.
    """
    command = _pager_command() if wanted and stdout().isatty() else None
    if command is None:
        yield Screen()
        return
    environment = os.environ | {"LESS": os.environ.get("LESS", _LESS)}
    with subprocess.Popen(  # noqa: S603 - the operator names the pager
        command,
        stdin=subprocess.PIPE,
        stdout=stdout(),
        env=environment,
        text=True,
        errors="backslashreplace",
    ) as process:
        assert process.stdin is not None
        try:
            yield Screen(process.stdin, terminal=True)
        except BrokenPipeError:  # the reader has seen enough
            pass
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def _pager_command() -> list[str] | None:
    """The words of the pager's command; None if there is none, or ``$PAGER`` is empty or cat."""
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return None
    usable = bool(words) and words[0] != "cat" and shutil.which(words[0]) is not None
    return words if usable else None
