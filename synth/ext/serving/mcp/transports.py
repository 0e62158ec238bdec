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
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self, cast

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

from synth.core.foundation.server_token import is_token
from synth.core.foundation.shipped import version
from synth.core.foundation.standard_output import stdout
from synth.core.renaming.opening import rules_of
from synth.core.types.reply import REPLY, REPLY_DESCRIPTION, REPLY_PARAMETERS
from synth.errors import OperatorError
from synth.ext.serving.live.session import RemoteSession, SessionAnswer, SessionError
from synth.ext.serving.live.session_registry import SessionRegistry

Context = ServerRequestContext[Any, Any]
NameOf = Callable[[Context], str]
"""The name of the session that a request belongs to."""

PROMPT = "task"
POLICY = "synth://policy"
OVER = "synth/session-over"
"""Key of a result's ``_meta``: true if the session has ended, for the program around a model."""

INSTRUCTIONS = (
    f"You work for a user on a database, by tools. The prompt `{PROMPT}` is what the user asks;"
    f" the resource {POLICY} holds the rules that you work under. The user reads only what you say"
    f" with the tool `{REPLY}`: ask there what you need to know, and report there what you did."
    " The session ends when the user has nothing to add."
)
NOTHING_TO_ADD = "The user has nothing to add. The session is over."

_CODES = {"too_large": types.INVALID_PARAMS, "bad_arguments": types.INVALID_PARAMS}


class _WorldServer:
    """The handlers of a server. ``name_of`` tells the session of a request.

    A connection (``initialize`` or ``server/discover``) under a name ends what an earlier client
    left there; getting the prompt starts the next task if the last session is over.
    """

    def __init__(self, book: SessionRegistry, world: str, name_of: NameOf) -> None:
        self._book, self._name_of = book, name_of
        self.server: Server[Any] = Server(
            f"synth {world}",
            version=version(),
            instructions=INSTRUCTIONS,
            get_tool_input_schema=lambda _: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )
        self.server.middleware.append(self._connected)

    async def _connected(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "server/discover":
            await self._book.connect(self._name_of(ctx))
        try:
            return await call_next(ctx)
        except SessionError as error:
            code = _CODES.get(error.kind, types.INVALID_REQUEST)
            raise MCPError(code, error.message, {"kind": error.kind}) from None

    async def _session(self, ctx: Context) -> RemoteSession:
        return await self._book.session(self._name_of(ctx))

    async def _list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        session = await self._session(ctx)
        functions = await session.tools()
        tools = [
            types.Tool(
                name=function["name"],
                description=function.get("description", ""),
                input_schema=function["parameters"],
                annotations=types.ToolAnnotations(
                    read_only_hint=function["name"] not in session.writers
                ),
            )
            for function in functions
        ]
        reply = types.Tool(
            name=REPLY, description=REPLY_DESCRIPTION, input_schema=dict(REPLY_PARAMETERS)
        )
        return types.ListToolsResult(tools=[*tools, reply])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        session = await self._session(ctx)
        arguments = params.arguments or {}
        try:
            if params.name != REPLY:
                return _result(await session.call(params.name, arguments))
            text = arguments.get("text")
            if not isinstance(text, str):
                raise SessionError("bad_arguments", f"{REPLY} takes text, a string")
            answer = await session.say(text)
        except SessionError as error:  # the model reads it, and can mend its call
            over = session.over
            return _result(SessionAnswer(f"{error.kind}: {error.message}", ok=False, over=over))
        return _result(SessionAnswer(NOTHING_TO_ADD, over=True) if answer.over else answer)

    async def _list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        prompt = types.Prompt(name=PROMPT, description="What the user asks of you.")
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT:
            why = f"unknown prompt {params.name!r}; the only one is `{PROMPT}`"
            raise SessionError("unknown_prompt", why)
        session = await self._book.take(self._name_of(ctx))
        text = types.TextContent(type="text", text=session.job.task.prompt)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        if not (await self._session(ctx)).job.task.system:
            return types.ListResourcesResult(resources=[])
        policy = types.Resource(
            name="policy",
            uri=POLICY,
            description="The rules that you work under.",
            mime_type="text/markdown",
        )
        return types.ListResourcesResult(resources=[policy])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        system = rules_of((await self._session(ctx)).job.task)
        if str(params.uri) != POLICY or not system:
            raise SessionError("unknown_resource", f"unknown resource {params.uri}")
        text = types.TextResourceContents(uri=POLICY, mime_type="text/markdown", text=system)
        return types.ReadResourceResult(contents=[text])


def _result(answer: SessionAnswer) -> types.CallToolResult:
    text = types.TextContent(type="text", text=answer.text)
    meta: dict[str, Any] | None = {OVER: True} if answer.over else None
    return types.CallToolResult(content=[text], is_error=not answer.ok, _meta=meta)


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
    server = _WorldServer(book, world, lambda _: ALONE).server
    stdin = cast("anyio.AsyncFile[str]", _Lines(await _wire()))
    kept = os.fdopen(os.dup(stdout().fileno()), "w", encoding="utf-8")  # closed with the session
    async with stdio_server(stdin, anyio.wrap_file(kept)) as (read, write):
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
            _WorldServer(book, world, _name_of).server,
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
