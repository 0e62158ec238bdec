"""Reading an endpoint's answer: the quirks that are met, and the bodies that are no answer."""

import json
from dataclasses import replace
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.models.openai.reply import NotACompletionError, load_body, read_completion
from synth.core.types.events import Usage
from synth.model import MALFORMED, Completion, missing_answer


def body(message: Any, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice]}


def call(**changes: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}} | changes


def test_a_plain_answer() -> None:
    """Text, usage, and what the endpoint says about itself."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    raw = body({"role": "assistant", "content": "hi"}) | {
        "usage": usage,
        "id": "x",
        "model": "m-1",
        "created": 1,
    }
    assert read_completion(raw) == Completion(
        content="hi", usage=Usage(10, 4, 8, 2), provider={"id": "x", "model": "m-1"}
    )


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {"prompt_tokens": None, "prompt_tokens_details": None},
        {
            "prompt_tokens": "3",
            "completion_tokens": -1,
            "completion_tokens_details": {"reasoning_tokens": True},
        },
    ],
)
def test_unknown_usage_is_none(usage: Any) -> None:
    """A count that is not there, or no count, never becomes 0."""
    assert read_completion(body({"content": "x"}) | {"usage": usage}).usage == Usage()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": None}, Completion()),
        ({}, Completion()),
        ({"content": "a", "tool_calls": None}, Completion(content="a")),
        ({"content": "a", "tool_calls": []}, Completion(content="a")),
        ({"content": [{"type": "text", "text": "a"}, "b"]}, Completion(content="ab")),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                    {"type": "text", "text": "a"},
                ]
            },
            Completion(content="a", reasoning_content="t"),
        ),
        ({"content": [{"type": "refusal", "refusal": "no"}]}, Completion(refusal="no")),
        ({"content": None, "refusal": "no"}, Completion(refusal="no")),
        ({"content": []}, Completion()),
        (
            {"content": "a", "reasoning_content": "t"},
            Completion(content="a", reasoning_content="t"),
        ),
        ({"content": "a", "reasoning": "t"}, Completion(content="a", reasoning_content="t")),
        ({"content": "a", "reasoning_content": ""}, Completion(content="a")),
        ({"content": "a", "thinking": "t"}, Completion(content="a", reasoning_content="t")),
        (
            {
                "content": "a",
                "reasoning_details": [{"type": "reasoning.text", "text": "t"}, {"summary": "s"}],
            },
            Completion(content="a", reasoning_content="ts"),
        ),
        (
            {
                "content": "a",
                "thinking_blocks": [{"type": "thinking", "thinking": "t", "signature": "x"}],
            },
            Completion(content="a", reasoning_content="t"),
        ),
        (
            {"content": [{"type": "reasoning", "text": "t"}, {"type": "text", "text": "a"}]},
            Completion(content="a", reasoning_content="t"),
        ),
    ],
)
def test_quirks_of_the_message(message: Any, expected: Completion) -> None:
    """Null, absent and parted content; reasoning under either name; refusals."""
    found = read_completion(body(message))
    assert replace(found, provider={}) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (call(), ToolCall("c", "f", "{}")),
        (call(function={"name": "f", "arguments": '{"a": tru'}), ToolCall("c", "f", '{"a": tru')),
        (call(function={"name": "f", "arguments": ""}), ToolCall("c", "f", "")),
        (call(function={"name": "f", "arguments": {"ä": 1}}), ToolCall("c", "f", '{"ä":1}')),
        (call(function={"name": "f"}), ToolCall("c", "f", "{}")),
        *(
            (call(function={"name": "f", "arguments": each}), ToolCall("c", "f", text))
            for each, text in (
                ({}, "{}"),
                (["a"], '["a"]'),
                (7, "7"),
                (False, "false"),
                (None, "{}"),
            )
        ),
        *((call(id=each), ToolCall("call_5", "f", "{}")) for each in (None, "", 7, {})),
        *((call(type=each), ToolCall("c", "f", "{}")) for each in (None, "tool_use")),
        (call(extra={"a": [1]}), ToolCall("c", "f", "{}")),
        (call(function={"name": "\ud83d", "arguments": "{}"}), ToolCall("c", "\ud83d", "{}")),
    ],
)
def test_quirks_of_a_call(raw: Any, expected: ToolCall) -> None:
    """Argument strings are untouched, malformed ones too; an object is dumped; a missing id is made
    up.
    """
    assert read_completion(
        body({"tool_calls": [raw]}, finish_reason="tool_calls"), 5
    ).tool_calls == (expected,)


def test_ids_that_are_missing_or_repeated_are_replaced_by_free_ones() -> None:
    """Two calls never share an id within a reply, and the made-up ones repeat from run to run."""
    raw = [call(id="call_0"), call(id=None), call(id="call_0"), call(id="call_2")]
    ids = [made.id for made in read_completion(body({"tool_calls": raw})).tool_calls]
    assert ids == ["call_0", "call_1", "call_3", "call_2"]


def test_the_old_function_call_is_a_call() -> None:
    """The form from before tools."""
    old = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    for message, name in ((old, "call_0"), (old | {"tool_calls": []}, "call_0"),
                          (old | {"tool_calls": [call()], "role": "model"}, "c")):  # fmt: skip
        assert read_completion(body(message)).tool_calls == (ToolCall(name, "f", "{}"),)


@pytest.mark.parametrize(("calls", "expected"), [([], "stop"), ([call()], "tool_calls")])
@pytest.mark.parametrize("reason", [None, 3, ""])
def test_a_missing_finish_reason_is_told_from_the_calls(
    calls: Any, expected: str, reason: Any
) -> None:
    """Some gateways send null."""
    message = {"content": "", "tool_calls": calls}
    assert read_completion(body(message, finish_reason=reason)).finish_reason == expected


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("length", "length"),
        ("eos", "stop"),
        ("eos_token", "stop"),
        ("end_turn", "stop"),
        ("STOP", "stop"),
        ("COMPLETE", "stop"),
        ("tool_use", "tool_calls"),
        ("function_call", "tool_calls"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("SAFETY", "content_filter"),
        ("sensitive", "content_filter"),
        ("weird", "weird"),
    ],
)
def test_other_servers_words_for_the_end(said: str, ours: str) -> None:
    """OpenAI's word counts; the one that was said is kept beside it."""
    message: dict[str, Any] = {"content": "a"}
    if ours == "tool_calls":
        message["tool_calls"] = [{"id": "c", "function": {"name": "find", "arguments": "{}"}}]
    found = read_completion(body(message, finish_reason=said))
    assert found.finish_reason == ours
    assert found.provider == ({} if said == ours else {"finish_reason": said})


@pytest.mark.parametrize(
    ("message", "said", "kept"),
    [
        (
            {"content": None},
            "malformed_function_call",
            {"finish_reason": "malformed_function_call"},
        ),
        ({"content": "a"}, "MALFORMED_FUNCTION_CALL", {"finish_reason": "MALFORMED_FUNCTION_CALL"}),
        ({"content": None, "tool_calls": []}, "tool_calls", {"finish_reason": "tool_calls"}),
        ({"content": "I look.", "tool_calls": []}, "tool_use", {"finish_reason": "tool_use"}),
        ({"role": "tool", "content": "{}"}, "stop", {"role": "tool", "finish_reason": "stop"}),
        ({"role": "TOOL", "content": "{}"}, "stop", {"role": "TOOL", "finish_reason": "stop"}),
        (
            {"role": "developer", "content": "a"},
            "stop",
            {"role": "developer", "finish_reason": "stop"},
        ),
        ({"content": "half an ans"}, "OTHER", {"finish_reason": "OTHER"}),
    ],
)
def test_an_answer_that_the_endpoint_could_not_put_together(
    message: dict[str, Any], said: str, kept: dict[str, str]
) -> None:
    """It is marked as malformed, and what was said stays beside it."""
    found = read_completion(body(message, finish_reason=said))
    assert found.finish_reason == MALFORMED
    assert found.provider == kept
    assert missing_answer(found) is not None


@pytest.mark.parametrize("reason", ["cancelled", "CANCELED", "timeout", "failed", "abort", "error"])
def test_an_answer_that_was_broken_off(reason: str) -> None:
    with pytest.raises(NotACompletionError, match="broke off"):
        read_completion(body({"content": "half an ans"}, finish_reason=reason))


@pytest.mark.parametrize(
    "calls",
    [
        [{}],
        [{"id": "a", "type": "function", "function": None}],
        [{"id": "a", "function": {"name": "", "arguments": ""}}],
        [{"id": "a", "function": {"name": None, "arguments": "{}"}}],
    ],
)
def test_calls_of_no_tool_are_no_answer(calls: list[Any]) -> None:
    """Beside a call of a named tool they are one: the model's mistake."""
    found = read_completion(body({"content": "", "tool_calls": calls}, finish_reason="tool_calls"))
    assert missing_answer(found) == "a tool call without a name"
    named = {"id": "b", "function": {"name": "find", "arguments": "{}"}}
    both = read_completion(body({"content": "", "tool_calls": [*calls, named]}))
    assert missing_answer(both) is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
            Usage(9, 2, 4),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4}, Usage(9, 2, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "reasoning_tokens": 1}, Usage(9, 2, None, 1)),
        (
            {
                "input_tokens": 9,
                "output_tokens": 2,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens_details": {"reasoning_tokens": 1},
            },
            Usage(9, 2, 4, 1),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 2,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 3,
            },
            Usage(16, 2, 4),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "cache_read_input_tokens": 4},
            Usage(9, 2, 4),
        ),
        ({"prompt_tokens": 9.0, "completion_tokens": 2.5}, Usage(9)),
        ({"prompt_tokens": 10**30, "completion_tokens": float("nan")}, Usage()),
    ],
)
def test_other_servers_names_for_usage(usage: Any, expected: Usage) -> None:
    """DeepSeek, Moonshot, SGLang, OpenAI's responses, Anthropic (whose input leaves the cache out),
    LiteLLM, and no counts.
    """
    assert read_completion(body({"content": "a"}) | {"usage": usage}).usage == expected


@pytest.mark.parametrize(
    ("choice", "ids", "logprobs"),
    [
        ({"logprobs": {"content": [{"token": "token_id:7", "logprob": -1}]}}, (7,), (-1.0,)),
        ({"logprobs": {"content": [{"id": 7, "token": "a", "logprob": -1.5}]}}, (7,), (-1.5,)),
        (
            {"logprobs": {"tokens": ["a"], "token_logprobs": [-1.5], "token_ids": [7]}},
            (7,),
            (-1.5,),
        ),
        ({"logprobs": {"content": [{"token": "a", "logprob": float("-inf")}]}}, None, None),
        (
            {"logprobs": {"content": [{"token": "token_id:" + "9" * 5000, "logprob": 10**400}]}},
            None,
            None,
        ),
        ({"token_ids": [2**31]}, None, None),
        ({"token_ids": [-1]}, None, None),
        ({"token_ids": [True]}, None, None),
    ],
)
def test_other_servers_places_for_tokens(choice: Any, ids: Any, logprobs: Any) -> None:
    """vLLM, llama.cpp, Together; what a dataset's columns cannot hold is unknown."""
    found = read_completion(body({"content": "a"}, **choice))
    assert (found.token_ids, found.logprobs) == (ids, logprobs)


def test_token_ids_and_logprobs_are_kept_where_they_are_whole() -> None:
    """vLLM's token_ids and OpenAI's logprobs, for those who ask for them."""
    found = read_completion(
        body({"content": "a"}, token_ids=[1, 2], logprobs={"content": [{"logprob": -0.5}]})
    )
    assert (found.token_ids, found.logprobs) == ((1, 2), (-0.5,))
    found = read_completion(body({"content": "a"}, token_ids=["x"], logprobs={"content": [{}]}))
    assert (found.token_ids, found.logprobs) == (None, None)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"choices": [', "not complete JSON"),
        ('{"choices": "é"}'.encode("latin-1"), "not UTF-8"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"[]", "not an object"),
        (b"null", "not an object"),
        (b"upstream connect error", "not complete JSON"),
        (b"[" * 100_000, "not complete JSON"),
        (b'data: {"choices": []}\n\n', "not complete JSON"),
    ],
)
def test_bodies_that_are_no_json_object(raw: bytes, words: str) -> None:
    """Each says what it is instead."""
    with pytest.raises(NotACompletionError, match=words):
        load_body(raw)


def test_a_byte_order_mark_is_no_obstacle() -> None:
    """Some proxies add one."""
    assert load_body(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": {"0": {}}},
        {"choices": [{"text": "fine"}]},
        {"choices": [{"message": "fine"}]},
        body({"content": {"text": "fine"}}),
        body({"content": 3}),
        body({"content": [3]}),
        body({"content": ""}, error={"message": "provider died", "code": 502}),
    ],
)
def test_json_that_is_no_completion(raw: Any) -> None:
    """What an answer has to have, and has not."""
    with pytest.raises(NotACompletionError):
        read_completion(json.loads(json.dumps(raw)))


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ("x", [("call_0", "", '"x"')]),
        ([call(), None], [("c", "f", "{}"), ("call_1", "", "null")]),
        ([call(function={"name": ["f"]})], [("c", '["f"]', "{}")]),
        ([call(function=["f"])], [("c", "", '{"id":"c","type":"function","function":["f"]}')]),
        ({"id": "c", "function": {"name": "f", "arguments": "{}"}}, [("c", "f", "{}")]),
        ([None, 7, []], [("call_0", "", "null"), ("call_1", "", "7"), ("call_2", "", "[]")]),
        ([{"id": "c"}], [("c", "", '{"id":"c"}')]),
        ([call(function=None)], [("c", "", '{"id":"c","type":"function","function":null}')]),
        ([call(function="f")], [("c", "", '{"id":"c","type":"function","function":"f"}')]),
        ([call(function={"arguments": "{}"})], [("c", "", "{}")]),
        ([call(function={"name": None, "arguments": "{}"})], [("c", "", "{}")]),
        ([call(function={"name": 7})], [("c", "7", "{}")]),
        (
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
            [("c", "f", "{}")],
        ),
        (
            [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "free text"}}],
            [("c", "f", "free text")],
        ),
    ],
)
def test_calls_in_no_known_form_are_calls_to_be_refused(calls: Any, found: Any) -> None:
    """A model says them again when it is asked again: the agent answers each, and the record keeps
    what stood there.
    """
    completion = read_completion(json.loads(json.dumps(body({"tool_calls": calls}))))
    assert [(each.id, each.name, each.arguments) for each in completion.tool_calls] == found
