"""``@tool``: a signature and a docstring as a portable JSON Schema, and what has none."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from envs.errors import WorldError
from envs.tools.tool import Tool, lint, schema_of, tool
from envs.types import Limits, ToolResult

NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


class Sex(Enum):
    FEMALE = "female"
    MALE = "male"


@tool(read_only=True, max_rows=5)
def search(
    db: Any,
    name: str,
    limit: int = 10,
    *,
    sex: Sex | None = None,
    kinds: list[Literal["a", "b"]] | None = None,
    weight: Annotated[float, {"minimum": 0, "maximum": 500}] = 0,
    exact: bool = False,
    more: dict[str, Any] | None = None,
) -> dict:
    """Find patients
    by their name.

    Names are folded.

    Args:
        name: The name, or the beginning
            of it.
        limit (int): How many at most.
        sex: One of two.
        kinds: Which kinds: a, b.
        weight: Kilograms.
        exact: No folding.
        more: Anything else.

    Returns:
        exact: this is no parameter's line.
    """
    return {"name": name, "limit": limit, "sex": sex}


class TestSchema:
    def test_signature_and_docstring_become_the_schema(self):
        assert search.name == "search"
        assert search.description == "Find patients by their name. Names are folded."
        assert search.parameters == {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name, or the beginning of it."},
                "limit": {"type": "integer", "description": "How many at most."},
                "sex": {"type": "string", "enum": ["female", "male"], "description": "One of two."},
                "kinds": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["a", "b"]},
                    "description": "Which kinds: a, b.",
                },
                "weight": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 500,
                    "description": "Kilograms.",
                },
                "exact": {"type": "boolean", "description": "No folding."},
                "more": {"type": "object", "description": "Anything else."},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
        assert lint(search) == []

    def test_what_an_endpoint_is_shown(self):
        shown = search.to_openai()
        assert shown["type"] == "function"
        assert shown["function"]["name"] == "search"
        assert shown["function"]["parameters"] == search.parameters

    def test_the_executor_passes_arguments_by_name_and_wraps_the_value(self):
        assert search.executor({"name": "Ada", "sex": "male"}, None) == ToolResult(
            {"name": "Ada", "limit": 10, "sex": "male"}
        )

    def test_a_result_is_passed_on_as_it_is(self):
        given = ToolResult.failure("no", category="refused")

        @tool(name="other")
        def mine(db: Any) -> ToolResult:
            """Refuse."""
            return given

        assert mine.name == "other"
        assert mine.parameters == NOTHING
        assert mine.executor({}, None) is given
        assert mine.limits == Limits(False, None, None, None)
        assert search.limits == Limits(True, None, 5, None)

    @pytest.mark.parametrize(
        ("hint", "schema"),
        [
            (int, {"type": "integer"}),
            (str | None, {"type": "string"}),
            (
                list[list[int]],
                {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            ),
            (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
            (dict, {"type": "object"}),
        ],
    )
    def test_annotations(self, hint: Any, schema: Any):
        assert schema_of(hint) == schema

    @pytest.mark.parametrize(
        ("hint", "words"),
        [
            (int | str, "a union of several types"),
            (Literal[1, "a"], "scalars of one type"),
            (list, "a bare list has no item type"),
            (set[int], "has no portable JSON Schema"),
            (bytes, "has no portable JSON Schema"),
            (None, "has no portable JSON Schema"),
        ],
    )
    def test_annotations_without_a_schema(self, hint: Any, words: str):
        with pytest.raises(TypeError, match=words):
            schema_of(hint)


@pytest.mark.parametrize(
    ("parameters", "described", "words"),
    [
        ("db: Any", None, "it needs a docstring"),
        ("db: Any, patient", ["patient"], "parameter `patient` needs a type annotation"),
        ("db: Any, patient: int", [], "parameter `patient` needs a line under Args:"),
        (
            "db: Any, patient: int",
            ["patient", "pateint"],
            "the docstring describes the unknown parameter `pateint`",
        ),
        ("db: Any, *patients: int", ["patients"], "parameter `patients` cannot be passed by name"),
        ("db: Any, **patients: int", ["patients"], "parameter `patients` cannot be passed by name"),
        ("db: Any, patient: int, /", ["patient"], "parameter `patient` cannot be passed by name"),
        ("", [], "its first parameter must be the connection"),
        ("db: Any, image: bytes", ["image"], "<class 'bytes'> has no portable JSON Schema"),
    ],
)
def test_a_function_that_is_no_tool_is_named_with_its_line(
    parameters: str, described: list[str] | None, words: str
):
    scope: dict[str, Any] = {"Any": Any}
    exec(compile(f"\n\ndef broken({parameters}) -> None: ...", __file__, "exec"), scope)
    function = scope["broken"]
    if described is not None:
        lines = [f"    {name}: Whom." for name in described]
        function.__doc__ = "\n".join(["Do it.", "", *(["Args:"] if lines else []), *lines])
    with pytest.raises(WorldError) as caught:
        tool(function)
    assert caught.value.message.startswith(f"tool broken: {words}")
    assert (caught.value.file, caught.value.line) == (__file__, 3)


def made(
    name: str = "t", description: str = "It does.", output: Any = None, **parameters: Any
) -> Tool:
    return Tool(
        name,
        description,
        NOTHING | parameters,
        lambda _arguments, _db: ToolResult(),
        output_schema=output,
    )


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (made(name="find patients"), "must match"),
        (made(name="x" * 65), "must match"),
        (made(name="find\n"), "must match"),
        (made(name=""), "must match"),
        (made(description="  "), "tool t: no description"),
        (made(type="array", items={"type": "string"}), "parameters must be of type object"),
        (made(properties={"a": {"type": "nubmer"}}), "parameters must be a JSON Schema"),
        (made(output={"type": 5}), "output_schema must be a JSON Schema"),
        (
            made(properties={"a": {"type": ["string", "null"]}}),
            "parameters.a: a list of types is not portable",
        ),
        (made(properties={"a": {"anyOf": []}}), "must be a JSON Schema"),
        (
            made(properties={"a": {"oneOf": [{"type": "string"}]}}),
            "parameters.a: keyword `oneOf` is not portable",
        ),
        (made(properties={"a": {"type": "array"}}), "parameters.a: an array needs `items`"),
        (
            made(properties={"a": {"type": "array", "items": {"$ref": "#/x"}}}),
            "parameters.a[]: keyword `$ref`",
        ),
    ],
)
def test_lint_says_what_would_break_somewhere(item: Tool, words: str):
    assert any(words in line for line in lint(item))
