"""Assembly of a streamed answer: the chunks of ``stream: true`` become the body of an unstreamed
answer.

There is one reader of answers (:mod:`synth.core.models.openai.reply`), so that an answer is the
same in both ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from synth.core.models.openai.other_fields import REASONING_KEYS
from synth.core.models.openai.reply import NotACompletionError, load_body, split_content
from synth.model import Delta, OnDelta

DONE = "[DONE]"


class EventReader:
    """Splitter of a stream into its events' JSON values.

    Lines end in LF, CRLF or CR. Comments and fields other than ``data`` are skipped. A line of data
    that is JSON by itself is an event, whether or not an empty line follows; otherwise the lines up
    to the next empty one are one event. Data after ``[DONE]`` is skipped.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._after_cr = False
        self._begun = False
        self._lines: list[str] = []
        self.done = False

    def feed(self, data: bytes) -> Iterator[object]:
        """Return the values that these bytes complete. Raises ValueError for data that is not JSON
        or not UTF-8.
        """
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        self._rest += data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        start = 0
        while (end := self._rest.find(b"\n", max(start, self._searched))) >= 0:
            line = bytes(self._rest[start:end])
            start = end + 1
            yield from self._line(line)
        del self._rest[:start]
        self._searched = len(self._rest)

    def end(self) -> Iterator[object]:
        """Return the value of a last line without a line end. Raises ValueError if it is cut
        off.
        """
        line = bytes(self._rest)
        self._rest.clear()
        self._searched = 0
        yield from self._line(line)
        yield from self._line(b"")

    def _line(self, raw: bytes) -> Iterator[object]:
        if self.done:
            return
        if not self._begun:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
            self._begun = True
        line = raw.decode()
        if not line:
            if self._lines:
                text, self._lines = "\n".join(self._lines), []
                yield json.loads(text)
            return
        name, _, value = line.partition(":")
        if name != "data":
            return
        value = value.removeprefix(" ")
        if value.strip() == DONE:
            self.done = True
            return
        if not self._lines and value.endswith(("}", "]")):
            try:
                whole = json.loads(value)
            except ValueError:
                whole = None
            if whole is not None:
                yield whole
                return
        if value or self._lines:
            self._lines.append(value)


Json = Any

_GRACE_S = 5.0
"""Seconds that the usage and the end of the stream may take after the answer itself is complete."""

_SAID_ONCE = frozenset({"id", "type", "index", "role", "format"})
"""Fields that a stream repeats with each piece; any other text comes in pieces."""

_TEXTS_OF_PARTS = ("text", "thinking", "summary", "data", "signature")


class StreamedAnswer:
    """Collector of the bytes of a streamed answer; calls ``on_delta`` with the new parts of the
    first choice.

    The answer of an endpoint that does not stream is read as well.
    """

    def __init__(self, on_delta: OnDelta | None = None) -> None:
        self._events = EventReader()
        self._whole: bytearray | None = None
        self._started = False
        self._top: dict[str, Json] = {}
        self._choice: dict[str, Json] = _Fields()
        self._message = _Message(on_delta)
        self._error: Json = None

    def feed(self, data: bytes) -> float | None:
        """Read further bytes. Returns a number of seconds to wait once only the stream's end is
        missing.

        Raises NotACompletionError.
        """
        if not self._started:
            data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
            self._started = bool(data)
            if data[:1] in (b"{", b"<", b"["):
                self._whole = bytearray()
        if self._whole is not None:
            self._whole += data
            return None
        try:
            for value in self._events.feed(data):
                self.read(value)
        except (ValueError, RecursionError) as error:
            raise _unreadable(error) from error
        return _GRACE_S if self.settled else None

    @property
    def finished(self) -> bool:
        """True if the first choice has its finish reason: at most usage and the stream's end are
        missing.
        """
        return self._choice.get("finish_reason") is not None

    @property
    def settled(self) -> bool:
        """True if the endpoint has sent the answer, or an error."""
        return self.finished or self._error is not None

    def body(self) -> dict[str, Json]:
        """Return the answer as one body. Raises NotACompletionError for a stream that was cut off,
        or is none.
        """
        if self._whole is not None:
            body = load_body(bytes(self._whole))
            self._message.tell_all_of(body)
            return body
        try:
            for value in self._events.end():
                self.read(value)
        except (ValueError, RecursionError) as error:
            if not self.settled:
                raise _unreadable(error) from error
        if self._error is not None:
            return {"error": self._error}
        if not self._started:
            raise NotACompletionError("an empty body")
        if not self._choice:
            raise NotACompletionError("a stream without choices")
        if not self.finished:
            raise NotACompletionError("a stream that ended before its finish_reason")
        return {
            **self._top,
            "choices": [{**_settled(self._choice), "message": self._message.whole()}],
        }

    def read(self, value: Json) -> None:
        """Read one event. Raises NotACompletionError."""
        if value is None:
            return
        if not isinstance(value, dict):
            raise NotACompletionError(f"a chunk that is not an object but {type(value).__name__}")
        chunk = cast("dict[str, Json]", value)
        if error := chunk.get("error") or (chunk if chunk.get("object") == "error" else None):
            self._error = self._error or error
            return
        for key, item in chunk.items():
            if key not in ("choices", "object") and item is not None:
                self._top[key] = item
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return
        for choice in cast("list[Json]", choices):
            if isinstance(choice, dict) and not cast("dict[str, Json]", choice).get("index"):
                self._read_choice(cast("dict[str, Json]", choice))

    def _read_choice(self, choice: Mapping[str, Json]) -> None:
        self._choice["index"] = 0
        for key, item in choice.items():
            if isinstance(item, (dict, list)) and key not in ("delta", "message"):
                _add(self._choice, key, item)
            elif key not in ("delta", "message") and item is not None:
                self._choice[key] = item
        # An endpoint that streams nothing may send the whole message in one chunk.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._message.read(cast("dict[str, Json]", delta))


class _Message:
    """The first choice's message while it grows."""

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._tell = on_delta
        self._fields: dict[str, Json] = _Fields()
        self._calls: list[dict[str, Json]] = []
        self._by_index: dict[int, dict[str, Json]] = {}
        self._native = False

    def whole(self) -> dict[str, Json]:
        message = _settled(self._fields)
        return (
            message | {"tool_calls": [_settled(call) for call in self._calls]}
            if self._calls
            else message
        )

    def read(self, delta: Mapping[str, Json]) -> None:
        for key, item in delta.items():
            if key not in ("tool_calls", "function_call"):
                _add(self._fields, key, item)
        if self._tell is not None:
            text, thoughts, _ = split_content(delta.get("content"))
            self._emit(
                "reasoning",
                next((delta[key] for key in REASONING_KEYS if delta.get(key)), thoughts),
            )
            self._emit("content", text)
        calls = delta.get("tool_calls")
        for call in cast("list[Json]", calls) if isinstance(calls, list) else [calls]:
            if isinstance(call, dict):
                self._native = True
                self._read_call(cast("dict[str, Json]", call))
        # Some gateways send a call in the form before tools as well.
        if not self._native and isinstance(legacy := delta.get("function_call"), dict):
            self._read_call({"index": 0, "function": legacy})

    def tell_all_of(self, body: Mapping[str, Json]) -> None:
        """Emit a message that came whole, as one delta of each kind."""
        choices = body.get("choices")
        first = cast("list[Json]", choices)[0] if isinstance(choices, list) and choices else None
        message = cast("dict[str, Json]", first).get("message") if isinstance(first, dict) else None
        if isinstance(message, dict):
            self.read(cast("dict[str, Json]", message))

    def _read_call(self, piece: Mapping[str, Json]) -> None:
        raw = piece.get("function")
        function = cast("dict[str, Json]", raw) if isinstance(raw, dict) else piece
        name, arguments = function.get("name"), function.get("arguments")
        call = self._call_of(piece, named=bool(name))
        for key, item in piece.items():
            if key not in ("function", "index", "name", "arguments"):
                _add(call, key, item)
        known = call["function"]
        for key, item in function.items() if function is not piece else ():
            if key not in ("name", "arguments"):
                _add(known, key, item)
        # Some endpoints repeat the whole name in each piece.
        if isinstance(name, str) and name and name != "".join(known.get("name", ())):
            _add(known, "name", name)
            self._emit("tool_call", name)
        if isinstance(arguments, str):
            _add(known, "arguments", arguments)
            self._emit("tool_call", arguments)
        elif arguments is not None and not known.get("arguments"):
            known["arguments"] = arguments

    def _call_of(self, piece: Mapping[str, Json], *, named: bool) -> dict[str, Json]:
        """Return the call that a piece belongs to: by its index, else by its id, else the last
        one.
        """
        index, call_id = piece.get("index"), piece.get("id")
        if isinstance(index, int):
            call = self._by_index.get(index)
            # Some gateways give every call the index 0: another id with a name of its own is
            # another call.
            if call is None or (named and call_id and call.get("id") not in (None, call_id)):
                call = self._by_index[index] = self._new_call()
            return call
        same = next(
            (call for call in reversed(self._calls) if call_id and call.get("id") == call_id), None
        )
        if same is not None:
            return same
        if not self._calls or call_id or (named and "name" in self._calls[-1]["function"]):
            return self._new_call()
        return self._calls[-1]

    def _new_call(self) -> dict[str, Json]:
        call: dict[str, Json] = _Fields(function=_Fields())
        self._calls.append(call)
        return call

    def _emit(self, kind: Literal["content", "reasoning", "tool_call"], text: Json) -> None:
        if self._tell is not None and isinstance(text, str) and text:
            self._tell(Delta(kind, text))


class _Pieces(list[str]):
    """An incomplete text, joined once at the end."""


class _Fields(dict[str, Any]):
    """An incomplete object, as opposed to one that came whole."""


def _add(store: dict[str, Json], key: str, item: Json) -> None:
    """Append a piece of a field: text to text, fields to fields, parts to parts."""
    before = store.get(key)
    if item is None or (key in _SAID_ONCE and before):
        return
    if isinstance(item, dict):
        inner = store[key] = before if isinstance(before, _Fields) else _Fields()
        for name, value in cast("dict[str, Json]", item).items():
            _add(inner, name, value)
    elif isinstance(item, str) and isinstance(before, _Pieces):
        before.append(item)
    elif isinstance(item, list) or (isinstance(item, str) and isinstance(before, list)):
        store[key] = _with_parts(before, cast("list[Json] | str", item))
    else:
        plain = not isinstance(item, str) or key in _SAID_ONCE
        store[key] = item if plain else _Pieces([item])


def _with_parts(before: Json, item: list[Json] | str) -> list[Json]:
    """Return the parts of a field after a piece; text on either side is a part, too."""
    parts: list[Json] = cast("list[Json]", before) if isinstance(before, list) else []
    if isinstance(before, _Pieces):
        parts = [_Fields(type="text", text=before)]
    for part in [{"type": "text", "text": item}] if isinstance(item, str) else item:
        _add_part(parts, part)
    return parts


def _add_part(parts: list[Json], piece: Json) -> None:
    """Append a piece to the last part if it continues that one, else as a part of its own."""
    if not isinstance(piece, dict):
        parts.append(piece)
        return
    fields = cast("dict[str, Json]", piece)
    if not parts or not _continues(parts[-1], fields):
        parts.append(_Fields())
    for name, value in fields.items():
        _add(parts[-1], name, value)


def _continues(part: Json, piece: Mapping[str, Json]) -> bool:
    """Tell whether a piece of text belongs to a part; nothing follows a part's signature."""
    if not isinstance(part, _Fields) or not piece.get("type") or part.get("signature"):
        return False
    same = all(part.get(key) == piece.get(key) for key in ("type", "index"))
    return same and any(isinstance(piece.get(key), str) for key in _TEXTS_OF_PARTS)


def _settled(value: Json) -> Json:
    """Return a copy with its texts joined."""
    if isinstance(value, _Pieces):
        return _joined(value)
    if isinstance(value, _Fields):
        return {key: _settled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_settled(item) for item in cast("list[Json]", value)]
    return value


def _joined(pieces: Sequence[str]) -> str:
    """Return the text; a character that was cut between the halves of its surrogate pair is
    restored.
    """
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _unreadable(error: Exception) -> NotACompletionError:
    if isinstance(error, NotACompletionError):
        return error
    if isinstance(error, UnicodeDecodeError):
        return NotACompletionError("a stream that is not UTF-8")
    return NotACompletionError("a stream with an event that is not complete JSON")
