"""ggml-org/llama.cpp#25895, flagdizero/jenny-android-ai-agent#2, HazAT/pi-parallel#4,
ollama/ollama-vscode#67, ahmadrosid/nakama#292, diegosouzapw/OmniRoute#760: one tool's schema made every request fail.

What is sent has one form that they all take; the check names what a world has beyond it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.tools.portable import beyond, sent
from synth.__main__ import main
from synth.core.foundation.shipped import examples_dir

MANY = {
    "type": "array",
    "minItems": 1,
    "maxItems": 100,
    "items": {"type": "string", "pattern": "^(\\d+|loan:[a-z]+)$"},
    "description": "Loans.",
}


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


@pytest.mark.parametrize(
    ("given", "form", "server"),
    [
        (
            MANY,
            {**MANY, "items": {"type": "string", "description": f"(pattern: {MANY['items']['pattern']})"}},
            "llama.cpp",
        ),
        (
            {"type": "string", "maxLength": 100_000, "description": "A note."},
            {"type": "string", "description": "A note. (maxLength: 100000)"},
            "llama.cpp",
        ),
        ({"description": "Any."}, {"type": "string", "description": "Any."}, "Gemma"),
        ({"enum": ["a"]}, {"type": "string", "enum": ["a"]}, "Gemma"),
        (
            {"type": "integer", "enum": [1, 2]},
            {"type": "integer", "description": "(enum: [1,2])"},
            "Gemini",
        ),
        (
            {"type": "number", "exclusiveMinimum": 0, "maximum": 9},
            {"type": "number", "maximum": 9, "description": "(exclusiveMinimum: 0)"},
            "Gemini",
        ),
    ],
)  # fmt: skip
def test_what_a_server_refuses_is_said_in_words(
    given: dict[str, Any], form: dict[str, Any], server: str
):
    assert sent(parameters(value=given)) == parameters(value=form)
    (finding,) = beyond(parameters(value=given))
    assert finding.place.startswith("value")
    assert server in finding.why


@pytest.mark.parametrize(
    "given",
    [
        {"type": "string", "pattern": "^[0-9]{4}$", "minLength": 4, "maxLength": 1_000},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        {"type": "object"},
        {"type": "string", "enum": ["lent", "kept"], "default": "kept", "title": "State"},
    ],
)
def test_what_all_take_is_sent_as_it_is(given: dict[str, Any]):
    assert sent(parameters(value=given)) == parameters(value=given)
    assert beyond(parameters(value=given)) == []


def test_a_tool_without_parameters_has_empty_ones():
    assert sent({"type": "object"}) == {"type": "object", "properties": {}}
    assert [finding.keyword for finding in beyond({"type": "object"})] == ["properties"]


def test_the_check_names_tool_keyword_and_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    world = shutil.copytree(examples_dir() / "library", tmp_path / "w")
    tools = [
        ("many", parameters(loans=MANY)),
        ("anything", parameters(value={"description": "Any."})),
        ("bare", {"type": "object"}),
    ]
    keys = ("name", "description", "parameters", "executor")
    entries = [
        dict(zip(keys, (name, "It.", it, "executors.renew"), strict=True)) for name, it in tools
    ]
    file = world / "tools.yaml"
    own = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump([*own, *entries]))
    assert main(["check", str(world), "--families", "lend_unread", "--tasks", "1", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "`pattern` of many.loans[]: llama.cpp" in shown
    assert "`type` of anything.value: Gemma" in shown
    assert "`properties` of bare: Ollama" in shown
