"""The JSON Schema of tasks.yaml, for editors: generated from its models and a world's tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema

from envs.tools.tool import Tool
from synth.core.tasks.yaml.models import TasksModel

Schema = dict[str, Any]

NOTATION: Schema = {"type": "string", "pattern": r"^\$|\{"}
"""A text that stands for another value: a slot or a saved name."""

_ALONE = ("say", "ask", "confirm", "submit", "for_each")
"""Steps beside which no other key may stand."""

_STEPS = {"$ref": "#/$defs/Steps"}


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that repeat each key, and the default null of what may be absent."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])


def tasks_schema(tools: Sequence[Tool] = ()) -> Schema:
    """The schema of a tasks.yaml. With ``tools``, gold may call no others."""
    made = TasksModel.model_json_schema(schema_generator=_Untitled)
    whole = json.loads(re.sub(r"Model\b", "", json.dumps(made)))
    parts = whole["$defs"]
    parts["Gate"] = _gate(parts["Gate"])
    parts["Step"] = _step(parts["Step"], tools)
    if tools:
        parts["ToolName"] = {"enum": sorted(tool.name for tool in tools)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "title": "tasks.yaml of a synth world",
    }


def _gate(part: Schema) -> Schema:
    """A gate is one name with options."""
    own = {"type": "object", "propertyNames": {"pattern": ":"}, "maxProperties": 1}
    known = [
        {"type": "object", "properties": {name: schema}, "additionalProperties": False}
        for name, schema in part["properties"].items()
    ]
    return {"anyOf": [own, *known], "minProperties": 1}


def _step(part: Schema, tools: Sequence[Tool]) -> Schema:
    """One of the words, a tool's name with `save` and `fails`, or a case's name with steps."""
    calls = {
        tool.name: {**_arguments(tool.parameters), "description": tool.description}
        for tool in tools
    }
    other = [_STEPS] if tools else [_STEPS, {"type": ["object", "null"]}]
    alone = [{"required": [word], "maxProperties": 1} for word in _ALONE]
    branch = {"required": ["if", "do"], "maxProperties": 3}
    call = {
        "not": {"anyOf": [{"required": [word]} for word in (*_ALONE, "if", "do", "else")]},
        "minProperties": 1,
        "maxProperties": 3,
    }
    return {
        **part,
        "properties": {**part["properties"], **calls},
        "additionalProperties": {"anyOf": other},
        "oneOf": [*alone, branch, call],
    }


def _arguments(parameters: Mapping[str, Any]) -> Schema:
    properties = cast("Mapping[str, Schema]", parameters.get("properties", {}))
    arguments = {name: _notated(schema) for name, schema in properties.items()}
    return {"type": ["object", "null"], "properties": arguments, "additionalProperties": False}


def _notated(schema: Schema) -> Schema:
    """The schema of an argument of gold, any part of which may be a slot, a saved name, or null."""
    inner = {key: value for key, value in schema.items() if key not in {"required", "description"}}
    if "properties" in inner:
        inner["properties"] = {name: _notated(part) for name, part in inner["properties"].items()}
    if "items" in inner:
        inner["items"] = _notated(inner["items"])
    described = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": [inner, NOTATION, {"type": "null"}], **described}
