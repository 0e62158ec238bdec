"""Raw responses in place of an endpoint's own, to reproduce what real endpoints do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware


@dataclass(frozen=True, slots=True)
class Fault:
    """A raw response in place of the real one.

    ``body`` is sent piece by piece, ``pause_s`` apart, after ``delay_s``; an endless iterator never
    ends. ``abort`` cuts the connection after the last piece, or before the status line if there is
    none: a reset. Without a ``Content-Length`` header of its own the body is chunked.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Iterable[bytes] = ()
    delay_s: float = 0.0
    pause_s: float = 0.0
    abort: bool = False


FaultHook = Callable[[web.Request], Awaitable[Fault | None]]
"""Called before each request is read; None lets it through."""


def faulty(hook: FaultHook) -> Middleware:
    """The middleware that answers by the hook's faults."""

    @web.middleware
    async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
        fault = await hook(request)
        return await (handler(request) if fault is None else _play(fault, request))

    return answered


async def _play(fault: Fault, request: web.Request) -> web.StreamResponse:
    await request.read()
    await asyncio.sleep(fault.delay_s)
    response = web.StreamResponse(status=fault.status, headers=fault.headers)
    response.force_close()  # what a fault leaves behind must not reach the next request
    pieces = iter(fault.body)
    first = next(pieces, None)
    if not fault.abort or first is not None:
        await response.prepare(request)
        while first is not None:
            await response.write(first)
            await asyncio.sleep(fault.pause_s)
            first = next(pieces, None)
    if not fault.abort:
        await response.write_eof()
    elif request.transport is not None:
        request.transport.abort()
    return response
