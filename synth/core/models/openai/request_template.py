"""Requests as the ``openai`` package would send them, without sending them.

Importing ``openai`` is allowed in this module only.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2
import openai

from synth.core.models.openai.exchange import Target

_PUBLIC_HEADERS = frozenset(
    {"accept", "accept-encoding", "content-type", "user-agent"}
    | {
        f"x-stainless-{name}"
        for name in ("lang", "package-version", "os", "arch", "runtime", "runtime-version", "async")
    }
)


class RequestTemplate:
    """The address and headers that the ``openai`` package gives the requests of one model.

    An Azure address of the older form (``/openai?api-version=...``) uses the package's Azure
    client, which puts the deployment into the path. Azure takes a key as ``api-key``.
    """

    def __init__(
        self,
        name: str,
        address: str | None,
        query: Mapping[str, str],
        api_key: str | None,
        headers: Mapping[str, str],
    ) -> None:
        self._name = name
        url = httpx2.URL(address or "")
        azure = url.host.endswith(".azure.com")
        keys = _authorization(api_key, azure=azure)
        options: dict[str, Any] = {
            "api_key": api_key or "none",
            "admin_api_key": "",  # keeps OPENAI_ADMIN_KEY out
            "base_url": address,
            "max_retries": 0,
            "default_headers": {"Accept-Encoding": "identity", **keys, **headers},
            "default_query": query,
            "http_client": httpx2.AsyncClient(transport=_NullTransport(), trust_env=False),
        }
        if azure and "api-version" in query and "/openai" in url.path:
            self._client = openai.AsyncAzureOpenAI(**options, api_version=query["api-version"])
        else:
            self._client = openai.AsyncOpenAI(**options)
        self.base_url = self._client.base_url
        host = self.base_url.host
        official = host == "openai.com" or host.endswith(".openai.com")
        self.max_tokens_key = "max_completion_tokens" if official or azure else "max_tokens"
        if not official:
            # From the environment; another party has no business with them.
            self._client.organization = self._client.project = None
        self._request_headers = _omitted(api_key, (*keys, *headers))
        self._completions: Target | None = None

    @property
    def secrets(self) -> list[str]:
        """Secrets to redact: the address's password, plain and encoded, and headers taken from
        the environment.
        """
        added = [
            str(value)
            for key, value in self._client.default_headers.items()
            if key.lower() not in _PUBLIC_HEADERS
        ]
        user, password = self.base_url.username, self.base_url.password
        return [password, b64encode(f"{user}:{password}".encode()).decode(), *added]

    async def completions(self, path: str = "/chat/completions") -> Target:
        """Return the target of the requests for completions, at this path."""
        if self._completions is None:
            request = self._client.post(
                path,
                cast_to=httpx2.Response,
                body={"model": self._name},
                options={"headers": self._request_headers},
            )
            self._completions = Target.of((await request).request)
        return self._completions

    async def models(self) -> Target:
        """Return the target of ``GET /models``."""
        options: Any = {"headers": self._request_headers}
        return Target.of(
            (await self._client.get("/models", cast_to=httpx2.Response, options=options)).request
        )

    async def aclose(self) -> None:
        """Close the client, which holds no connection."""
        await self._client.close()


def _authorization(api_key: str | None, *, azure: bool) -> dict[str, str]:
    """Return the headers that hold the key.

    They are default headers so that OPENAI_CUSTOM_HEADERS cannot replace them.
    """
    if api_key is None:
        return {}
    return {"api-key": api_key} if azure else {"Authorization": f"Bearer {api_key}"}


def _omitted(api_key: str | None, headers: Iterable[str]) -> dict[str, str | openai.Omit]:
    """Return the headers of the package that a request must not carry."""
    present = {name.lower() for name in headers}
    names = [] if "authorization" in present else ["Authorization"]
    if api_key is None and "api-key" not in present:
        names.append("api-key")
    return {name: openai.Omit() for name in names}


class _NullTransport(httpx2.AsyncBaseTransport):
    """Transport that sends nothing; its response holds the request as it would have been sent."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, request=request)
