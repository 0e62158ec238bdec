"""The quick yes: never where jsonschema says no, and nearly always where it says yes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from envs.tools.schema_validator import acceptance
from envs.tools.toolbox import Toolbox, parse_arguments
from envs.types import ToolCall, ToolResult
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 1.5, -0.0, 1e300, 2**70])
TEXTS = st.sampled_from(["", "a", "ab", "abc", "é", "b\n"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
BOUNDS = {
    key: st.integers(-2, 3) | st.just(1.5)
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
}
SIZES = {key: st.integers(0, 3) for key in ("minLength", "maxLength", "minItems", "maxItems")}
LOOSE: dict[str, Any] = {
    **BOUNDS,
    **SIZES,
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "pattern": st.sampled_from(["^a", "b$", ".", "^$", "(?i)A"]),
    "required": st.lists(NAMES, unique=True, max_size=2),
    "description": TEXTS,
    "default": VALUES,
    "format": st.sampled_from(["date", "email"]),
    "multipleOf": st.sampled_from([2, 0.5]),
    "minProperties": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "not": st.just({"type": "string"}),
}
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "array", "object", ["string", "null"]]
)


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nested = {
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "items": inner,
        "additionalProperties": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
    }
    every = {"type": TYPES} | LOOSE | nested
    chosen = st.lists(st.sampled_from(sorted(every)), max_size=3, unique=True)
    return chosen.flatmap(
        lambda keys: st.fixed_dictionaries({"type": TYPES} | {key: every[key] for key in keys})
    )


SCHEMAS = st.recursive(
    st.booleans() | _schema(st.just({"type": "string"})) | st.just({}), _schema, max_leaves=4
)


@given(SCHEMAS, VALUES)
@example({"type": "integer"}, True)
@example({"type": "integer"}, 1.0)
@example({"type": "string", "enum": ["a", 1]}, "a")
@example({"type": "object", "additionalProperties": {}}, {"a": 1})
@example({"type": "array", "items": False}, [1])
@example({"type": "string", "multipleOf": 2, "pattern": "("}, "a")
def test_what_is_accepted_is_valid(schema: Any, value: Any):
    """Whatever the schema holds, in or out of what the common endpoints know."""
    if acceptance(schema)(value):
        assert Draft202012Validator(schema).is_valid(value)


@given(VALUES)
def test_what_is_valid_is_accepted(value: Any):
    """For a schema as tools have them; only 5.0 for an integer is left to jsonschema."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "minLength": 1, "pattern": "^a"},
            "b": {"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 2},
            "c": {"type": "object", "additionalProperties": {"type": "string", "enum": ["", "a"]}},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert acceptance(schema)(value) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("world", ["ehr_db", "shop", "shop_sql"])
def test_the_shipped_tools_are_understood(world: str):
    """A tool whose schema is not costs a walk by jsonschema on every call."""
    tools = load_world(find_world(world)).tools
    slow = [each.name for each in tools if not acceptance({**each.parameters, "required": []})({})]
    assert tools
    assert not slow


def test_a_tool_with_keywords_that_are_not_understood_is_judged_all_the_same():
    """By jsonschema: what is wrong is told, what is right passes."""
    [tool] = [
        each for each in load_world(find_world("ehr_db")).tools if each.name == "find_patients"
    ]
    known = {"name": {"type": "string"}, "at": {"type": "integer", "multipleOf": 2}}
    box = Toolbox([type(tool)("t", "d", {"type": "object", "properties": known}, tool.executor)])
    wrong = box.parse(ToolCall("c", "t", '{"at": 3}'))
    assert isinstance(wrong, ToolResult)
    assert "multiple of 2" in str(wrong.message)
    assert not isinstance(box.parse(ToolCall("c", "t", '{"at": 4}')), ToolResult)


JSON_TEXT = VALUES.map(json.dumps) | st.dictionaries(NAMES, VALUES).map(json.dumps)
BITS = st.sampled_from(
    [
        '{"a":',
        "1}",
        "NaN",
        "1e999",
        '"\\ud800"',
        '"\ud800"',
        ',"a":2}',
        "[" * 70,
        "]" * 70,
        " ",
        "{}",
        "9" * 5000,
    ]
)


@given(JSON_TEXT | st.lists(BITS, max_size=4).map("".join))
def test_arguments_are_what_a_reader_without_haste_makes_of_them(text: str):
    """The quick way in takes nothing that is refused otherwise, and changes nothing."""
    pairs: list[list[str]] = []

    def keep(items: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.append([key for key, _ in items])
        return dict(items)

    def refuse(word: str) -> Any:
        raise ValueError(word)

    try:
        value = json.loads(text, object_pairs_hook=keep, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        value = None
    twice = any(len(set(each)) < len(each) for each in pairs)
    told = parse_arguments(text)
    if isinstance(value, dict) and not twice and text.count("[") < 60:
        assert told == value
    elif text.strip():
        assert isinstance(told, ToolResult)
