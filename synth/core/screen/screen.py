"""Output of reports: a terminal, or a pipe that receives the same text without colour, wrapping or
truncation.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import IO, Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synth.core.foundation.standard_output import stdout

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except newline and tab
    "\ud800-\udfff"  # lone surrogates, which cannot be encoded
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing
    "\u2028\u2029"  # line separators
    "\ufeff\U000e0000-\U000e007f"  # invisible characters
    "]"
)
"""Characters that a terminal would interpret or hide."""
_BLOCK = '<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{code}</pre>'
_PIPE_WIDTH = 1 << 30  # columns: nothing is ever wrapped
_WIDEST = 48  # columns that a cell may add to the alignment of other lines


def safe(text: str) -> str:
    r"""Escape all characters that a terminal would interpret, for example ESC as ``\x1b``."""
    return _UNSAFE.sub(_spell, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    """Escape like :func:`safe`, on one line: any run of white space becomes one blank."""
    return safe(" ".join(text.split()))


def json_line(value: Any) -> str:
    """Return JSON on one line for people: keys in their order, a blank after commas and colons."""
    return json.dumps(value, ensure_ascii=False)


def laid_out(value: Any, width: int, indent: int = 0, before: int = 0) -> str:
    """Lay out JSON for people: on one line if it fits into ``width`` columns.

    Otherwise a container with nested containers has one line per item, and one without them is
    filled line by line. ``before`` columns of the first line are already used.
    """
    line = json_line(value)
    if cell_len(line) + before <= width or not value or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        keys = [f"{json_line(key)}: " for key in cast("dict[str, Any]", value)]
        values = list(cast("dict[str, Any]", value).values())
        first, last = "{}"
    else:
        values = cast("list[Any]", value)
        keys = [""] * len(values)
        first, last = "[]"
    if not any(isinstance(item, (dict, list)) for item in values):
        flat = [key + json_line(item) for key, item in zip(keys, values, strict=True)]
        return first + _filled(flat, width, indent + 1, before + 1) + last
    inner = indent + 2
    items = [
        " " * inner
        + key
        + laid_out(item, width, inner, inner + cell_len(key) + 1)  # 1 for the comma
        for key, item in zip(keys, values, strict=True)
    ]
    return "\n".join([first, ",\n".join(items), " " * indent + last])


def _filled(items: Sequence[str], width: int, indent: int, used: int) -> str:
    """Join items with commas, with a line break before each item that passes ``width`` columns."""
    text = items[0]
    used += cell_len(items[0])
    for item in items[1:]:
        size = cell_len(item)
        if used + 2 + size + 2 <= width:
            text += f", {item}"
            used += 2 + size
        else:
            text += ",\n" + " " * indent + item
            used = indent + size
    return text


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else match[0].encode("unicode_escape").decode()


class Screen:
    """Prints text after escaping it, wrapped and coloured on a terminal only."""

    def __init__(
        self,
        file: IO[str] | None = None,
        *,
        terminal: bool | None = None,
        width: int | None = None,
        record: bool = False,
    ) -> None:
        out = file if file is not None else stdout()
        self.terminal = out.isatty() if terminal is None else terminal
        if reconfigure := getattr(out, "reconfigure", None):
            # An ASCII locale must not end the report half-way.
            reconfigure(errors="backslashreplace")
        if self.terminal:
            self.width = width or shutil.get_terminal_size((80, 24)).columns
        else:
            self.width = _PIPE_WIDTH
        self._console = _QuietConsole(
            file=out,
            force_terminal=self.terminal,
            force_jupyter=False,  # a notebook would show what goes to a file
            no_color=None if self.terminal else True,
            color_system="auto" if self.terminal else None,
            width=self.width,
            markup=False,
            emoji=False,
            highlight=False,
            record=record,
        )

    def html(self) -> str:
        """What a recording screen has printed, as a block of HTML that brings its own styles."""
        return self._console.export_html(inline_styles=True, code_format=_BLOCK)

    def working(self, text: str) -> AbstractContextManager[object]:
        """A spinner beside a text below what is printed, on a terminal only."""
        if not self.terminal:
            return nullcontext()
        return self._console.status(Text(text))

    def line(self, text: str = "", style: str = "", *, indent: int = 0) -> None:
        """Print text of one or more lines, wrapped on a terminal only."""
        self.parts([(text, style)], indent=indent)

    def parts(self, parts: Sequence[tuple[str, str]], *, indent: int = 0) -> None:
        """Print pieces of text, each in its style, one after the other."""
        text = Text()
        for piece, style in parts:
            text.append(safe(piece), style or None)
        if self.terminal:
            lines = text.wrap(self._console, max(self.width - indent, 1), overflow="fold")
            for line in lines:
                line.rstrip()
        else:
            lines = text.split(allow_blank=True)
        for line in lines:
            self._console.print(
                Text(" " * indent) + line if line else line, no_wrap=True, crop=False
            )

    def heading(self, text: str) -> None:
        self.line()
        self.line(text, "bold")

    def next_steps(self, commands: Iterable[str]) -> None:
        """Print the end of a report: the commands that are useful after it."""
        self.heading("Next")
        for command in commands:
            self.line(command, indent=2)

    def table(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        right: Sequence[int] = (),
        indent: int = 2,
    ) -> None:
        """Print columns; those in ``right`` are right-aligned. On a terminal, long cells are
        wrapped.
        """
        if not self.terminal:
            lines = [list(header), *rows] if any(header) else rows
            for line in _aligned(lines, right):
                self.line(line, indent=indent)
            return
        table = Table(
            box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(header)
        )
        for index, name in enumerate(header):
            justify = "right" if index in right else "left"
            table.add_column(
                Text(safe_line(name)), justify=justify, header_style="dim", overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(safe(cell), overflow="fold") for cell in row))
        self._console.print(Padding(table, (0, 0, 0, indent), expand=False))

    def columns(self, rows: Sequence[Sequence[str]]) -> None:
        """Print one line per row, the header first; on a terminal, lines are truncated."""
        for index, line in enumerate(_aligned(rows)):
            style = "dim" if index == 0 else ""
            self._console.print(
                Text(line, style), no_wrap=True, overflow="ellipsis", crop=self.terminal
            )


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return one line per row with columns two blanks apart. A cell wider than `_WIDEST` shifts
    only its own line.
    """
    cells = [[safe_line(cell) for cell in row] for row in rows]
    sizes = [[cell_len(cell) for cell in row] for row in cells]
    widths = [min(_WIDEST, max(column)) for column in zip(*sizes, strict=True)]
    lines: list[str] = []
    for row, size in zip(cells, sizes, strict=True):
        padded = [
            " " * (width - length) + cell if index in right else cell + " " * (width - length)
            for index, (cell, length, width) in enumerate(zip(row, size, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


class _QuietConsole(Console):
    """A console that leaves a closed pipe (``| head``) to the caller instead of exiting with an
    error.
    """

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def reason_of(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """Return the reason why a row lacks the full reward: the first verdict without a score, else
    the first with one below 1.
    """
    lacking = [verdict for verdict in verdicts if verdict["score"] is None or verdict["score"] < 1]
    first = min(lacking, key=lambda verdict: verdict["score"] is not None, default=None)
    return "" if first is None else f"{first['verifier']}: {first['reason']}"


def say_hidden(screen: Screen, hidden: int) -> None:
    """Say how many lines of a table are left out, if any."""
    if hidden > 0:
        screen.line(f"and {hidden} more (--details lists all)", "dim", indent=2)


def cell(value: object) -> str:
    """Format a value of any column on one line; null is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, datetime):
        return value.isoformat()
    return json_line(value)
