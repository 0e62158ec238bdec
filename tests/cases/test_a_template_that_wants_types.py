"""HazAT/pi-parallel#4, ollama/ollama-vscode#67: a template that writes each parameter's type fails where one has none.

The refusal names the tool and the parameter, beside Jinja's words.
"""

from __future__ import annotations

from typing import Any

import pytest

from envs.tools.tool import Tool
from envs.types import ToolResult
from synth.ext.exporters.rendering.gate import RenderGate
from synth.ext.exporters.rendering.presets import Preset

SOURCE = """
{%- for tool in tools or [] %}{{ tool.function.name }}(
{%- for name, value in tool.function.parameters.properties.items() -%}
{{ name }}:{{ value['type'].upper() }},
{%- endfor %})
{%- endfor %}
{%- for message in messages %}<turn>{{ message.role }} {{ message.content }}<end>{% endfor %}
"""
MESSAGES = [
    {"role": "user", "content": "Lend it."},
    {"role": "assistant", "content": "It is lent."},
]


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def test_the_tool_and_the_parameter_are_named():
    tools = [
        tool("lend", book={"type": "integer"}),
        tool("bare"),
        tool("anything", place={"type": "string"}, value={"description": "of any type"}),
    ]
    found = RenderGate(Preset("mine", SOURCE)).reason(MESSAGES, tools)
    assert "parameter 'value' of the tool 'anything'" in found
    assert "which has no `type`" in found


@pytest.mark.parametrize("tools", [[], [tool("bare")], [tool("lend", book={"type": "integer"})]])
def test_tools_with_types_are_rendered(tools: list[Any]):
    assert RenderGate(Preset("mine", SOURCE)).reason(MESSAGES, tools) == ""


def test_a_tool_without_properties_is_named():
    bare = tool("bare")
    del bare["function"]["parameters"]["properties"]
    found = RenderGate(Preset("mine", SOURCE)).reason(MESSAGES, [tool("lend"), bare])
    assert "it fails at the tool 'bare', whose parameters have no `properties`" in found


def test_a_fault_of_the_conversation_names_no_tool():
    source = "{{ raise_exception('no system') }}"
    tools = [tool("lend", book={"type": "integer"})]
    assert RenderGate(Preset("mine", source)).reason(MESSAGES, tools) == (
        "mine does not render it: no system"
    )


def test_a_tool_of_a_world_is_sent_with_properties():
    bare = Tool("bare", "Takes nothing.", {"type": "object"}, lambda *_: ToolResult(None))
    assert bare.to_openai()["function"]["parameters"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("more", "loses"), [("", True), ("{{ tool.function.description }}", False)]
)
def test_a_template_that_drops_descriptions_is_named(more: str, *, loses: bool):
    source = SOURCE.replace("name }}(", f"name }}}}({more}")
    gate = RenderGate(Preset("mine", source))
    assert gate.loses_descriptions(MESSAGES, [tool("lend", book={"type": "integer"})]) is loses
