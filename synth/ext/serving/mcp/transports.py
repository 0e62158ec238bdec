"""The two transports: standard input and output, and streamable HTTP on loopback with a token.

The newest streamable HTTP has no sessions, so a session is a name in the path: ``/mcp/NAME``, or
``/mcp`` alone for one client at a time. Clients of older versions have a session of their own by
its header, under any name.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Self, cast

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from synth.core.foundation.server_token import is_token
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.ext.serving.live.session_registry import SessionRegistry
from synth.ext.serving.mcp.protocol import Context, WorldServer

HOST = "127.0.0.1"
MAX_BODY = 4 * 1024 * 1024
ALONE = "main"
"""Name of the session of a client that names none."""

_PATH = re.compile(r"/mcp(?:/([\w.-]{1,64}))?/?")
_SESSION = "mcp-session-id"


async def serve_stdio(book: SessionRegistry, world: str) -> None:
    """Serve one client, until it closes its end.

    Raises :class:`~synth.errors.OperatorError` if standard input is a file.
    """
    server = WorldServer(book, world, lambda _: ALONE).server
    stdin = cast("anyio.AsyncFile[str]", _Lines(await _wire()))
    kept = os.fdopen(os.dup(stdout().fileno()), "w", encoding="utf-8")  # closed with the session
    out = anyio.wrap_file(kept)
    async with stdio_server(stdin, out) as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _wire() -> asyncio.StreamReader:
    """Standard input as a stream that can be left at any time; nobody else reads it any more."""
    own = os.fdopen(os.dup(0), "rb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    reader = asyncio.StreamReader(limit=MAX_BODY)
    protocol = asyncio.StreamReaderProtocol(reader)
    try:
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, own)
    except ValueError:
        own.close()
        raise OperatorError(
            "synth mcp talks to a client by standard input and output, and standard input is a"
            " file; a client starts this command, or --http serves many"
        ) from None
    return reader


class _Lines:
    """The lines of a stream; one that is too long is an empty line, which is not JSON."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                too_long = True
                continue
            except asyncio.IncompleteReadError as end:
                if not end.partial:
                    raise StopAsyncIteration from None
                line = end.partial
            return "" if too_long else line.decode("utf-8", "replace")


@asynccontextmanager
async def serve_http(
    book: SessionRegistry, world: str, token: str, *, port: int = 0, at_once: int = 16
) -> AsyncGenerator[str]:
    """Serve on loopback until the block ends; yields the URL. Port 0 takes a free one.

    Raises OSError if the port is taken.
    """
    app = _McpApp(book, world, token, at_once)
    listener = socket.create_server((HOST, port))
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = _Uvicorn(config)
    async with app.manager.run():
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await serving
            listener.close()


class _Uvicorn(uvicorn.Server):
    """A server that leaves the process's signals to whoever runs it."""

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()


class _McpApp:
    """The application: path and token first, then the SDK's own."""

    def __init__(self, book: SessionRegistry, world: str, token: str, at_once: int) -> None:
        self._book = book
        self._authorization = f"Bearer {token}".encode()
        self.manager = StreamableHTTPSessionManager(
            WorldServer(book, world, _name_of).server,
            security_settings=TransportSecuritySettings(
                allowed_hosts=[f"{HOST}:*", "localhost:*"],
                allowed_origins=[f"http://{HOST}:*", "http://localhost:*"],
            ),
            max_request_body_size=MAX_BODY,
            max_sessions=2 * at_once,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        if not is_token(headers.get(b"authorization", b""), self._authorization):
            await _refuse(send, 401, "unauthorized", "send the token: Authorization: Bearer TOKEN")
            return
        if _PATH.fullmatch(scope["path"]) is None:
            await _refuse(send, 404, "not_found", "the address is /mcp or /mcp/NAME")
            return
        await self.manager.handle_request(scope, receive, send)
        session = headers.get(_SESSION.encode(), b"").decode("latin-1")
        if scope["method"] == "DELETE" and session:
            await self._book.end(session)


def _name_of(ctx: Context) -> str:
    request: Any = ctx.request
    found = _PATH.fullmatch(request.url.path)
    name = found[1] if found is not None and found[1] else ALONE
    return str(request.headers.get(_SESSION) or name)


async def _refuse(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps({"error": {"type": kind, "message": message}}).encode()
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
