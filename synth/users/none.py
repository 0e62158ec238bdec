"""Nobody: a turn without tool calls ends the rollout, and families that need somebody to talk to are not played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.models.base import Model


def make(options: Mapping[str, Any], model: Model | None = None) -> None:
    """The factory that ``users=none`` names."""
    return
