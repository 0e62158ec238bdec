"""An endpoint at the level of TCP: it reads a request, then does to the connection whatever a scene
says.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ssl import SSLContext


@dataclass
class Wire:
    """One connection whose request was read. ``raw`` are the request's head and body."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    raw: bytes = b""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hang(self) -> None:
        """Say nothing until the client goes away."""
        while await self.reader.read(65536):
            pass

    def reset(self) -> None:
        """Break the connection off with a TCP reset."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Act = Callable[[Wire], Awaitable[None]]
"""What happens on a connection after the request; when it returns, the connection is closed."""


async def read_request(wire: Wire) -> bool:
    """Read one request to its end; False where the client has gone."""
    try:
        head = await wire.reader.readuntil(b"\r\n\r\n")
        length = next(
            (
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            ),
            0,
        )
        wire.raw = head + await wire.reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return False
    return True


class Raw:
    """The endpoint's address, how many connections came, and the last request."""

    def __init__(self) -> None:
        self.url = ""
        self.port = 0
        self.connections = 0
        self.last = b""


@asynccontextmanager
async def raw_endpoint(
    *acts: Act, at_once: bool = False, tls: SSLContext | None = None
) -> AsyncGenerator[Raw]:
    """Serve the acts in order, each on a connection of its own, the last one for all that follow.

    ``at_once`` acts before the request is read.
    """
    served, left = Raw(), list(acts)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.connections += 1
        wire = Wire(reader, writer)
        try:
            if at_once or await read_request(wire):
                served.last = wire.raw
                await (left.pop(0) if len(left) > 1 else left[0])(wire)
        except ConnectionError:
            pass  # the client has had enough
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls, limit=1 << 24)
    served.port = server.sockets[0].getsockname()[1]
    served.url = f"{'https' if tls else 'http'}://127.0.0.1:{served.port}/v1"
    try:
        yield served
    finally:
        server.close()


def sends(data: bytes) -> Act:
    """Send these bytes, then close."""

    async def act(wire: Wire) -> None:
        await wire.send(data)

    return act


def sends_and_hangs(data: bytes) -> Act:
    async def act(wire: Wire) -> None:
        await wire.send(data)
        await wire.hang()

    return act


def sends_and_resets(data: bytes) -> Act:
    async def act(wire: Wire) -> None:
        if data:
            await wire.send(data)
        wire.reset()

    return act


def repeats(first: bytes, piece: bytes, pause_s: float = 0.0) -> Act:
    """Send the first bytes, then a piece over and over until the client goes away."""

    async def act(wire: Wire) -> None:
        await wire.send(first)
        while not wire.writer.is_closing():
            await wire.send(piece)
            await asyncio.sleep(pause_s)

    return act


def reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A response with its length and these further headers."""
    lines = [
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A response in chunks."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return head + b"".join(f"{len(each):x}\r\n".encode() + each + b"\r\n" for each in pieces) + end
