"""The toolbox: whatever a model emits becomes arguments or one typed error, never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.errors import WorldError
from envs.tools.tool import Tool
from envs.tools.toolbox import MAX_ARGUMENTS, MAX_NESTING, Toolbox, parse_arguments
from envs.types import ErrorCategory, ToolCall, ToolResult


def make(
    name: str, properties: dict[str, Any], required: tuple[str, ...] = (), output: Any = None
) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(
        name, "It does.", schema, lambda arguments, _db: ToolResult(arguments), output_schema=output
    )


BOX = Toolbox(
    [
        make(
            "find_patients",
            {"name": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            ("name",),
        ),
        make("list_all", {}, output={"type": "object", "required": ["rows"]}),
        make("tags", {"words": {"type": "array", "items": {"type": "string"}}}),
        make("free", {"value": {}}),
    ]
)


def parse(arguments: str, name: str = "find_patients") -> Any:
    parsed = BOX.parse(ToolCall("c", name, arguments))
    return parsed if isinstance(parsed, ToolResult) else parsed[1]


class TestGood:
    @pytest.mark.parametrize(
        ("text", "arguments"),
        [
            ('{"name": "Zoë"}', {"name": "Zoë"}),
            (' {"name":"a","limit":2}\n', {"name": "a", "limit": 2}),
            ('{"name": "a", "limit": 2.0}', {"name": "a", "limit": 2.0}),
            ('{"name": "\\ud83d\\ude00"}', {"name": "😀"}),
        ],
    )
    def test_arguments_are_what_the_json_says(self, text: str, arguments: Any):
        assert parse(text) == arguments

    @pytest.mark.parametrize("text", ["", "  ", "{}"])
    def test_no_arguments_are_an_empty_object(self, text: str):
        assert parse(text, "list_all") == {}

    def test_the_tool_comes_with_them(self):
        parsed = BOX.parse(ToolCall("c", "list_all", "{}"))
        assert not isinstance(parsed, ToolResult)
        assert parsed[0] is BOX["list_all"]
        assert "list_all" in BOX
        assert "nothing" not in BOX


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "a",}', "not valid JSON: "),
        ("{name: 'a'}", "not valid JSON: "),
        ('{"name": "a"', "not valid JSON: "),
        ('{"name": "a"}}', "not valid JSON: Extra data at character 13"),
        ('{"name": "a"}{"name": "b"}', "not valid JSON: Extra data"),
        ('```json\n{"name": "a"}\n```', "not valid JSON: "),
        ("\ufeff{}", "not valid JSON: "),
        ('{"name": "a\nb"}', "not valid JSON: Invalid control character"),
        ('{"name": "\\x"}', "not valid JSON: "),
        ('{"value": NaN}', "NaN is not a JSON value"),
        ('{"value": [-Infinity]}', "-Infinity is not a JSON value"),
        ('{"value": 1e999}', "1e999 is out of range"),
        ('{"value": ' + "9" * 5000 + "}", "a number of too many digits"),
        ('{"name": "a", "name": "b"}', "name 'name' more than once"),
        ('{"name": {"a": 1, "a": 1}}', "name 'a' more than once"),
        ('"{\\"name\\": \\"a\\"}"', "must be a JSON object, not a string"),
        ('[{"name": "a"}]', "must be a JSON object, not an array"),
        ("null", "must be a JSON object, not null"),
        ("true", "must be a JSON object, not a boolean"),
        ("12", "must be a JSON object, not a number"),
        ("1.5", "must be a JSON object, not a number"),
        ('{"a":' * 100 + "1" + "}" * 100, "nested too deeply"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"name": "' + "x" * MAX_ARGUMENTS + '"}', f"at most {MAX_ARGUMENTS} are accepted"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)
def test_what_is_no_json_object_is_one_short_sentence(text: str, words: str):
    """The same from the parser alone and through the toolbox; nothing is repaired."""
    for result in (parse_arguments(text), parse(text), parse(text, "free")):
        assert isinstance(result, ToolResult)
        assert not result.ok
        assert (result.category, result.error) == (ErrorCategory.MALFORMED_CALL, "MalformedCall")
        assert words in (result.message or "")
        assert len(result.message or "") < 200


def test_nesting_is_counted_to_the_level():
    assert not isinstance(
        parse_arguments('{"a":' * MAX_NESTING + "1" + "}" * MAX_NESTING), ToolResult
    )
    assert isinstance(parse_arguments('{"a":' * MAX_NESTING + "[]" + "}" * MAX_NESTING), ToolResult)


def test_a_duplicate_among_very_many_keys_is_found_at_once():
    keys = ",".join(f'"k{at}":1' for at in range(80_000))
    result = parse_arguments("{" + keys + ',"k7":2}')
    assert isinstance(result, ToolResult)
    assert "'k7'" in (result.message or "")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("find_patients", "{}", "'name' is required."),
        ("find_patients", '{"name": 5}', "name: 5 is not of type 'string'."),
        ("find_patients", '{"name": null}', "name: None is not of type 'string'."),
        ("find_patients", '{"name": "a", "limit": 0}', "limit: 0 is less than the minimum of 1."),
        ("find_patients", '{"name": "a", "limit": true}', "limit: True is not of type 'integer'."),
        (
            "find_patients",
            '{"name": "a", "limt": 1}',
            "unknown argument 'limt'; known are name, limit.",
        ),
        ("tags", '{"words": "a"}', "words: 'a' is not of type 'array'."),
        ("tags", '{"words": ["a", 5]}', "words[1]: 5 is not of type 'string'."),
        ("tags", '{"words": "[\\"a\\"]"}', "words: '[\"a\"]' is not of type 'array'."),
        (
            "find_patients",
            '{"limit": 0}',
            "'name' is required; limit: 0 is less than the minimum of 1.",
        ),
    ],
)
def test_arguments_off_the_schema_are_named_with_their_place(name: str, text: str, message: str):
    result = parse(text, name)
    assert isinstance(result, ToolResult)
    assert (result.category, result.message) == (ErrorCategory.INVALID_ARGUMENTS, message)


def test_an_error_stays_short_whatever_the_arguments_were():
    unknown = {f"{'k' * 1000}{at}": 1 for at in range(50)}
    for arguments in (
        {"name": {"x": "y" * 5000}},
        {"name": "a", **unknown},
        {"name": ["z"] * 5000},
    ):
        result = parse(json.dumps(arguments))
        assert isinstance(result, ToolResult)
        assert len(result.message or "") < 2000


class TestUnknownTool:
    def test_the_nearest_names_are_offered(self):
        result = parse("{}", "find_patient")
        assert (result.category, result.error) == (ErrorCategory.UNKNOWN_TOOL, "UnknownTool")
        assert result.message == "Unknown tool 'find_patient'."
        assert result.advice == "Did you mean find_patients?"

    @pytest.mark.parametrize("name", ["", "zzz", "x" * 1_000_000])
    def test_or_all_of_them(self, name: str):
        result = parse("{}", name)
        assert result.advice == "Tools: find_patients, list_all, tags, free."
        assert len(result.message) < 120


class TestAuthors:
    def test_problems_of_all_tools_are_told_together(self):
        case = make("case", {})
        odd = make("odd name", {})
        with pytest.raises(WorldError) as caught:
            Toolbox([case, case, odd], "tools.yaml")
        assert "two tools are named 'case'" in str(caught.value)
        assert "'odd name' must match" in str(caught.value)
        assert str(caught.value).startswith("tools.yaml: ")

    def test_outputs_are_checked_where_a_schema_promises_something(self):
        assert BOX.output_problem("list_all", {"rows": []}) is None
        assert BOX.output_problem("list_all", {}) == "'rows' is required"
        assert BOX.output_problem("tags", object()) is None
