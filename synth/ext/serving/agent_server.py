"""A server on loopback that plays rollouts for a person to watch, approve and talk to.

``POST /api/sessions`` starts one, ``GET /api/sessions/NAME/events`` streams its events as
server-sent events (each has its number as id: ``Last-Event-ID`` continues), ``POST .../approvals``
and ``POST .../turns`` answer what it waits for, ``DELETE`` ends it. Every request carries the
token, as ``Authorization: Bearer TOKEN`` or (the page) as ``?token=TOKEN``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from importlib.resources import files
from typing import Any

from aiohttp import web

from synth.core.renaming.opening import rules_of
from synth.ext.serving.guarded import HEADERS, guard, json_body, json_response
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.view.page import asset
from synth.user import UserTurn

HOST = "127.0.0.1"
MAX_BODY = 256 * 1024
LONGEST_TURN = 20_000
"""Characters of a person's turn, or of a reason."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve_agent(
    sessions: SupervisedSessions, token: str, port: int = 0
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL. Port 0 takes a free one."""
    server = _AgentServer(sessions, token)
    runner = web.AppRunner(
        server.application(),
        access_log=None,
        handler_cancellation=True,  # who leaves a stream follows no more, at once
        shutdown_timeout=1.0,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}"
    finally:
        await sessions.aclose()  # streams end with their sessions
        await runner.cleanup()


class _AgentServer:
    """The endpoints as an aiohttp application."""

    def __init__(self, sessions: SupervisedSessions, token: str) -> None:
        self._sessions = sessions
        self._token = token

    def application(self) -> web.Application:
        app = web.Application(
            client_max_size=MAX_BODY, middlewares=[guard(self._token, _log, page="/")]
        )
        app.router.add_get("/", self._page)
        app.router.add_get("/api/world", self._world)
        app.router.add_post("/api/sessions", self._open)
        app.router.add_get("/api/sessions/{name}/events", self._events)
        app.router.add_post("/api/sessions/{name}/approvals", self._approve)
        app.router.add_post("/api/sessions/{name}/turns", self._turn)
        app.router.add_delete("/api/sessions/{name}", self._close)
        return app

    async def _page(self, request: web.Request) -> web.Response:
        return web.Response(
            body=page(),
            content_type="text/html",
            charset="utf-8",
            headers={**HEADERS, "Content-Security-Policy": _POLICY},
        )

    async def _world(self, request: web.Request) -> web.Response:
        return json_response(200, self._sessions.describe())

    async def _open(self, request: web.Request) -> web.Response:
        session = await self._sessions.open(await json_body(request))
        task = session.job.task
        opened = {"session": session.name, "job": session.job.index, "family": task.family}
        return json_response(201, {**opened, "prompt": task.prompt, "system": rules_of(task)})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        session = self._sessions[request.match_info["name"]]
        last = request.headers.get("Last-Event-ID", "0")
        if not last.isascii() or not last.isdecimal() or len(last) > 15:
            raise SessionError("bad_request", "Last-Event-ID is a number")
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        async with aclosing(session.follow(int(last))) as events:
            async for event in events:
                if event is None:
                    await response.write(b": waiting\n\n")
                    continue
                text = self._sessions.hide(json.dumps(event.data, ensure_ascii=True))
                block = f"id: {event.number}\nevent: {event.kind}\ndata: {text}\n\n"
                await response.write(block.encode())
        await response.write_eof()
        return response

    async def _approve(self, request: web.Request) -> web.Response:
        session = self._sessions[request.match_info["name"]]
        body = await json_body(request)
        call, approve = body.get("call"), body.get("approve")
        if not isinstance(call, str) or not isinstance(approve, bool):
            raise SessionError("bad_request", "call is the id of a call, and approve true or false")
        reason = _text(body, "reason") or "it was refused"
        session.approver.answer(call, None if approve else reason)
        return json_response(200, {"call": call, "approve": approve})

    async def _turn(self, request: web.Request) -> web.Response:
        session = self._sessions[request.match_info["name"]]
        body = await json_body(request)
        marks = {key: body.get(key, False) for key in ("ends", "consents", "declines")}
        if wrong := [key for key, value in marks.items() if not isinstance(value, bool)]:
            raise SessionError("bad_request", f"{wrong[0]} is true or false")
        text = _text(body, "text")
        if not text and not marks["ends"]:
            raise SessionError("bad_request", "text is what the user says; or ends is true")
        session.person.answer(UserTurn(text=text, **marks))
        return json_response(200, {"text": text, **marks})

    async def _close(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        await self._sessions.close(name)
        return json_response(200, {"closed": name})


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_TURN:
        raise SessionError("bad_request", f"{key} is a text of at most {LONGEST_TURN} characters")
    return value.strip()


def _asset(name: str) -> str:
    return (files("synth.ext.serving") / "assets" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_SCRIPT = f'"use strict";\n{asset("json.js")}{_asset("agent.js")}'
_STYLE = _asset("agent.css")

_POLICY = (
    f"default-src 'none'; script-src {_digest(_SCRIPT)}; style-src {_digest(_STYLE)};"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy, sent as a header."""


def page() -> bytes:
    """The page as HTML."""
    text = _asset("agent.html").replace("{{style}}", _STYLE).replace("{{script}}", _SCRIPT)
    return text.encode()
