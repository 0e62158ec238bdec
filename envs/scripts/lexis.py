"""The lexis of each dialect: where literals, comments and statements end.

Scanning jumps from one *mark* (a quote, a comment, a terminator, ...) to the next with one compiled
expression, so that a line of a dump costs microseconds. Everything between two marks is plain code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
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


_ESCAPED = r"{q}[^{q}\\]*+(?:(?:\\(?s:.)|{q}{q})[^{q}\\]*+)*+(?:{q}|\\?\Z)"
# a doubled quote reads as two adjacent literals, which ends at the same place
_PLAIN = r"{q}[^{q}]*+(?:{q}|\Z)"
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_VERSIONED = r"/\*(?:!|M!(?!999999))\d*"
"""A conditional comment (MySQL, MariaDB) is code, but 999999, the marker of MariaDB's dumps."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text that is not plain code, or that may end a statement."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Lexis:
    """Lexical state of the text being read. ``backslash`` says whether a backslash escapes in an
    ordinary literal (it depends on a session setting in PostgreSQL and MySQL), ``delimiter`` is
    MySQL's, ``words`` adds BEGIN, CASE and END as marks.
    """

    dialect: Dialect
    backslash: bool
    delimiter: str = ";"
    words: bool = False

    @classmethod
    def of(cls, dialect: Dialect) -> Lexis:
        return cls(dialect, backslash=dialect == "mysql")

    def next(self, text: str, pos: int) -> Mark | None:
        """The first mark at or after ``pos``; an unterminated one reaches to the text's end."""
        found = _compiled(self).search(text, pos)
        if found is None:
            return None
        kind, end = str(found.lastgroup), found.end()
        if kind == "nested":
            kind, end = "comment", end_of_nested(text, end)
        elif kind == "dollar":
            close = text.find(found.group(), end)
            kind, end = "string", len(text) if close < 0 else close + len(found.group())
        return Mark(kind, found.start(), end)

    def marks(self, text: str) -> Iterator[Mark]:
        pos = 0
        while (mark := self.next(text, pos)) is not None:
            yield mark
            pos = mark.end


def code_only(text: str, lexis: Lexis) -> str:
    """The text without comments, its literals emptied, one blank where several were: what a pattern
    may be matched on.

    The content of conditional comments stays: it is code.
    """
    parts: list[str] = []
    pos = 0
    for mark in lexis.marks(text):
        parts.append(text[pos : mark.start])
        pos = mark.end
        if mark.kind in {"comment", "versioned", "close_versioned"}:
            parts.append(" ")
        elif mark.kind == "string":
            parts.append("''")
        else:
            parts.append(text[mark.start : mark.end])
    parts.append(text[pos:])
    return " ".join("".join(parts).split())


def rewrite_code(text: str, lexis: Lexis, change: Callable[[str], str]) -> str:
    """The text with ``change`` applied to each run of code; literals and comments stay."""
    parts: list[str] = []
    run, pos = 0, 0
    for mark in lexis.marks(text):
        pos = mark.start
        if mark.kind in {"comment", "string"}:
            parts += [change(text[run:pos]), text[pos : mark.end]]
            run = mark.end
    parts.append(change(text[run:]))
    return "".join(parts)


def end_of_nested(text: str, pos: int) -> int:
    """The end of a comment whose ``/*`` is just before ``pos``: comments in it nest."""
    depth = 1
    for edge in _BLOCK_EDGE.finditer(text, pos):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


@lru_cache(maxsize=64)
def _compiled(lexis: Lexis) -> re.Pattern[str]:
    literal = (_ESCAPED if lexis.backslash else _PLAIN).format(q="'")
    match lexis.dialect:
        case "sqlite":
            parts = [
                r"(?P<comment>--[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))",
                f"(?P<string>{literal})",
                r'(?P<name>"[^"]*+(?:"|\Z)|`[^`]*+(?:`|\Z)|\[[^\]]*+(?:\]|\Z))',
                r"(?P<end>;)",
                # the sqlite3 shell takes these lines for a semicolon
                r"(?P<go>^[ \t]*+(?:[Gg][Oo]|/)[ \t\r]*+$)",
            ]
        case "postgresql":
            escaped = _ESCAPED.format(q="'")
            parts = [
                r"(?P<comment>--[^\n\r]*+)",
                r"(?P<nested>/\*)",
                rf"(?P<string>(?<![\w$])[eE]{escaped}|{literal})",
                r'(?P<name>"[^"]*+(?:"|\Z))',
                r"(?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*+)?\$)",
                r"(?P<open>\()",
                r"(?P<close>\))",
                r"(?P<end>;)",
                r"(?P<command>\\)",
            ]
            if lexis.words:
                parts.append(r"(?P<word>(?<![\w$])(?i:begin|case|end)(?![\w$]))")
        case "mysql":
            double = (_ESCAPED if lexis.backslash else _PLAIN).format(q='"')
            parts = [
                rf"(?P<end>{re.escape(lexis.delimiter)}|\\[gG])",
                (
                    r"(?P<comment>#[^\n]*+|--(?=[\s\x00-\x20]|\Z)[^\n]*+|/\*(?!!"
                    r"|M!(?!999999))(?s:.*?)(?:\*/|\Z))"
                ),
                rf"(?P<versioned>{_VERSIONED})",
                r"(?P<close_versioned>\*/)",
                f"(?P<string>(?s:{literal}|{double}))",
                r"(?P<name>`[^`]*+(?:`|\Z))",
            ]
            if lexis.delimiter != ";":
                parts.append(r"(?P<delimiter>^[ \t]*+(?i:delimiter)[ \t]++[^\n]*+)")
    return re.compile("|".join(parts), re.MULTILINE)
