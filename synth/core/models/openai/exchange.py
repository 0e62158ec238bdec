"""One HTTP exchange with an endpoint, within a wall-clock deadline and a limit on the answer's
size.

It uses aiohttp at the level of bytes: no cookies, no redirects, no decoding. Proxies come from the
environment (``HTTPS_PROXY``, ``ALL_PROXY``, ``NO_PROXY``), certificates are those that the
``openai`` package would trust.
"""

from __future__ import annotations

import asyncio
import io
import urllib.request
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

import aiohttp
import httpx2
from multidict import CIMultiDict
from yarl import URL

from synth.core.foundation.credentials import public_url
from synth.errors import OperatorError

_CONNECT_S = 10.0
_KEEPALIVE_S = (
    4.0  # uvicorn, and so vLLM, closes idle connections after 5 s: be the first to let go
)
_ENCODINGS = frozenset({"identity", "gzip", "x-gzip", "deflate", ""})
_OF_ONE_REQUEST = frozenset({"host", "content-length", "connection", "transfer-encoding"})
_TELEMETRY = "x-stainless-"  # what the openai package tells about the machine it runs on
_LARGE = 1 << 20  # aiohttp wants what is larger in pieces


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ExchangeError(Exception):
    """No complete answer came; ``retryable`` is True if another attempt may bring one."""

    def __init__(self, reason: str, retryable: bool = True) -> None:
        super().__init__(reason, retryable)
        self.reason = reason
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class Target:
    """Address and headers of a request: the same for all requests of a model."""

    method: str
    url: URL
    headers: Mapping[str, str]

    @classmethod
    def of(cls, request: httpx2.Request) -> Target:
        """Return the target of a prepared request, without headers of one body or connection, and
        without telemetry.
        """
        headers = {
            key: value
            for key, value in request.headers.items()
            if key.lower() not in _OF_ONE_REQUEST and not key.lower().startswith(_TELEMETRY)
        }
        # httpx2 has made a header of the address's user and password already.
        return cls(
            request.method,
            URL(str(request.url), encoded=True).with_user(None),
            CIMultiDict(headers),
        )


class Exchanger:
    """Client for one origin over persistent connections, on one event loop."""

    def __init__(
        self, origin: str, *, timeout_s: float, max_response_bytes: int, max_connections: int
    ) -> None:
        self._timeout_s = timeout_s
        self._cap = max_response_bytes
        self._limit = max_connections
        self._proxy, self._proxy_headers, self.proxy_secrets = _proxy_of(URL(origin))
        way = f"the environment's proxy {self._proxy}; NO_PROXY={URL(origin).host} goes past it"
        self.way = f" (through {way})" if self._proxy else ""
        # No CONNECT carries them.
        self._own_headers = self._proxy_headers if origin.startswith("http:") else None
        self._client_timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=min(_CONNECT_S, timeout_s)
        )
        self._tls = (
            httpx2.create_ssl_context() if origin.startswith("https:") or self._proxy else None
        )
        self._session: aiohttp.ClientSession | None = None

    async def exchange(
        self,
        target: Target,
        body: bytes | None,
        take: Callable[[bytes], float | None] | None = None,
    ) -> Reply:
        """Send a request and read the answer to its end. Raises ExchangeError if no complete answer
        came.

        ``take`` gets the pieces of a 2xx body as they arrive, instead of the reply, whose body is
        then empty. If it returns a number, the end of the body is awaited for at most so many more
        seconds.
        """
        try:
            async with asyncio.timeout(self._timeout_s) as deadline:
                try:
                    return await self._attempt(target, body, take, deadline)
                except aiohttp.ClientConnectionResetError:
                    # The endpoint had closed the kept connection before anything was sent: that is
                    # no attempt yet.
                    return await self._attempt(target, body, take, deadline)
        except TimeoutError:
            reason, retryable = f"did not answer completely within {self._timeout_s:g} s", True
        except _TooLargeError:
            reason, retryable = f"sent more than {self._cap} bytes", False
        except _EncodingError as error:
            reason, retryable = f"did not answer: {error}", True
        except (aiohttp.ClientError, zlib.error, OSError, EOFError, UnicodeError) as error:
            reason, retryable = f"did not answer: {_root_cause(error)}", True
        # Outside of the except blocks: no chained exception carries a request's headers.
        raise ExchangeError(f"{reason}{self.way}", retryable)

    async def _attempt(
        self,
        target: Target,
        body: bytes | None,
        take: Callable[[bytes], float | None] | None,
        deadline: asyncio.Timeout,
    ) -> Reply:
        data = io.BytesIO(body) if body is not None and len(body) > _LARGE else body
        async with self._opened().request(
            target.method,
            target.url,
            headers=target.headers
            if self._own_headers is None
            else {**target.headers, **self._own_headers},
            data=data,
            allow_redirects=False,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
        ) as response:
            pieces: list[bytes] = []
            taking = take if 200 <= response.status < 300 else None
            bounded = _Bounded(response.headers.get("Content-Encoding", "").lower(), self._cap)
            content = response.content
            while not content.at_eof():
                piece = bounded(await content.readany())
                if taking is None:
                    pieces.append(piece)
                elif (grace_s := taking(piece)) is not None:
                    end = asyncio.get_running_loop().time() + grace_s
                    deadline.reschedule(min(end, deadline.when() or end))
            return Reply(
                response.status,
                response.headers,
                pieces[0] if len(pieces) == 1 else b"".join(pieces),
            )

    def _opened(self) -> aiohttp.ClientSession:
        """Return the session, opened on the event loop that uses it first."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._limit,
                keepalive_timeout=_KEEPALIVE_S,
                ssl=self._tls if self._tls is not None else True,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._client_timeout,
                auto_decompress=False,
                requote_redirect_url=False,
            )
        return self._session

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice; the next exchange opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class _TooLargeError(Exception):
    """The answer exceeds the limit."""


class _EncodingError(Exception):
    """The answer has an encoding that was not requested and cannot be bounded."""


class _Bounded:
    """Filter that passes up to ``limit`` decoded bytes, so that neither a flood nor a zip bomb
    fills memory.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        if encoding not in _ENCODINGS:
            raise _EncodingError(
                f"the answer is encoded as {encoding}, though identity was asked for"
            )
        self._left = limit
        # 15 + 32 bits: zlib finds out by itself whether it reads gzip or deflate.
        compressed = encoding not in ("identity", "")
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if compressed else None

    def __call__(self, raw: bytes) -> bytes:
        piece = raw if self._inflate is None else self._inflate.decompress(raw, self._left + 1)
        self._left -= len(piece)
        if self._left < 0:
            raise _TooLargeError
        return piece


def split_address(base_url: str | None) -> tuple[str | None, dict[str, str]]:
    """Return the address without its query, and the query (Azure's ``api-version``), which every
    request carries.
    """
    if base_url is None:
        return None, {}
    try:
        url, readable = httpx2.URL(base_url), bool(URL(base_url).host)
    except (httpx2.InvalidURL, ValueError):
        url, readable = None, False
    if url is None or not readable or url.scheme not in ("http", "https") or not url.host:
        raise OperatorError(
            f"model.base_url must be an http or https URL, not {public_url(base_url)!r}"
        )
    return str(url.copy_with(query=None, fragment=None)), dict(url.params)


def _in_range(host: str, network: str) -> bool:
    """True for an address in a network of NO_PROXY, such as ``10.0.0.0/8``."""
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def _proxy_of(origin: URL) -> tuple[URL | None, Mapping[str, str] | None, tuple[str, ...]]:
    """Return the environment's proxy for an origin, its authorization headers, and the secrets in
    them.

    Raises OperatorError for a proxy of an unsupported kind.
    """
    host = origin.host or ""
    proxies = urllib.request.getproxies()
    address = proxies.get(origin.scheme) or proxies.get("all")
    if (
        not address
        or urllib.request.proxy_bypass(host)
        or urllib.request.proxy_bypass(f"{host}:{origin.port}")
        or any(_in_range(host, one.strip()) for one in proxies.get("no", "").split(","))
    ):
        return None, None, ()
    try:
        proxy = URL(address if "://" in address else f"http://{address}")
    except ValueError:
        proxy = URL()
    if proxy.scheme not in ("http", "https") or not proxy.host:
        raise OperatorError(
            f"the environment's proxy {public_url(address)} cannot be used: only http and https"
            " proxies can"
            f" (NO_PROXY={host} goes without)"
        )
    if proxy.user is None:
        return proxy, None, ()
    user, password = proxy.user, proxy.password or ""
    authorization = aiohttp.encode_basic_auth(user, password)
    return (
        proxy.with_user(None),
        {"Proxy-Authorization": authorization},
        (password, authorization.removeprefix("Basic ")),
    )


def _root_cause(error: BaseException) -> str:
    """Return the message of the innermost cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
