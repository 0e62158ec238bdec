"""The HTTP server of an environment.

``POST /sessions`` (``{"task": N}``) leases a sandbox and returns the messages and tools of a task,
``POST /sessions/NAME/step`` takes what the agent does and returns what follows it,
``DELETE /sessions/NAME`` ends the session and returns its score; ``GET /`` describes the world.
Every request carries the token, as ``Authorization: Bearer TOKEN``. Clients of OpenEnv get
:mod:`synth.ext.serving.environment.openenv`, agents of NeMo Gym
:mod:`synth.ext.serving.environment.nemo_gym`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

from synth.ext.serving.environment.nemo_gym import add_nemo_gym, keep_cookie
from synth.ext.serving.environment.openenv import add_openenv
from synth.ext.serving.environment.sessions import EnvSessions, message_of
from synth.ext.serving.guarded import LOOPBACK, guard, json_body, json_response
from synth.ext.serving.live.session import SessionError

MAX_BODY = 1024 * 1024
_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve_env(
    sessions: EnvSessions, token: str, host: str = "127.0.0.1", port: int = 0
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL. Port 0 takes a free one."""
    hosts = LOOPBACK if host in LOOPBACK else None
    middlewares = [keep_cookie, guard(token, _log, hosts=hosts)]
    app = web.Application(client_max_size=MAX_BODY, middlewares=middlewares)
    server = EnvServer(sessions)
    app.router.add_get("/", server.describe)
    app.router.add_post("/sessions", server.reset)
    app.router.add_post("/sessions/{name}/step", server.step)
    app.router.add_delete("/sessions/{name}", server.close)
    add_openenv(app, sessions)
    add_nemo_gym(app, sessions)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=1024).start()
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await sessions.aclose()


class EnvServer:
    """The endpoints."""

    def __init__(self, sessions: EnvSessions) -> None:
        self._sessions = sessions
        self._steps = 0

    async def describe(self, request: web.Request) -> web.Response:
        return json_response(200, self._sessions.describe())

    async def reset(self, request: web.Request) -> web.Response:
        body = await json_body(request)
        index = body.get("task")
        if set(body) - {"task"} or not (index is None or type(index) is int):
            raise SessionError("bad_request", 'the body is {} or {"task": N}, N a number')
        return json_response(201, await self._sessions.reset(index))

    async def step(self, request: web.Request) -> web.Response:
        self._steps += 1
        message = message_of(await json_body(request), self._steps)
        return json_response(200, await self._sessions.step(request.match_info["name"], message))

    async def close(self, request: web.Request) -> web.Response:
        return json_response(200, await self._sessions.close(request.match_info["name"]))
