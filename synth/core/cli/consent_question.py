"""The question that is asked before a stranger's code is executed."""

from __future__ import annotations

import contextlib
import sys

from synth.core.foundation.consent import Consent, ForeignCode, agree, refuse
from synth.core.foundation.credentials import redact
from synth.core.runner.progress import ProgressView


def consent_by(trust: bool, view: ProgressView | None = None) -> Consent:
    """Consent by ``--trust``, else by an answer on the terminal (``view`` pauses for it), else
    none.
    """
    if trust:
        return agree
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return refuse

    def ask(foreign: ForeignCode) -> bool:
        with contextlib.nullcontext() if view is None else view.paused():
            return _ask(foreign)

    return ask


def _ask(foreign: ForeignCode) -> bool:
    """List the code, and ask. A yes also holds for later commands."""
    listed = "".join(f"  {name}\n" for name in foreign.code)
    sys.stderr.write(
        redact(
            f"{foreign.directory} was not made on this machine, and brings\n{listed}"
            "It would act with your rights and keys; tar -xf unpacks world/*.tar.zst to read it.\n"
            "Run it? [y/N] "
        )
    )
    sys.stderr.flush()
    agreed = sys.stdin.readline().strip().lower() in {"y", "yes"}
    if agreed:
        foreign.remember()
    return agreed
