"""The sqlite3 shell's ``.import``: rows of a text file beside the script, by the separator that the
script has set.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.errors import ScriptError
from envs.quoting import quoted
from envs.scripts.engines import ScriptEngine
from envs.scripts.read import read_script

_MODES = {"csv": ",", "tabs": "\t", "list": "|", "ascii": "\x1f\x1e"}
_ESCAPED = {"\\t": "\t", "tab": "\t"}
_LINE_ENDS = {"\\n", "\n", "\\r\\n"}


@dataclass(frozen=True, slots=True)
class Import:
    """Arguments of one ``.import``; ``skip`` counts the first rows that are left out."""

    file: str
    table: str
    separator: str
    skip: int = 0


class Separators:
    """Follows ``.mode`` and ``.separator`` through a script."""

    def __init__(self) -> None:
        self._now = _MODES["list"]

    def note(self, words: str) -> None:
        """Take in a dot command, of whatever kind."""
        head, *rest = _arguments(words) or [""]
        if head == ".mode" and rest:
            self._now = _MODES.get(rest[0], self._now)
        elif head == ".separator" and rest:
            self._now = _ESCAPED.get(rest[0], rest[0])
            if rest[1:] and rest[1] not in _LINE_ENDS:
                self._now += rest[1]

    def wanted(self, words: str) -> Import:
        """Parse the arguments of an ``.import``; ScriptError (without a file) if it cannot be
        carried out.
        """
        plain: list[str] = []
        separator, skip = self._now, 0
        arguments = iter(_arguments(words)[1:])
        for argument in arguments:
            match argument.replace("--", "-"):
                case "-csv":
                    separator = ","
                case "-v":
                    pass
                case "-skip" if (count := next(arguments, "")).isdigit():
                    skip = int(count)
                case option if option.startswith("-"):
                    raise ScriptError(f".import {argument} cannot be carried out here")
                case _:
                    plain.append(argument)
        if len(plain) != 2:
            raise ScriptError(".import takes FILE TABLE")
        if plain[0].startswith("|"):
            raise ScriptError(".import may not run a shell's command")
        if len(separator) != 1:
            raise ScriptError(
                f".import takes lines, and one character between their fields, not {separator!r}"
            )
        return Import(plain[0], plain[1], separator, skip)


def import_rows(engine: ScriptEngine, wanted: Import, path: Path) -> None:
    """Insert a file's rows as texts, all or none. A table that is not there is made, its columns
    named by the first row.

    A short row is filled with NULL, a long one is cut. ScriptError with the file and the line of a
    row that is refused.
    """
    rows = _rows(path, wanted)
    table = quoted(wanted.table)
    columns = [row[1] for row in engine.rows(f"PRAGMA table_info({table})")]
    if not columns:
        _, columns = next(rows, (0, list[str]()))
        if not columns:
            raise ScriptError("has no row that could name the columns of a new table", path)
        engine.execute(
            f"CREATE TABLE {table} ({', '.join(f'{quoted(name)} TEXT' for name in columns)})"
        )
    names = ", ".join(map(quoted, columns))
    statement = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    cursor = engine.connection.cursor()
    engine.execute("SAVEPOINT envs_import")
    try:
        for line, row in rows:
            try:
                cursor.execute(
                    statement, (*row[: len(columns)], *[None] * (len(columns) - len(row)))
                )
            except engine.errors as error:
                raise ScriptError(engine.words(error), path, line) from error
    except ScriptError:
        engine.execute("ROLLBACK TO envs_import")
        raise
    finally:
        engine.execute("RELEASE envs_import")


def _rows(path: Path, wanted: Import) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line that it ends on; an empty line is a row of one empty text."""
    reader = csv.reader(io.StringIO(read_script(path), newline=""), delimiter=wanted.separator)
    try:
        for place, row in enumerate(reader):
            if place >= wanted.skip:
                yield reader.line_num, row or [""]
    except csv.Error as error:
        raise ScriptError(str(error), path, reader.line_num) from error


def _arguments(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()
