"""Fields of answers, questions for facts, and sentences that tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def with_currency(name: str, column: ColumnShape) -> str:
    """The place of a value in a sentence, an amount before its currency."""
    return column.shown(name) + (f" {{{name}_currency}}" if column.currency else "")


def told(subject: str, facts: Mapping[str, ColumnShape]) -> list[str]:
    """Two sentences of facts about a subject, by the names of what saved them, what was done
    first.
    """
    values = [(one, with_currency(name, one)) for name, one in facts.items()]
    clauses = [
        f"was {one.verb} on {value}" if one.verb else f"the {one.words} {be(one.words)} {value}"
        for one, value in values
    ]
    first, value = values[0]
    begun = f"the {first.words} of {subject} {be(first.words)} {value}"
    begun = f"{subject} {clauses[0]}" if first.verb else begun
    whole = ", and ".join([begun, *clauses[1:]])
    return [f"{whole}.", f"I have looked it up: {whole}."]


def asked_for(subject: str, asked: Sequence[ColumnShape]) -> list[str]:
    """Two questions for facts about a subject: when it was paid, what its amount is."""
    first, *others = asked
    words = " and the ".join(one.words for one in asked if not one.verb)
    if not first.verb:
        verb = "are" if others else be(first.words)
        return [
            f"what {verb} the {words} of {subject}?",
            f"can you tell me the {words} of {subject}?",
        ]
    done = " and ".join(one.verb for one in asked if one.verb)
    rest = f", and what {be(words)} the {words}" if words else ""
    known = f", and what the {words} {be(words)}" if words else ""
    return [
        f"when was {subject} {done}{rest}?",
        f"can you tell me when {subject} was {done}{known}?",
    ]
