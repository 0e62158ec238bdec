"""The view of a client of the Model Context Protocol: tools, the task as a prompt, the policy as a
resource.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from synth.core.foundation.shipped import version
from synth.core.renaming.opening import rules_of
from synth.core.types.reply import REPLY, REPLY_DESCRIPTION, REPLY_PARAMETERS
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


class WorldServer:
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
