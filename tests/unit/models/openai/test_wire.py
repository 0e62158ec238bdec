"""The canonical conversation on the wire."""

import json

import pytest

from synth.core.models.openai.wire import (
    canonical_message,
    encode,
    encode_message,
    request_head,
    wire_message,
)
from synth.ext.serving.chat_request import check_request


def test_arguments_leave_as_a_string_and_private_keys_stay() -> None:
    """What is an object for us is a string of JSON for the endpoint; `train` is nobody's
    business.
    """
    function = {"name": "find", "arguments": {"name": "Zoë", "n": 1}}
    message = {
        "role": "assistant",
        "content": "",
        "reasoning_content": "hm",
        "train": False,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    assert wire_message(message) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c",
                "type": "function",
                "function": {"name": "find", "arguments": '{"name":"Zoë","n":1}'},
            }
        ],
    }


def test_reasoning_is_sent_back_only_under_the_key_that_was_asked_for() -> None:
    """Endpoints differ, and most refuse keys that they do not know."""
    message = {"role": "assistant", "content": "a", "reasoning_content": "hm"}
    assert "reasoning_content" not in wire_message(message)
    assert wire_message(message, "reasoning")["reasoning"] == "hm"


def test_tool_messages_leave_without_a_name() -> None:
    """`name` is no key of a tool message in OpenAI's schema."""
    sent = wire_message({"role": "tool", "tool_call_id": "c", "name": "find", "content": "[]"})
    assert sent == {"role": "tool", "tool_call_id": "c", "content": "[]"}


def test_arguments_that_are_a_string_already_are_not_encoded_twice() -> None:
    """A string passes as it is."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    sent = wire_message({"role": "assistant", "content": "x", "tool_calls": [call]})
    assert sent["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    assert sent["content"] == "x"


def test_lone_surrogates_do_not_break_the_encoding() -> None:
    """UTF-8 cannot carry them; the escape can."""
    assert json.loads(encode({"a": "\ud800é"})) == {"a": "\ud800é"}


def test_nan_is_refused() -> None:
    """NaN is no JSON, and an endpoint would refuse the whole conversation for it."""
    with pytest.raises(ValueError, match="JSON compliant"):
        encode({"a": float("nan")})


def test_messages_come_last_in_the_body() -> None:
    """So that a longer conversation has the shorter one's body as its beginning."""
    head = request_head({"model": "m", "temperature": 0.5}, encode([{"type": "function"}]))
    assert json.loads(head + b"]}") == {
        "model": "m",
        "temperature": 0.5,
        "tools": [{"type": "function"}],
        "messages": [],
    }
    assert json.loads(request_head({"model": "m"}, None) + b"]}") == {"model": "m", "messages": []}


def test_a_served_request_reads_back_as_the_canonical_conversation() -> None:
    """What a handler rebuilds is what the client held, private keys and tool names apart."""
    conversation = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": [1]}}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
    ]
    sent = json.loads(encode([wire_message(message) for message in conversation]))
    check_request({"model": "m", "messages": sent})
    assert [canonical_message(message) for message in sent] == conversation


def test_text_parts_read_back_as_one_string() -> None:
    """Other clients send content in parts."""
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert canonical_message({"role": "user", "content": parts}) == {
        "role": "user",
        "content": "ab",
    }


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "Be kind \ud800."},
        {"role": "system", "content": "Be kind.", "train": False},
        {"role": "system", "content": "Be kind.", "name": "a"},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "system"},
        {"role": "user", "content": "Be kind."},
    ],
)
def test_a_message_is_sent_as_the_wire_has_it(message: dict[str, object]):
    """Also where its bytes are kept from an earlier rollout."""
    assert [encode_message(message) for _ in range(2)] == [encode(wire_message(message))] * 2
