"""Statements of a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Dialect = Literal["sqlite", "postgresql", "mysql"]


@dataclass(frozen=True, slots=True)
class Statement:
    r"""One unit of a script, without its terminator.

    ``kind`` is ``sql`` for what the server runs, ``copy`` for a COPY FROM STDIN with its rows in
    ``data`` (without the closing ``\\.``), ``command`` for a line that only the engine's
    command-line client understands (``\\connect``, ``source``, ``.mode``). ``line`` is the line
    of the first token, counted from 1.
    """

    text: str
    line: int
    kind: Literal["sql", "copy", "command"] = "sql"
    data: str | None = None
