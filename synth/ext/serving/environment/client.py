"""A small client of ``synth serve-env``, with the standard library alone.

One client is one session at a time, on one connection; it belongs to one thread::

    env = EnvClient("http://127.0.0.1:8770", token)
    begun = env.reset(task=3)
    messages, done = begun["messages"], False
    while not done:
        message = policy(messages, begun["tools"])
        step = env.step(message=message)
        messages, done = [*messages, message, *step["messages"]], step["done"]
    print(step["reward"])
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import urlsplit

from synth.errors import OperatorError

_GONE: Final = frozenset({404, 410})
"""Statuses of a session that the server does not know or that is over."""


class EnvError(OperatorError):
    """A refusal of the server: its HTTP ``status``, and ``kind``, a word for programs."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(status, kind, message)
        self.status, self.kind, self.message = status, kind, message

    def __str__(self) -> str:
        return self.message


class EnvClient:
    """A client of the server at ``url``. ``timeout_s`` bounds each request.

    Methods raise :class:`EnvError` for what the server refuses, and OSError if it is not reached.
    """

    def __init__(self, url: str, token: str, timeout_s: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise OperatorError(f"{url!r} is not the address of a server")
        secure = parts.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = connect(parts.hostname, parts.port, timeout=timeout_s)
        self._base, self._token = parts.path.rstrip("/"), token
        self.session: str | None = None

    def describe(self) -> dict[str, Any]:
        """The world, the number of its tasks, and the limits of the server."""
        return self._send("GET", "/")

    def reset(self, task: int | None = None) -> dict[str, Any]:
        """Begin with a task (None: the server's next one); a session that is open is closed, and
        one that the server no longer knows is forgotten.

        Returns ``session``, ``task_id``, ``family``, ``messages`` and ``tools``.
        """
        try:
            if self.session is not None:
                self.close()
        except EnvError as error:
            if error.status not in _GONE:
                raise
        begun = self._send("POST", "/sessions", {} if task is None else {"task": task})
        self.session = begun["session"]
        return begun

    def step(
        self,
        message: Mapping[str, Any] | None = None,
        *,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> dict[str, Any]:
        """Do something: an assistant message in OpenAI's form, a call, or words to the user.

        Returns ``messages``, ``done`` and ``reward``; with the end come ``outcome``,
        ``stop_reason`` and ``verdicts``.
        """
        given = {"message": message, "tool": tool, "arguments": arguments, "text": text}
        body = {key: value for key, value in given.items() if value is not None}
        return self._send("POST", f"/sessions/{self._name()}/step", body)

    def close(self) -> dict[str, Any]:
        """End the session. Returns ``reward``, ``outcome``, ``stop_reason`` and ``verdicts``."""
        try:
            ended = self._send("DELETE", f"/sessions/{self._name()}")
        except EnvError as error:
            if error.status in _GONE:
                self.session = None
            raise
        self.session = None
        return ended

    def disconnect(self) -> None:
        """Close the connection; an open session is the server's to end. The next request takes a
        new one.
        """
        self._connection.close()

    def _name(self) -> str:
        if self.session is None:
            raise OperatorError("no session: call reset() first")
        return self.session

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        try:
            self._connection.request(method, self._base + path, data, headers)
            answer = self._connection.getresponse()
            read, status = answer.read(), answer.status
        except BaseException:
            self.disconnect()
            raise
        try:
            parsed: dict[str, Any] = json.loads(read)
        except ValueError:
            raise EnvError(status, "no_json", f"{status}: the answer is not JSON") from None
        if status >= 400:
            error = parsed.get("error", {})
            raise EnvError(status, error.get("type", "error"), error.get("message", str(status)))
        return parsed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if self.session is not None and kind is None:
                self.close()
        finally:
            self.disconnect()
