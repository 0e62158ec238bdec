"""The model over real HTTP: what it sends, what it makes of answers, where keys go, what preflight
finds.
"""

import asyncio
import json
import logging
import pickle
import traceback
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.config.options import options_for
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.factory import make
from synth.core.models.openai.model import (
    OpenAIConversation,
    OpenAIModel,
    _same_model,  # pyright: ignore[reportPrivateUsage]
)
from synth.core.types.events import Usage
from synth.errors import ModelAuthError, ModelError, ModelRefusedRequest, OperatorError
from synth.model import Completion, Sampling
from tests.faulty_endpoint import Fault
from tests.unit.models.conftest import (
    JSON,
    KEY,
    TASK,
    TOOLS,
    assistant_call,
    calling,
    opening,
    refused,
    talk,
    tool_answer,
)


async def test_a_question_and_its_answer(endpoint: Any) -> None:
    """The whole way: what is sent is what was meant, what comes back is what was emitted."""
    reply = Completion(content="Zoë is here.", reasoning_content="hm", usage=Usage(100, 10, 20, 5))
    async with endpoint(
        reply,
        sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=64, extra_body={"top_k": 5}),
        price_input_usd_per_mtok=1.0,
        price_output_usd_per_mtok=2.0,
        serving={"extensions": frozenset({"top_k"}), "api_key": KEY},
    ) as (server, model):
        found = await talk(model).complete(opening())
    assert server.requests == [
        {
            "model": "m",
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 64,
            "top_k": 5,
            "tools": TOOLS,
            "messages": opening(),
        }
    ]
    assert (found.content, found.reasoning_content, found.usage) == (
        "Zoë is here.",
        "hm",
        reply.usage,
    )
    assert found.cost_usd == pytest.approx(120 / 1e6)


def test_a_model_has_its_name_with_a_date_and_without_a_provider() -> None:
    same = "gpt-4o gpt-4o-2024-08-06 openai/GPT-4o gpt-4o m-latest m-20241022 llama3 llama3:latest"
    another = "gpt-4o gpt-4o-mini gpt-4o-2024-05-13 gpt-4o-2024-08-06 qwen:7b qwen:14b"
    for words, expected in ((same.split(), True), (another.split(), False)):
        for asked, answered in zip(words[::2], words[1::2], strict=True):
            assert _same_model(asked, answered) == expected, asked


async def test_tool_calls_go_out_and_come_back(endpoint: Any) -> None:
    """Two turns against a strict endpoint: parallel calls, their results, the answer."""
    async with endpoint(calling("a", "b"), Completion(content="done")) as (server, model):
        conversation = talk(model)
        messages = opening()
        first = await conversation.complete(messages)
        call = ToolCall("a", "find", '{"name": "Zoë"}')
        assert first.tool_calls == (call, ToolCall("b", "find", call.arguments))
        both = assistant_call("a", name="Zoë")
        both["tool_calls"] += assistant_call("b", name="Zoë")["tool_calls"]
        messages += [both, tool_answer("a"), tool_answer("b")]
        assert (await conversation.complete(messages)).content == "done"
    sent = server.requests[1]["messages"][2]
    assert sent["content"] is None
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == {"name": "Zoë"}


async def test_a_malformed_argument_string_is_untouched(endpoint: Any) -> None:
    """Judging it is the toolbox's business."""
    async with endpoint(calling("a", arguments='{"name": "Zo')) as (_, model):
        found = await talk(model).complete(opening())
    assert found.tool_calls[0].arguments == '{"name": "Zo'


async def test_calls_without_ids_are_numbered_through_the_conversation(endpoint: Any) -> None:
    """The second turn's call does not get the first one's id."""
    message = {"tool_calls": [{"function": {"name": "find", "arguments": "{}"}}]}
    body = json.dumps({"choices": [{"message": message}]}).encode()
    async with endpoint(Fault(headers=JSON, body=[body])) as (_, model):
        conversation = talk(model)
        messages = opening()
        first = await conversation.complete(messages)
        messages += [
            assistant_call(first.tool_calls[0].id, name="x"),
            tool_answer(first.tool_calls[0].id),
        ]
        second = await conversation.complete(messages)
    assert [first.tool_calls[0].id, second.tool_calls[0].id] == ["call_0", "call_1"]


async def test_the_history_is_encoded_once(endpoint: Any) -> None:
    """A later call reuses the very bytes of the earlier ones, and its body begins with the earlier
    body.
    """
    async with endpoint(calling("a"), Completion(content="done")) as (server, model):
        conversation = talk(model)
        assert isinstance(conversation, OpenAIConversation)
        messages = opening()
        await conversation.complete(messages)
        before = list(conversation._encoded)
        messages += [assistant_call("a", name="Zoë"), tool_answer("a")]
        await conversation.complete(messages)
    assert all(old is new for old, new in zip(before, conversation._encoded, strict=False))
    assert len(conversation._encoded) == 4
    assert server.requests[1]["messages"][:2] == server.requests[0]["messages"]


async def test_a_history_that_was_rewritten_is_sent_as_it_is_now(endpoint: Any) -> None:
    """Compaction replaces messages: only what is still the same object keeps its bytes."""
    async with endpoint() as (server, model):
        conversation = talk(model)
        messages = opening()
        await conversation.complete(messages)
        shorter = [messages[0], {"role": "user", "content": "In short?"}]
        await conversation.complete(shorter)
    assert server.requests[1]["messages"] == shorter


async def test_the_tools_are_encoded_once_for_all_rollouts(endpoint: Any) -> None:
    """Rollouts of a world pass the same list."""
    async with endpoint() as (_, model):
        first, second = (model.start(TASK, TOOLS, seed) for seed in (1, 2))
        assert model._tools_bytes(TOOLS) is model._tools_bytes(TOOLS)
        assert first._head == second._head
        assert b'"tools"' not in model.start(TASK, [], 1)._head


async def test_the_seed_is_sent_only_where_it_is_wanted(endpoint: Any) -> None:
    """Some endpoints refuse the key; where it is sent it fits 31 bits."""
    async with endpoint(send_seed=True) as (server, model):
        await talk(model, seed=2**62 + 7).complete(opening())
    assert server.requests[0]["seed"] == 7
    async with endpoint() as (server, model):
        await talk(model).complete(opening())
    assert "seed" not in server.requests[0]


async def test_sixty_four_at_once(endpoint: Any) -> None:
    """One client serves many rollouts, and nobody gets another one's answer."""

    def echo(request: dict[str, Any]) -> Completion:
        return Completion(content=request["messages"][-1]["content"])

    async with endpoint(echo) as (_, model):
        asked = [str(number) for number in range(64)]
        talks = [talk(model).complete([{"role": "user", "content": text}]) for text in asked]
        found = await asyncio.gather(*talks)
    assert [completion.content for completion in found] == asked


# Keys.


async def test_the_key_is_sent_and_shown_nowhere(
    endpoint: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in an error that quotes it, its traceback, its pickle, the model's repr or a debug
    log.
    """
    caplog.set_level(logging.DEBUG)
    extra = "another-secret-value"
    echo = json.dumps({"error": {"message": f"bad key {KEY} or {extra}"}}).encode()
    faults = [
        Fault(status=401, body=[echo]),
        Fault(status=200, body=[echo[:-1]]),
        Fault(abort=True),
    ]
    shown = ""
    for fault in faults:
        async with endpoint(fault, headers={"X-Extra": extra}) as (server, model):
            error = await refused(model)
            shown += (
                repr(model) + str(error) + repr(error) + "".join(traceback.format_exception(error))
            )
            shown += repr(pickle.dumps(error)) + repr(error.__context__) + repr(error.__cause__)
            assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
            assert server.headers[0]["X-Extra"] == extra
    shown += caplog.text
    assert KEY not in shown
    assert extra not in shown
    assert "<hidden>" in shown


async def test_an_endpoint_without_a_key_gets_none(
    endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key or identity of the environment goes to an endpoint that was not given one."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer from-the-environment")
    for key in (None, "", KEY):
        async with endpoint(api_key=key) as (server, model):
            await talk(model).complete(opening())
            assert await model.preflight() == []
        assert "from-the-environment" not in repr([dict(headers) for headers in server.headers])
        assert all(("Authorization" in headers) == bool(key) for headers in server.headers)


async def test_a_query_in_the_address_is_carried_and_not_shown(endpoint: Any) -> None:
    """Azure's api-version, or a gateway's token."""
    async with endpoint(Fault(status=500)) as (server, _):
        model = server.model(base_url=f"{server.url}?token=query-secret")
        error = await refused(model)
        await model.aclose()
    assert "query-secret" not in str(error) + repr(model)
    assert str(error).startswith(f"{server.url}/chat/completions answered HTTP 500")


# Before anything is paid for.


async def test_preflight_passes_where_all_is_well(endpoint: Any) -> None:
    """One GET, no completion."""
    async with endpoint(serving={"api_key": KEY}) as (server, model):
        assert await model.preflight() == []
    assert (server.hits, server.requests) == (1, [])


async def test_preflight_names_an_endpoint_that_is_not_there(endpoint: Any) -> None:
    """And what to look at."""
    async with endpoint() as (server, _):
        url = server.url
    model = server.model(base_url=url)
    with pytest.raises(ModelError, match="is the endpoint running") as caught:
        await model.preflight()
    await model.aclose()
    assert url in str(caught.value)


async def test_preflight_finds_a_key_that_is_not_accepted(endpoint: Any) -> None:
    """Before the first token."""
    async with endpoint(serving={"api_key": "sk-the-right-one"}) as (_, model):
        with pytest.raises(ModelAuthError):
            await model.preflight()


@pytest.mark.parametrize(
    ("fault", "warnings"),
    [
        (Fault(status=404), 0),
        (Fault(status=405), 0),
        (Fault(status=429), 1),
        (Fault(body=[b"<html>"]), 1),
        (Fault(body=[b'{"data": null}']), 0),
        (Fault(body=[b'{"data": [{"id": "m:latest"}]}']), 0),
        (Fault(body=[b'{"data": [{"id": "m-large"}, 3]}']), 1),
    ],
)
async def test_preflight_is_lenient_with_gateways(
    endpoint: Any, fault: Fault, warnings: int
) -> None:
    """A missing or partial list of models is no reason to refuse a run; it may be one to warn."""
    async with endpoint(fault) as (_, model):
        assert len(await model.preflight()) == warnings


@pytest.mark.parametrize(
    "fault", [Fault(status=503), Fault(status=302, headers={"Location": "/login"})]
)
async def test_preflight_finds_an_endpoint_that_cannot_serve(endpoint: Any, fault: Fault) -> None:
    """It is there, but not for us."""
    async with endpoint(fault) as (_, model):
        with pytest.raises(ModelError):
            await model.preflight()


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://host/v1",
        "",
        "http://",
        "http://[::1",
        "http://256.1.1.1/v1",
        "http://xn--a/v1",
    ],
)
def test_an_address_that_cannot_work_is_the_operators(url: str) -> None:
    """Found when the model is made."""
    with pytest.raises(OperatorError, match="base_url"):
        OpenAIModel(Endpoint("m", url))


def test_extra_body_may_not_replace_what_the_pipeline_sets() -> None:
    """`stream` would change the answer's form, `messages` the task."""
    with pytest.raises(OperatorError, match="messages, stream"):
        OpenAIModel(Endpoint("m"), sampling=Sampling(extra_body={"stream": True, "messages": []}))


async def test_a_message_that_cannot_be_written_is_refused_here(endpoint: Any) -> None:
    """It says which one."""
    async with endpoint() as (server, model):
        with pytest.raises(ModelRefusedRequest, match="message 2"):
            await talk(model).complete([*opening(), assistant_call("a", x=float("nan"))])
    assert server.hits == 0


async def test_closing_twice_is_safe(endpoint: Any) -> None:
    """Workers close in more than one place."""
    async with endpoint() as (_, model):
        await talk(model).complete(opening())
        await model.aclose()
        await model.aclose()


async def test_the_factory_reads_the_configs_model_section(endpoint: Any) -> None:
    """Address, key, sampling and prices arrive; half a price is none."""
    usage = Usage(1_000_000, 1_000_000)
    for output, cost in ((2.0, 3.0), (None, None)):
        async with endpoint(Completion(content="x", usage=usage), serving={"api_key": KEY}) as (
            server,
            _,
        ):
            section = {"name": "m", "base_url": server.url, "timeout_s": 9.0, "max_retries": 0}
            prices = {"price_input_usd_per_mtok": 1.0, "price_output_usd_per_mtok": output}
            options = options_for(make, section | prices, {}, "model.options")
            model = make(options, Sampling(temperature=0.25), KEY)
            assert (await talk(model).complete(opening())).cost_usd == cost
            await model.aclose()
        assert server.requests[0]["temperature"] == 0.25


AZURE = "https://x.openai.azure.com/openai"


@pytest.mark.parametrize(
    ("url", "target", "header"),
    [
        (
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/chat/completions",
            ("authorization", f"Bearer {KEY}"),
        ),
        (f"{AZURE}/v1/", f"{AZURE}/v1/chat/completions", ("api-key", KEY)),
        (
            f"{AZURE}?api-version=1",
            f"{AZURE}/deployments/m/chat/completions?api-version=1",
            ("api-key", KEY),
        ),
        (
            f"{AZURE}/deployments/d?api-version=1",
            f"{AZURE}/deployments/d/chat/completions?api-version=1",
            ("api-key", KEY),
        ),
        (
            "http://gateway:8000/v1?token=abc&api-version=1",
            "http://gateway:8000/v1/chat/completions?token=abc&api-version=1",
            ("authorization", f"Bearer {KEY}"),
        ),
        (
            "http://user:pass@host/v1",
            "http://host/v1/chat/completions",
            ("authorization", "Basic dXNlcjpwYXNz"),
        ),
    ],
)
async def test_where_a_request_goes_and_what_authorizes_it(
    url: str, target: str, header: tuple[str, str]
) -> None:
    """OpenAI, Azure's new addresses and its old ones, a gateway's query, a password in the address;
    no telemetry goes along.
    """
    model = OpenAIModel(Endpoint("m", url), api_key=KEY)
    found = await model._template.completions()
    assert str(found.url) == target
    keys = {
        key.lower(): value
        for key, value in found.headers.items()
        if key.lower() in ("authorization", "api-key")
    }
    assert keys == dict([header])
    assert not [key for key in found.headers if key.lower().startswith("x-stainless")]
    await model.aclose()


async def test_a_key_is_read_from_a_file_with_its_last_line_end(endpoint: Any) -> None:
    """White space around it is no part of it; within, it is no key."""
    async with endpoint(api_key=f" {KEY}\n") as (server, model):
        await talk(model).complete(opening())
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    for key in ("sk-first\nsk-second", "sk-\u200bfirst", "sk\u2013first"):
        with pytest.raises(OperatorError, match="line break") as caught:
            OpenAIModel(Endpoint("m", "http://host/v1"), api_key=key)
        assert "first" not in str(caught.value)
    for name, value in {"X-Team": "é", "X Team": "a"}.items():
        with pytest.raises(OperatorError, match=name):
            OpenAIModel(Endpoint("m", "http://host/v1", headers={name: value}))


@pytest.mark.parametrize(
    "proxy", ["socks5://user:proxy-password@host:1", "host:port", "ftp://host"]
)
def test_a_proxy_that_cannot_be_spoken_to_is_the_operators(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """Found when the model is made, without its password."""
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(OperatorError, match="proxy") as caught:
        OpenAIModel(Endpoint("m", "https://host/v1"), api_key=KEY)
    assert "proxy-password" not in str(caught.value)
