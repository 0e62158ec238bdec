"""The form of answers that all families of a world share: a `submit` tool that does not reveal the
family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from synth.core.tasks.pools import ListedFamily
from synth.core.tasks.yaml.body import Body
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.scope import nearest
from synth.errors import TaskError
from synth.source import TaskFamily

Field = Mapping[str, Any]


def form_of(
    descriptions: Mapping[str, str] | None, families: Sequence[TaskFamily]
) -> dict[str, Any] | None:
    """The JSON Schema of the form: each field of an answer, none required, an enum with the words
    of all families. None if the world has no form (``descriptions`` is None).

    Raises :class:`~synth.errors.TaskError` for a field that has two types, and for a description of
    a field that no family has.
    """
    if descriptions is None:
        return None
    fields: dict[str, dict[str, Any]] = {}
    owners: dict[str, TaskFamily] = {}
    for family in families:
        for name, field in _fields(family):
            if name not in fields:
                fields[name], owners[name] = dict(field), family
            else:
                _merge(fields[name], field, name, (owners[name], family))
    if unknown := [name for name in descriptions if name not in fields]:
        close = nearest(unknown[0], fields)
        file = families[0].file if families else None
        raise TaskError(f"form: no family's answer has the field {unknown[0]!r}; {close}", file)
    for name, description in descriptions.items():
        fields[name]["description"] = description
    if not fields:
        return None
    return _object(fields)


def joint_form(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The form that asks for any of several answers, each a JSON Schema; None if a field has
    another type in one of them.
    """
    fields: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for name, field in answer["properties"].items():
            if name not in fields:
                fields[name] = dict(field)
            elif not _same_type(fields[name], field):
                return None
            else:
                _join(fields[name], field)
    return _object(fields)


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: fields[name] for name in sorted(fields)},
        "required": [],
        "additionalProperties": False,
    }


def _fields(family: TaskFamily) -> Iterator[tuple[str, Field]]:
    bodies: list[Body] = []
    if isinstance(family, Family):
        bodies = [family.body]
    elif isinstance(family, ListedFamily):
        bodies = [task.body for task in family.tasks]
    for body in bodies:
        properties = (body.answer or {}).get("properties", {})
        yield from cast("Mapping[str, Field]", properties).items()


def _merge(
    known: dict[str, Any], field: Field, name: str, owners: tuple[TaskFamily, TaskFamily]
) -> None:
    if not _same_type(known, field):
        one, other = (_kind(item) for item in (known, field))
        message = (
            f"form: the field {name!r} is {one} in {owners[0].id} and {other} in"
            f" {owners[1].id}: give one of them another name"
        )
        raise TaskError(message, owners[1].file, owners[1].line, owners[1].id)
    _join(known, field)


def _same_type(one: Field, other: Field) -> bool:
    return all(one.get(key) == other.get(key) for key in ("type", "items"))


def _join(known: dict[str, Any], field: Field) -> None:
    """Let a field of a form take another field's words as well."""
    if "enum" in known and "enum" in field:
        known["enum"] = sorted({*known["enum"], *field["enum"]}, key=str)
    else:
        known.pop("enum", None)
    if field["description"] not in known["description"].split(" Or: "):
        known["description"] = f"{known['description']} Or: {field['description']}"


def _kind(field: Field) -> str:
    items = field.get("items")
    return f"an array of {items['type']}" if items else str(field["type"])
