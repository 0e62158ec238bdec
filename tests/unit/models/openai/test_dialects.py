"""What is advised where a known server refuses a request, and where the advice was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synth.core.models.openai.dialects import DIALECTS, advice

GUIDE = Path(__file__).parents[4] / "docs/guides/endpoints.md"
HOST = "http://host/v1"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("The `reasoning_content` in the thinking mode must be passed back to the API.", "echo_reasoning=reasoning_content"),
        ("Missing `reasoning_content` field in the assistant message at index 2", "echo_reasoning=reasoning_content"),
        ("body.max_completion_tokens: Extra inputs are not permitted", "max_tokens_key=max_tokens"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'", "max_tokens_key=max_completion_tokens"),
        ("This model only supports single tool-calls at once!", "parallel_tool_calls: false"),
        ("Function call is missing a thought_signature in functionCall parts", "gateway"),
        ("Unknown name \"exclusiveMinimum\" at 'tools[0].function_declarations[6]'", "synth check"),
        ("JSON schema: Pattern must start with '^' and end with '$'", "synth check"),
        ("tools.function.parameters is not a valid moonshot flavored json schema, details: ...", "synth check"),
        ("Invalid schema for function 'f': schema must be a JSON Schema of 'type: \"object\"'", "synth check"),
        ("[{'type': 'extra_forbidden', 'loc': ['body', 'tools'], 'msg': 'Extra inputs are not permitted'}]", "agent.text_calls=parse"),
        ("This model does not support function calling", "agent.text_calls=parse"),
        ("Invalid 'tools': array too long. Expected at most 128.", "--tables"),
        ("registry.ollama.ai/library/m does not support tools", "agent.text_calls=parse"),
        ("\"auto\" tool choice requires --enable-auto-tool-choice", "--tool-call-parser NAME"),
        ("The model `m` does not exist.", "GET http://host/v1/models"),
        ("Unsupported value: 'temperature' does not support 0.7", "model.temperature"),
    ],
)  # fmt: skip
def test_the_option_that_mends_is_named(words: str, option: str):
    assert option in advice(400, words, HOST)


def test_an_echo_that_is_refused_is_taken_back():
    said = "property 'reasoning_content' is unsupported"
    assert "echo_reasoning=null" in advice(400, said, HOST, "reasoning_content")
    assert "echo_reasoning" not in advice(400, said, HOST)


def test_an_unknown_refusal_has_no_advice():
    assert advice(400, "the moon is full", HOST) == ""
    assert "ends in /v1" in advice(404, "Not Found", HOST)
    assert "try model.base_url=http://host/v1" in advice(404, "Not Found", "http://host")


def test_each_row_has_a_source_and_a_date_and_stands_in_the_guide():
    guide = GUIDE.read_text()
    for row in DIALECTS:
        assert re.fullmatch(r"20\d\d-\d\d", row.seen)
        if row.servers != "any":
            assert f"{row.source.split(', ')[0]}, {row.seen}" in guide, row
