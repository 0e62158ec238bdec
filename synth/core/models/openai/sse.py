"""Reader of server-sent events as they arrive: bytes cut at any place in, each event's JSON value
out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

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
