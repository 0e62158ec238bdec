"""A likely mistake in a statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FindingKind = Literal[
    "write_in_reader", "missing_name", "whole_table", "unjoined_tables", "ungrouped_column"
]
"""Kinds of findings: a write in a tool that reads; a table, column or alias that is not there;
UPDATE or DELETE without WHERE; tables without a join condition; a column that is neither grouped
nor aggregated.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A likely mistake: its kind, and a sentence that says what is wrong and what to do."""

    kind: FindingKind
    reason: str
