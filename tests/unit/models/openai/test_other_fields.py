"""Fields that no part of a completion holds: kept, sent back to where they came from, or named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from synth.core.agent.memory import ConversationMemory
from synth.core.models.emission import completion_event, completion_of
from synth.core.models.openai.reply import read_completion
from synth.core.models.openai.stream import StreamedAnswer
from synth.core.models.openai.wire import wire_message

FUNCTION = {"name": "find", "arguments": "{}"}


def returned(message: dict[str, Any], origin: str = "here") -> dict[str, Any]:
    """The message as it goes back, after a stay in the record."""
    completion = read_completion({"choices": [{"message": message}]}, 0, "here")
    kept = json.loads(json.dumps(completion.provider))
    memory = ConversationMemory([])
    memory.add_completion(completion_of(completion_event(completion), None, None, kept))
    json.dumps(memory.messages)
    return wire_message(memory.messages[0], None, origin)


def call(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": FUNCTION, **fields}


@pytest.mark.parametrize(
    "message",
    [
        {"content": "a", "extra_content": {"google": {"thought_signature": "c2ln"}}},
        {"content": "a", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
        {"content": "a", "big": 2**53 + 1, "text": "é", "deep": [[{"a": [None]}]]},
        {"content": [{"type": "text", "text": "a", "signature": "s"}]},
        {"content": None, "tool_calls": [call("a", extra_content={"s": 1}), call("b")]},
        {
            "content": None,
            "tool_calls": [
                call("a"),
                {**call("b"), "function": {**FUNCTION, "provider_specific_fields": {"s": 1}}},
            ],
        },
    ],
)
def test_what_stands_beside_known_fields_goes_back_verbatim(message: dict[str, Any]):
    assert returned(message) == {"role": "assistant", **message}


def test_nothing_goes_back_to_another_endpoint():
    message = {"content": "a", "tool_calls": [call("a", extra_content={"s": 1})], "note": "x"}
    plain = {"role": "assistant", "content": "a", "tool_calls": [call("a")]}
    assert returned(message, "elsewhere") == plain


@pytest.mark.parametrize(
    "message",
    [
        {
            "content": "a",
            "reasoning_content": "r",
            "refusal": None,
            "annotations": [],
            "audio": None,
        },
        {"content": "a", "reasoning": "r"},
        {"content": "a", "tool_calls": [{**call("a"), "index": 0}]},
        {"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]},
    ],
)
def test_known_and_empty_fields_are_no_echo(message: dict[str, Any]):
    assert read_completion({"choices": [{"message": message}]}).provider == {}


def test_fields_of_the_answer_are_kept_or_named():
    choice = {"message": {"content": "a"}, "stop_reason": 7, "prompt_logprobs": [0.5] * 2_000}
    other = {"message": {"content": "b"}, "index": 1}
    body = {"id": "x", "created": 1, "prompt_filter_results": {}, "choices": [choice, other]}
    found = read_completion(body | {"provider": "p", "prompt_token_ids": [1] * 4_000}).provider
    assert found == {
        "id": "x",
        "provider": "p",
        "stop_reason": 7,
        "choices": [other],
        "left_out": ["prompt_logprobs", "prompt_token_ids"],
    }


def test_streamed_fields_are_put_together():
    """OpenRouter's parts by index, LiteLLM's without one, a signature at the end of each."""
    deltas: list[dict[str, Any]] = [
        {
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "format": "f", "text": "ha"}
            ]
        },
        {
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "format": "f", "text": "ha"}
            ]
        },
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "a"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "b", "signature": "s1"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "c", "signature": "s2"}]},
        {"tool_calls": [{"index": 0, **call("a", extra_content={"google": {"s": "c2ln"}})}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]},
    ]
    answer = StreamedAnswer()
    for delta in deltas:
        event = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        answer.feed(f"data: {json.dumps(event)}\n\n".encode())
    answer.feed(b'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}\n\n')
    found = read_completion(answer.body(), 0, "here")
    text = {"type": "reasoning.text", "index": 0, "format": "f", "text": "haha", "signature": "s"}
    assert found.reasoning_content == "haha"
    assert found.provider["echo"] == {
        "origin": "here",
        "message": {
            "reasoning_details": [text, {"type": "reasoning.encrypted", "index": 1, "data": "x"}],
            "thinking_blocks": [
                {"type": "thinking", "thinking": "ab", "signature": "s1"},
                {"type": "thinking", "thinking": "c", "signature": "s2"},
            ],
        },
        "calls": {"a": {"extra_content": {"google": {"s": "c2ln"}}}},
    }
