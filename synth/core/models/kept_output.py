"""The form of a tool result that is stored and read piece by piece.

The offload middleware writes it; the scripted expert reads it, through the tool as a model would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

READ = "read_tool_output"
GREP = "grep_tool_output"

_SHOWN = (
    "[{size} characters{rows}: too long to be shown. Kept as {output_id}: {read} reads it,"
    " {grep} searches it. Its beginning:]\n"
)
_KEPT = re.compile(r"\[(\d+) characters[^\n]*: too long to be shown\. Kept as (\S+): " + READ)
_PIECE = re.compile(
    r"\[(\S+): characters (\d+) to (\d+) of (\d+)(?:, go on with offset (\d+))?\]\n?"
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored result: its id and its number of characters."""

    output_id: str
    size: int


def preview(kept: Kept, text: str, head: int, tail: int, rows: str = "") -> str:
    """Return the text that a model gets instead of a result: its first ``head`` and last ``tail``
    characters.

    ``rows`` describes the contents.
    """
    about = f" ({rows})" if rows else ""
    shown = (
        _SHOWN.format(size=kept.size, rows=about, output_id=kept.output_id, read=READ, grep=GREP)
        + text[:head]
    )
    return shown + (f"\n[... Its end:]\n{text[-tail:]}" if tail else "")


def kept_in(content: str) -> Kept | None:
    """Return the result that a tool's message previews; None for a result that is shown whole."""
    found = _KEPT.match(content) if content.startswith("[") else None
    return None if found is None else Kept(found[2], int(found[1]))


def piece(kept: Kept, text: str, offset: int) -> str:
    """Return a part of a result, with its position and the offset of the next part."""
    end = offset + len(text)
    more = f", go on with offset {end}" if end < kept.size else ""
    return f"[{kept.output_id}: characters {offset} to {end} of {kept.size}{more}]\n{text}"


def read_piece(content: str) -> tuple[str, int | None] | None:
    """Return the text of a piece and the next offset (None: it is the last); None for any other
    text.
    """
    found = _PIECE.match(content)
    return None if found is None else (content[found.end() :], int(found[5]) if found[5] else None)
