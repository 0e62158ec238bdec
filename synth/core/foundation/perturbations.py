"""Values that are wrong without looking wrong: what a mistake puts in the place of the right
one.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

Json = Any

MistakeInAnyWorld = Literal[
    "wrong_argument", "forgotten_step", "stray_write", "invented_fact", "premature_answer"
]
MistakeKind = Literal[MistakeInAnyWorld, "wrong_sql"]
"""What the scripted expert can be told to do wrong (:mod:`synth.core.models.scripted.mistakes`)."""

MISTAKE_KINDS: tuple[str, ...] = get_args(MistakeInAnyWorld)
"""Those that take no SQL tools."""

USUAL_RATE = 0.3
"""The share of rollouts with a mistake where only kinds of mistakes are given."""

NO_SCHEMA: Mapping[str, Json] = {}

_DAY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])")
"""A day that every month has."""


def other_values(value: Json, schema: Mapping[str, Json] = NO_SCHEMA) -> list[Json]:
    """A value or two of the same type that are not this one; ``schema`` is the JSON Schema that
    they must satisfy.
    """
    if "enum" in schema:
        return [item for item in cast("list[Json]", schema["enum"]) if item != value][:2]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1]
    if isinstance(value, str) and _DAY.fullmatch(value):
        day = dt.date.fromisoformat(value)
        return [(day + dt.timedelta(days=1 if day < dt.date.max else -1)).isoformat()]
    if isinstance(value, str):
        return [f"{value} x"] if value else ["x"]
    if isinstance(value, list):
        items = cast("list[Json]", value)
        grown = [*items, other_values(items[0])[0] if items and other_values(items[0]) else "x"]
        return [grown, items[:-1]] if items else [grown]
    return []


def other_fact(text: str) -> str:
    """Another fact of the same form: the next day, the next number, or else other words."""
    if _DAY.fullmatch(text):
        return str(other_values(text)[0])
    if found := re.search(r"\d+", text):
        return f"{text[: found.start()]}{int(found.group()) + 1}{text[found.end() :]}"
    return "something else"


def typo(text: str) -> str:
    """The text as somebody in a hurry writes it: its last digit another one, or else two letters
    swapped.
    """
    if found := re.search(r"\d(?=\D*$)", text):
        return f"{text[: found.start()]}{(int(found.group()) + 1) % 10}{text[found.end() :]}"
    for index in range(len(text) - 2, 0, -1):
        if (
            text[index].isalpha()
            and text[index - 1].isalpha()
            and text[index].casefold() != text[index - 1].casefold()
        ):
            return f"{text[: index - 1]}{text[index]}{text[index - 1]}{text[index + 1 :]}"
    return f"{text}x"
