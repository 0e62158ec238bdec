"""The endpoint that we serve: strict with requests, honest in its answers, readable by OpenAI's own
client.
"""

import copy
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest

from envs.types import ToolCall
from synth.core.types.events import Usage
from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest
from synth.ext.serving.chat_request import BadRequestError, check_request
from synth.ext.serving.openai_server import serve
from synth.model import Completion
from tests.unit.models.conftest import TOOLS

CALL = {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"name": "Zoë"}'}}


def request(**changes: Any) -> dict[str, Any]:
    base = {
        "model": "m",
        "temperature": 0.5,
        "tools": TOOLS,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "u"}]},
            {"role": "assistant", "content": None, "tool_calls": [CALL, CALL | {"id": "b"}]},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
        ],
    }
    return copy.deepcopy(base | changes)


def with_message(index: int, **changes: Any) -> dict[str, Any]:
    made = request()
    made["messages"][index] |= changes
    return made


def with_call(**function: Any) -> dict[str, Any]:
    made = request()
    made["messages"][2]["tool_calls"][0]["function"] |= function
    return made


def messages(*kept: int) -> dict[str, Any]:
    return request(messages=[request()["messages"][index] for index in kept])


def tool(**function: Any) -> dict[str, Any]:
    made = request()
    made["tools"][0]["function"] |= function
    return made


def test_a_good_request_passes() -> None:
    """Parallel calls may be answered in any order."""
    assert check_request(request()) == request()
    check_request(
        request(max_tokens=None, seed=-1, tool_choice="auto", parallel_tool_calls=False, stop=["x"])
    )
    check_request(request(tool_choice={"type": "function", "function": {"name": "find"}}))
    check_request(request(top_k=1), frozenset({"top_k"}))


BAD_REQUESTS = {
    "no object": ([], "object is expected"),
    "no model": ({"messages": [{"role": "user", "content": "x"}]}, "model"),
    "no messages": ({"model": "m"}, "messages"),
    "empty messages": (request(messages=[]), "messages"),
    "unknown parameter": (request(top_k=5), "Unrecognized request argument supplied: top_k"),
    "temperature": (request(temperature=2.1), "temperature"),
    "temperature type": (request(temperature=True), "temperature"),
    "top_p": (request(top_p="1"), "top_p"),
    "max_tokens": (request(max_tokens=0), "max_tokens"),
    "seed": (request(seed=2**63), "seed"),
    "several answers": (request(n=2), "'n'"),
    "empty tools": (request(tools=[]), "tools"),
    "tool choice without tools": (
        {"model": "m", "messages": [{"role": "user", "content": "x"}], "tool_choice": "auto"},
        "only allowed",
    ),
    "tool choice unknown": (
        request(tool_choice={"type": "function", "function": {"name": "x"}}),
        "not found",
    ),
    "tool name": (tool(name="find it"), "'tools[0].function.name': String should match"),
    "tool twice": (request(tools=TOOLS * 2), "unique"),
    "tool key": (tool(output_schema={}), "'output_schema' was unexpected"),
    "tool schema type": (tool(parameters={"type": "array"}), "'type: \"object\"'"),
    "tool schema": (tool(parameters={"type": "object", "required": "name"}), "Invalid schema"),
    "message type": (request(messages=["x"]), "'messages[0]': Input should be"),
    "role": (with_message(1, role="critic"), "'messages[1]': Input tag 'critic'"),
    "private key": (with_message(2, train=False), "'train' was unexpected"),
    "reasoning": (with_message(2, reasoning_content="x"), "'reasoning_content' was unexpected"),
    "name on a tool": (with_message(3, name="find"), "'name' was unexpected"),
    "name of a user": (with_message(1, name="J. Doe"), "'messages[1].name': String should match"),
    "null content": (with_message(1, content=None), "'messages[1].content': Input should be"),
    "object content": (with_message(3, content={"a": 1}), "'messages[3].content': Input should be"),
    "part": (
        with_message(0, content=[{"type": "image_url"}]),
        "content[0].type': Input should be 'text'",
    ),
    "assistant says nothing": (request(messages=[{"role": "assistant"}]), "expected a string"),
    "empty calls": (
        with_message(2, tool_calls=[]),
        "'messages[2].tool_calls': List should have at least 1",
    ),
    "call without id": (with_message(2, tool_calls=[CALL | {"id": ""}]), "tool_calls[0].id'"),
    "call id twice": (with_message(2, tool_calls=[CALL, CALL]), "string of its own"),
    "call type": (with_message(2, tool_calls=[CALL | {"type": "x"}]), "should be 'function'"),
    "call name": (with_call(name=""), "function.name': String should match"),
    "arguments as object": (
        with_call(arguments={"name": "Zoë"}),
        "function.arguments': Input should be",
    ),
    "arguments malformed": (with_call(arguments='{"name": "Zo'), "holds JSON"),
    "arguments NaN": (with_call(arguments='{"name": NaN}'), "holds JSON"),
    "arguments a list": (with_call(arguments="[]"), "JSON object"),
    "one call unanswered": (messages(0, 1, 2, 3), "did not have response messages: a"),
    "calls unanswered before the user": (messages(0, 2, 4, 1), "did not have response messages: b"),
    "answered twice": (messages(0, 2, 3, 4, 3), "preceding message"),
    "answer without a call": (messages(0, 1, 3), "preceding message"),
}


@pytest.mark.parametrize(("body", "words"), BAD_REQUESTS.values(), ids=BAD_REQUESTS.keys())
def test_a_bad_request_is_refused(body: Any, words: str) -> None:
    """As a strict endpoint would refuse it."""
    with pytest.raises(BadRequestError) as caught:
        check_request(body)
    assert words in str(caught.value)


@asynccontextmanager
async def serving(
    answer: Callable[[dict[str, Any]], Completion], **options: Any
) -> AsyncGenerator[tuple[str, openai.AsyncOpenAI]]:
    async def handle(body: dict[str, Any]) -> Completion:
        return answer(body)

    async with (
        serve(handle, models=("m",), **options) as url,
        openai.AsyncOpenAI(api_key="sk-right", base_url=url, max_retries=0) as client,
    ):
        yield url, client


FULL = Completion(
    content="Zoë, aged 40, lives here.",
    tool_calls=(
        ToolCall("a", "find", '{"name": "Zoë", "near": "Köln"}'),
        ToolCall("b", "find", "{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(7, 5, 3, 2),
)


async def test_openais_own_client_reads_the_answer() -> None:
    """All fields, through pydantic models that are not ours."""
    async with serving(lambda _: FULL) as (_, client):
        found = await client.chat.completions.create(**request())
    message = found.choices[0].message
    assert (message.content, found.choices[0].finish_reason) == (FULL.content, "tool_calls")
    assert [
        (call.id, call.function.name, call.function.arguments) for call in message.tool_calls
    ] == [(call.id, call.name, call.arguments) for call in FULL.tool_calls]
    assert found.usage.model_dump(exclude_none=True) == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


async def test_a_stream_holds_the_same_answer() -> None:
    """OpenAI's client puts the chunks together to what the whole answer would have been."""
    async with serving(lambda _: FULL) as (_, client):
        stream = await client.chat.completions.create(
            **request(), stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    text = ""
    calls: dict[int, list[str]] = {}
    for chunk in chunks:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                if call.id:
                    calls[call.index] = [call.id, call.function.name, ""]
                calls[call.index][2] += call.function.arguments
    assert text == FULL.content
    assert list(calls.values()) == [
        [call.id, call.name, call.arguments] for call in FULL.tool_calls
    ]
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][
        -1
    ] == "tool_calls"
    assert chunks[-1].usage.total_tokens == 12


async def test_usage_is_estimated_where_the_completion_brings_none() -> None:
    """So that clients who count tokens have something to count."""
    async with serving(lambda _: Completion(content="x" * 40)) as (_, client):
        found = await client.chat.completions.create(**request())
    assert found.usage.completion_tokens == 10
    assert found.usage.prompt_tokens > 50


async def test_the_models_are_listed() -> None:
    """By name."""
    async with serving(lambda _: FULL) as (_, client):
        assert [model.id async for model in client.models.list()] == ["m"]


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (
            ContextOverflow("too long", False, 400),
            openai.BadRequestError,
            "context_length_exceeded",
        ),
        (ModelAuthError("no", False, 401), openai.AuthenticationError, "invalid_api_key"),
        (ModelRefusedRequest("no", False, 422), openai.UnprocessableEntityError, None),
        (ModelError("later", True, 429, 2.0), openai.RateLimitError, None),
        (ModelError("down"), openai.InternalServerError, None),
        (ZeroDivisionError("plumbing"), openai.InternalServerError, None),
    ],
)
async def test_a_handlers_failure_has_openais_status(
    error: Exception,
    kind: type[openai.APIStatusError],
    code: str | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Typed errors keep their meaning; a bug is a 500 without its plumbing, which is in the log."""
    caplog.set_level(logging.ERROR)

    def fail(_: Any) -> Completion:
        raise error

    async with serving(fail) as (_, client):
        with pytest.raises(kind) as caught:
            await client.chat.completions.create(**request())
    assert caught.value.code == code
    assert "plumbing" not in str(caught.value)
    assert ("plumbing" in caplog.text) == isinstance(error, ZeroDivisionError)
    if isinstance(error, ModelError) and error.retry_after_s:
        assert caught.value.response.headers["retry-after"] == "2"


async def test_the_key_is_demanded_where_one_is_set() -> None:
    """On every route."""
    async with serving(lambda _: FULL, api_key="sk-right") as (url, client):
        await client.chat.completions.create(**request())
        wrong = client.with_options(api_key="sk-wrong")
        with pytest.raises(openai.AuthenticationError):
            await wrong.chat.completions.create(**request())
        async with aiohttp.ClientSession() as session, session.get(f"{url}/models") as response:
            assert response.status == 401


async def test_what_is_refused_is_refused_in_openais_words() -> None:
    """Unknown models, unknown routes, bodies that are no JSON, requests that break the rules."""
    async with serving(lambda _: FULL) as (url, client), aiohttp.ClientSession() as session:
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            await client.chat.completions.create(**request(model="other"))
        with pytest.raises(openai.BadRequestError, match="did not have response messages"):
            await client.chat.completions.create(**messages(0, 1, 2))
        for method, path, data, status in (
            ("POST", "/chat/completions", b'{"model": ', 400),
            ("POST", "/chat/completions", b'{"model": NaN}', 400),
            ("POST", "/chat/completions", b"\xff", 400),
            ("POST", "/completions", b"{}", 404),
            ("GET", "/chat/completions", None, 405),
        ):
            async with session.request(method, url + path, data=data) as response:
                assert response.status == status
                assert json.loads(await response.read())["error"]["message"]
