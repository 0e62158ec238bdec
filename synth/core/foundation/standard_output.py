"""Standard output, kept for what a command reports.

Tools, imports and child processes print where they like. In a process of its own a command keeps
descriptor 1 for its report at once, and everything else that is written there goes to standard
error, also from processes that it starts.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

_kept: list[TextIO] = []


def keep_for_reports(*, apart: bool = True) -> None:
    """Keep descriptor 1 for :func:`stdout`, from here on and for the whole process.

    Streams that the process lacks (``>&-``) lead nowhere; ``apart`` False does that alone.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, "w" if number else "r"))
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if _kept or not apart or reconfigure is None:
        return
    sys.stdout.flush()
    encoding, errors, lines = sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty()
    kept = os.dup(1)
    os.dup2(2, 1)
    buffering = 1 if lines else -1
    _kept.append(os.fdopen(kept, "w", buffering, encoding=encoding, errors=errors))
    reconfigure(line_buffering=True)


def stdout() -> TextIO:
    """The stream for reports: the standard output that the process was started with."""
    return _kept[0] if _kept else sys.stdout


def say(text: str = "", *, flush: bool = False) -> None:
    """Report a line."""
    print(text, file=stdout(), flush=flush)
