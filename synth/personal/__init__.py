"""Personal data in a world's database: its columns, declared or guessed, and the people in it."""

from __future__ import annotations

from synth.personal.columns import PersonalColumn, personal_columns
from synth.personal.guess import guess_columns
from synth.personal.people import People, Person, people_of

__all__ = [
    "People",
    "Person",
    "PersonalColumn",
    "guess_columns",
    "people_of",
    "personal_columns",
]
