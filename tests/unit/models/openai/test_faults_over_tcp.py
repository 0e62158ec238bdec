"""Every scene of :mod:`faults` over real TCP: a request comes to one typed end, in bounded time,
and the next one is served.
"""

from __future__ import annotations

import pickle
import socket
import ssl
from typing import Any

import pytest

from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.errors import ContextOverflow, ModelAuthError, ModelError
from synth.model import Completion
from tests.unit.models.conftest import KEY, opening, refused, talk

from .faults import GOOD, SCENES, STREAM, End, Scene
from .raw_endpoint import Raw, raw_endpoint, reply, sends, sends_and_hangs

pytestmark = pytest.mark.slow


def model_of(server: Raw, **options: Any) -> OpenAIModel:
    return OpenAIModel(
        Endpoint("m", server.url, **{"max_retries": 0, "timeout_s": 30.0} | options), api_key=KEY
    )


async def ask(model: OpenAIModel) -> Completion | ModelError:
    try:
        return await talk(model).complete(opening())
    except ModelError as error:
        return error


def end_of(found: Completion | ModelError) -> End:
    if isinstance(found, Completion):
        return (
            "filtered"
            if found.refusal is not None or found.finish_reason == "content_filter"
            else "answer"
        )
    if isinstance(found, ContextOverflow):
        return "overflow"
    if isinstance(found, ModelAuthError):
        return "auth"
    return "retry" if found.retryable else "final"


def check_words(error: ModelError) -> None:
    """An error names the endpoint in one line that any file can hold, and neither a key nor
    anything else that is secret.
    """
    for text in (str(error), repr(error), repr(error.__cause__), repr(error.__context__)):
        assert KEY not in text
        assert "elsewhere-secret" not in text
    assert str(error).startswith("http")
    assert str(error).encode()
    assert "\n" not in str(error)
    assert len(str(error)) < 700
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


STREAMED = SCENES | STREAM


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
async def test_each_fault_comes_to_its_end(scene: Scene) -> None:
    await comes_to_its_end(scene, stream=False)


@pytest.mark.parametrize("scene", STREAMED.values(), ids=STREAMED.keys())
async def test_each_fault_of_a_stream_comes_to_its_end(scene: Scene) -> None:
    await comes_to_its_end(scene, stream=True)


async def comes_to_its_end(scene: Scene, *, stream: bool) -> None:
    """The type that it should be; then the same model, over the same connections, gets its next
    answer.
    """
    async with raw_endpoint(scene.act, sends(reply(GOOD)), at_once=scene.at_once) as server:
        model = model_of(server, stream=stream, **scene.options)
        found = await ask(model)
        assert end_of(found) == scene.end, found
        if isinstance(found, ModelError):
            check_words(found)
        if not scene.at_once and "timeout_s" not in scene.options:
            after = await ask(model)
            if isinstance(after, ModelError) and after.retryable:
                after = await ask(model)  # it met the connection that the endpoint had just closed
            assert isinstance(after, Completion), after
            assert after.content == "fine"
        await model.aclose()


async def test_a_port_where_nobody_listens() -> None:
    """Refused at once."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        model = OpenAIModel(
            Endpoint("m", f"http://127.0.0.1:{unused.getsockname()[1]}/v1", max_retries=0),
            api_key=KEY,
        )
        error = await refused(model)
    assert error.retryable
    check_words(error)
    await model.aclose()


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".invalid", "a..b", "-"])
async def test_a_name_that_cannot_be_resolved(host: str) -> None:
    """Unknown, too long a label, an empty one: one kind of error."""
    model = OpenAIModel(
        Endpoint("m", f"http://{host}/v1", max_retries=0, timeout_s=20), api_key=KEY
    )
    error = await refused(model)
    assert type(error) is ModelError
    check_words(error)
    await model.aclose()


async def test_tls_to_who_speaks_none() -> None:
    """https in the address of a plain endpoint."""
    async with raw_endpoint(sends(reply(GOOD)), at_once=True) as server:
        model = OpenAIModel(
            Endpoint("m", server.url.replace("http:", "https:"), max_retries=0), api_key=KEY
        )
        error = await refused(model)
        await model.aclose()
    assert error.retryable
    check_words(error)


async def test_a_certificate_that_nobody_signed(tmp_path: Any) -> None:
    """It is not trusted, and the key does not leave."""
    certificate = pytest.importorskip("trustme").CA().issue_cert("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    async with raw_endpoint(sends(reply(GOOD)), tls=context) as server:
        model = model_of(server)
        error = await refused(model)
        await model.aclose()
    assert "certificate" in str(error).lower()
    assert server.last == b""
    check_words(error)


@pytest.mark.parametrize(
    ("status", "words"), [("407 Proxy Authentication Required", "407"), ("403 Forbidden", "403")]
)
async def test_a_proxy_that_refuses(
    monkeypatch: pytest.MonkeyPatch, status: str, words: str
) -> None:
    """The environment's proxy is asked, also for what it then denies; its password is in no
    error.
    """
    async with raw_endpoint(sends(reply(b"no", status))) as proxy:
        monkeypatch.setenv("https_proxy", f"http://user:proxy-password@127.0.0.1:{proxy.port}")
        model = OpenAIModel(Endpoint("m", "https://nowhere.invalid/v1", max_retries=0), api_key=KEY)
        error = await refused(model)
        await model.aclose()
    assert proxy.last.startswith(b"CONNECT nowhere.invalid:443")
    assert b"Proxy-Authorization: Basic" in proxy.last
    assert KEY.encode() not in proxy.last
    assert words in str(error)
    assert "proxy-password" not in str(error)
    check_words(error)


async def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No way around it."""
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    async with raw_endpoint(sends(reply(GOOD))) as server:
        model = model_of(server)
        error = await refused(model)
        await model.aclose()
    assert error.retryable
    assert "proxy http://127.0.0.1:1; NO_PROXY=127.0.0.1 goes past it" in str(error)
    assert server.connections == 0
    check_words(error)


@pytest.mark.parametrize("past", ["127.0.0.1,other.example", "other.example, 127.0.0.0/8"])
async def test_a_proxy_carries_plain_requests(monkeypatch: pytest.MonkeyPatch, past: str) -> None:
    """Over http the proxy gets the whole request; NO_PROXY goes past it."""
    async with (
        raw_endpoint(sends(reply(GOOD))) as proxy,
        raw_endpoint(sends(reply(GOOD))) as server,
    ):
        monkeypatch.setenv("http_proxy", f"http://user:pass%20word@127.0.0.1:{proxy.port}")
        model = OpenAIModel(Endpoint("m", "http://nowhere.invalid/v1", max_retries=0), api_key=KEY)
        assert (await talk(model).complete(opening())).content == "fine"
        await model.aclose()
        assert proxy.last.startswith(b"POST http://nowhere.invalid/v1/chat/completions")
        assert b"Proxy-Authorization: Basic dXNlcjpwYXNzIHdvcmQ=" in proxy.last
        monkeypatch.setenv("no_proxy", past)
        model = model_of(server)
        assert (await talk(model).complete(opening())).content == "fine"
        await model.aclose()
        assert (proxy.connections, server.connections) == (1, 1)


async def test_more_requests_than_connections() -> None:
    """Who waits for a connection waits within its own deadline: silence for all ends for all."""
    async with raw_endpoint(sends_and_hangs(b"")) as server:
        model = model_of(server, max_connections=1, timeout_s=0.3)
        first, second = talk(model).complete(opening()), talk(model).complete(opening())
        for each in (first, second):
            with pytest.raises(ModelError, match=r"within 0\.3 s"):
                await each
        await model.aclose()
