"""What endpoints do to their clients over TCP, each with the one typed end that a request comes to.

What a status or a body means is tested without a connection (``test_failures``, ``test_reply``).
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .raw_endpoint import Act, chunked, repeats, reply, sends, sends_and_hangs, sends_and_resets

End = Literal["answer", "retry", "final", "auth", "overflow", "filtered"]
"""A completion; a ModelError that another attempt may heal; one that none will; the key's; too
long; refused by a filter.
"""


@dataclass(frozen=True)
class Scene:
    """``options`` are the model's; a scene that never ends brings a short ``timeout_s``."""

    act: Act
    end: End
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    at_once: bool = False


def answer(content: Any = "fine", **message: Any) -> Any:
    return {
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content} | message,
            }
        ]
    }


def says(value: Any, end: End, **options: Any) -> Scene:
    """A 200 with this body: bytes as they are, anything else as JSON."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Scene(sends(reply(body)), end, options)


def refuses(status: str, body: Any, end: End, *headers: str) -> Scene:
    raw = body if isinstance(body, bytes) else json.dumps({"error": body}).encode()
    return Scene(sends(reply(raw, status, *headers)), end)


def head(*headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers]).encode() + b"\r\n\r\n"


def called(**function: Any) -> Any:
    entry = {
        "id": "c",
        "type": "function",
        "function": {"name": "find", "arguments": "{}"} | function,
    }
    return answer(None, tool_calls=[entry])


SHORT = {"timeout_s": 0.3}
GOOD = json.dumps(answer()).encode()
HALF = GOOD[: len(GOOD) // 2]
SMALL_CAP = {"max_response_bytes": 1_000_000}
PACKED = gzip.compress(GOOD)
ELSEWHERE = "Location: http://127.0.0.2:9/v1/chat/completions?token=elsewhere-secret"

CONNECTION: dict[str, Scene] = {
    "closed before anything is read": Scene(sends(b""), "retry", at_once=True),
    "reset before anything is read": Scene(sends_and_resets(b""), "retry", at_once=True),
    "closed after the request": Scene(sends(b""), "retry"),
    "reset after the request": Scene(sends_and_resets(b""), "retry"),
    "silence before the request is read": Scene(sends_and_hangs(b""), "retry", SHORT, at_once=True),
    "silence after the request": Scene(sends_and_hangs(b""), "retry", SHORT),
    "closed within the status line": Scene(sends(b"HTTP/1.1 2"), "retry"),
    "closed within the headers": Scene(sends(b"HTTP/1.1 200 OK\r\nContent-Le"), "retry"),
    "closed after the headers": Scene(sends(head("Content-Length: 500")), "retry"),
    "closed within the body": Scene(sends(head("Content-Length: 500") + HALF), "retry"),
    "reset within the headers": Scene(sends_and_resets(b"HTTP/1.1 200 OK\r\nContent-Le"), "retry"),
    "reset within the body": Scene(sends_and_resets(head("Content-Length: 500") + HALF), "retry"),
    "silence within the headers": Scene(
        sends_and_hangs(b"HTTP/1.1 200 OK\r\nContent-"), "retry", SHORT
    ),
    "silence within the body": Scene(
        sends_and_hangs(head("Content-Length: 500") + HALF), "retry", SHORT
    ),
    "silence within a chunk": Scene(sends_and_hangs(chunked(HALF, end=b"ff\r\n{")), "retry", SHORT),
    "headers that drip": Scene(repeats(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a", 0.01), "retry", SHORT),
    "a body that drips": Scene(repeats(head("Content-Length: 99999"), b" ", 0.01), "retry", SHORT),
    "chunks that drip": Scene(repeats(chunked(end=b""), b"1\r\n \r\n", 0.01), "retry", SHORT),
    "no length, ended by closing": Scene(
        sends(head("Content-Type: application/json") + GOOD), "answer"
    ),
    "no length, cut by closing": Scene(
        sends(head("Content-Type: application/json") + HALF), "retry"
    ),
    "HTTP/1.0": Scene(sends(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD), "answer"),
    "closes although it keeps alive": Scene(
        sends(reply(GOOD, "200 OK", "Connection: keep-alive")), "answer"
    ),
}

PROTOCOL: dict[str, Scene] = {
    "not HTTP": Scene(sends(b"SSH-2.0-OpenSSH_9.6\r\n"), "retry"),
    "binary": Scene(sends(bytes(range(256)) * 4), "retry"),
    "no status line": Scene(sends(GOOD), "retry"),
    "a status that is no number": Scene(sends(b"HTTP/1.1 abc OK\r\n\r\n"), "retry"),
    "a status of four digits": Scene(sends(head("Content-Length: 0", status="2000 OK")), "retry"),
    "HTTP/2 in plain text": Scene(sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "retry"),
    "TLS where none was asked for": Scene(sends(b"\x15\x03\x01\x00\x02\x02\x0a"), "retry"),
    "a length below zero": Scene(sends(head("Content-Length: -5") + GOOD), "retry"),
    "a length that is no number": Scene(sends(head("Content-Length: many") + GOOD), "retry"),
    "a length past all bounds": Scene(sends(head(f"Content-Length: {10**30}") + GOOD), "retry"),
    "a length that is too short": Scene(sends(head("Content-Length: 20") + GOOD), "retry"),
    "two lengths": Scene(sends(head("Content-Length: 20", "Content-Length: 30") + GOOD), "retry"),
    "length and chunks": Scene(
        sends(head("Content-Length: 5", "Transfer-Encoding: chunked") + GOOD), "retry"
    ),
    "chunks": Scene(sends(chunked(GOOD[:9], GOOD[9:])), "answer"),
    "chunks with a trailer": Scene(sends(chunked(GOOD, end=b"0\r\nX-Sum: 1\r\n\r\n")), "answer"),
    "chunks without their end": Scene(sends(chunked(GOOD, end=b"")), "retry"),
    "a chunk without a size": Scene(sends(chunked(end=b"zz\r\n" + GOOD)), "retry"),
    "a chunk longer than it says": Scene(sends(chunked(end=b"3\r\nabcdef\r\n0\r\n\r\n")), "retry"),
    "a chunk of many terabytes": Scene(sends(chunked(end=b"ffffffffffff\r\n" + GOOD)), "retry"),
    "a megabyte in one header": Scene(sends(head("X-Long: " + "a" * 1_000_000) + GOOD), "retry"),
    "ten thousand headers": Scene(
        sends(head(*(f"X-{at}: a" for at in range(10_000))) + GOOD), "retry"
    ),
    "endless headers": Scene(repeats(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 500), "retry", SHORT),
    "a NUL in a header": Scene(
        sends(b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\n{}"), "retry"
    ),
    "a header that is no ASCII": Scene(sends(reply(GOOD, "200 OK", "X-A: caf\u00e9")), "answer"),
    "an empty header name": Scene(sends(b"HTTP/1.1 200 OK\r\n: a\r\n\r\n" + GOOD), "retry"),
    "100 before the answer": Scene(sends(b"HTTP/1.1 100 Continue\r\n\r\n" + reply(GOOD)), "answer"),
    "103 before the answer": Scene(
        sends(head("Link: </x>", status="103 Early Hints") + reply(GOOD)), "answer"
    ),
    "101": Scene(
        sends(head("Upgrade: h2c", "Connection: Upgrade", status="101 Switching Protocols") + GOOD),
        "final",
    ),
    "1xx for ever": Scene(
        repeats(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 50, 0.01), "retry", SHORT
    ),
    "gzip that was not asked for": Scene(
        sends(reply(PACKED, "200 OK", "Content-Encoding: gzip")), "answer"
    ),
    "deflate": Scene(
        sends(reply(zlib.compress(GOOD), "200 OK", "Content-Encoding: deflate")), "answer"
    ),
    "gzip that is none": Scene(sends(reply(GOOD, "200 OK", "Content-Encoding: gzip")), "retry"),
    "gzip that is cut": Scene(
        sends(reply(PACKED[:-20], "200 OK", "Content-Encoding: gzip")), "retry"
    ),
    "brotli that was not asked for": Scene(
        sends(reply(b"xx", "200 OK", "Content-Encoding: br")), "retry"
    ),
    "an encoding nobody knows": Scene(
        sends(reply(GOOD, "200 OK", "Content-Encoding: x-own")), "retry"
    ),
    "a gzip bomb": Scene(
        sends(reply(gzip.compress(b"0" * 20_000_000), "200 OK", "Content-Encoding: gzip")),
        "final",
        SMALL_CAP,
    ),
    "a gzip bomb in an error": Scene(
        sends(reply(gzip.compress(b"0" * 20_000_000), "500 Oops", "Content-Encoding: gzip")),
        "final",
        SMALL_CAP,
    ),
    "three hundred megabytes": Scene(
        repeats(head("Content-Length: 300000000"), b" " * 65536), "final", SMALL_CAP
    ),
    "an endless body": Scene(
        repeats(chunked(end=b""), b"10000\r\n" + b" " * 65536 + b"\r\n"), "final", SMALL_CAP
    ),
}

STATUS: dict[str, Scene] = {
    "204": Scene(sends(head(status="204 No Content")), "retry"),
    "205 without a body": Scene(
        sends(head("Content-Length: 0", status="205 Reset Content")), "retry"
    ),
    "202 queued": refuses("202 Accepted", b'{"status": "queued"}', "retry"),
    "304": Scene(sends(head(status="304 Not Modified")), "final"),
    "307": refuses("307 Temporary Redirect", b"", "final", ELSEWHERE),
    "308 to what is no URL": refuses(
        "308 Permanent Redirect", b"", "final", "Location: http://[::1/\u00e9"
    ),
    "400 latin-1": refuses("400 Bad Request", "ung\u00fcltig".encode("latin-1"), "final"),
    "400 context, vLLM": refuses(
        "400 Bad Request",
        b'{"object":"error","message":"This model\'s maximum context length is 4096 tokens.'
        b" However, you requested 5000"
        b' tokens","type":"BadRequestError","param":null,"code":400}',
        "overflow",
    ),
    "400 content filter, Azure": refuses(
        "400 Bad Request",
        {
            "message": "The response was filtered due to the prompt",
            "code": "content_filter",
            "param": "prompt",
        },
        "filtered",
    ),
    "403 moderation, OpenRouter": refuses(
        "403 Forbidden", {"message": "input was flagged", "code": 403}, "filtered"
    ),
    "401": refuses("401 Unauthorized", {"message": "bad key sk-proj-Secret_0123456789"}, "auth"),
    "401 html": refuses("401 Unauthorized", b"<h1>Authorization Required</h1>", "auth"),
    "404 model": refuses("404 Not Found", {"message": "The model `m` does not exist"}, "final"),
    "413": refuses("413 Request Entity Too Large", b"<html>nginx</html>", "overflow"),
    "429 nonsense to wait": refuses("429 Too Many Requests", b"[]", "retry", "Retry-After: soon"),
    "429 no money": refuses(
        "429 Too Many Requests", {"message": "quota", "code": "insufficient_quota"}, "auth"
    ),
    "500 context": refuses(
        "500 Oops",
        {"message": "input is too large to process. increase the batch size"},
        "overflow",
    ),
    "502 html": refuses("502 Bad Gateway", b"<html><h1>502 Bad Gateway</h1></html>", "retry"),
    "999": refuses("999 Denied", b"", "retry"),
    "an error that drips": Scene(
        repeats(head("Content-Length: 99999", status="500 Oops"), b" ", 0.01), "retry", SHORT
    ),
    "a surrogate in an error": refuses(
        "400 Bad Request", b'{"error": {"message": "bad \\ud800 thing"}}', "final"
    ),
    "ten megabytes in an error": refuses(
        "500 Oops", b'{"error": {"message": "' + b"x" * 10_000_000 + b'"}}', "retry"
    ),
    "an error nested too deeply": refuses("500 Oops", b"[" * 200_000, "retry"),
}

BODY: dict[str, Scene] = {
    "truncated": says(HALF, "retry"),
    "utf-16": says(GOOD.decode().encode("utf-16"), "retry"),
    "two answers in a row": says(GOOD + GOOD, "retry"),
    "a number": says(b"42", "retry"),
    "a stream although none was asked for": says(
        b'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n', "answer"
    ),
    "an error": says({"error": {"message": "upstream died", "code": 503}}, "retry"),
    "an error of quota": says({"error": {"message": "m", "type": "insufficient_quota"}}, "auth"),
    ("an error inside the choice"): says({"choices": [{"error": {"code": 502, "x": [1]}, "message": {"content": ""}}]}, "retry"),
    "several choices": says({"choices": [answer()["choices"][0], answer("other")["choices"][0]]}, "answer"),
    ("message filtered away"): says({"choices": [{"message": None, "finish_reason": "content_filter"}]}, "filtered"),
    "content with a NUL and a surrogate": says(answer("fine \x00 \ud800"), "answer"),
    "ten megabytes of content": says(answer("x" * 10_000_000), "answer"),
    "arguments an object": says(called(arguments={"name": "Zo\u00eb"}), "answer"),
    "arguments a number": says(called(arguments=7), "answer"),
    "arguments NaN": says(json.dumps(called(arguments={"x": float("nan")})).encode(), "answer"),
    ("arguments ten megabytes"): says(called(arguments=json.dumps({"name": "x" * 10_000_000})), "answer"),
    ("calls with one id"): says(answer("", tool_calls=[called()["choices"][0]["message"]["tool_calls"][0]] * 3), "answer"),
    ("ids that are numbers"): says(answer("", tool_calls=[{"id": 7, "function": {"name": "find"}}]), "answer"),
    ("ten thousand calls"): says(answer("", tool_calls=[{"function": {"name": "find"}}] * 10_000), "answer"),
    ("usage past all bounds"): says(answer() | {"usage": {"prompt_tokens": 10**30, "completion_tokens": 1e300}}, "answer"),
    "a number of five thousand digits": says(GOOD[:-1] + b', "n": ' + b"9" * 5_000 + b"}", "retry"),
    ("finish_reason a number"): says({"choices": [answer()["choices"][0] | {"finish_reason": 3}]}, "answer"),
    ("finish_reason unheard of"): says({"choices": [answer()["choices"][0] | {"finish_reason": "\ud800?"}]}, "answer"),
    "a refusal": says(answer(None, refusal="no"), "filtered"),
}  # fmt: skip

SSE = b'data: {"choices": [{"index": 0, "delta": {"content": "fine"}}]}\n\n'
END = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
PING = b": ping\n\n"
EVENTS = head("Content-Type: text/event-stream")

STREAM: dict[str, Scene] = {
    "comments for ever": Scene(repeats(EVENTS, PING, 0.01), "retry", SHORT),
    "comments before the answer": Scene(sends(EVENTS + PING * 1000 + SSE + END), "answer"),
    "words for ever": Scene(repeats(EVENTS, SSE * 500), "final", SMALL_CAP),
    "one event for ever": Scene(repeats(EVENTS + b"data: ", b"x" * 65536), "final", SMALL_CAP),
    "reset in the middle": Scene(sends_and_resets(EVENTS + SSE), "retry"),
    "closed in the middle": Scene(sends(EVENTS + SSE), "retry"),
    "closed in the middle of an event": Scene(sends(EVENTS + SSE + SSE[:20]), "retry"),
    "silence in the middle": Scene(sends_and_hangs(EVENTS + SSE), "retry", SHORT),
    "closed before the first event": Scene(sends(EVENTS), "retry"),
    "nothing but the end": Scene(sends(EVENTS + b"data: [DONE]\n\n"), "retry"),
    "an error in the middle": Scene(
        sends(
            EVENTS
            + SSE
            + b'event: error\ndata: {"error": {"message": "overloaded", "code": 503}}\n\n'
        ),
        "retry",
    ),
    "an error of the request": Scene(
        sends(EVENTS + b'data: {"error": {"message": "no such model", "code": 404}}\n\n'), "final"
    ),
    "no JSON in the middle": Scene(sends(EVENTS + SSE + b"data: {oops}\n\n" + END), "retry"),
    "a stream in gzip": Scene(
        sends(
            head("Content-Type: text/event-stream", "Content-Encoding: gzip")
            + gzip.compress(SSE + END)
        ),
        "answer",
    ),
    "a stream in UTF-16": Scene(sends(EVENTS + (SSE + END).decode().encode("utf-16")), "retry"),
    "a stream in pieces of a byte": Scene(
        sends(chunked(*(bytes([each]) for each in SSE + END))), "answer"
    ),
}
"""What only an answer in pieces can meet."""

SCENES: dict[str, Scene] = CONNECTION | PROTOCOL | STATUS | BODY
