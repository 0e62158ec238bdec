"""The HTTP server of an environment.

``POST /sessions`` (``{"task": N}``) leases a sandbox and returns the messages and tools of a task,
``POST /sessions/NAME/step`` takes what the agent does and returns what follows it,
``DELETE /sessions/NAME`` ends the session and returns its score; ``GET /`` describes the world.
Every request carries the token, as ``Authorization: Bearer TOKEN``. Clients of OpenEnv get
:mod:`synth.ext.serving.environment.openenv`, agents of NeMo Gym
routes of their own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from statistics import fmean
from typing import Any, Final, cast

from aiohttp import web

from synth.core.types.reply import REPLY
from synth.ext.serving.environment.openenv import add_openenv
from synth.ext.serving.environment.sessions import EnvSessions, message_of
from synth.ext.serving.guarded import LOOPBACK, Handler, guard, json_body, json_response, listening
from synth.ext.serving.live.session import SessionError
from synth.task import Message

COOKIE: Final = "synth_session"

MAX_ROLLOUT: Final = 256 * 1024 * 1024
"""Bytes of a rollout to verify: a trainer's holds ids and log probabilities of all tokens."""

RESERVED: Final = frozenset({"seed_session", "verify", "aggregate_metrics", "sessions", REPLY})
"""Paths that a tool of the world cannot have."""

TASK_INDEX: Final = "_ng_task_index"
"""NeMo Gym's key for the place of a rollout's task in its file."""


def _add_nemo_gym(app: web.Application, sessions: EnvSessions) -> None:
    """Add the routes of the protocol. Any other path of one segment is a call, so they come last.

    The app needs ``_keep_cookie`` as well.

    ``POST /seed_session`` takes a row of ``synth export --to nemo-gym`` and leases a sandbox for
    its task; a cookie names the session. ``POST /TOOL`` takes the arguments of a call as a JSON
    object and returns the tool's result, ``POST /reply_to_user`` says a ``text`` to the user.
    ``POST /verify`` takes the row with the model's ``response``, whose last words go to the user,
    ends the session and returns the same object with a ``reward``. ``POST /aggregate_metrics``
    averages rewards.

    NeMo Gym knows host and port of a server and sends no headers, so the token is a part of the
    host: ``synth:TOKEN@127.0.0.1``.
    """
    server = _ResourcesServer(sessions)
    app.router.add_post("/seed_session", server.seed_session)
    app.router.add_post("/verify", server.verify)
    app.router.add_post("/aggregate_metrics", server.aggregate_metrics)
    app.router.add_post(f"/{REPLY}", server.reply)
    app.router.add_route("*", "/{tool}", server.call)


@web.middleware
async def _keep_cookie(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return the session's cookie with each response, errors included: NeMo Gym's agents send the
    cookies of the last response only.
    """
    response = await handler(request)
    name = request.cookies.get(COOKIE)
    if name is not None and not response.prepared and COOKIE not in response.cookies:
        _set_cookie(response, name)
    return response


class _ResourcesServer:
    """The endpoints."""

    def __init__(self, sessions: EnvSessions) -> None:
        self._sessions = sessions
        self._calls = 0

    async def seed_session(self, request: web.Request) -> web.Response:
        row = await json_body(request)
        task_id, digest = row.get("task_id"), row.get("env_digest")
        if not isinstance(task_id, str):
            raise SessionError(
                "bad_request", "a row has a task_id: `synth export RUN --to nemo-gym` writes it"
            )
        described = self._sessions.describe()
        if digest not in (None, described["env_digest"]):
            raise SessionError(
                "bad_request",
                f"the row is of another version of the world: its env_digest is {digest}, that of"
                f" {described['world']} is {described['env_digest']}",
            )
        begun = await self._sessions.reset(await self._sessions.number_of(task_id))
        name = cast("str", begun["session"])
        tools = cast("Sequence[Mapping[str, Any]]", begun["tools"])
        if taken := RESERVED.intersection(tool["function"]["name"] for tool in tools):
            await self._sessions.close(name)
            raise SessionError(
                "bad_request", f"a tool of the world has the path of the protocol /{min(taken)}"
            )
        response = json_response(200, {key: begun[key] for key in ("task", "task_id", "family")})
        _set_cookie(response, name)
        return response

    async def call(self, request: web.Request) -> web.Response:
        name, arguments = _session(request), await json_body(request)
        self._calls += 1
        called = {"tool": request.match_info["tool"], "arguments": arguments}
        step = await self._sessions.step(name, message_of(called, self._calls))
        [result] = cast("list[Message]", step["messages"])
        return web.Response(text=result["content"], content_type="application/json")

    async def reply(self, request: web.Request) -> web.Response:
        body, name = await json_body(request), _session(request)
        text = body.get("text")
        if set(body) != {"text"} or not isinstance(text, str):
            raise SessionError("bad_request", f'{REPLY} takes {{"text": "..."}}')
        step = await self._sessions.step(name, message_of({"text": text}, 0))
        words = [message["content"] for message in cast("list[Message]", step["messages"])]
        return json_response(200, {"user": "".join(words), "over": step["done"]})

    async def verify(self, request: web.Request) -> web.Response:
        rollout = await json_body(request.clone(client_max_size=MAX_ROLLOUT))
        name, words = _session(request), _last_words(rollout)
        if words:
            try:
                await self._sessions.step(name, message_of({"text": words}, 0))
            except SessionError as error:
                if error.kind != "over":
                    raise
        ended = await self._sessions.close(name)
        if ended["reward"] is None:
            reason = ended["stop_reason"]
            raise SessionError("over", f"this session ended without a reward: {reason}")
        shown = {key: ended[key] for key in ("reward", "outcome", "stop_reason", "verdicts")}
        return await asyncio.to_thread(json_response, 200, rollout | shown)

    async def aggregate_metrics(self, request: web.Request) -> web.Response:
        body = await json_body(request.clone(client_max_size=MAX_ROLLOUT))
        groups: dict[object, list[float]] = {}
        for rollout in _objects(body.get("verify_responses"), "verify_responses"):
            reward, task = rollout.get("reward"), rollout.get(TASK_INDEX, 0)
            if type(reward) not in (int, float) or type(task) is not int:
                raise SessionError(
                    "bad_request", f"verify_responses have a reward and {TASK_INDEX}, numbers"
                )
            groups.setdefault(task, []).append(cast("float", reward))
        every = [reward for rewards in groups.values() for reward in rewards]
        means = {"mean/reward": fmean(every)} if every else {}
        by_task = [
            {TASK_INDEX: task, "mean/reward": fmean(rewards)} for task, rewards in groups.items()
        ]
        return json_response(
            200, {"group_level_metrics": by_task, "agent_metrics": means, "key_metrics": means}
        )


def _set_cookie(response: web.StreamResponse, name: str) -> None:
    response.set_cookie(COOKIE, name, httponly=True, samesite="Strict")


def _session(request: web.Request) -> str:
    name = request.cookies.get(COOKIE)
    if name is None:
        raise SessionError(
            "not_found",
            f"no such path, or no session: POST /seed_session first, and send its cookie {COOKIE}",
        )
    return name


def _last_words(rollout: Mapping[str, Any]) -> str:
    """The words of the model after its last call, which no request has brought yet."""
    response: object = rollout.get("response")
    if not isinstance(response, dict):
        raise SessionError("bad_request", "a rollout to verify has a response, an object")
    found = cast("dict[str, Any]", response)
    words: list[str] = []
    for item in reversed(_objects(found.get("output"), "response.output")):
        if item.get("type") in ("function_call", "function_call_output"):
            break
        if item.get("type") == "message" and item.get("role") == "assistant":
            content: object = item.get("content")
            parts = [{"text": content}] if isinstance(content, str) else content
            texts = [part.get("text") for part in _objects(parts, "content of a message")]
            words.append("".join(text for text in texts if isinstance(text, str)))
    return "\n".join(reversed(words)).strip()


def _objects(value: object, name: str) -> Sequence[Mapping[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, dict) for item in items):
        raise SessionError("bad_request", f"{name} is a list of objects")
    return cast("list[dict[str, Any]]", items)


MAX_BODY = 1024 * 1024
_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve_env(
    sessions: EnvSessions, token: str, host: str = "127.0.0.1", port: int = 0
) -> AsyncGenerator[str]:
    """Serve until the block ends; yields the base URL. Port 0 takes a free one."""
    hosts = LOOPBACK if host in LOOPBACK else None
    middlewares = [_keep_cookie, guard(token, _log, hosts=hosts)]
    app = web.Application(client_max_size=MAX_BODY, middlewares=middlewares)
    server = _EnvServer(sessions)
    app.router.add_get("/", server.describe)
    app.router.add_post("/sessions", server.reset)
    app.router.add_post("/sessions/{name}/step", server.step)
    app.router.add_delete("/sessions/{name}", server.close)
    add_openenv(app, sessions)
    _add_nemo_gym(app, sessions)
    try:
        async with listening(app, host, port, 1024) as url:
            yield url
    finally:
        await sessions.aclose()


class _EnvServer:
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
