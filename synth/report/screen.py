"""Where reports are printed: a terminal, or a pipe that gets the same words without colour, wrapping or truncation."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Sequence
from typing import IO, Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

# What a terminal would obey or hide instead of showing: control characters except newline and tab, lone surrogates
# (they cannot be encoded), what reverses the direction of writing, line separators, invisible tag characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_PIPE_WIDTH = 1 << 30  # columns: nothing is ever wrapped
_WIDEST = 48  # columns that a cell may add to the alignment of other lines


def safe(text: str) -> str:
    r"""The text with everything that a terminal would act on spelt out, e.g. ESC as ``\x1b``."""
    return _UNSAFE.sub(_spell, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    """The same on one line: white space of any kind becomes one blank."""
    return safe(" ".join(text.split()))


def compact(value: Any) -> str:
    """JSON in one line as people read it: keys in the order they have, a blank after commas and colons."""
    return json.dumps(value, ensure_ascii=False)


def laid_out(value: Any, width: int) -> str:
    """JSON for reading: one line where it fits into ``width`` columns; else a line for each part that has parts of its
    own, and as many lines as they fill for parts that have none.
    """
    return _opened(value, width, 0, 0)


def _opened(value: Any, width: int, indent: int, before: int) -> str:
    """``before`` is how many columns of the first line are taken already."""
    line = compact(value)
    if cell_len(line) + before <= width or not value or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        keys = [f"{compact(key)}: " for key in cast("dict[str, Any]", value)]
        values = list(cast("dict[str, Any]", value).values())
        first, last = "{}"
    else:
        values = cast("list[Any]", value)
        keys = [""] * len(values)
        first, last = "[]"
    if not any(isinstance(each, (dict, list)) for each in values):
        flat = [key + compact(each) for key, each in zip(keys, values, strict=True)]
        return first + _filled(flat, width, indent + 1, before + 1) + last
    inner = indent + 2
    items = [
        " " * inner + key + _opened(each, width, inner, inner + cell_len(key) + 1)  # 1 for the comma
        for key, each in zip(keys, values, strict=True)
    ]
    return "\n".join([first, ",\n".join(items), " " * indent + last])


def _filled(items: Sequence[str], width: int, indent: int, used: int) -> str:
    """Items one after the other, a new line wherever the next one (and what ends it) goes beyond ``width``."""
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
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Screen:
    """Prints text that is already safe or makes it so; knows whether somebody reads along."""

    def __init__(self, file: IO[str] | None = None, *, terminal: bool | None = None, width: int | None = None) -> None:
        out = file if file is not None else sys.stdout
        self.terminal = out.isatty() if terminal is None else terminal
        if reconfigure := getattr(out, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # an ASCII locale must not end the report half-way
        if self.terminal:
            self.width = width or shutil.get_terminal_size((80, 24)).columns
        else:
            self.width = _PIPE_WIDTH
        self._console = _QuietConsole(
            file=out,
            force_terminal=self.terminal,
            no_color=None if self.terminal else True,
            color_system="auto" if self.terminal else None,
            width=self.width,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def line(self, text: str = "", style: str = "", *, indent: int = 0) -> None:
        """Print text of one line or many, wrapped on a terminal only."""
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
            self._console.print(Text(" " * indent) + line if line else line, no_wrap=True, crop=False)

    def heading(self, text: str) -> None:
        self.line()
        self.line(text, "bold")

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: int = 2
    ) -> None:
        """Print columns; those in ``right`` are aligned there. On a terminal, long cells go on in the next line."""
        if not self.terminal:
            lines = [list(header), *rows] if any(header) else rows
            for line in _aligned(lines, right):
                self.line(line, indent=indent)
            return
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(header))
        for at, name in enumerate(header):
            justify = "right" if at in right else "left"
            table.add_column(Text(safe_line(name)), justify=justify, header_style="dim", overflow="fold")
        for row in rows:
            table.add_row(*(Text(safe(cell), overflow="fold") for cell in row))
        self._console.print(Padding(table, (0, 0, 0, indent), expand=False))

    def columns(self, rows: Sequence[Sequence[str]]) -> None:
        """Print one line a row, the first being the header; on a terminal it is cut where the line ends."""
        for at, line in enumerate(_aligned(rows)):
            style = "dim" if at == 0 else ""
            self._console.print(Text(line, style), no_wrap=True, overflow="ellipsis", crop=self.terminal)


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """One line a row, columns two blanks apart; a cell beyond `_WIDEST` pushes its own line only."""
    cells = [[safe_line(cell) for cell in row] for row in rows]
    sizes = [[cell_len(cell) for cell in row] for row in cells]
    widths = [min(_WIDEST, max(column)) for column in zip(*sizes, strict=True)]
    lines: list[str] = []
    for row, size in zip(cells, sizes, strict=True):
        padded = [
            " " * (width - length) + cell if at in right else cell + " " * (width - length)
            for at, (cell, length, width) in enumerate(zip(row, size, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


class _QuietConsole(Console):
    """A reader that goes away (``| head``) is the caller's to handle, not a reason to exit with an error."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
