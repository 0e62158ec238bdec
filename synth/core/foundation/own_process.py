"""What differs in processes of synth's own, such as a command, from those that import it."""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 20, 10)
"""Thresholds for ``gc.set_threshold``.

Python's defaults traverse all that was imported, or all rollouts in flight, so often that a command
needs a quarter more CPU to start and a call of a thousand in flight half as much again. What only
the collector can find is little: a rollout leaves almost nothing.
"""

_begun: list[bool] = []


def begin() -> None:
    """Make this process one of synth's own."""
    gc.set_threshold(*THRESHOLDS)
    _begun.append(True)


def has_begun() -> bool:
    """True in a process of synth's own."""
    return bool(_begun)
