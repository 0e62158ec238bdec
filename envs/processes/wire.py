"""Python objects and file descriptors over a socket between two processes of ours."""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any

_HEADER = struct.Struct("!QB")
"""The length of the pickle that follows, and how many descriptors come along."""

MAX_DESCRIPTORS = 4

BEGUN = b"!"
"""What a child says before it sets to work: whatever was lost before that was never begun."""

_PRIVATE = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
"""Descriptors that arrive are not handed on to programs that are started later."""


def send(to: socket.socket, message: Any, descriptors: Sequence[int] = ()) -> None:
    """Send a message. Raises pickling's errors before that, OSError where nobody listens."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    header = _HEADER.pack(len(data), len(descriptors))
    if descriptors:
        socket.send_fds(to, [header], list(descriptors))
    else:
        to.sendall(header)
    to.sendall(data)


def receive(source: socket.socket) -> tuple[Any, list[int]]:
    """Receive a message with its descriptors, which the caller closes. EOFError at the end."""
    header, descriptors, _, _ = socket.recv_fds(source, _HEADER.size, MAX_DESCRIPTORS, _PRIVATE)
    header += _exactly(source, _HEADER.size - len(header)) if header else b""
    if not header:
        raise EOFError
    length, _ = _HEADER.unpack(header)
    # The bytes come from a process that we started.
    return pickle.loads(_exactly(source, length)), descriptors  # noqa: S301


def _exactly(source: socket.socket, count: int) -> bytes:
    data = bytearray(count)
    view = memoryview(data)
    received = 0
    while received < count:
        got = source.recv_into(view[received:])
        if not got:
            raise EOFError
        received += got
    return bytes(data)
