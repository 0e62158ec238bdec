"""The model behind an OpenAI-compatible endpoint.

Each message is encoded once; the body of a request joins the encoded messages. Retries, the
deadline, the cap on answers and the classification of failures are decided here and not by the
``openai`` package. No key gets into an error: errors are raised outside of ``except`` blocks, so
that no chained exception carries a request's headers.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar, cast

from synth.core.foundation.credentials import Redactor, public_url
from synth.core.foundation.hashing import digest
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.exchange import ExchangeError, Exchanger, Reply, split_address
from synth.core.models.openai.failures import error_in_body, failure, filtered, read_error
from synth.core.models.openai.reply import NotACompletionError, load_body, read_completion
from synth.core.models.openai.request_template import RequestTemplate
from synth.core.models.openai.stream import StreamedAnswer
from synth.core.models.openai.wire import encode, encode_message, names_echoed, request_head
from synth.core.types.events import ASKED
from synth.errors import ModelError, ModelRefusedRequest, OperatorError
from synth.model import (
    Completion,
    Conversation,
    Model,
    OnDelta,
    RateLimiter,
    Retry,
    Sampling,
    wire_seed,
)
from synth.task import Message, Task


def _listing_warnings(url: str, endpoint: str, name: str, reply: Reply) -> list[str]:
    """Return the warnings that follow from an answer to ``GET /models``; gateways without such a
    list are common.
    """
    if reply.status == 429:
        return [f"{url} answered HTTP 429: the endpoint is limiting requests already"]
    if reply.status >= 400:
        return []  # no such list; the first completion will tell
    try:
        listed = load_body(reply.body).get("data")
    except NotACompletionError as problem:
        return [f"{url} answered with {problem}: is {endpoint} the right base URL?"]
    if not isinstance(listed, list):
        return []
    entries = [
        cast("dict[str, object]", entry)
        for entry in cast("list[object]", listed)
        if isinstance(entry, dict)
    ]
    names = [str(entry["id"]) for entry in entries if "id" in entry]
    if not names or name in names or f"{name}:latest" in names:
        return []
    near = ", ".join(difflib.get_close_matches(name, names, 3, 0.5) or sorted(names)[:3])
    return [f"{url} lists {len(names)} models, but not {name!r} (it has {near})"]


_EDITION = re.compile(r"[-:@](?:latest|\d{4}-\d\d-\d\d|\d{3,8})\Z")


def _same_model(asked: str, answered: object) -> bool:
    """True if two names differ at most in case, in what stands before the last slash, and in a date
    or ``latest`` at the end of one of them; also where no name is given.

    >>> _same_model("openai/gpt-4o", "gpt-4o-2024-08-06"), _same_model("gpt-4o", "gpt-4o-mini")
    (True, False)
    """
    if not isinstance(answered, str):
        return True
    names = [name.rpartition("/")[2].casefold() for name in (asked, answered)]
    one, other = (name.removesuffix("-latest") for name in names)
    return other in (one, _EDITION.sub("", one)) or _EDITION.sub("", other) == one


_Result = TypeVar("_Result")

_RESERVED = frozenset({"messages", "tools", "model", "stream", "n"})
_BYTES_PER_TOKEN = 4  # a rule of thumb, for the rate limiter
_EVENT = b"data:"
_STREAM = b',"stream":true'
PROBE_TOKENS = 16
"""Output tokens of the answer to a probe, at most."""

_ABOUT_THE_CAP = re.compile(
    r"(?<!model\.)(?<!options\.)max_(?:completion_|output_)?tokens|output limit", re.IGNORECASE
)
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+:[ -~]*", re.ASCII)
_STREAM_USAGE = b',"stream_options":{"include_usage":true}'


class OpenAIModel(Model):
    """One model of one endpoint, shared by all the rollouts of a worker.

    ``api_key`` None sends no authorization at all: no variable of the environment fills it in.
    ``limiter`` decides when an attempt may be made (None: at once).

    Another wire form is a subclass with a ``path`` and its own :meth:`request`, :meth:`streamed`
    and :meth:`completed`. Raises OperatorError for an address, a key, a proxy or an ``extra_body``
    that cannot work.
    """

    path = "/chat/completions"

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling | None = None,
        api_key: str | None = None,
        limiter: RateLimiter | None = None,
    ) -> None:
        self.name = endpoint.name
        self.options = endpoint
        self.limiter = limiter
        self._sampling = sampling or Sampling()
        self._prices = endpoint.prices
        if reserved := sorted(_RESERVED & self._sampling.extra_body.keys()):
            raise OperatorError(
                f"model.extra_body must not set {', '.join(reserved)}: the pipeline sets it"
            )
        headers = dict(endpoint.headers)
        api_key = _checked_key(api_key, headers)
        address, query = split_address(endpoint.base_url)
        self._template = RequestTemplate(endpoint.name, address, query, api_key, headers)
        base_url = str(self._template.base_url)
        self.endpoint = public_url(base_url)
        self._url = f"{self.endpoint}{self.path}"
        self.origin = digest(self.endpoint, self.name, length=12)
        self.takes_back = self.origin
        self._http = Exchanger(
            base_url,
            timeout_s=endpoint.timeout_s,
            max_response_bytes=endpoint.max_response_bytes,
            max_connections=endpoint.max_connections,
        )
        self._redact = Redactor(
            [
                api_key or "",
                *self._template.secrets,
                *headers.values(),
                *query.values(),
                *self._http.proxy_secrets,
            ]
        )
        self._max_tokens_key = endpoint.max_tokens_key or self._template.max_tokens_key
        usage = b"" if "stream_options" in self._sampling.extra_body else _STREAM_USAGE
        self._stream_ending = b"]" + _STREAM + usage + b"}"
        self._encoded_tools: tuple[list[object], bytes | None] | None = None

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, {self.endpoint!r})"

    async def preflight(self) -> list[str]:
        """Request the list of models: it tests address and key and costs no tokens.

        Raises ModelError if nothing serves there, ModelAuthError if the key is not accepted.
        """
        url = f"{self.endpoint}/models"
        try:
            reply = await self._retrying(
                self._list_models, min(1, self.options.max_retries), nullcontext, []
            )
        except ModelError as error:
            if error.status is not None:
                raise
            problem = error
        else:
            return _listing_warnings(url, self.endpoint, self.name, reply)
        advice = (
            "is the endpoint running, is model.base_url right, does a proxy or firewall stand"
            " between?"
        )
        raise ModelError(f"{problem.message} ({advice})", problem.retryable)

    async def _list_models(self) -> Reply:
        problem = None
        try:
            reply = await self._http.exchange(await self._template.models(), None)
        except ExchangeError as error:
            problem = error
        else:
            status = reply.status
            if 300 <= status < 400 or status in (401, 402, 403) or status in (500, 502, 503, 504):
                url, way = f"{self.endpoint}/models", self._http.way
                raise failure(url, status, reply.headers, reply.body, self._redact, way=way)
            return reply
        raise self._no_answer(f"{self.endpoint}/models", problem)

    async def probe(
        self, task: Task, tools: Sequence[object], messages: Sequence[Message], seed: int
    ) -> Completion | None:
        body = b",".join(encode_message(message) for message in messages)
        capped = self._capped()
        try:
            return await self._ask_first(self._head(capped, tools, seed) + body)
        except ModelRefusedRequest as error:
            problem = error
        if capped is not self._sampling and _ABOUT_THE_CAP.search(problem.message):
            # The limit is ours: some models take another parameter, or need more room to think.
            return await self._ask_first(self._head(self._sampling, tools, seed) + body)
        raise problem

    async def _ask_first(self, opening: bytes) -> Completion:
        """Ask once. An answer that is no completion may be a gateway's slip, and is requested again
        as in a rollout; then it is a refusal.
        """
        for retries in (0, None):
            try:
                return await self.ask(opening, 0, retries=retries)
            except ModelError as error:
                problem = error
                if error.status is None or not 200 <= error.status < 300:
                    raise
        asks = "is model.base_url the address of an OpenAI-compatible endpoint?"
        raise ModelRefusedRequest(f"{problem.message} ({asks})", False, problem.status)

    def _capped(self) -> Sampling:
        """The sampling of a probe: its answer is short, unless the user limits it by a field of
        their own.
        """
        sampling = self._sampling
        own = sampling.max_tokens
        if any("tokens" in name for name in sampling.extra_body) or (own and own <= PROBE_TOKENS):
            return sampling
        return replace(sampling, max_tokens=PROBE_TOKENS)

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        return OpenAIConversation(self, self._head(self._sampling, tools, seed))

    def _head(self, sampling: Sampling, tools: Sequence[object], seed: int) -> bytes:
        """The body of a request up to its messages."""
        chosen = wire_seed(seed) if self.options.send_seed else sampling.seed
        named: dict[str, object] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._max_tokens_key: sampling.max_tokens,
            "seed": chosen,
        }
        parameters = {
            "model": self.name,
            **{key: value for key, value in named.items() if value is not None},
        }
        return request_head(parameters | dict(sampling.extra_body), self._tools_bytes(tools))

    def _tools_bytes(self, tools: Sequence[object]) -> bytes | None:
        """Return the encoded tools. All rollouts of a family pass equal lists, so the last one is
        kept.
        """
        given = list(tools)
        if self._encoded_tools is None or self._encoded_tools[0] != given:
            self._encoded_tools = (given, encode(given) if given else None)
        return self._encoded_tools[1]

    async def ask(
        self,
        opening: bytes,
        first_call: int,
        on_delta: OnDelta | None = None,
        retries: int | None = None,
    ) -> Completion:
        """Send a request. ``opening`` is its body up to the end of the messages.

        ``first_call`` numbers calls that come without an id. ``retries`` counts further attempts
        (None: as the options say).
        """
        streams = self.options.stream or on_delta is not None
        body = self.request(opening, streams=streams)

        limiter = self.limiter

        async def once() -> Completion:
            streamed = self.streamed(on_delta) if streams else None
            try:
                completion = self._read(await self._exchange(body, streamed), streamed, first_call)
            except ModelError as error:
                if limiter is not None:
                    limiter.report(error, error.retry_after_s)
                raise
            if limiter is not None:
                limiter.report(None, None, completion.usage)
            return completion

        tokens = len(body) // _BYTES_PER_TOKEN + (self._sampling.max_tokens or 0)
        failed: list[Retry] = []
        completion = await self._retrying(
            once,
            self.options.max_retries if retries is None else retries,
            nullcontext if limiter is None else lambda: limiter.slot(tokens),
            failed,
        )
        return replace(completion, retries=tuple(failed)) if failed else completion

    def request(self, opening: bytes, *, streams: bool) -> bytes:
        """Return the body of a request; ``opening`` is one of chat completions up to the end of its
        messages.
        """
        return opening + (self._stream_ending if streams else b"]}")

    def streamed(self, on_delta: OnDelta | None) -> StreamedAnswer:
        """Return a reader of an answer in pieces, which makes one body of chat completions."""
        return StreamedAnswer(on_delta)

    def completed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the body of an answer as one of chat completions.

        Raises NotACompletionError.
        """
        return body

    async def aclose(self) -> None:
        await self._http.aclose()
        await self._template.aclose()

    async def _retrying(
        self,
        once: Callable[[], Awaitable[_Result]],
        most: int,
        slot: Callable[[], AbstractAsyncContextManager[None]],
        failed: list[Retry],
    ) -> _Result:
        """Make attempts, each inside of a slot, until one succeeds, none can, or ``most`` more were
        made. ``failed`` takes those that were made again.
        """
        while True:
            async with slot():
                try:
                    return await once()
                except ModelError as error:
                    problem = error
            problem.retries = tuple(failed)
            if not problem.retryable or len(failed) >= most:
                raise problem
            wait = self.options.backoff.wait_s(len(failed), problem.retry_after_s)
            if wait is None:
                raise problem
            await asyncio.sleep(wait)
            failed.append(Retry(problem.reason, wait))

    async def _exchange(self, body: bytes, streamed: StreamedAnswer | None) -> Reply:
        """Make one attempt and return the reply of any status. Raises ModelError if no complete
        answer came.
        """
        try:
            return await self._http.exchange(
                await self._template.completions(self.path),
                body,
                None if streamed is None else streamed.feed,
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

    def _failure(self, status: int, reply: Reply, body: bytes) -> ModelError:
        echoed = self.options.echo_reasoning
        way = self._http.way
        return failure(self._url, status, reply.headers, body, self._redact, echoed, way)

    def _read(self, reply: Reply, streamed: StreamedAnswer | None, first_call: int) -> Completion:
        if not 200 <= reply.status < 300:
            body_error = read_error(reply.body)
            if filtered(reply.status, body_error):
                words = self._redact.excerpt(body_error.message)
                return Completion(
                    refusal=words, finish_reason="content_filter", provider={"error": words}
                )
            raise self._failure(reply.status, reply, reply.body)
        try:
            # Streamed, though nobody asked for that.
            if streamed is None and reply.body.lstrip().startswith(_EVENT):
                streamed = self.streamed(None)
                streamed.feed(reply.body)
            body = load_body(reply.body) if streamed is None else streamed.body()
            status = error_in_body(body)
            if status is not None:
                said_in_body = reply.body if streamed is None else encode(body)
                raise self._failure(status, reply, said_in_body)
            if streamed is None:
                body = self.completed(body)
            completion = read_completion(body, first_call, self.origin)
        except NotACompletionError as error:
            problem = str(error)
        except RecursionError:
            problem = "JSON that is nested too deeply"
        else:
            provider, cost = dict(completion.provider), None
            if not _same_model(self.name, provider.get("model")):
                provider[ASKED] = self.name
            if self._prices is not None:
                cost = self._prices.cost(completion.usage)
            return replace(completion, cost_usd=cost, provider=provider)
        shown = self._redact.excerpt(read_error(reply.body).message)
        raise ModelError(
            f"{self._url} answered HTTP {reply.status} with {self._redact.excerpt(problem)}"
            + (f": {shown}" if shown else ""),
            True,
            reply.status,
        )


def _checked_key(api_key: str | None, headers: Mapping[str, str]) -> str | None:
    """Strip the key; an empty one is none. Raises OperatorError for what no header holds."""
    stripped = (api_key or "").strip() or None
    for name, value in {**headers, "Key": stripped or ""}.items():
        if not _HEADER.fullmatch(f"{name}:{value}"):
            raise OperatorError(
                f"the model's API key or header {name!r} holds what no header can: a line break, a"
                " letter from a formatted page, or the like; copy it again"
            )
    return stripped


class OpenAIConversation(Conversation):
    """One rollout's requests. It keeps each message's bytes, so that a call encodes only new
    messages.
    """

    def __init__(self, model: OpenAIModel, head: bytes) -> None:
        self._model = model
        self._head = head
        self._takes_back = model.takes_back
        self._messages: list[Message] = []
        self._encoded: list[bytes] = []
        self._calls: list[int] = []

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        self._append(messages)
        body = self._head + b",".join(self._encoded)
        try:
            return await self._model.ask(body, sum(self._calls), on_delta)
        except ModelRefusedRequest as error:
            if not (self._takes_back and names_echoed(error.message, messages)):
                raise
        self._takes_back, self._messages = "", []
        completion = await self.complete(messages, on_delta)
        # The endpoint sends fields that it does not take: none goes back from now on.
        self._model.takes_back = ""
        return completion

    def _append(self, messages: Sequence[Message]) -> None:
        """Encode the messages that are new since the last call. Messages are compared by identity:
        they are never changed in place.
        """
        known, options = 0, self._model.options
        for old, new in zip(self._messages, messages, strict=False):
            if old is not new:
                break
            known += 1
        del self._messages[known:], self._encoded[known:], self._calls[known:]
        for index, message in enumerate(messages[known:], known):
            try:
                encoded = encode_message(message, options.echo_reasoning, self._takes_back)
            except (KeyError, TypeError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                self._messages.append(message)
                self._encoded.append(encoded)
                self._calls.append(len(message.get("tool_calls") or ()))
                continue
            raise ModelRefusedRequest(
                f"message {index} of the conversation cannot be sent ({problem})", False
            )
