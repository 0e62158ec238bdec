"""The common parts of servers with a token: the guard of their requests, and JSON in and out."""

from __future__ import annotations

import json
import logging
from base64 import b64decode
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from aiohttp import web
from aiohttp.typedefs import Middleware

from synth.core.foundation.json_leaves import strict_json
from synth.core.foundation.server_token import is_token
from synth.errors import OperatorError, SynthError
from synth.ext.serving.live.session import SessionError

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost"})

HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_STATUS: Final = {
    "not_found": 404,
    "nothing_waits": 409,
    "busy": 409,
    "over": 410,
    "too_many_sessions": 429,
}
_KINDS: Final = {413: "request_entity_too_large"}
"""Types of errors whose reason phrase differs between versions of Python."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def guard(
    token: str, log: logging.Logger, *, hosts: Collection[str] | None = LOOPBACK, page: str = ""
) -> Middleware:
    """A middleware that admits requests with the token and makes one JSON message of an error.

    A page of another site can reach loopback by name, so only requests to one of ``hosts`` are
    answered; None: to any. The token may be the password of a basic authorization, for clients
    that can send what an address holds and no more (``http://synth:TOKEN@host``). The page at the
    path ``page`` may have it in its query, and a route with a part ``{token}`` has it in its path.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if hosts is not None and request.host.rpartition(":")[0] not in hosts:
            return _error_response(403, "forbidden", "open the address that the server printed")
        given = _authorization(request)
        if given is None:
            given = request.match_info.get("token", "")
            if page and request.path == page:
                given = request.query.get("token", "")
        if not is_token(given, token):
            return _error_response(
                401, "unauthorized", "send the token: Authorization: Bearer TOKEN"
            )
        try:
            return await handler(request)
        except SessionError as error:
            return _error_response(_STATUS.get(error.kind, 400), error.kind, error.message)
        except OperatorError as error:
            return _error_response(400, "bad_request", str(error))
        except SynthError as error:
            return _error_response(500, type(error).__name__, str(error))
        except web.HTTPException as error:
            kind = _KINDS.get(error.status, error.reason.lower().replace(" ", "_"))
            return _error_response(error.status, kind, error.reason)
        except ConnectionError:
            raise
        except Exception:
            # The boundary to the wire: the client gets no plumbing, the operator all of it.
            log.exception("%s failed", request.path)
            return _error_response(500, "server_error", "the server failed; its log says why")

    return guarded


def _authorization(request: web.Request) -> str | None:
    """The token in the header of that name; None if it holds none."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Basic":
        return given if scheme == "Bearer" else None
    try:
        return b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return None


@asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, backlog: int = 128, **options: Any
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL. Port 0 takes a free one. ``options`` are
    the runner's.
    """
    given: dict[str, Any] = {"access_log": None, "shutdown_timeout": 1.0, **options}
    runner = web.AppRunner(app, **given)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=backlog).start()
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def json_response(status: int, value: object) -> web.Response:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return web.Response(status=status, text=text, content_type="application/json", headers=HEADERS)


def _error_response(status: int, kind: str, message: str) -> web.Response:
    return json_response(status, {"error": {"type": kind, "message": message}})


async def json_body(request: web.Request) -> dict[str, Any]:
    """The JSON object that a request carries, empty like its body. Raises :class:`SessionError`
    for anything else.
    """
    # Another site's page can post a form without asking first, but no JSON.
    if request.content_type != "application/json":
        raise SessionError("bad_request", "the body is JSON: Content-Type: application/json")
    return json_object(await request.read() or b"{}", "the body")


def json_object(text: str | bytes, what: str) -> dict[str, Any]:
    """The JSON object in a text. Raises :class:`SessionError` for anything else."""
    try:
        parsed: object = strict_json(text)
    except (ValueError, RecursionError):
        raise SessionError("bad_json", f"{what} is not JSON") from None
    if not isinstance(parsed, dict):
        raise SessionError("bad_json", f"{what} is a JSON object")
    return cast("dict[str, Any]", parsed)
