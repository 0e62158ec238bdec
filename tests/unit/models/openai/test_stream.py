"""Streamed answers: cut anywhere, in every server's manner, they become the answer that would have
come whole.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.models.openai.reply import NotACompletionError, read_completion
from synth.core.models.openai.stream import EventReader, StreamedAnswer
from synth.core.types.events import Usage
from synth.errors import ContextOverflow, ModelAuthError, ModelError
from synth.ext.serving.openai_server import chunks, whole
from synth.model import Completion, Delta
from tests.faulty_endpoint import Fault
from tests.unit.models.conftest import opening, refused, talk

SSE = {"Content-Type": "text/event-stream"}

ANSWER = Completion(
    content="Zoë is here: \ud83e and \x00.",
    tool_calls=(ToolCall("a", "find", '{"name": "Zoë", "at": [1, 2]}'), ToolCall("b", "look", "")),
    reasoning_content="hm, let me see",
    finish_reason="tool_calls",
    usage=Usage(100, 10, 20, 5),
    token_ids=(4, 5, 6),
    logprobs=(-0.5, -0.25, -1.0),
)


def event(value: Any, end: str = "\n\n") -> bytes:
    return f"data: {json.dumps(value)}{end}".encode()


def chunk(delta: Any, finish: str | None = None, **choice: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish} | choice],
    }


def streamed(*values: Any, done: bool = True) -> bytes:
    return b"".join(event(each) for each in values) + (b"data: [DONE]\n\n" if done else b"")


def read(pieces: Iterable[bytes], heard: list[Delta] | None = None) -> Completion:
    answer = StreamedAnswer(None if heard is None else heard.append)
    for piece in pieces:
        answer.feed(piece)
    return read_completion(answer.body())


def of_server(completion: Completion) -> bytes:
    """A completion as `synth serve-model` streams it."""
    return streamed(*chunks(completion, "x", "m", 1, 100, wants_usage=True))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_answer_is_the_same_however_its_bytes_are_cut(end: str) -> None:
    """Split at every place, at two random places, and byte by byte; within characters, line ends
    and JSON.
    """
    expected = read_completion(whole(ANSWER, "x", "m", 1, 100))
    data = of_server(ANSWER).replace(b"\n", end.encode())
    assert read([data]) == expected
    assert read(bytes([each]) for each in data) == expected
    draw = random.Random(7)
    for at in range(1, len(data), 3):
        other = draw.randrange(at, len(data))
        assert read([data[:at], data[at:other], data[other:]]) == expected


def test_what_is_told_adds_up_to_the_answer() -> None:
    """Each kind's pieces joined are its text; a call's name comes before its arguments."""
    heard: list[Delta] = []
    found = read([of_server(ANSWER)], heard)
    assert "".join(each.text for each in heard if each.kind == "content") == found.content
    assert (
        "".join(each.text for each in heard if each.kind == "reasoning") == found.reasoning_content
    )
    calls = "".join(each.text for each in heard if each.kind == "tool_call")
    assert calls == "".join(each.name + each.arguments for each in found.tool_calls)


def call(index: Any = None, **entries: Any) -> dict[str, Any]:
    """A delta with one piece of a call; a name or arguments go into its function."""
    function = {key: entries.pop(key) for key in ("name", "arguments") if key in entries}
    piece = (
        ({"index": index} if index is not None else {})
        | entries
        | ({"function": function} if function else {})
    )
    return {"tool_calls": [piece]}


PIECED: dict[str, tuple[Sequence[Any], Sequence[ToolCall]]] = {
    "by index, interleaved": (
        [
            call(0, id="a", name="f", arguments=""),
            call(1, id="b", name="g", arguments="{"),
            call(0, arguments="{}"),
            call(1, arguments="}"),
        ],
        [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
    ),
    "no indexes, ids": (
        [
            call(id="a", name="f", arguments="{"),
            call(arguments="}"),
            call(id="b", name="g", arguments="{}"),
        ],
        [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
    ),
    "neither indexes nor ids": (
        [call(name="f", arguments="{"), call(arguments="}"), call(name="g", arguments="{}")],
        [ToolCall("call_0", "f", "{}"), ToolCall("call_1", "g", "{}")],
    ),
    "every index 0, ids differ": (
        [call(0, id="a", name="f", arguments="{}"), call(0, id="b", name="g", arguments="{}")],
        [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
    ),
    "the id and the name in every piece": (
        [call(0, id="a", name="f", arguments="{"), call(0, id="a", name="f", arguments="}")],
        [ToolCall("a", "f", "{}")],
    ),
    "the name in pieces, null ids": (
        [call(0, id="a", name="fi", arguments=None), call(0, id=None, name="nd", arguments="{}")],
        [ToolCall("a", "find", "{}")],
    ),
    "arguments as an object": (
        [call(0, id="a", name="f", arguments={"x": 1})],
        [ToolCall("a", "f", '{"x":1}')],
    ),
    "no arguments at all": ([call(0, id="a", name="f")], [ToolCall("a", "f", "{}")]),
    "the old form": (
        [{"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}],
        [ToolCall("call_0", "f", "{}")],
    ),
    "name and arguments without a function": (
        [
            {"tool_calls": [{"index": 0, "id": "a", "name": "f", "arguments": "{"}]},
            {"tool_calls": [{"index": 0, "arguments": "}"}]},
        ],
        [ToolCall("a", "f", "{}")],
    ),
    "one call outside of a list": (
        [{"tool_calls": {"id": "a", "function": {"name": "f"}}}],
        [ToolCall("a", "f", "{}")],
    ),
    "a function that is null": (
        [{"tool_calls": [{"index": 0, "id": "a", "function": None}]}],
        [ToolCall("a", "", '{"function":{},"id":"a"}')],
    ),
    "gaps between the indexes": (
        [call(3, id="a", name="f", arguments="{}"), call(9, id="b", name="g", arguments="{}")],
        [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
    ),
    "an escape cut in two": (
        [call(0, id="a", name="f", arguments='{"x": "\\ud8'), call(0, arguments='3d\\ude00"}')],
        [ToolCall("a", "f", '{"x": "\\ud83d\\ude00"}')],
    ),
    "a character cut between its surrogates": (
        [call(0, id="a", name="f", arguments='{"x": "\ud83d'), call(0, arguments='\ude00\ud83d"}')],
        [ToolCall("a", "f", '{"x": "\U0001f600\ud83d"}')],
    ),
    **{
        f"the index {index!r}": (
            [call(index, id="a", name="f", arguments="{}")],
            [ToolCall("a", "f", "{}")],
        )
        for index in (-1, "0")
    },
    "an index that is null": (
        [{"tool_calls": [{"index": None, "id": "a", "function": {"name": "f"}}]}],
        [ToolCall("a", "f", "{}")],
    ),
    "calls of null between": (
        [
            call(0, id="a", name="f"),
            *({"tool_calls": each} for each in ([], [None])),
            call(0, arguments="{}"),
        ],
        [ToolCall("a", "f", "{}")],
    ),
    "a name that is none": ([call(0, id="a", name=7, arguments="{}")], [ToolCall("a", "", "{}")]),
    "null fields": (
        [
            {"role": None, "content": None, "tool_calls": None, "function_call": None},
            call(0, id="a", name="f"),
        ],
        [ToolCall("a", "f", "{}")],
    ),
}


@pytest.mark.parametrize(("deltas", "expected"), PIECED.values(), ids=PIECED.keys())
def test_calls_in_pieces(deltas: Sequence[Any], expected: Sequence[ToolCall]) -> None:
    """By index, by id, by order: what belongs together comes together."""
    found = read([streamed(*(chunk(each) for each in deltas), chunk({}, "tool_calls"))])
    assert found.tool_calls == tuple(expected)


MANNERS: dict[str, bytes] = {
    "comments and other fields": b": OPENROUTER PROCESSING\n\nevent: message\nid: 3\nretry: 10\n"
    + streamed(chunk({"content": "fine"}), chunk({}, "stop")),
    ("an error after [DONE]"): streamed(chunk({"content": "fine"}, "stop")) + (b'data: {"error": {"message": "late"}}\n\n'),
    "no UTF-8 after [DONE]": streamed(chunk({"content": "fine"}, "stop")) + b"data: \xff\xfe\n\n",
    "no [DONE]": streamed(chunk({"content": "fine"}), chunk({}, "stop"), done=False),
    ("no space after the colon"): b"data:" + json.dumps(chunk({"content": "fine"}, "stop")).encode() + b"\n\ndata:[DONE]\n\n",
    ("no empty lines between"): event(chunk({"content": "fi"}), "\n") + event(chunk({"content": "ne"}, "stop"), "\n"),
    ("data in two lines"): (b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\n'),
    "nothing after the last line": event(chunk({"content": "fine"}, "stop"), ""),
    "a byte order mark": b"\xef\xbb\xbf" + streamed(chunk({"content": "fine"}, "stop")),
    ("a cut event behind the end"): streamed(chunk({"content": "fine"}, "stop"), done=False) + b'data: {"usa',
    "several choices": streamed(
        {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]},
        {"choices": [{"index": 0, "delta": {"content": "fi"}}, {"index": 1, "delta": {"content": "nope"}}]},
        chunk({"content": "ne"}, "stop"),
    ),
    ("no index of the choice"): streamed({"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}),
    ("empty and null events"): (b"data:\n\ndata: null\n\n") + streamed({}, {"choices": None}, {"choices": []}, chunk({"content": "fine"}, "stop")),
    ("content in parts"): streamed(chunk({"content": [{"type": "text", "text": "fi"}]}), chunk({"content": "ne"}, "stop")),
    "the whole message at once": streamed(
        {"choices": [{"index": 0, "message": {"content": "fine"}, "finish_reason": "stop"}]}
    ),
    ("not streamed at all"): json.dumps({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}).encode(),
}  # fmt: skip


@pytest.mark.parametrize("data", MANNERS.values(), ids=MANNERS.keys())
def test_manners_of_servers(data: bytes) -> None:
    """Every way of saying the same, whole and byte by byte."""
    for pieces in ([data], [bytes([each]) for each in data]):
        heard: list[Delta] = []
        found = read(pieces, heard)
        assert (found.content, found.finish_reason) == ("fine", "stop")
        assert "".join(each.text for each in heard) == "fine"


def test_usage_logprobs_and_token_ids_are_those_of_the_whole_answer() -> None:
    """The last usage counts; log probabilities and ids of all pieces come together."""
    data = streamed(
        chunk({"content": "a"}, logprobs={"content": [{"token": "a", "logprob": -0.5}]}, token_ids=[4])
        | {"usage": {"prompt_tokens": 7, "completion_tokens": 1}},
        chunk({"content": "b"}, logprobs={"content": [{"token": "b", "logprob": -0.25}], "refusal": None}, token_ids=[5, 6]),
        chunk({}, "stop", logprobs=None, token_ids=None),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    )  # fmt: skip
    found = read([data])
    assert (found.logprobs, found.token_ids) == ((-0.5, -0.25), (4, 5, 6))
    assert found.usage == Usage(7, 3)
    assert found.provider == {"id": "x", "model": "m"}


CUT: dict[str, tuple[bytes, str]] = {
    "before its end": (
        streamed(chunk({"content": "half"}), done=False),
        "before its finish_reason",
    ),
    "before its end, with [DONE]": (
        streamed(chunk({"content": "half"})),
        "before its finish_reason",
    ),
    "within an event": (event(chunk({"content": "half"}))[:-20], "not complete JSON"),
    "before anything": (b"", "an empty body"),
    "after a comment": (b": wait\n\n", "without choices"),
    "within a character": (b'data: {"choices": [{"delta": {"content": "\xc3', "not UTF-8"),
    "by something else": (b"data: upstream died\n\n", "not complete JSON"),
    "into a list": (b"data: [1]\n\n", "not an object"),
}


@pytest.mark.parametrize(("data", "words"), CUT.values(), ids=CUT.keys())
def test_a_cut_stream_is_no_answer(data: bytes, words: str) -> None:
    """However it was cut, it says so; half an answer never passes for a whole one."""
    with pytest.raises(NotACompletionError, match=words):
        read([data])


def test_a_long_answer_takes_time_in_proportion() -> None:
    """A line of megabytes in small pieces, and many pieces of one text: neither is copied over and
    over.
    """
    text = "x" * 4_000_000
    data = streamed(chunk({"content": text}, "stop"))
    assert read(data[at : at + 1000] for at in range(0, len(data), 1000)).content == text
    reader = EventReader()
    events = itertools.chain.from_iterable(
        reader.feed(event(chunk({"content": "ab"}))) for _ in range(20_000)
    )
    assert sum(1 for _ in events) == 20_000


# Over HTTP.


async def test_streamed_or_whole_is_the_same_completion(endpoint: Any) -> None:
    """Against `synth serve-model`'s own server: usage, reasoning, calls and cost included."""
    async with endpoint(ANSWER) as (_, model):
        plain = await talk(model).complete(opening())
    async with endpoint(ANSWER, stream=True) as (server, model):
        by_config = await talk(model).complete(opening())
    assert server.requests[0]["stream"] is True
    assert server.requests[0]["stream_options"] == {"include_usage": True}
    async with endpoint(ANSWER) as (server, model):
        heard: list[Delta] = []
        listened = await talk(model).complete(opening(), heard.append)
        again = await talk(model).complete(opening())
    assert ["stream" in each for each in server.requests] == [True, False]
    assert {each.kind for each in heard} == {"content", "reasoning", "tool_call"}
    assert (
        dict(again.provider).pop("id") != listened.provider["id"]
    )  # the server's own count of answers
    assert plain == by_config == listened == replace(again, provider=listened.provider)


async def test_an_error_in_the_middle_says_what_it_is(endpoint: Any) -> None:
    """The classes are those of errors before the stream; what the endpoint said of it is there."""
    for error, kind in (
        ({"message": "too long", "code": "context_length_exceeded"}, ContextOverflow),
        ({"message": "out of money", "code": "insufficient_quota"}, ModelAuthError),
        ({"message": "upstream died", "code": "429"}, ModelError),
    ):
        body = [event(chunk({"content": "half"})), b"event: error\n" + event({"error": error})]
        async with endpoint(Fault(headers=SSE, body=body, abort=True), stream=True) as (_, model):
            found = await refused(model)
        assert type(found) is kind
        assert error["message"] in str(found)


async def test_an_answer_is_whole_once_it_has_said_why_it_ended(endpoint: Any) -> None:
    """The connection breaks behind the finish_reason: what was paid for counts, its usage is
    unknown.
    """
    body = [event(chunk({"content": "fine"})), event(chunk({}, "stop"))]
    async with endpoint(Fault(headers=SSE, body=body, abort=True), stream=True) as (server, model):
        found = await talk(model).complete(opening())
    assert (found.content, found.usage, server.hits) == ("fine", Usage(), 1)
