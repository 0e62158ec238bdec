"""The `answer` of a family: the fields of the `submit` tool, and how each compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.tool import PROPERTY
from synth.tasks.rules import check_tolerance
from synth.tasks.scope import Scope, nearest
from synth.tasks.steps import every_step
from synth.tasks.words import ARRAY_COMPARE, FIELD_COMPARE, FIELD_KEYS, FIELD_TYPES
from synth.tasks.yaml_source import Map, Seq

Json = Any


def read_answer(raw: Map, scope: Scope) -> tuple[dict[str, Mapping[str, Json]] | None, dict[str, Json]]:
    """The answer's fields as JSON Schema properties (None: there is no answer), and how each compares."""
    if raw.get("answer") is None:
        return None, {}
    fields = scope.mapping(raw["answer"], "answer", raw.lines["answer"])
    if not fields:
        raise scope.fail("`answer` needs at least one field", raw.lines["answer"])
    properties: dict[str, Mapping[str, Json]] = {}
    compare: dict[str, Json] = {}
    for name, entry in fields.items():
        line = fields.lines[name]
        if not PROPERTY.fullmatch(name):
            raise scope.fail(f"answer {name[:80]!r}: a field's name must match {PROPERTY.pattern}", line)
        spec = scope.mapping(entry, f"answer {name}", line, FIELD_KEYS)
        schema = _schema(spec, name, line, scope)
        properties[name] = schema | {"description": scope.text(spec, "description", f"answer {name}")}
        compare[name] = field_rule(spec.get("compare", "exact"), name, schema["type"], line, scope)
    return properties, compare


def _schema(spec: Map, name: str, line: int, scope: Scope) -> dict[str, Json]:
    kind: Json = spec.get("type", "string")
    if not isinstance(kind, str) or kind not in FIELD_TYPES:
        raise scope.fail(f"answer {name}: unknown type {kind!r}; {nearest(str(kind), FIELD_TYPES)}", line)
    schema: dict[str, Json] = {"type": kind}
    if "enum" in spec:
        if not isinstance(spec["enum"], Seq) or not spec["enum"]:
            raise scope.fail(f"answer {name}: enum must be a list of values", line)
        for value in spec["enum"]:
            boolean = isinstance(value, bool) is not (kind == "boolean")
            if kind == "array" or boolean or not isinstance(value, FIELD_TYPES[kind]):
                raise scope.fail(f"answer {name}: {value!r} in enum is no {kind}", line)
        schema["enum"] = list(spec["enum"])
    if kind == "array":
        items: Json = spec.get("items", "string")
        if not isinstance(items, str) or items not in set(FIELD_TYPES) - {"array"}:
            raise scope.fail(f"answer {name}: items must be a scalar type, not {items!r}", line)
        schema["items"] = {"type": items}
    elif "items" in spec:
        raise scope.fail(f"answer {name}: `items` goes with an array", line)
    return schema


def field_rule(rule: Json, name: str, kind: str, line: int, scope: Scope) -> Json:
    """How a field of a type compares, checked."""
    if isinstance(rule, Map):
        check_tolerance(rule, line, scope.fail)
        if kind not in {"integer", "number"}:
            raise scope.fail(f"answer {name}: a tolerance goes with numbers, not with {kind}", line)
        return dict(rule)
    if not isinstance(rule, str) or rule not in FIELD_COMPARE:
        raise scope.fail(f"answer {name}: unknown compare {rule!r}; {nearest(str(rule), FIELD_COMPARE)}", line)
    if rule in ARRAY_COMPARE and kind != "array":
        raise scope.fail(f"answer {name}: `{rule}` goes with an array", line)
    if rule == "text" and kind not in {"string", "array"}:
        raise scope.fail(f"answer {name}: `text` goes with strings", line)
    return rule


def submit_schema(fields: Mapping[str, Json] | None, gold: Sequence[Json]) -> dict[str, Json] | None:
    """The submit tool's parameters: a field is required where every branch hands it in."""
    if fields is None:
        return None
    submits = [step["fields"] for step in every_step(gold) if step["do"] == "submit"]
    required = [name for name in fields if submits and all(name in each for each in submits)]
    return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
