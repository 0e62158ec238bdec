"""How values compare: the fields of a family's `answer`, and the columns of a world or family."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import Table
from synth.core.tasks.yaml.models import FieldCompare, words_of
from synth.core.tasks.yaml.scope import Scope, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import StepTemplate
from synth.core.tasks.yaml.words import ARRAY_COMPARE, FIELD_TYPES, TABLE_COMPARE
from synth.core.types.steps import SubmitStep, every_step


def read_answer(
    raw: Map, scope: Scope
) -> tuple[dict[str, Mapping[str, object]] | None, dict[str, object]]:
    """The answer's fields as JSON Schema properties (None: there is no answer), and how each
    compares.
    """
    if raw.get("answer") is None:
        return None, {}
    fields = raw["answer"]
    properties: dict[str, Mapping[str, object]] = {}
    compare: dict[str, object] = {}
    for name, spec in fields.items():
        line = fields.lines[name]
        schema = _schema(spec, name, line, scope)
        properties[name] = schema | {"description": spec["description"]}
        compare[name] = field_rule(
            spec.get("compare") or "exact", name, schema["type"], line, scope
        )
    return properties, compare


def _schema(spec: Map, name: str, line: int, scope: Scope) -> dict[str, Any]:
    kind: str = spec.get("type") or "string"
    schema: dict[str, object] = {"type": kind}
    if spec.get("enum") is not None:
        for value in spec["enum"]:
            boolean = isinstance(value, bool) is not (kind == "boolean")
            if kind == "array" or boolean or not isinstance(value, FIELD_TYPES[kind]):
                raise scope.fail(f"answer {name}: {value!r} in enum must be of type {kind}", line)
        schema["enum"] = list(spec["enum"])
    if kind == "array":
        schema["items"] = {"type": spec.get("items") or "string"}
    elif spec.get("items") is not None:
        raise scope.fail(f"answer {name}: `items` goes with an array", line)
    return schema


def field_rule(rule: object, name: str, kind: str, line: int, scope: Scope) -> object:
    """The checked rule by which a field of a type compares."""
    if isinstance(rule, Map):
        if kind not in {"integer", "number"}:
            raise scope.fail(f"answer {name}: a tolerance goes with numbers, not with {kind}", line)
        return dict(rule)
    if not isinstance(rule, str) or rule not in words_of(FieldCompare):
        raise scope.fail(
            f"answer {name}: unknown compare {rule!r};"
            f" {nearest(str(rule), words_of(FieldCompare))}",
            line,
        )
    if rule in ARRAY_COMPARE and kind != "array":
        raise scope.fail(f"answer {name}: `{rule}` goes with an array", line)
    if rule == "text" and kind not in {"string", "array"}:
        raise scope.fail(f"answer {name}: `text` goes with strings", line)
    return rule


def submit_schema(
    fields: Mapping[str, object] | None, gold: Sequence[StepTemplate]
) -> dict[str, object] | None:
    """The submit tool's parameters: a field is required where every case hands it in."""
    if fields is None:
        return None
    submits = [step.fields for step in every_step(gold) if isinstance(step, SubmitStep)]
    required = [name for name in fields if submits and all(name in submit for submit in submits)]
    return {
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


_TEXT = re.compile("CHAR|TEXT|CLOB|DATE|TIME")


def read_compare(owner: Map, scope: Scope, tables: Mapping[str, Table]) -> dict[str, object]:
    """``table.column`` or ``*.column`` -> exact, ignore, free_text or {abs: x}; ``table`` ->
    append_only.
    """
    rules = scope.part(owner, "compare")
    for key, rule in rules.items():
        where = rules.lines[key]
        if "." not in key and rule != TABLE_COMPARE:
            raise scope.fail(
                f"`{key}` names a table; the rule for a table is {TABLE_COMPARE}", where
            )
        if "." in key and rule == TABLE_COMPARE:
            raise scope.fail(
                f"`{key}` names a column; {TABLE_COMPARE} is a rule for a table", where
            )
        _check_target(key, rule, tables, where, scope)
    return {key: dict(rule) if isinstance(rule, Map) else rule for key, rule in rules.items()}


def _check_target(
    key: str, rule: object, tables: Mapping[str, Table], line: int, scope: Scope
) -> None:
    """A rule that names no table or no column would silently be no rule."""
    table, dot, column = key.partition(".")
    if table != "*" and table not in tables:
        raise scope.fail(
            f"compare {key}: unknown table {table!r}; {nearest(table, set(tables))}", line
        )
    columns = [
        item for name, known in tables.items() if table in {"*", name} for item in known.columns
    ]
    found = [item for item in columns if item.name == column]
    if dot and not found:
        names = {item.name for item in columns}
        raise scope.fail(
            f"compare {key}: unknown column {column!r}; {nearest(column, names)}", line
        )
    if isinstance(rule, Mapping) and any(_TEXT.search(item.type.upper()) for item in found):
        raise scope.fail(f"compare {key}: a tolerance on a column of text", line)
