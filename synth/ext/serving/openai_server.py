"""An OpenAI-compatible endpoint over real HTTP, for any handler of conversations.

``POST /v1/chat/completions`` (whole or streamed), ``GET /v1/models``, ``GET /health`` (without a
key). The handler gets a request that :func:`synth.ext.serving.chat_request.check_request` has
accepted, in wire form, and returns a completion.
"""

from __future__ import annotations

import logging
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from envs.types import ToolCall
from synth.core.foundation.json_leaves import strict_json
from synth.core.foundation.server_token import is_token
from synth.core.models.openai.wire import encode
from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest
from synth.ext.serving.chat_request import BadRequestError, check_request
from synth.ext.serving.guarded import listening
from synth.model import Completion

_CHARACTERS_PER_TOKEN = 4  # a rule of thumb, for completions that bring no usage of their own
_PIECE = 16


def whole(
    completion: Completion, completion_id: str, model: str, created: int, request_length: int
) -> object:
    """Return the answer in one piece; ``request_length`` (bytes) stands in for the tokens of the
    prompt.
    """
    message: dict[str, Any] = {
        "role": "assistant",
        "content": completion.content if completion.content or not completion.tool_calls else None,
        "refusal": completion.refusal,
    }
    if completion.reasoning_content is not None:
        message["reasoning_content"] = completion.reasoning_content
    if completion.tool_calls:
        message["tool_calls"] = [_call(call) for call in completion.tool_calls]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(completion.logprobs),
        "finish_reason": completion.finish_reason,
    }
    if completion.token_ids is not None:
        choice["token_ids"] = list(completion.token_ids)
    return {
        "id": completion_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice],
        "usage": _usage(completion, request_length),
    }


def chunks(
    completion: Completion,
    completion_id: str,
    model: str,
    created: int,
    request_length: int,
    *,
    wants_usage: bool,
) -> Iterator[object]:
    """Yield the answer as OpenAI streams it: role, text and arguments in pieces, the finish reason,
    the usage if requested.
    """

    def chunk(delta: object, finish: str | None = None) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": completion_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        }
        return out | ({"usage": None} if wants_usage else {})

    yield chunk(
        {"role": "assistant", "content": None if completion.tool_calls else "", "refusal": None}
    )
    for key in ("reasoning_content", "content", "refusal"):
        for piece in _pieces(getattr(completion, key) or ""):
            yield chunk({key: piece})
    for index, call in enumerate(completion.tool_calls):
        opening = _call(call)
        opening["function"]["arguments"] = ""
        yield chunk({"tool_calls": [{"index": index, **opening}]})
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    last = chunk({}, completion.finish_reason)
    last["choices"][0]["logprobs"] = _logprobs(completion.logprobs)
    if completion.token_ids is not None:
        last["choices"][0]["token_ids"] = list(completion.token_ids)
    yield last
    if wants_usage:
        yield {**chunk({}), "choices": [], "usage": _usage(completion, request_length)}


def _logprobs(values: Sequence[float] | None) -> object:
    """Return one entry per token; the tokens' texts are not known."""
    if values is None:
        return None
    content = [
        {"token": "", "logprob": token, "bytes": None, "top_logprobs": list[object]()}
        for token in values
    ]
    return {"content": content, "refusal": None}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _usage(completion: Completion, request_length: int) -> dict[str, Any]:
    usage = completion.usage
    emitted = len(completion.content) + len(completion.reasoning_content or "")
    emitted += sum(len(call.name) + len(call.arguments) for call in completion.tool_calls)
    prompt = usage.input_tokens if usage.input_tokens is not None else _tokens(request_length)
    answer = usage.output_tokens if usage.output_tokens is not None else _tokens(emitted)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)


Handler = Callable[[dict[str, Any]], Awaitable[Completion]]

_log = logging.getLogger(__name__)
_MAX_BODY = 256 * 1024 * 1024
_ACCESS = '%a "%r" %s %b bytes %Tf s'
_HEALTH = "/health"


@asynccontextmanager
async def serve(
    handler: Handler,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    models: Iterable[str] = ("synth",),
    api_key: str | None = None,
    extensions: frozenset[str] = frozenset(),
    middlewares: Sequence[Middleware] = (),
    access_log: logging.Logger | None = None,
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL (``http://host:port/v1``). Port 0 selects a
    free one.

    ``models`` are the accepted names (empty: every name), ``api_key`` is required as a bearer token
    if set, ``extensions`` are top-level keys to accept beyond OpenAI's. ``middlewares`` of aiohttp
    see each request first. ``access_log`` gets a line for each request: the path, the status, bytes
    and seconds; no header and no body.
    """
    server = _ModelServer(handler, tuple(models), api_key, extensions)
    app = server.application(middlewares=middlewares)
    log = {"access_log": access_log, "access_log_format": _ACCESS}
    async with listening(app, host, port, 4096, handler_cancellation=True, **log) as url:
        yield f"{url}/v1"


def endpoint(handler: Handler, model: str) -> web.Application:
    """The endpoint for one model as a part of another server, which checks its own key: to be added
    below ``/v1/``.
    """
    return _ModelServer(handler, (model,)).application("")


class _ModelServer:
    """The endpoint as an aiohttp application; :func:`serve` is the usual way to run it."""

    def __init__(
        self,
        handler: Handler,
        models: tuple[str, ...],
        api_key: str | None = None,
        extensions: frozenset[str] = frozenset(),
    ) -> None:
        self._handler = handler
        self._models = models
        self._authorization = f"Bearer {api_key}".encode() if api_key is not None else None
        self._extensions = extensions
        self._answered = 0

    def application(
        self, prefix: str = "/v1", middlewares: Sequence[Middleware] = ()
    ) -> web.Application:
        app = web.Application(client_max_size=_MAX_BODY, middlewares=[*middlewares, self._guard])
        app.router.add_post(f"{prefix}/chat/completions", self._complete)
        app.router.add_get(f"{prefix}/models", self._list)
        app.router.add_get(_HEALTH, self._health)
        return app

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Check the key; every failure leaves as OpenAI's error JSON."""
        try:
            if self._authorization is not None and request.path != _HEALTH:
                given = request.headers.get("Authorization", "").encode()
                if not is_token(given, self._authorization):
                    return _error(
                        401,
                        "Incorrect API key provided.",
                        "invalid_request_error",
                        code="invalid_api_key",
                    )
            return await handler(request)
        except BadRequestError as error:
            return _error(400, error.message, "invalid_request_error", error.param, error.code)
        except ModelError as error:
            return _model_error(error)
        except web.HTTPException as error:
            message = f"{error.reason} ({request.method} {request.path})"
            return _error(error.status, message, "invalid_request_error", code="unknown_url")
        except ConnectionError:
            raise  # the client went away in the middle of a stream: nobody is there to be answered
        except Exception:
            # The boundary between a stranger's handler and the wire: the client gets no plumbing,
            # the operator all of it.
            _log.exception("the handler of %s failed", request.path)
            return _error(
                500, "The server had an error while processing your request.", "server_error"
            )

    async def _list(self, request: web.Request) -> web.Response:
        entries = [
            {"id": name, "object": "model", "created": 0, "owned_by": "synth"}
            for name in self._models
        ]
        return _json(200, {"object": "list", "data": entries})

    async def _health(self, request: web.Request) -> web.Response:
        return _json(200, {"status": "ok"})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        try:
            parsed = strict_json(body)
        except (ValueError, RecursionError) as error:
            raise BadRequestError("We could not parse the JSON body of your request.") from error
        asked = check_request(parsed, self._extensions)
        model = asked["model"]
        if self._models and model not in self._models:
            message = f"The model '{model}' does not exist or you do not have access to it."
            return _error(404, message, "invalid_request_error", "model", "model_not_found")
        completion = await self._handler(asked)
        self._answered += 1
        completion_id = f"chatcmpl-{self._answered:08d}"
        created = int(time.time())
        if not asked.get("stream"):
            return _json(200, whole(completion, completion_id, model, created, len(body)))
        options: dict[str, object] = asked.get("stream_options") or {}
        wants_usage = bool(options.get("include_usage"))
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        await response.prepare(request)
        for chunk in chunks(
            completion, completion_id, model, created, len(body), wants_usage=wants_usage
        ):
            await response.write(b"data: " + encode(chunk) + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


def _json(status: int, value: object, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, body=encode(value), content_type="application/json", headers=headers
    )


def _error(
    status: int,
    message: str,
    kind: str,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    return _json(
        status, {"error": {"message": message, "type": kind, "param": param, "code": code}}, headers
    )


def _model_error(error: ModelError) -> web.Response:
    """Return a handler's typed failure as the status that a client reads back into the same
    error.
    """
    match error:
        case ContextOverflow():
            return _error(
                400, error.message, "invalid_request_error", "messages", "context_length_exceeded"
            )
        case ModelAuthError():
            return _error(
                error.status or 401, error.message, "invalid_request_error", code="invalid_api_key"
            )
        case ModelRefusedRequest():
            return _error(error.status or 400, error.message, "invalid_request_error")
        case _:
            wait = (
                {"Retry-After": f"{error.retry_after_s:g}"}
                if error.retry_after_s is not None
                else {}
            )
            status = error.status if error.status is not None and error.status >= 400 else 503
            return _error(status, error.message, "server_error", headers=wait)
