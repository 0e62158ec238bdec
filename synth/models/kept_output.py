"""How a tool's result that was put aside is shown, and read piece by piece: written by the offload middleware, read back by
the scripted expert, which goes through the tool as a model would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

READ = "read_tool_output"
GREP = "grep_tool_output"

_SHOWN = "[{size} characters{rows}: too long to be shown. Kept as {output_id}: {read} reads it, {grep} searches it. Its beginning:]\n"
_KEPT = re.compile(r"\[(\d+) characters[^\n]*: too long to be shown\. Kept as (\S+): " + READ)
_PIECE = re.compile(r"\[(\S+): characters (\d+) to (\d+) of (\d+)(?:, go on with offset (\d+))?\]\n?")


@dataclass(frozen=True, slots=True)
class Kept:
    """A result that was put aside: its id and how many characters it has."""

    output_id: str
    size: int


def preview(kept: Kept, text: str, head: int, tail: int, rows: str = "") -> str:
    """What a model is shown in its place: the first ``head`` and the last ``tail`` characters; ``rows`` tells what it holds."""
    about = f" ({rows})" if rows else ""
    shown = _SHOWN.format(size=kept.size, rows=about, output_id=kept.output_id, read=READ, grep=GREP) + text[:head]
    return shown + (f"\n[... Its end:]\n{text[-tail:]}" if tail else "")


def kept_in(content: str) -> Kept | None:
    """What a tool's message is a preview of; None for a result that is shown whole."""
    found = _KEPT.match(content) if content.startswith("[") else None
    return None if found is None else Kept(found[2], int(found[1]))


def piece(kept: Kept, text: str, offset: int) -> str:
    """A part of a result, with where it stands and where to go on."""
    end = offset + len(text)
    more = f", go on with offset {end}" if end < kept.size else ""
    return f"[{kept.output_id}: characters {offset} to {end} of {kept.size}{more}]\n{text}"


def read_piece(content: str) -> tuple[str, int | None] | None:
    """The text of a piece and the offset to go on with (None: it is the last); None where this is no piece."""
    found = _PIECE.match(content)
    return None if found is None else (content[found.end() :], int(found[5]) if found[5] else None)
