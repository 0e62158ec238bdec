"""A scripted endpoint that costs next to nothing: a process of its own, answers encoded beforehand.

The answer to a request is chosen by the words that open its conversation and by how many messages
of the assistant it holds, so that each rollout gets its own completions in order.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

Json = Any

HEADER_END = b"\r\n\r\n"
OPENING = re.compile(rb'"role": ?"user", ?"content": ?("(?:[^"\\]|\\.)*")')
ANSWER = re.compile(rb'"role": ?"assistant"')


def response(body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Answerer(asyncio.Protocol):
    """One connection: reads whole requests, answers each after ``delay_s``."""

    def __init__(self, answers: Mapping[str, Sequence[bytes]], delay_s: float) -> None:
        self.answers, self.delay_s = answers, delay_s
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(HEADER_END)) >= 0:
            head = bytes(self.buffer[:end]).lower()
            at = head.find(b"content-length:")
            size = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            whole = end + len(HEADER_END) + size
            if len(self.buffer) < whole:
                return
            body = bytes(self.buffer[end:whole])
            del self.buffer[:whole]
            opening = OPENING.search(body)
            assert opening is not None
            answers = self.answers[json.loads(opening[1])]
            answer = answers[min(len(ANSWER.findall(body)), len(answers) - 1)]
            if self.delay_s:
                asyncio.get_running_loop().call_later(self.delay_s, self.transport.write, answer)
            else:
                self.transport.write(answer)


def _serve(answers: Mapping[str, Sequence[bytes]], delay_s: float, pipe: Connection) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Answerer(answers, delay_s), "127.0.0.1", 0, backlog=4096
        )
        pipe.send(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, pipe.recv)  # until the other end closes or says so
        server.close()

    asyncio.run(main())


@contextmanager
def endpoint(bodies: Mapping[str, Sequence[Json]], delay_s: float = 0.0) -> Generator[str]:
    """Serve these completions' bodies, by the user's first words; gives the base URL."""
    answers = {
        words: [response(json.dumps(body, separators=(",", ":")).encode()) for body in own]
        for words, own in bodies.items()
    }
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(answers, delay_s, theirs), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        ours.send("done")
        process.join()
