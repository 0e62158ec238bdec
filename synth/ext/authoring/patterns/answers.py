"""Fields of answers, and the words that tell them."""

from __future__ import annotations

from collections.abc import Iterable

from synth.ext.authoring.names import be
from synth.ext.authoring.shape import ColumnShape

_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean"}


def field_of(column: ColumnShape) -> dict[str, object]:
    """The answer's field for a column."""
    kind = _TYPES.get(column.kind, "string")
    field: dict[str, object] = {"type": kind, "description": f"The {column.words}."}
    if kind == "number":
        field["compare"] = {"abs": 0.01}
    elif kind == "string" and column.kind == "text":
        field["compare"] = "text"
    return field


def told(subject: str, facts: Iterable[tuple[str, str]]) -> list[str]:
    """Two ways to tell facts about a subject: pairs of the words and the saved name."""
    (words, name), *others = facts
    rest = "".join(f", and the {more} {be(more)} {{{value}}}" for more, value in others)
    value = f"{be(words)} {{{name}}}{rest}."
    return [f"The {words} of {subject} {value}", f"For {subject}, the {words} {value}"]
