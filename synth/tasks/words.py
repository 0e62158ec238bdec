"""The words of the notation: which keys each mapping takes, and which values a key. The parser checks by them, and
the JSON Schema of tasks.yaml is built from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

WORLD_KEYS = frozenset({"now", "compare", "transient", "families"})
BODY_KEYS = frozenset(
    {"user", "answer", "oracle", "gold", "sql", "hint", "difficulty", "gates", "compare", "accept", "transient"}
)
"""What a family says about a task once its slots are known."""
FAMILY_KEYS = BODY_KEYS | {"id", "about", "ground", "vary", "twins"}
YIELDED_KEYS = BODY_KEYS | {"slots", "key", "branch"}
"""What a family in Python yields for each task."""

USER_KEYS = frozenset({"says", "signed_in", "persona", "knows", "agrees_if"})
TOPIC_KEYS = frozenset({"says", "asked", "words"})
CONSENT_KEYS = frozenset({"mentions", "act", "says", "declines"})

FIELD_KEYS = frozenset({"type", "enum", "items", "description", "compare"})
FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}
"""The types of an answer's fields, and Python's types for a value of each."""
FIELD_COMPARE = frozenset({"exact", "text", "set", "bag"})
ARRAY_COMPARE = frozenset({"set", "bag"})

COLUMN_COMPARE = frozenset({"exact", "ignore", "free_text"})
TABLE_COMPARE = "append_only"
TRANSIENT = frozenset({"allow", "forbid"})

ACCEPT_KEYS = frozenset({"any_of"})
END_KEYS = frozenset({"bind", "must", "may_change"})
FRAME_KEYS = frozenset({"where", "columns", "ops", "at_most"})
ROW_OPS = frozenset({"insert", "update", "delete"})

GATES = frozenset({"state", "answer", "sql", "no_write_before", "required_calls", "forbidden_calls", "says"})
TALK = frozenset({"ask", "confirm"})
"""What `no_write_before` may name: the steps that have to come before the first write."""

SAYS_KEYS = frozenset({"all", "none"})

SQL_KEYS = frozenset({"rows", "columns", "databases", "tolerance"})
SQL_ROWS = frozenset({"bag", "set"})
SQL_COLUMNS = frozenset({"any", "given"})

DIFFICULTIES = ("simple", "moderate", "challenging")
"""BIRD's levels, easiest first."""

SUBMIT, SUBMIT_SQL = "submit", "submit_sql"
"""The tools by which an answer, and the query that gives one, are handed in."""

WORDS = frozenset({"say", "ask", "confirm", SUBMIT, "for_each", "save", "fails", "do"})
"""Words of the steps that no tool and no twin may be named."""

FAMILY_ID = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")
NAME = re.compile(r"^[A-Za-z_]\w*$")
"""What a slot, a saved value, the item of a loop, a topic and a bind may be called."""

NOW = "2026-01-01T09:00:00"
"""A world's date and time where it does not say."""
