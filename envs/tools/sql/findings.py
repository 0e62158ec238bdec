"""A likely mistake in a statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from envs.types import ErrorCategory

FindingKind = Literal[
    "write_in_reader",
    "missing_name",
    "whole_table",
    "unjoined_tables",
    "ungrouped_column",
    "refused_by_engine",
]
"""Kinds of findings: a write in a tool that reads; a table, column or alias that is not there;
UPDATE or DELETE without WHERE; tables without a join condition; a column that is neither grouped
nor aggregated; a statement that the engine cannot parse or plan.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A likely mistake: its kind, a sentence that says what is wrong and what to do, and the
    category of the error if the statement is refused for it.
    """

    kind: FindingKind
    reason: str
    category: ErrorCategory
