"""Any OpenAI-compatible endpoint, asked through the ``openai`` package at the level of bytes.

``openai`` keeps what it is good at: base URLs, authentication, proxies, TLS, error types. Its parameter
transform and its response models are passed by, because they cost more the longer the conversation grows:
each message is encoded once, and the body of a request is the join of what is there.

Retries, the deadline, the cap on answers and the classification of failures are ours. No key gets into an
error: errors are raised outside of ``except`` blocks, so that no chained exception carries a request's headers.
"""

from __future__ import annotations

import asyncio
import difflib
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

import aiohttp
import httpx2
import openai

from synth.errors import ModelError, ModelRefusedRequest, OperatorError
from synth.models.backoff import Backoff
from synth.models.base import Conversation, Model, Sampling, wire_seed
from synth.models.failures import error_in_body, failure, read_error
from synth.models.prices import Prices
from synth.models.redact import Redactor, public_url
from synth.models.reply import NotACompletionError, load_body, read_completion
from synth.models.wire import encode, request_head, wire_message
from synth.types import Completion, Message, Task

Json = Any
_Result = TypeVar("_Result")

_RESERVED = frozenset({"messages", "tools", "model", "stream", "n"})
_TIMEOUT_S = 120.0
_RETRIES = 5
_CONNECT_S = 10.0
_ENCODINGS = frozenset({"identity", "gzip", "deflate", ""})
_KEEPALIVE_S = 4.0  # uvicorn, and so vLLM, closes idle connections after 5 s: be the first to let go


@dataclass(frozen=True, slots=True)
class _Reply:
    """One HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _TooLargeError(Exception):
    """The answer passed the cap."""


class _Bounded(httpx2.AsyncByteStream):
    """A response body that stops at ``limit`` decoded bytes, so that neither a flood nor a zip bomb is held."""

    def __init__(self, inner: httpx2.AsyncByteStream, encoding: str, limit: int) -> None:
        self._inner = inner
        self._limit = limit
        # 15 + 32 bits: zlib finds out by itself whether it reads gzip or deflate.
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in ("gzip", "deflate") else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for raw in self._inner:
            chunk = raw if self._inflate is None else self._inflate.decompress(raw, left + 1)
            left -= len(chunk)
            if left < 0:
                raise _TooLargeError
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class OpenAIModel(Model):
    """One model of one endpoint, shared by all the rollouts of a worker.

    ``timeout_s`` is wall clock for one attempt, from the wait for a connection to the last byte; ``max_retries``
    counts further attempts. ``api_key`` None sends no authorization at all: no variable of the environment fills it in.
    ``send_seed`` adds the rollout's seed to each request (not every endpoint accepts one).
    ``max_tokens_key`` None chooses ``max_completion_tokens`` for OpenAI itself and ``max_tokens`` elsewhere.
    ``echo_reasoning`` names the key under which earlier reasoning is sent back; None sends none.

    Raises OperatorError for an address or an ``extra_body`` that cannot work.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        sampling: Sampling | None = None,
        *,
        timeout_s: float = _TIMEOUT_S,
        max_retries: int = _RETRIES,
        max_response_bytes: int = 16_000_000,
        max_connections: int = 1024,
        prices: Prices | None = None,
        headers: Mapping[str, str] | None = None,
        backoff: Backoff | None = None,
        send_seed: bool = False,
        max_tokens_key: str | None = None,
        echo_reasoning: str | None = None,
    ) -> None:
        self.name = name
        self._sampling = sampling or Sampling()
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._max_response_bytes = max_response_bytes
        self._prices = prices
        self._backoff = backoff or Backoff()
        self._send_seed = send_seed
        self.echo_reasoning = echo_reasoning
        if taken := sorted(_RESERVED & self._sampling.extra_body.keys()):
            raise OperatorError(f"model.extra_body must not set {', '.join(taken)}: the pipeline sets it")
        api_key = api_key or None  # an empty variable is no key
        own_headers = dict(headers or {})
        address, query = _split_address(base_url)
        self._client = self._make_client(address, query, api_key, own_headers, max_connections)
        self.endpoint = public_url(str(self._client.base_url))
        self._redact = Redactor([api_key or "", self._client.base_url.password, *own_headers.values(), *query.values()])
        anonymous = api_key is None and not any(key.lower() == "authorization" for key in own_headers)
        self._request_headers: dict[str, str | openai.Omit] = {"Authorization": openai.Omit()} if anonymous else {}
        official = self._client.base_url.host.endswith("openai.com")
        if not official:
            # From the environment; another party has no business with them.
            self._client.organization = self._client.project = None
        self._max_tokens_key = max_tokens_key or ("max_completion_tokens" if official else "max_tokens")
        self._encoded_tools: tuple[Sequence[Json], bytes | None] | None = None

    def _make_client(
        self, address: str | None, query: Mapping[str, str], api_key: str | None, headers: dict[str, str], limit: int
    ) -> openai.AsyncOpenAI:
        # Authorization stands among the headers so that OPENAI_CUSTOM_HEADERS cannot replace it; the empty
        # admin key keeps OPENAI_ADMIN_KEY out.
        authorization = {"Authorization": f"Bearer {api_key}"} if api_key is not None else {}
        return openai.AsyncOpenAI(
            api_key=api_key or "none",
            admin_api_key="",
            base_url=address,
            timeout=httpx2.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s), pool=None),
            max_retries=0,
            default_headers={"Accept-Encoding": "identity", **authorization, **headers},
            default_query=query,
            http_client=openai.DefaultAioHttpClient(
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=limit, keepalive_expiry=_KEEPALIVE_S),
                event_hooks={"response": [self._bound]},
            ),
        )

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, {self.endpoint!r})"

    async def preflight(self) -> list[str]:
        """Ask for the list of models: it proves address and key and costs no tokens.

        Raises ModelError where nothing serves there, ModelAuthError where the key is not accepted.
        """
        url = f"{self.endpoint}/models"
        try:
            reply = await self._retrying(self._list_models, min(1, self._max_retries))
        except ModelError as error:
            if error.status is not None:
                raise
            problem = error
        else:
            return self._read_listing(url, reply)
        advice = "is the endpoint running, is model.base_url right, does a proxy or firewall stand between?"
        raise ModelError(f"{problem.message} ({advice})", problem.retryable)

    def _read_listing(self, url: str, reply: _Reply) -> list[str]:
        """The warnings that a list of models gives cause for; gateways without one are common."""
        if reply.status == 429:
            return [f"{url} answered HTTP 429: the endpoint is limiting requests already"]
        if reply.status >= 400:
            return []  # no such list; the first completion will tell
        try:
            listed = load_body(reply.body).get("data")
        except NotACompletionError as problem:
            return [f"{url} answered with {problem}: is {self.endpoint} the right base URL?"]
        if not isinstance(listed, list):
            return []
        entries = [cast("dict[str, Json]", entry) for entry in cast("list[Json]", listed) if isinstance(entry, dict)]
        names = [str(entry["id"]) for entry in entries if "id" in entry]
        if not names or self.name in names or f"{self.name}:latest" in names:
            return []
        near = ", ".join(difflib.get_close_matches(self.name, names, 3, 0.5) or sorted(names)[:3])
        return [f"{url} lists {len(names)} models, but not {self.name!r} (it has {near})"]

    async def _list_models(self) -> _Reply:
        reply = await self._exchange("get", "/models", None)
        if 300 <= reply.status < 400 or reply.status in (401, 402, 403) or reply.status in (500, 502, 503, 504):
            raise failure(f"{self.endpoint}/models", reply.status, reply.headers, reply.body, self._redact)
        return reply

    def start(self, task: Task, tools: Sequence[Json], seed: int) -> Conversation:
        sampling = self._sampling
        chosen = wire_seed(seed) if self._send_seed else sampling.seed
        named: dict[str, Json] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._max_tokens_key: sampling.max_tokens,
            "seed": chosen,
        }
        parameters = {"model": self.name, **{key: value for key, value in named.items() if value is not None}}
        return OpenAIConversation(self, request_head(parameters | dict(sampling.extra_body), self._tools_bytes(tools)))

    def _tools_bytes(self, tools: Sequence[Json]) -> bytes | None:
        """The encoded tools. All rollouts of a world pass the same list, so the last one is kept."""
        if self._encoded_tools is None or self._encoded_tools[0] is not tools:
            self._encoded_tools = (tools, encode(list(tools)) if tools else None)
        return self._encoded_tools[1]

    async def ask(self, body: bytes, first_call: int) -> Completion:
        """Send an encoded request, again where that can help; ``first_call`` numbers calls that come without an id."""

        async def once() -> Completion:
            return self._read(await self._exchange("post", "/chat/completions", body), first_call)

        return await self._retrying(once, self._max_retries)

    async def aclose(self) -> None:
        await self._client.close()

    async def _retrying(self, once: Callable[[], Awaitable[_Result]], most: int) -> _Result:
        attempt = 0
        while True:
            try:
                return await once()
            except ModelError as error:
                problem = error
            if not problem.retryable or attempt >= most:
                raise problem
            wait = self._backoff.wait_s(attempt, problem.retry_after_s)
            if wait is None:
                raise problem
            await asyncio.sleep(wait)
            attempt += 1

    async def _exchange(self, method: Literal["get", "post"], path: str, body: bytes | None) -> _Reply:
        """One attempt, of any status. Raises ModelError where no complete answer came."""
        retryable = True
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._send(method, path, body)
            return _Reply(response.status_code, response.headers, response.content)
        except openai.APIStatusError as error:
            return _Reply(error.status_code, error.response.headers, error.response.content)
        except TimeoutError:
            reason = f"did not answer completely within {self._timeout_s:g} s"
        except _TooLargeError:
            reason = f"sent more than {self._max_response_bytes} bytes"
            retryable = False
        except (openai.APIError, httpx2.HTTPError, aiohttp.ClientError, zlib.error, OSError, EOFError) as error:
            reason = f"did not answer: {self._redact.excerpt(_root_cause(error))}"
        raise ModelError(f"{self.endpoint}{path} {reason}", retryable)

    async def _send(self, method: Literal["get", "post"], path: str, body: bytes | None) -> httpx2.Response:
        if method == "get":
            return await self._client.get(path, cast_to=httpx2.Response, options={"headers": self._request_headers})
        return await self._client.post(
            path, cast_to=httpx2.Response, content=body, options={"headers": self._request_headers}
        )

    async def _bound(self, response: httpx2.Response) -> None:
        """Event hook: put the cap under whatever reads the body, openai's own reading of an error's body included."""
        encoding = response.headers.pop("content-encoding", "identity").lower()
        if encoding not in _ENCODINGS:
            raise httpx2.DecodingError(f"the answer is encoded as {encoding}, though identity was asked for")
        inner = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _Bounded(inner, encoding, self._max_response_bytes)

    def _read(self, reply: _Reply, first_call: int) -> Completion:
        url = f"{self.endpoint}/chat/completions"
        if not 200 <= reply.status < 300:
            raise failure(url, reply.status, reply.headers, reply.body, self._redact)
        try:
            body = load_body(reply.body)
            status = error_in_body(body)
            completion = read_completion(body, first_call) if status is None else None
        except NotACompletionError as error:
            problem = str(error)
        else:
            if completion is not None:
                cost = self._prices.cost(completion.usage) if self._prices is not None else None
                return replace(completion, cost_usd=cost)
            raise failure(url, status or reply.status, reply.headers, reply.body, self._redact)
        shown = self._redact.excerpt(read_error(reply.body).message)
        raise ModelError(
            f"{url} answered HTTP {reply.status} with {self._redact.excerpt(problem)}"
            + (f": {shown}" if shown else ""),
            True,
            reply.status,
        )


class OpenAIConversation(Conversation):
    """One rollout's requests. Keeps each message's bytes, so that a call encodes only what is new."""

    def __init__(self, model: OpenAIModel, head: bytes) -> None:
        self._model = model
        self._head = head
        self._messages: list[Message] = []
        self._encoded: list[bytes] = []
        self._calls: list[int] = []

    async def complete(self, messages: Sequence[Message]) -> Completion:
        self._append(messages)
        body = b"".join((self._head, b",".join(self._encoded), b"]}"))
        return await self._model.ask(body, sum(self._calls))

    def _append(self, messages: Sequence[Message]) -> None:
        """Encode what was not there at the last call. Messages are known by identity: they are never changed in place."""
        known = 0
        for old, new in zip(self._messages, messages, strict=False):
            if old is not new:
                break
            known += 1
        del self._messages[known:], self._encoded[known:], self._calls[known:]
        for index, message in enumerate(messages[known:], known):
            try:
                encoded = encode(wire_message(message, self._model.echo_reasoning))
            except (KeyError, TypeError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                self._messages.append(message)
                self._encoded.append(encoded)
                self._calls.append(len(message.get("tool_calls") or ()))
                continue
            raise ModelRefusedRequest(f"message {index} of the conversation cannot be sent ({problem})", False)


def _split_address(base_url: str | None) -> tuple[str | None, dict[str, str]]:
    """The address without its query, and the query (Azure's ``api-version``), which every request has to carry."""
    if base_url is None:
        return None, {}
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError):
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise OperatorError(f"model.base_url must be an http or https URL, not {public_url(base_url)!r}")
    return str(url.copy_with(query=None, fragment=None)), dict(url.params)


def _root_cause(error: BaseException) -> str:
    """The words of the innermost cause: the layers above call a refused connection a time-out."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def make(options: Mapping[str, Json], sampling: Sampling, api_key: str | None) -> OpenAIModel:
    """The factory that ``model=openai`` names; ``options`` are the keys of the config's model section.

    The cost is known only where the prices of input and output both are.
    """
    paid, made, cached = (options.get(f"price_{kind}_usd_per_mtok") for kind in ("input", "output", "cached"))
    return OpenAIModel(
        options["name"],
        options.get("base_url"),
        api_key,
        sampling,
        timeout_s=options.get("timeout_s", _TIMEOUT_S),
        max_retries=options.get("max_retries", _RETRIES),
        send_seed=options.get("send_seed", False),
        prices=Prices(paid, made, cached) if paid is not None and made is not None else None,
    )
