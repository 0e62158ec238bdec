"""A server on loopback that plays rollouts for a person to watch, approve and talk to.

``POST /api/sessions`` starts one, ``GET /api/sessions/NAME/events`` streams its events as
server-sent events (each has its number as id: ``Last-Event-ID`` continues), ``POST .../approvals``
and ``POST .../turns`` answer what it waits for, ``DELETE`` ends it. Every request carries the
token, as ``Authorization: Bearer TOKEN`` or (the page) as ``?token=TOKEN``.

With ``questions``, ``POST /api/questions`` answers a question of one's own by such a stream, and
``POST /v1/chat/completions`` by an answer in OpenAI's form.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from importlib.resources import files
from itertools import count
from typing import Any

from aiohttp import web

from envs.errors import EnvsError
from synth.core.renaming.opening import rules_of
from synth.errors import SynthError
from synth.ext.serving.guarded import HEADERS, guard, json_body, json_response, listening
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.openai_server import endpoint
from synth.ext.serving.questions.asking import QuestionAnswer, Questions
from synth.ext.view.page import asset, csp_digest
from synth.user import UserTurn

HOST = "127.0.0.1"
MAX_BODY = 256 * 1024
LONGEST_TURN = 20_000
"""Characters of a person's turn, or of a reason."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve_agent(
    sessions: SupervisedSessions, token: str, port: int = 0, questions: Questions | None = None
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL. Port 0 takes a free one."""
    app = _AgentServer(sessions, token, questions).application()
    # Who leaves a stream follows no more, at once.
    async with listening(app, HOST, port, handler_cancellation=True) as url:
        try:
            yield url
        finally:
            await sessions.aclose()  # streams end with their sessions


class _AgentServer:
    """The endpoints as an aiohttp application."""

    def __init__(
        self, sessions: SupervisedSessions, token: str, questions: Questions | None
    ) -> None:
        self._sessions = sessions
        self._token = token
        self._questions = questions

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
        if self._questions is not None:
            app.router.add_post("/api/questions", self._ask)
            app.add_subapp("/v1/", endpoint(self._questions.complete, self._questions.model))
        return app

    async def _page(self, request: web.Request) -> web.Response:
        return web.Response(
            body=page(),
            content_type="text/html",
            charset="utf-8",
            headers={**HEADERS, "Content-Security-Policy": _POLICY},
        )

    async def _world(self, request: web.Request) -> web.Response:
        databases = [] if self._questions is None else self._questions.about
        return json_response(200, {**self._sessions.describe(), "databases": databases})

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
        response = await _stream(request)
        async with aclosing(session.follow(int(last))) as events:
            async for event in events:
                if event is None:
                    await response.write(b": waiting\n\n")
                    continue
                await response.write(self._block(event.number, event.kind, event.data))
        await response.write_eof()
        return response

    def _block(self, number: int, kind: str, data: object) -> bytes:
        text = self._sessions.hide(json.dumps(data, ensure_ascii=True))
        return f"id: {number}\nevent: {kind}\ndata: {text}\n\n".encode()

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        assert self._questions is not None, "the route is there with them"
        body = await json_body(request)
        if unknown := sorted(body.keys() - {"question", "conversation", "database"}):
            raise SessionError("bad_request", f"unknown key {unknown[0]!r}")
        question, conversation = _text(body, "question"), _text(body, "conversation") or None
        if not question:
            raise SessionError("bad_request", "question is what is asked, in words")
        with self._questions.asked(question, conversation, _text(body, "database") or None) as turn:
            response = await _stream(request)
            numbers = count(1)
            try:
                async with aclosing(self._questions.run(turn)) as events:
                    async for event in events:
                        kind = "answer" if isinstance(event, QuestionAnswer) else event.event
                        await response.write(self._block(next(numbers), kind, event.to_json()))
            except (SynthError, EnvsError) as error:  # the stream ends with an agent_error
                _log.warning("a question was not answered: %s", error)
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
        session.person.give(UserTurn(text=text, **marks))
        return json_response(200, {"text": text, **marks})

    async def _close(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        await self._sessions.close(name)
        return json_response(200, {"closed": name})


async def _stream(request: web.Request) -> web.StreamResponse:
    """A response of server-sent events, begun."""
    response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_TURN:
        raise SessionError("bad_request", f"{key} is a text of at most {LONGEST_TURN} characters")
    return value.strip()


def _asset(name: str) -> str:
    return (files("synth.ext.serving") / "assets" / name).read_text("utf-8")


_SCRIPT = f'"use strict";\n{asset("json.js")}{_asset("agent.js")}'
_STYLE = _asset("agent.css")

_POLICY = (
    f"default-src 'none'; script-src {csp_digest(_SCRIPT)}; style-src {csp_digest(_STYLE)};"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy, sent as a header."""


def page() -> bytes:
    """The page as HTML."""
    return _asset("agent.html").replace("{{style}}", _STYLE).replace("{{script}}", _SCRIPT).encode()
