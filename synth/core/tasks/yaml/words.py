"""Words and patterns of the notation that the models of tasks.yaml do not hold."""

from __future__ import annotations

import re
from collections.abc import Mapping

FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}
"""The types of an answer's fields, and Python's types for a value of each."""
ARRAY_COMPARE = frozenset({"set", "bag"})

TABLE_COMPARE = "append_only"

DIFFICULTIES = ("simple", "moderate", "challenging")
"""BIRD's levels, easiest first."""

SUBMIT, SUBMIT_SQL = "submit", "submit_sql"
"""The tools by which an answer, and the query that gives one, are handed in."""

TODAY = "today"
"""The saved name of the task's day, which is known from the start unless it is a slot."""

FAMILY_ID = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")
NAME = re.compile(r"^[A-Za-z_]\w*$")
"""What a slot, a saved value, the item of a loop, a topic and a bind may be called."""

NOW = "2026-01-01T09:00:00"
"""A world's date and time where it does not say."""
