"""Personal data in a world's database: its columns, declared or guessed, and the people in it."""

from __future__ import annotations

from synth.core.personal.people import People, Person, PersonalColumn, people_of, personal_columns

__all__ = ["People", "Person", "PersonalColumn", "people_of", "personal_columns"]
