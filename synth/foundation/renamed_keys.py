"""Names that were replaced when the schema version rose to 2, and the warning for their use.

This is the only table of old names. A recorded run of schema version 1 and a world in the old
notation are read through it; nothing is written under an old name.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Mapping
from typing import Any, Final

from synth.errors import RenamedKeyWarning

COLUMNS: Final[Mapping[str, str]] = {
    "branch": "case",
    "policy_input_tokens": "approver_input_tokens",
    "policy_output_tokens": "approver_output_tokens",
    "policy_cost_usd": "approver_cost_usd",
}
"""Columns of the trajectories and of tasks.parquet, and the counts in manifest.json."""

EVENTS: Final[Mapping[str, str]] = {"policy_completion": "approver_completion"}
"""Values of `event` in the column `events`."""

TASK_FIELDS: Final[Mapping[str, str]] = {"branch": "case", "accept": "alternatives"}
"""Fields of a task in tasks.parquet, and keys of a task that a function in tasks.py yields."""

FAMILY_KEYS: Final[Mapping[str, str]] = {"twins": "cases", "accept": "alternatives"}
"""Keys of a family in tasks.yaml."""

_issued: Final[set[tuple[str, str]]] = set()
"""File and message of the warnings that this process has issued."""


def renamed(values: Mapping[str, object], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy in which every old key has its new name, in the same order."""
    return {names.get(key, key): value for key, value in values.items()}


def warn_renamed(message: str, file: str, line: int) -> None:
    """Issue a :class:`RenamedKeyWarning` that points to a line (counted from 1) of a file.

    The same message about the same file is issued once per process. Child processes stay silent,
    because the parent has read the same file.
    """
    if (file, message) in _issued or multiprocessing.parent_process() is not None:
        return
    _issued.add((file, message))
    warnings.warn_explicit(message, RenamedKeyWarning, file, line)
