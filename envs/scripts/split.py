"""Cut a script into statements as sqlite3, psql and mysql do.

Each dialect has one splitter. They share the way of going from mark to mark
(:mod:`envs.scripts.lexis`) and differ in what can start a line of the client's own, and in what a
semicolon may stand in without ending anything.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from envs.errors import ScriptError
from envs.scripts.lexis import Dialect, Lexis, Mark, Statement, code_only

_GAP = r"(?:\s|--[^\n]*\n|/\*(?s:.*?)\*/)"
_BLANK = re.compile(r"[\s\ufeff]+")


def split(text: str, dialect: Dialect) -> Iterator[Statement]:
    """The statements of a script in order, each from its first token on; comments between them are
    left out.

    Text that ends inside a literal comes back as one statement, for the database to judge. The one
    thing refused here (ScriptError without a file) is SQL between COPY FROM STDIN and its rows.
    """
    kinds: dict[Dialect, type[_Splitter]] = {
        "sqlite": _Sqlite,
        "postgresql": _Postgres,
        "mysql": _MySQL,
    }
    return kinds[dialect](text).statements()


class _Splitter(ABC):
    lexis: Lexis

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.start = 0
        self._counted = 0
        self._line = 1

    @abstractmethod
    def client_line(self) -> Statement | bool:
        """Read a line of the client's own at ``pos``, where a statement could begin.

        A statement, or True where the line was taken in and says nothing to a server, or False
        where there is none.
        """

    @abstractmethod
    def ends(self, mark: Mark) -> int | None:
        """End of the pending statement's text, if this mark ends it; ``pos`` is past the mark."""

    @abstractmethod
    def began(self) -> None:
        """A statement's first token stands at ``start``."""

    def finish(self, statement: Statement) -> Statement:
        """Last say on a statement that is complete, ``pos`` standing behind its terminator."""
        return statement

    def statements(self) -> Iterator[Statement]:
        while self._to_first_token():
            line = self.client_line()
            if isinstance(line, Statement):
                yield line
            if line is not False:
                continue
            self.start = self.pos
            self.began()
            stop = None
            while stop is None:
                mark = self.lexis.next(self.text, self.pos)
                if mark is None:
                    stop = self.pos = len(self.text)
                else:
                    stop = self.ends(mark)
            words = self.text[self.start : stop].rstrip()
            if words:
                yield self.finish(Statement(words, self.line_at(self.start)))

    def line_at(self, pos: int) -> int:
        """Lines are counted on from the last place, so places must be asked for in order."""
        self._line += self.text.count("\n", self._counted, pos)
        self._counted = pos
        return self._line

    def rest_of_line(self) -> str:
        stop = self.text.find("\n", self.pos)
        stop = len(self.text) if stop < 0 else stop
        line = self.text[self.pos : stop]
        self.pos = stop
        return line.rstrip()

    def at_line_start(self) -> bool:
        before = self.text.rfind("\n", 0, self.pos) + 1
        return not self.text[before : self.pos].strip(" \t\r\ufeff")

    def command(self, words: str, start: int) -> Statement:
        return Statement(words, self.line_at(start), "command")

    def _to_first_token(self) -> bool:
        """Pass white space and comments; False at the end of the text."""
        while self.pos < len(self.text):
            blank = _BLANK.match(self.text, self.pos)
            if blank is not None:
                self.pos = blank.end()
                continue
            mark = self.lexis.next(self.text, self.pos) if self.text[self.pos] in "-/#" else None
            if mark is not None and mark.start == self.pos and mark.kind == "comment":
                self.pos = mark.end
                continue
            return True
        return False


class _Sqlite(_Splitter):
    """A trigger ends at ``; END ;`` (sqlite3_complete()); dot commands and # lines start a line."""

    _TRIGGER = re.compile(rf"create{_GAP}+(?:temp(?:orary)?{_GAP}+)?trigger\b", re.IGNORECASE)
    _DOT = re.compile(r"\.[a-zA-Z]")
    _TRIGGER_END = re.compile(rf";{_GAP}*end{_GAP}*(?:;|\Z)", re.IGNORECASE)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lexis = Lexis.of("sqlite")
        self._in_trigger = False

    def client_line(self) -> Statement | bool:
        if self.at_line_start():
            if self.text[self.pos] == "#":
                self.rest_of_line()
                return True
            if self._DOT.match(self.text, self.pos):
                start = self.pos
                return self.command(self.rest_of_line(), start)
        return False

    def began(self) -> None:
        self._in_trigger = self._TRIGGER.match(self.text, self.pos) is not None

    def ends(self, mark: Mark) -> int | None:
        self.pos = mark.end
        if mark.kind == "go":
            return mark.start
        if mark.kind != "end":
            return None
        if not self._in_trigger:
            return mark.start
        close = self._TRIGGER_END.match(self.text, mark.start)
        if close is None:
            return None
        self.pos = close.end()
        return close.end() - 1 if close.group().endswith(";") else close.end()


class _Postgres(_Splitter):
    """Semicolons in parentheses and BEGIN ATOMIC ... END end nothing; a backslash is psql's."""

    _ROUTINE = re.compile(
        rf"create{_GAP}+(?:or{_GAP}+replace{_GAP}+)?(?:function|procedure)\b", re.IGNORECASE
    )
    _COPY = re.compile(r"COPY\b.*\bFROM STDIN\b", re.IGNORECASE)
    _WHOLE_LINE = re.compile(r"\\(?:copy\b|!)", re.IGNORECASE)
    _COMMAND = re.compile(r"\\[^\s\\]+(?:'(?:[^'\\\n]|''|\\.)*'|\"[^\"\n]*\"|`[^`\n]*`|[^\\\n])*")
    _CLIENT_COPY = re.compile(r"\\copy\b.*\bfrom\s+p?stdin\b", re.IGNORECASE)
    _STRINGS = re.compile(
        r"SET (?:SESSION |LOCAL )?standard_conforming_strings (?:=|TO) ?(\S+)", re.IGNORECASE
    )
    _DATA_END = re.compile(r"^\\\.[ \t\r]*(?:\n|\Z)", re.MULTILINE)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lexis = Lexis.of("postgresql")
        self._parens = 0
        self._blocks = 0

    def client_line(self) -> Statement | bool:
        if self.text[self.pos] != "\\":
            return False
        start = self.pos
        if self.text.startswith("\\;", start):
            self.pos += 2
            return True
        if self._WHOLE_LINE.match(self.text, start) is None:
            found = self._COMMAND.match(self.text, start)
            self.pos = start + 2 if found is None else found.end()
            words = self.text[start : self.pos].rstrip()
            if self.text.startswith("\\\\", self.pos):  # ends a command, and SQL goes on behind it
                self.pos += 2
            return self.command(words, start)
        words = self.rest_of_line()
        if self._CLIENT_COPY.match(words):
            return Statement(words, self.line_at(start), "copy", self._rows())
        return self.command(words, start)

    def began(self) -> None:
        self._parens = self._blocks = 0
        self.lexis = replace(self.lexis, words=self._ROUTINE.match(self.text, self.pos) is not None)

    def ends(self, mark: Mark) -> int | None:
        self.pos = mark.end
        match mark.kind:
            case "open":
                self._parens += 1
            case "close":
                self._parens = max(0, self._parens - 1)
            case "word" if not self._parens:
                self._block(self.text[mark.start : mark.end].lower())
            case "end" if not self._parens and not self._blocks:
                return mark.start
            case "command":
                # A query buffer that is sent by a backslash command (\g, \gexec): the command comes
                # next by itself.
                self.pos = mark.start
                return mark.start
            case _:
                pass
        return None

    def finish(self, statement: Statement) -> Statement:
        self.lexis = replace(self.lexis, words=False)
        head = statement.text[:4].upper()
        if head == "COPY" and self._COPY.match(code_only(statement.text, self.lexis)):
            return replace(statement, kind="copy", data=self._rows())
        if head.startswith("SET"):
            code = " ".join(statement.text.replace("=", " = ").split())
            found = self._STRINGS.match(code)
            if found is not None:
                off = found.group(1).strip("'\"").lower() in {"off", "false", "no", "0"}
                self.lexis = replace(self.lexis, backslash=off)
        return statement

    def _block(self, word: str) -> None:
        if word == "end":
            self._blocks = max(0, self._blocks - 1)
        elif word == "begin" or self._blocks:
            self._blocks += 1

    def _rows(self) -> str:
        r"""The lines after this one up to ``\\.``, which psql feeds to COPY."""
        rest = self.rest_of_line().strip()
        if rest and not rest.startswith("--"):
            raise ScriptError(
                f"put {rest[:40]!r} on a line after COPY's rows", None, self.line_at(self.pos)
            )
        first = min(self.pos + 1, len(self.text))
        close = self._DATA_END.search(self.text, first)
        if close is None:
            self.pos = len(self.text)
            return self.text[first:]
        self.pos = close.end()
        return self.text[first : close.start()]


class _MySQL(_Splitter):
    """DELIMITER, client commands by word, and conditional comments: code up to their own end."""

    _DELIMITER = re.compile(
        r"delimiter[ \t]+(?P<quote>['\"]?)(\S+?)(?P=quote)(?=\s|\Z)", re.IGNORECASE
    )
    _LINE = re.compile(
        r"(?:source|tee|notee|pager|nopager|prompt|rehash|status|warnings|nowarning|charset"
        r"|connect|system|exit|quit)"
        r"(?![\w$(.=`])|\\[a-zA-Z.!#?]",
        re.IGNORECASE,
    )
    _USE = re.compile(r"use[ \t]+(?:`[^`\n]+`|[^\s;`]+)[ \t]*", re.IGNORECASE)
    _MODE = re.compile(r"^SET\b.*\bsql_mode\b\s*:?=\s*(.*)", re.IGNORECASE | re.DOTALL)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lexis = Lexis.of("mysql")
        self._versioned = False

    def client_line(self) -> Statement | bool:
        start = self.pos
        if self.at_line_start() and self.text.startswith("--", start):
            # at a line's start the mysql client needs no blank after the dashes
            self.rest_of_line()
            return True
        if self._change_delimiter(start):
            return True
        use = self._use(start)
        if use is not None:
            return self.command(use, start)
        if self._LINE.match(self.text, start):
            return self.command(
                self.rest_of_line().removesuffix(self.lexis.delimiter).rstrip(), start
            )
        return False

    def began(self) -> None:
        self._versioned = False

    def ends(self, mark: Mark) -> int | None:
        self.pos = mark.end
        match mark.kind:
            case "versioned":
                self._versioned = True
            case "close_versioned":
                self._versioned = False
            case "delimiter":
                self.pos = mark.start
                return mark.start
            case "end" if not self._versioned or self.lexis.delimiter != ";":
                return mark.start
            case _:
                pass
        return None

    def finish(self, statement: Statement) -> Statement:
        code = re.sub(r"^/\*M?!\d*\s*", "", statement.text[:300])
        mode = self._MODE.match(code) if code[:3].upper() == "SET" else None
        if mode is not None and "@" not in mode.group(1).split(",")[0]:
            self.lexis = replace(
                self.lexis, backslash="NO_BACKSLASH_ESCAPES" not in mode.group(1).upper()
            )
        elif mode is not None:
            self.lexis = replace(self.lexis, backslash=True)
        return statement

    def _use(self, start: int) -> str | None:
        """A USE up to the delimiter, a semicolon or the line's end."""
        found = self._USE.match(self.text, start)
        if found is None:
            return None
        pos, ends = found.end(), (self.lexis.delimiter, ";")
        words = found.group().rstrip()
        shortened = words.removesuffix(self.lexis.delimiter)
        ended = next((end for end in ends if self.text.startswith(end, pos)), "")
        if not ended and shortened == words and self.text[pos : pos + 1] not in {"", "\r", "\n"}:
            return None
        self.pos = pos + len(ended)
        return shortened

    def _change_delimiter(self, start: int) -> bool:
        found = self._DELIMITER.match(self.text, start)
        if found is None:
            return False
        self.rest_of_line()
        self.lexis = replace(self.lexis, delimiter=found.group(2))
        return True
