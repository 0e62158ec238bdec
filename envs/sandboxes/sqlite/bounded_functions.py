"""Functions of SQLite that compute for seconds in one step, bounded and looked at in place.

``instr``, ``replace``, ``trim`` and ``unhex`` take as many steps as the product of their arguments'
lengths, and no timeout reaches a step: 60 columns of ``instr`` ran for minutes. In this process,
where nothing kills a call, each of them looks at the clock first, refuses too much, and computes
in linear time where it can. Their results are SQLite's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import apsw

STEPS = 50_000_000
"""Steps of one call in SQLite's own code: about a tenth of a second."""


class _Own(threading.local):
    """A connection for each thread, whose functions are SQLite's own."""

    def __init__(self) -> None:
        self.raw = apsw.Connection(":memory:")

    def ask(self, name: str, *values: Any) -> Any:
        marks = ", ".join("?" * len(values))
        ((value,),) = self.raw.execute(f"SELECT {name}({marks})", values)
        return value


_OWN = _Own()


def _raise(code: int, message: str) -> None:
    error = apsw.exception_for(code)
    error.args = (message,)
    raise error


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 32


class BoundedFunctions:
    """The functions of one connection. ``overdue`` says that its statement has no time left."""

    def __init__(self, overdue: Callable[[], bool], value_bytes: int) -> None:
        self._overdue = overdue
        self._value_bytes = value_bytes

    def install(self, raw: apsw.Connection) -> None:
        functions: dict[str, tuple[int, Callable[..., Any]]] = {
            "instr": (2, self.instr),
            "replace": (3, self.replace),
            "trim": (2, self.trim),
            "ltrim": (2, self.ltrim),
            "rtrim": (2, self.rtrim),
            "unhex": (2, self.unhex),
        }
        for name, (count, function) in functions.items():
            raw.create_scalar_function(
                name, function, count, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
            )

    def _look(self) -> None:
        if self._overdue():
            _raise(apsw.SQLITE_INTERRUPT, "interrupted")

    def _own(self, name: str, *values: Any) -> Any:
        if _size(values[0]) * _size(values[1]) > STEPS:
            _raise(apsw.SQLITE_TOOBIG, "string or blob too big")
        return _OWN.ask(name, *values)

    def instr(self, text: Any, part: Any) -> Any:
        self._look()
        if isinstance(text, str) and isinstance(part, str):
            return text.find(part) + 1
        if isinstance(text, bytes) and isinstance(part, bytes):
            return text.find(part) + 1
        return self._own("instr", text, part)

    def replace(self, text: Any, old: Any, new: Any) -> Any:
        self._look()
        if not (isinstance(text, str) and isinstance(old, str) and isinstance(new, str)) or not old:
            return self._own("replace", text, old, new)
        growth = len(new.encode()) - len(old.encode())
        if growth > 0 and len(text) + text.count(old) * growth > self._value_bytes:
            _raise(apsw.SQLITE_TOOBIG, "string or blob too big")
        return text.replace(old, new)

    def trim(self, text: Any, marks: Any) -> Any:
        return self._trimmed("trim", str.strip, text, marks)

    def ltrim(self, text: Any, marks: Any) -> Any:
        return self._trimmed("ltrim", str.lstrip, text, marks)

    def rtrim(self, text: Any, marks: Any) -> Any:
        return self._trimmed("rtrim", str.rstrip, text, marks)

    def _trimmed(self, name: str, strip: Callable[[str, str], str], text: Any, marks: Any) -> Any:
        self._look()
        if isinstance(text, str) and isinstance(marks, str):
            return strip(text, "".join(set(marks)))
        return self._own(name, text, marks)

    def unhex(self, text: Any, ignored: Any) -> Any:
        self._look()
        return self._own("unhex", text, ignored)
