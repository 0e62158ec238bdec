"""The JSON Schema of tasks.yaml, for editors: generated from its models and a world's tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from envs.tools.tool import Tool
from synth.core.tasks.yaml.models import (
    About,
    Also,
    ColumnCompare,
    CompareModel,
    Definition,
    GateModel,
    LoopModel,
    SaveModel,
    StepList,
    StepModel,
    Steps,
    TasksModel,
    Tolerance,
    ToolName,
    key_of,
)
from synth.core.tasks.yaml.saves import COMPUTED
from synth.core.tasks.yaml.words import TABLE_COMPARE

Schema = dict[str, Any]

NOTATION: Schema = {"type": "string", "pattern": r"^\$|\{"}
"""A text that stands for another value: a slot or a saved name."""

_SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ALONE = ("say", "ask", "confirm", "submit", "for_each")
"""Steps beside which no other key may stand."""


def tasks_schema(tools: Sequence[Tool] = ()) -> Schema:
    """The schema (draft 7, which editors know best). With ``tools``, gold may call no others."""
    generator = _Generator(tools)
    whole = generator.schema(TasksModel)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tasks.yaml of a synth world",
        **whole,
        "definitions": dict(sorted(generator.definitions.items())),
    }


class _Generator:
    """Turns types into schemas and collects the definitions that they refer to."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self.definitions: dict[str, Schema] = {}
        self._special: Mapping[type, Callable[[], Schema]] = {
            CompareModel: self._compare,
            GateModel: self._gate,
            LoopModel: self._loop,
            SaveModel: self._save,
            StepList: lambda: self.schema(Steps),
            StepModel: self._step,
            ToolName: self._tool_name,
        }

    def schema(self, kind: Any) -> Schema:
        """The schema of a type."""
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(arguments[0], arguments[1:])
        if origin in (Union, UnionType):
            choices = [choice for choice in arguments if choice is not NoneType]
            if len(choices) == 1:
                return self.schema(choices[0])
            return {"anyOf": [self.schema(choice) for choice in choices]}
        if origin is Literal:
            return {"enum": sorted(arguments)}
        if origin is list:
            items = self.schema(arguments[0])
            return {"type": "array", **({"items": items} if items else {}), "minItems": 1}
        if origin is dict:
            return self._mapping(*arguments)
        if kind in self._special:
            return self._special[kind]()
        if is_dataclass(kind):
            return self._closed(cast("type", kind))
        return {"type": _SCALARS[kind]} if kind in _SCALARS else {}

    def _annotated(self, kind: Any, notes: Sequence[object]) -> Schema:
        """A definition is left open while it is generated, so that steps may hold steps."""
        named = next((note.name for note in notes if isinstance(note, Definition)), None)
        if named is not None and named in self.definitions:
            schema = _reference(named)
            notes = notes[[isinstance(note, Definition) for note in notes].index(True) + 1 :]
        else:
            if named is not None:
                self.definitions[named] = {}
            schema = self.schema(kind)
        for note in notes:
            match note:
                case About(text):
                    schema = _described(schema, text)
                case Also():
                    schema = {**schema, **note.keywords}
                case Definition(name):
                    self.definitions[name] = schema
                    schema = _reference(name)
                case _:
                    raise TypeError(f"{note!r} says nothing about a schema")
        return schema

    def _mapping(self, key: Any, value: Any) -> Schema:
        names = {name: word for name, word in self.schema(key).items() if name != "type"}
        values = self.schema(value)
        return {
            "type": "object",
            **({"propertyNames": names} if names else {}),
            **({"additionalProperties": values} if values else {}),
        }

    def _closed(self, model: type) -> Schema:
        """An object with the model's keys and no other."""
        required = [
            key_of(field.name)
            for field in fields(model)
            if field.default is MISSING and field.default_factory is MISSING
        ]
        return {
            "type": "object",
            "properties": self._properties(model),
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }

    def _properties(self, model: type) -> dict[str, Schema]:
        hints = get_type_hints(model, include_extras=True)
        return {key_of(field.name): self.schema(hints[field.name]) for field in fields(model)}

    def _compare(self) -> Schema:
        return {
            "type": "object",
            "patternProperties": {
                r"^[^.]+$": {"const": TABLE_COMPARE},
                r"\.": {"anyOf": [self.schema(ColumnCompare), self.schema(Tolerance)]},
            },
            "additionalProperties": False,
        }

    def _tool_name(self) -> Schema:
        names = sorted(tool.name for tool in self.tools)
        return {"enum": names} if names else {"type": "string"}

    def _gate(self) -> Schema:
        """A gate is a name, or one name with options."""
        own = _described(
            {"type": "string", "pattern": ":"}, "A gate of your own: package.module:Class."
        )
        options = self._properties(GateModel)
        return {
            "anyOf": [
                {"enum": ["state", "answer", "sql"]},
                own,
                {"type": "object", "propertyNames": {"pattern": ":"}, "maxProperties": 1},
                *(
                    {
                        "type": "object",
                        "properties": {name: schema},
                        "additionalProperties": False,
                        "required": [name],
                    }
                    for name, schema in options.items()
                ),
            ]
        }

    def _loop(self) -> Schema:
        return {
            "type": "object",
            "properties": {"do": self.schema(Steps)},
            "required": ["do"],
            "minProperties": 2,
            "maxProperties": 2,
        }

    def _save(self) -> Schema:
        return {
            "type": "object",
            "properties": {word: {} for word in COMPUTED},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }

    def _step(self) -> Schema:
        """One of the words, a tool's name with `save` and `fails`, or a case's name with steps."""
        calls = {
            tool.name: _described(_arguments(tool.parameters), tool.description)
            for tool in self.tools
        }
        steps = self.schema(Steps)
        other = [steps] if self.tools else [steps, {"type": ["object", "null"]}]
        alone = [{"required": [word], "maxProperties": 1} for word in _ALONE]
        branch = {"required": ["if", "do"], "maxProperties": 3}
        call = {
            "not": {"anyOf": [{"required": [word]} for word in (*_ALONE, "if", "do", "else")]},
            "minProperties": 1,
            "maxProperties": 3,
        }
        return {
            "type": "object",
            "properties": {**self._properties(StepModel), **calls},
            "additionalProperties": {"anyOf": other},
            "oneOf": [*alone, branch, call],
        }


def _reference(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _described(schema: Schema, text: str) -> Schema:
    """A schema with a description; a reference takes none beside itself in draft 7."""
    if "$ref" in schema:
        return {"allOf": [schema], "description": text}
    return {**schema, "description": text}


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
