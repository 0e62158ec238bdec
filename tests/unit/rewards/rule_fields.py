"""Fields of a task by their names, those of its rules beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from synth.core.types.checks import EndRules

NAMES = {entry.name for entry in fields(EndRules)}


def ruled(given: Mapping[str, Any], rules: EndRules | None = None) -> dict[str, Any]:
    """The fields with ``rules``, changed by the ones that are rules."""
    own = {name: value for name, value in given.items() if name in NAMES}
    others = {name: value for name, value in given.items() if name not in NAMES}
    return {**others, "rules": replace(rules or EndRules(), **own)}
