"""Any OpenAI-compatible endpoint, through the door of the ``openai`` package.

``openai`` keeps what it is good at: base URLs, authentication, headers, Azure's variant. It is asked once what a request of
this model looks like; the requests themselves are exchanged as bytes (:mod:`synth.models.exchange`), because its parameter
transform, its response models and its transport cost more the longer the conversation grows and the more are in
flight. Each message is encoded once, and the body of a request is the join of what is there.

Retries, the deadline, the cap on answers and the classification of failures are ours. No key gets into an
error: errors are raised outside of ``except`` blocks, so that no chained exception carries a request's headers.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

import httpx2
import openai

from synth.errors import ModelError, ModelRefusedRequest, OperatorError
from synth.models.backoff import Backoff
from synth.models.base import Conversation, Gate, Model, OnDelta, Sampling, wire_seed
from synth.models.exchange import ExchangeError, Exchanger, Reply, Target, split_address
from synth.models.failures import error_in_body, failure, filtered, read_error
from synth.models.listing import listing_warnings
from synth.models.prices import Prices
from synth.models.redact import Redactor, public_url
from synth.models.reply import NotACompletionError, load_body, read_completion
from synth.models.stream import StreamedAnswer
from synth.models.wire import encode, encode_message, request_head
from synth.types import Completion, Message, Task

Json = Any
_Result = TypeVar("_Result")

_RESERVED = frozenset({"messages", "tools", "model", "stream", "n"})
_TIMEOUT_S = 120.0
_RETRIES = 5
_BYTES_PER_TOKEN = 4  # a rule of thumb, for the gate
_PUBLIC_HEADERS = frozenset(
    {"accept", "accept-encoding", "content-type", "user-agent"}
    | {
        f"x-stainless-{each}"
        for each in ("lang", "package-version", "os", "arch", "runtime", "runtime-version", "async")
    }
)
_EVENT = b"data:"
_STREAM = b',"stream":true'
_STREAM_USAGE = b',"stream_options":{"include_usage":true}'


class OpenAIModel(Model):
    """One model of one endpoint, shared by all the rollouts of a worker.

    ``timeout_s`` is wall clock for one attempt, from the wait for a connection to the last byte; ``max_retries``
    counts further attempts. ``api_key`` None sends no authorization at all: no variable of the environment fills it in.
    ``stream`` asks for every answer in pieces; without it only those are whose ``on_delta`` somebody listens to.
    ``gate`` says when an attempt may be made (None: at once). ``send_seed`` adds the rollout's seed to each request (not
    every endpoint accepts one). ``max_tokens_key`` None chooses ``max_completion_tokens`` for OpenAI itself and
    ``max_tokens`` elsewhere. ``echo_reasoning`` names the key under which earlier reasoning is sent back; None sends none.

    Raises OperatorError for an address, a key, a proxy or an ``extra_body`` that cannot work.
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
        stream: bool = False,
        gate: Gate | None = None,
        send_seed: bool = False,
        max_tokens_key: str | None = None,
        echo_reasoning: str | None = None,
    ) -> None:
        self.name = name
        self._sampling = sampling or Sampling()
        self._max_retries = max_retries
        self._prices = prices
        self._backoff = backoff or Backoff()
        self.stream = stream
        self.gate = gate
        self._send_seed = send_seed
        self.echo_reasoning = echo_reasoning
        if taken := sorted(_RESERVED & self._sampling.extra_body.keys()):
            raise OperatorError(f"model.extra_body must not set {', '.join(taken)}: the pipeline sets it")
        api_key = (api_key or "").strip() or None  # an empty variable is no key, the line's end of a file none of it
        if api_key is not None and not api_key.isprintable():
            raise OperatorError("the model's API key holds characters that no key has: a line break, or the like")
        own_headers = dict(headers or {})
        address, query = split_address(base_url)
        self._door = _Door(name, address, query, api_key, own_headers)
        self.endpoint = public_url(str(self._door.base_url))
        self._url = f"{self.endpoint}/chat/completions"
        self._http = Exchanger(
            str(self._door.base_url),
            timeout_s=timeout_s,
            max_response_bytes=max_response_bytes,
            max_connections=max_connections,
        )
        self._redact = Redactor(
            [api_key or "", *self._door.secrets, *own_headers.values(), *query.values(), *self._http.proxy_secrets]
        )
        self._max_tokens_key = max_tokens_key or self._door.max_tokens_key
        usage = b"" if "stream_options" in self._sampling.extra_body else _STREAM_USAGE
        self._stream_ending = b"]" + _STREAM + usage + b"}"
        self._encoded_tools: tuple[list[Json], bytes | None] | None = None

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, {self.endpoint!r})"

    async def preflight(self) -> list[str]:
        """Ask for the list of models: it proves address and key and costs no tokens.

        Raises ModelError where nothing serves there, ModelAuthError where the key is not accepted.
        """
        url = f"{self.endpoint}/models"
        try:
            reply = await self._retrying(self._list_models, min(1, self._max_retries), nullcontext)
        except ModelError as error:
            if error.status is not None:
                raise
            problem = error
        else:
            return listing_warnings(url, self.endpoint, self.name, reply)
        advice = "is the endpoint running, is model.base_url right, does a proxy or firewall stand between?"
        raise ModelError(f"{problem.message} ({advice})", problem.retryable)

    async def _list_models(self) -> Reply:
        problem = None
        try:
            reply = await self._http.exchange(await self._door.models(), None)
        except ExchangeError as error:
            problem = error
        else:
            status = reply.status
            if 300 <= status < 400 or status in (401, 402, 403) or status in (500, 502, 503, 504):
                raise failure(f"{self.endpoint}/models", status, reply.headers, reply.body, self._redact)
            return reply
        raise self._no_answer(f"{self.endpoint}/models", problem)

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
        """The encoded tools. All rollouts of a family pass equal lists, so the last one is kept."""
        given = list(tools)
        if self._encoded_tools is None or self._encoded_tools[0] != given:
            self._encoded_tools = (given, encode(given) if given else None)
        return self._encoded_tools[1]

    async def ask(self, opening: bytes, first_call: int, on_delta: OnDelta | None = None) -> Completion:
        """Send a request whose body is encoded up to the end of its messages, again where that can help.

        ``first_call`` numbers calls that come without an id.
        """
        streams = self.stream or on_delta is not None
        body = opening + (self._stream_ending if streams else b"]}")

        gate = self.gate

        async def once() -> Completion:
            streamed = StreamedAnswer(on_delta) if streams else None
            try:
                completion = self._read(await self._exchange(body, streamed), streamed, first_call)
            except ModelError as error:
                if gate is not None:
                    gate.report(error, error.retry_after_s)
                raise
            if gate is not None:
                gate.report(None, None, completion.usage)
            return completion

        tokens = len(body) // _BYTES_PER_TOKEN + (self._sampling.max_tokens or 0)
        return await self._retrying(once, self._max_retries, nullcontext if gate is None else lambda: gate.slot(tokens))

    async def aclose(self) -> None:
        await self._http.aclose()
        await self._door.aclose()

    async def _retrying(
        self, once: Callable[[], Awaitable[_Result]], most: int, slot: Callable[[], AbstractAsyncContextManager[None]]
    ) -> _Result:
        """Make attempts, each inside of a slot, until one succeeds, none can, or ``most`` more were made."""
        attempt = 0
        while True:
            async with slot():
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

    async def _exchange(self, body: bytes, streamed: StreamedAnswer | None) -> Reply:
        """One attempt, of any status. Raises ModelError where no complete answer came."""
        try:
            return await self._http.exchange(
                await self._door.completions(), body, None if streamed is None else streamed.feed
            )
        except ExchangeError as error:
            problem = error
        except NotACompletionError as error:  # a stream that cannot be read on
            problem = ExchangeError(f"sent {error}")
        if streamed is not None and streamed.settled:
            return Reply(200, {}, b"")  # all that matters had come
        raise self._no_answer(self._url, problem)

    def _no_answer(self, url: str, problem: ExchangeError) -> ModelError:
        return ModelError(f"{url} {self._redact.excerpt(problem.reason, 300)}", problem.retryable)

    def _read(self, reply: Reply, streamed: StreamedAnswer | None, first_call: int) -> Completion:
        if not 200 <= reply.status < 300:
            said = read_error(reply.body)
            if filtered(reply.status, said):
                words = self._redact.excerpt(said.message)
                return Completion(refusal=words, finish_reason="content_filter", provider={"error": words})
            raise failure(self._url, reply.status, reply.headers, reply.body, self._redact)
        try:
            if streamed is None and reply.body.lstrip().startswith(_EVENT):  # streamed, though nobody asked for that
                streamed = StreamedAnswer()
                streamed.feed(reply.body)
            body = load_body(reply.body) if streamed is None else streamed.body()
            status = error_in_body(body)
            completion = read_completion(body, first_call) if status is None else None
        except NotACompletionError as error:
            problem = str(error)
        except RecursionError:
            problem = "JSON that is nested too deeply"
        else:
            if completion is not None:
                prices = self._prices
                return completion if prices is None else replace(completion, cost_usd=prices.cost(completion.usage))
            said_in_body = reply.body if streamed is None else encode(body)
            raise failure(self._url, status or reply.status, reply.headers, said_in_body, self._redact)
        shown = self._redact.excerpt(read_error(reply.body).message)
        raise ModelError(
            f"{self._url} answered HTTP {reply.status} with {self._redact.excerpt(problem)}"
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

    async def complete(self, messages: Sequence[Message], on_delta: OnDelta | None = None) -> Completion:
        self._append(messages)
        return await self._model.ask(self._head + b",".join(self._encoded), sum(self._calls), on_delta)

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
                encoded = encode_message(message, self._model.echo_reasoning)
            except (KeyError, TypeError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                self._messages.append(message)
                self._encoded.append(encoded)
                self._calls.append(len(message.get("tool_calls") or ()))
                continue
            raise ModelRefusedRequest(f"message {index} of the conversation cannot be sent ({problem})", False)


class _Door:
    """What the ``openai`` package would send for this model: where to, and under which headers.

    An address of Azure's goes to its variant where it is of the older kind (``/openai?api-version=...``), which puts the
    deployment into the path; Azure takes a key as ``api-key``.
    """

    def __init__(
        self, name: str, address: str | None, query: Mapping[str, str], api_key: str | None, headers: Mapping[str, str]
    ) -> None:
        self._name = name
        url = httpx2.URL(address or "")
        azure = url.host.endswith(".azure.com")
        # Authorization stands among the headers so that OPENAI_CUSTOM_HEADERS cannot replace it; the empty
        # admin key keeps OPENAI_ADMIN_KEY out.
        keys = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        if azure and api_key is not None:
            keys = {"api-key": api_key}
        options: dict[str, Any] = {
            "api_key": api_key or "none",
            "admin_api_key": "",
            "base_url": address,
            "max_retries": 0,
            "default_headers": {"Accept-Encoding": "identity", **keys, **headers},
            "default_query": query,
            "http_client": httpx2.AsyncClient(transport=_Echo(), trust_env=False),
        }
        if azure and "api-version" in query and "/openai" in url.path:
            self._client = openai.AsyncAzureOpenAI(**options, api_version=query["api-version"])
        else:
            self._client = openai.AsyncOpenAI(**options)
        self.base_url = self._client.base_url
        host = self.base_url.host
        official = host == "openai.com" or host.endswith(".openai.com")
        self.max_tokens_key = "max_completion_tokens" if official or azure else "max_tokens"
        if not official:
            # From the environment; another party has no business with them.
            self._client.organization = self._client.project = None
        omit = openai.Omit()
        self._request_headers: dict[str, str | openai.Omit] = {}
        if not any(key.lower() == "authorization" for key in (*keys, *headers)):
            self._request_headers["Authorization"] = omit
        if api_key is None and not any(key.lower() == "api-key" for key in headers):
            self._request_headers["api-key"] = omit
        self._completions: Target | None = None

    @property
    def secrets(self) -> list[str]:
        """The address's password, as it is and as it is sent, and what the environment put into headers."""
        added = [
            str(value) for key, value in self._client.default_headers.items() if key.lower() not in _PUBLIC_HEADERS
        ]
        user, password = self.base_url.username, self.base_url.password
        return [password, b64encode(f"{user}:{password}".encode()).decode(), *added]

    async def completions(self) -> Target:
        if self._completions is None:
            request = self._client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                body={"model": self._name},
                options={"headers": self._request_headers},
            )
            self._completions = Target.of((await request).request)
        return self._completions

    async def models(self) -> Target:
        options: Any = {"headers": self._request_headers}
        return Target.of((await self._client.get("/models", cast_to=httpx2.Response, options=options)).request)

    async def aclose(self) -> None:
        await self._client.close()


class _Echo(httpx2.AsyncBaseTransport):
    """Sends nothing; the response holds the request as it would have been sent."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, request=request)


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
        stream=options.get("stream", False),
        send_seed=options.get("send_seed", False),
        prices=Prices(paid, made, cached) if paid is not None and made is not None else None,
    )
