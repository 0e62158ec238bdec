"""Personal data in a world's database: its columns, declared or guessed, and the people in it."""

from __future__ import annotations

from synth.core.personal.columns import PersonalColumn, personal_columns
from synth.core.personal.people import People, Person, people_of

__all__ = [
    "People",
    "Person",
    "PersonalColumn",
    "people_of",
    "personal_columns",
]
