"""Verified tool-use training data from real databases. ``synth run`` launches a job; :func:`synth.open` plays a task."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synth.episode import Episode
    from synth.opening import open  # noqa: A004
    from synth.types import Task

_LAZY = {"open": "synth.opening", "Episode": "synth.episode", "Task": "synth.types"}

__all__ = ["Episode", "Task", "open"]


def __getattr__(name: str) -> Any:
    """Import what is asked for, so that ``import synth`` itself stays light."""
    if name not in _LAZY:
        raise AttributeError(f"module 'synth' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
