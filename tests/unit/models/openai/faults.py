"""What endpoints do to their clients: over a hundred scenes, each with the one typed end that a
request comes to.
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
    "300": refuses("300 Multiple Choices", b"[]", "final"),
    "301": refuses("301 Moved Permanently", b"", "final", ELSEWHERE),
    "302 to a login": refuses("302 Found", b"", "final", "Location: /login"),
    "303": refuses("303 See Other", b"", "final", ELSEWHERE),
    "304": Scene(sends(head(status="304 Not Modified")), "final"),
    "307": refuses("307 Temporary Redirect", b"", "final", ELSEWHERE),
    "308 to nowhere": refuses("308 Permanent Redirect", b"", "final"),
    "308 to what is no URL": refuses(
        "308 Permanent Redirect", b"", "final", "Location: http://[::1/\u00e9"
    ),
    "400": refuses("400 Bad Request", {"message": "Unsupported parameter: 'top_k'"}, "final"),
    "400 without a body": refuses("400 Bad Request", b"", "final"),
    "400 latin-1": refuses("400 Bad Request", "ung\u00fcltig".encode("latin-1"), "final"),
    "400 context, OpenAI": refuses(
        "400 Bad Request", {"message": "no", "code": "context_length_exceeded"}, "overflow"
    ),
    "400 context, vLLM": refuses(
        "400 Bad Request",
        b'{"object":"error","message":"This model\'s maximum context length is 4096 tokens.'
        b" However, you requested 5000"
        b' tokens","type":"BadRequestError","param":null,"code":400}',
        "overflow",
    ),
    "400 context, llama.cpp": refuses(
        "400 Bad Request",
        {
            "code": 400,
            "type": "exceed_context_size_error",
            "message": "request (9 tokens) exceeds",
            "n_ctx": 8,
        },
        "overflow",
    ),
    "413 context, GitHub": refuses(
        "413 Too Large",
        {"code": "tokens_limit_reached", "message": "Request body too large for m. Max: 8 tokens"},
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
    "400 content filter, words": refuses(
        "400 Bad Request",
        {"message": "the prompt triggered the content management policy"},
        "filtered",
    ),
    "403 moderation, OpenRouter": refuses(
        "403 Forbidden", {"message": "input was flagged", "code": 403}, "filtered"
    ),
    "401": refuses("401 Unauthorized", {"message": "bad key sk-proj-Secret_0123456789"}, "auth"),
    "401 html": refuses("401 Unauthorized", b"<h1>Authorization Required</h1>", "auth"),
    "402": refuses("402 Payment Required", {"message": "Insufficient credits"}, "auth"),
    "403": refuses("403 Forbidden", {"message": "not allowed"}, "auth"),
    "407": refuses("407 Proxy Authentication Required", b"", "final"),
    "404 model": refuses("404 Not Found", {"message": "The model `m` does not exist"}, "final"),
    "404 html": refuses("404 Not Found", b"<html><body>nginx</body></html>", "final"),
    "405": refuses("405 Method Not Allowed", b'{"detail":"Method Not Allowed"}', "final"),
    "408": refuses("408 Request Timeout", b"", "retry"),
    "409": refuses("409 Conflict", b"", "retry"),
    "410": refuses("410 Gone", b"", "final"),
    "413": refuses("413 Request Entity Too Large", b"<html>nginx</html>", "overflow"),
    "400 too many tokens": refuses("400 Bad Request", {"message": "too many tokens"}, "overflow"),
    "400 too many input tokens": refuses(
        "400 Bad Request", {"message": "Request has too many input tokens (9 > 8)"}, "overflow"
    ),
    "400 input too long": refuses("400 Bad Request", {"message": "input is too long"}, "overflow"),
    "400 all messages too long": refuses(
        "400 Bad Request",
        {"message": "The total length of all messages is too long"},
        "overflow",
    ),
    "503 too many tokens for now": refuses(
        "503 Busy", {"message": "Too many tokens, please wait before trying again."}, "retry"
    ),
    "415": refuses("415 Unsupported Media Type", b"", "final"),
    "422 FastAPI": refuses(
        "422 Unprocessable", b'{"detail":[{"loc":["body","x"],"msg":"field required"}]}', "final"
    ),
    "424 Bedrock": refuses("424 Failed Dependency", {"message": "model failed"}, "retry"),
    "425": refuses("425 Too Early", b"", "retry"),
    "429": refuses("429 Too Many Requests", {"message": "slow down"}, "retry", "Retry-After: 7"),
    "429 wait till a date": refuses(
        "429 Too Many Requests",
        {"message": "m"},
        "retry",
        "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT",
    ),
    "429 wait below zero": refuses(
        "429 Too Many Requests", {"message": "m"}, "retry", "Retry-After: -30"
    ),
    "429 wait for ever": refuses(
        "429 Too Many Requests", {"message": "m"}, "retry", "Retry-After: 1e400"
    ),
    "429 wait a year": refuses(
        "429 Too Many Requests", {"message": "m"}, "retry", "Retry-After: 31536000"
    ),
    "503 wait NaN": refuses(
        "503 Busy", {"message": "m"}, "retry", "Retry-After: nan", "retry-after-ms: nan"
    ),
    "429 nonsense to wait": refuses("429 Too Many Requests", b"[]", "retry", "Retry-After: soon"),
    "429 no money": refuses(
        "429 Too Many Requests", {"message": "quota", "code": "insufficient_quota"}, "auth"
    ),
    "429 one request too large": refuses(
        "429 Too Many Requests",
        {"message": "Request too large for m: Limit 30000, Requested 40000"},
        "final",
    ),
    "431": refuses("431 Request Header Fields Too Large", b"", "final"),
    "451": refuses("451 Unavailable For Legal Reasons", b"", "final"),
    "498 Groq": refuses("498 Flex Tier Capacity Exceeded", b"{}", "retry"),
    "499 nginx": refuses("499 Client Closed Request", b"", "retry"),
    "500": refuses("500 Internal Server Error", b"oops", "retry"),
    "500 context": refuses(
        "500 Oops",
        {"message": "input is too large to process. increase the batch size"},
        "overflow",
    ),
    "500 not to be retried": refuses("500 Oops", b"", "final", "x-should-retry: false"),
    "501": refuses("501 Not Implemented", b"", "final"),
    "502 html": refuses("502 Bad Gateway", b"<html><h1>502 Bad Gateway</h1></html>", "retry"),
    "503 loading": refuses(
        "503 Service Unavailable",
        {"message": "Loading model", "type": "unavailable_error"},
        "retry",
    ),
    "504": refuses("504 Gateway Timeout", b"", "retry"),
    "507": refuses("507 Insufficient Storage", b"", "retry"),
    "520 Cloudflare": refuses(
        "520 Web Server Returned an Unknown Error", b"error code: 520", "retry"
    ),
    "529 overloaded": refuses(
        "529 Overloaded", {"type": "overloaded_error", "message": "Overloaded"}, "retry"
    ),
    "599": refuses("599 Network Connect Timeout", b"", "retry"),
    "999": refuses("999 Denied", b"", "retry"),
    "a surrogate in an error": refuses(
        "400 Bad Request", b'{"error": {"message": "bad \\ud800 thing"}}', "final"
    ),
    "ten megabytes in an error": refuses(
        "500 Oops", b'{"error": {"message": "' + b"x" * 10_000_000 + b'"}}', "retry"
    ),
    "an error nested too deeply": refuses("500 Oops", b"[" * 200_000, "retry"),
}

BODY: dict[str, Scene] = {
    "empty": says(b"", "retry"),
    "blank": says(b" \r\n\t", "retry"),
    "html": says(b"<!DOCTYPE html><p>Please log in", "retry"),
    "text": says(b"upstream connect error", "retry"),
    "truncated": says(HALF, "retry"),
    "latin-1": says('{"choices": "\u00e9"}'.encode("latin-1"), "retry"),
    "utf-16": says(GOOD.decode().encode("utf-16"), "retry"),
    "a byte order mark": says(b"\xef\xbb\xbf" + GOOD, "answer"),
    "two answers in a row": says(GOOD + GOOD, "retry"),
    "a list": says([answer()], "retry"),
    "null": says(b"null", "retry"),
    "a number": says(b"42", "retry"),
    "nested too deeply": says(b'{"choices":' + b"[" * 100_000, "retry"),
    "a stream although none was asked for": says(
        b'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n', "answer"
    ),
    "an error": says({"error": {"message": "upstream died", "code": 503}}, "retry"),
    "an error as a string": says({"error": "upstream died"}, "retry"),
    ("an error with a code in words"): says({"error": {"message": "m", "code": "rate_limit_exceeded"}}, "retry"),
    "an error with a status in digits": says({"error": {"message": "m", "code": "400"}}, "final"),
    "an error of vLLM": says({"object": "error", "message": "m", "code": 400}, "final"),
    "an error of quota": says({"error": {"message": "m", "type": "insufficient_quota"}}, "auth"),
    ("an error beside choices that are null"): says({"error": {"message": "m", "code": 502}, "choices": None}, "retry"),
    ("an error inside the choice"): says({"choices": [{"error": {"code": 502, "x": [1]}, "message": {"content": ""}}]}, "retry"),
    "no choices": says({"id": "x", "object": "chat.completion"}, "retry"),
    "choices null": says({"choices": None}, "retry"),
    "choices empty": says({"choices": []}, "retry"),
    "choices an object": says({"choices": {"0": {}}}, "retry"),
    "choices of null": says({"choices": [None]}, "retry"),
    "several choices": says({"choices": [answer()["choices"][0], answer("other")["choices"][0]]}, "answer"),
    "no message": says({"choices": [{"text": "fine"}]}, "retry"),
    "message null": says({"choices": [{"message": None}]}, "retry"),
    "message a text": says({"choices": [{"message": "fine"}]}, "retry"),
    ("message filtered away"): says({"choices": [{"message": None, "finish_reason": "content_filter"}]}, "filtered"),
    "content null": says(answer(None), "answer"),
    "content a number": says(answer(7), "retry"),
    "content an object": says(answer({"text": "fine"}), "retry"),
    "content in parts": says(answer([{"type": "text", "text": "fine"}]), "answer"),
    "content of no parts": says(answer([]), "answer"),
    "content with a NUL and a surrogate": says(answer("fine \x00 \ud800"), "answer"),
    "ten megabytes of content": says(answer("x" * 10_000_000), "answer"),
    "arguments an object": says(called(arguments={"name": "Zo\u00eb"}), "answer"),
    "arguments null": says(called(arguments=None), "answer"),
    "arguments a number": says(called(arguments=7), "answer"),
    "arguments NaN": says(json.dumps(called(arguments={"x": float("nan")})).encode(), "answer"),
    ("arguments ten megabytes"): says(called(arguments=json.dumps({"name": "x" * 10_000_000})), "answer"),
    "arguments with a surrogate": says(called(arguments='{"name": "\ud800"}'), "answer"),
    "a name that is a number": says(called(name=7), "answer"),
    "a call that is null": says(answer("", tool_calls=[None]), "answer"),
    "calls in an object": says(answer("", tool_calls={"id": "c"}), "answer"),
    ("calls without ids"): says(answer("", tool_calls=[{"function": {"name": "find", "arguments": "{}"}}] * 3), "answer"),
    ("calls with one id"): says(answer("", tool_calls=[called()["choices"][0]["message"]["tool_calls"][0]] * 3), "answer"),
    ("ids that are numbers"): says(answer("", tool_calls=[{"id": 7, "function": {"name": "find"}}]), "answer"),
    ("ten thousand calls"): says(answer("", tool_calls=[{"function": {"name": "find"}}] * 10_000), "answer"),
    "usage null": says(answer() | {"usage": None}, "answer"),
    "usage a list": says(answer() | {"usage": [1, 2]}, "answer"),
    ("usage below zero"): says(answer() | {"usage": {"prompt_tokens": -1, "completion_tokens": -7}}, "answer"),
    "usage in strings": says(answer() | {"usage": {"prompt_tokens": "7", "completion_tokens": "x"}}, "answer"),
    "usage in floats": says(answer() | {"usage": {"prompt_tokens": 7.0, "completion_tokens": 1.5}}, "answer"),
    ("usage past all bounds"): says(answer() | {"usage": {"prompt_tokens": 10**30, "completion_tokens": 1e300}}, "answer"),
    "usage of NaN": says(json.dumps(answer() | {"usage": {"prompt_tokens": float("nan")}}).encode(), "answer"),
    "a number of five thousand digits": says(GOOD[:-1] + b', "n": ' + b"9" * 5_000 + b"}", "retry"),
    "log probabilities past all bounds": says(
        {"choices": [answer()["choices"][0] | {"logprobs": {"content": [{"logprob": 10**400}]}, "token_ids": [2**40]}]}, "answer"
    ),
    "log probabilities that are infinite": says(
        GOOD.replace(b'"stop"', b'"stop", "logprobs": {"content": [{"logprob": -Infinity}]}'), "answer"
    ),
    ("finish_reason null"): says({"choices": [answer()["choices"][0] | {"finish_reason": None}]}, "answer"),
    ("finish_reason a number"): says({"choices": [answer()["choices"][0] | {"finish_reason": 3}]}, "answer"),
    ("finish_reason unheard of"): says({"choices": [answer()["choices"][0] | {"finish_reason": "\ud800?"}]}, "answer"),
    ("finish_reason abort"): says({"choices": [answer()["choices"][0] | {"finish_reason": "abort"}]}, "retry"),
    ("finish_reason error"): says({"choices": [answer()["choices"][0] | {"finish_reason": "error"}]}, "retry"),
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
