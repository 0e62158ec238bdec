"""The protocol of OpenEnv's clients, beside the server's own: a WebSocket is one session.

A client is given ``http://host:port/openenv/TOKEN``, as it sends no headers. On ``.../ws`` it sends
``reset`` (``{"task": N}``, or a ``seed`` that chooses the task), ``step``, ``state`` and ``close``;
``.../schema``, ``.../metadata`` and ``.../health`` describe the environment. An action is ``text``
to the user, a ``tool`` with its ``arguments``, or both; OpenEnv's own actions ``list_tools`` and
``call_tool`` work too, where :data:`REPLY` is the tool that speaks to the user.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from aiohttp import WSMsgType, web

from synth.core.foundation.shipped import version
from synth.core.types.reply import REPLY, REPLY_DESCRIPTION, REPLY_PARAMETERS
from synth.errors import OperatorError, SynthError
from synth.ext.serving.environment.sessions import EnvSessions
from synth.ext.serving.guarded import json_object, json_response
from synth.ext.serving.live.session import SessionError
from synth.task import Message

_log = logging.getLogger(__name__)

ROOT: Final = "/openenv/{token}"

HEARTBEAT_S: Final = 30.0
"""Seconds between two looks whether a client is still there."""

ACTION: Final[dict[str, object]] = {
    "title": "SynthAction",
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "Words to the user; empty beside a call."},
        "tool": {"type": "string", "description": "The tool to call, if any."},
        "arguments": {"type": "object", "description": "The arguments of the tool."},
    },
    "required": ["text"],
}

OBSERVATION: Final[dict[str, object]] = {
    "title": "SynthObservation",
    "type": "object",
    "properties": {
        "messages": {
            "type": "array",
            "description": "What follows the last action: results of tools, words of the user."
            " After a reset: the system prompt and the request.",
        },
        "tools": {"type": "array", "description": "After a reset: the tools of the task."},
        "outcome": {"type": "string", "description": "At the end: success, failure or unscored."},
        "stop_reason": {"type": "string", "description": "At the end: why the session is over."},
        "verdicts": {"type": "array", "description": "At the end: what the verifiers say."},
    },
}

STATE: Final[dict[str, object]] = {
    "title": "SynthState",
    "type": "object",
    "properties": {
        "episode_id": {"type": ["string", "null"]},
        "step_count": {"type": "integer"},
        "task": {"type": "integer"},
        "task_id": {"type": "string"},
        "family": {"type": "string"},
    },
}

_CODES: Final = {
    "too_many_sessions": "CAPACITY_REACHED",
    "bad_request": "VALIDATION_ERROR",
    "bad_json": "INVALID_JSON",
}

_ACTION: Final = frozenset({"type", "text", "tool", "arguments", "metadata"})
_CALL: Final = frozenset({"type", "tool_name", "arguments", "metadata"})


def add_openenv(app: web.Application, sessions: EnvSessions) -> None:
    """Add the routes of the protocol. The app's guard checks the token in their paths."""
    described = sessions.describe()

    async def schema(_: web.Request) -> web.Response:
        return json_response(200, {"action": ACTION, "observation": OBSERVATION, "state": STATE})

    async def metadata(_: web.Request) -> web.Response:
        about = f"Tasks on the database world {described['world']}, judged on its rows."
        named = {"name": described["world"], "description": about, "version": version()}
        return json_response(200, named)

    async def health(_: web.Request) -> web.Response:
        return json_response(200, {"status": "healthy"})

    async def talk(request: web.Request) -> web.WebSocketResponse:
        return await _Talk(sessions).over(request)

    handlers = {"ws": talk, "schema": schema, "metadata": metadata, "health": health}
    for path, handler in handlers.items():
        app.router.add_get(f"{ROOT}/{path}", handler)


class _Talk:
    """The conversation with one client: at most one session at a time."""

    def __init__(self, sessions: EnvSessions) -> None:
        self._sessions = sessions
        self._begun: Mapping[str, Any] = {}
        self._tools: Sequence[Mapping[str, Any]] = ()
        self._steps = 0

    async def over(self, request: web.Request) -> web.WebSocketResponse:
        """Answer the client's messages until it goes."""
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=1024 * 1024)
        await socket.prepare(request)
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                answer = await self._answer(message.data)
                if answer is None:
                    break
                await socket.send_str(json.dumps(answer, ensure_ascii=True, default=str))
        finally:
            await self._leave()
            await socket.close()
        return socket

    async def _answer(self, text: str) -> dict[str, object] | None:
        """The answer to one message; None to ``close``."""
        try:
            message = json_object(text, "the message")
            given: object = message.get("data") or {}
            if not isinstance(given, dict):
                raise SessionError("bad_request", "data is an object")
            data = cast("dict[str, Any]", given)
            match message.get("type"):
                case "reset":
                    return _observation(await self._reset(data))
                case "step":
                    return _observation(await self._step(data))
                case "state":
                    return {"type": "state", "data": self._state()}
                case "close":
                    return None
                case other:
                    return _error("UNKNOWN_TYPE", f"unknown message type: {other!r}")
        except SessionError as error:
            return _error(_CODES.get(error.kind, "SESSION_ERROR"), error.message)
        except OperatorError as error:
            return _error("VALIDATION_ERROR", str(error))
        except SynthError as error:
            return _error("EXECUTION_ERROR", str(error))
        except Exception:
            # The boundary to the wire: the client gets no plumbing, the operator all of it.
            _log.exception("a message of an OpenEnv client failed")
            return _error("EXECUTION_ERROR", "the server failed; its log says why")

    async def _reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        await self._leave()
        count = cast("int", self._sessions.describe()["tasks"])
        task, seed = data.get("task"), data.get("seed")
        for name, value in (("task", task), ("seed", seed)):
            if not (value is None or type(value) is int):
                raise SessionError("bad_request", f"{name} is a number")
        if task is None and seed is not None:
            task = seed % count
        self._begun = begun = cast("dict[str, Any]", await self._sessions.reset(task))
        self._tools = [
            *(_tool(tool["function"]) for tool in begun["tools"]),
            {"name": REPLY, "description": REPLY_DESCRIPTION, "input_schema": REPLY_PARAMETERS},
        ]
        self._steps = 0
        shown = {name: begun[name] for name in ("task", "task_id", "family", "messages")}
        return shown | {"tools": self._tools}

    async def _step(self, data: Mapping[str, Any]) -> dict[str, object]:
        if not self._begun:
            raise SessionError("not_found", "reset comes first")
        if data.get("type") == "list_tools":
            return {"tools": self._tools}
        self._steps += 1
        named = data.get("type") == "call_tool"
        message = _message(data, f"call_{self._steps}")
        found = await self._sessions.step(self._begun["session"], message)
        follow = cast("list[Message]", found["messages"])
        if not named:
            return found
        words = [str(item.get("content") or "") for item in follow]
        return found | {"tool_name": data.get("tool_name"), "result": "\n".join(words)}

    def _state(self) -> dict[str, object]:
        names = ("task", "task_id", "family")
        shown = {name: self._begun[name] for name in names if name in self._begun}
        return {"episode_id": self._begun.get("session"), "step_count": self._steps, **shown}

    async def _leave(self) -> None:
        """End the session that is open."""
        if self._begun:
            name, self._begun = self._begun["session"], {}
            try:
                await self._sessions.close(name)
            except SessionError:
                return  # it was over, and long ago
            except SynthError:
                _log.exception("a session of an OpenEnv client was not judged")


def _message(data: Mapping[str, Any], name: str) -> Message:
    """The assistant's message that an action stands for. Raises :class:`SessionError`."""
    known = _CALL if data.get("type") == "call_tool" else _ACTION
    if unknown := set(data) - known:
        raise SessionError("bad_request", f"an action has no {min(unknown)!r}")
    given: object = data.get("arguments", {})
    if not isinstance(given, dict):
        raise SessionError("bad_request", "arguments is an object")
    arguments = cast("dict[str, Any]", given)
    tool: object = data.get("tool_name") if known is _CALL else data.get("tool")
    text: object = data.get("text")
    if known is _CALL and tool == REPLY:
        tool, text = None, arguments.get("text")
    if tool and text is None:
        text = ""
    if not isinstance(text, str) or not isinstance(tool, str | None):
        raise SessionError("bad_request", "text and the name of a tool are strings")
    if not tool:
        return {"role": "assistant", "content": text}
    call = {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def _tool(function: Mapping[str, Any]) -> dict[str, object]:
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters", {}),
    }


def _observation(found: Mapping[str, object]) -> dict[str, object]:
    shown = {name: value for name, value in found.items() if name not in ("done", "reward")}
    data = {"observation": shown, "reward": found.get("reward"), "done": bool(found.get("done"))}
    return {"type": "observation", "data": data}


def _error(code: str, message: str) -> dict[str, object]:
    return {"type": "error", "data": {"message": message, "code": code}}
