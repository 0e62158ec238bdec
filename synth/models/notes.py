"""What the scripted expert writes down of turns that are left out of its conversation, and how it reads that again.

A line for each answer that it was given: the values that gold saves from a result stand there, the rest of it does not.
An answer read back from notes leads the expert to the same next step as the answer itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from synth.models.kept_output import READ, Kept, kept_in, preview, read_piece
from synth.tasks.steps import extract

Json = Any

DONE = "\x1e"
"""In place of a result that brought nothing and failed nothing: no tool's message is this text."""

_LINE = re.compile(r"- (\S+) (said|answered|brought|did it|kept|read)(?: (.*))?")


def remembered(content: str) -> Mapping[str, Json] | None:
    """The saved values that stand for a result in notes; None for a result itself."""
    return json.loads(content[1:]) if content.startswith(DONE) and len(content) > 1 else None


class Notes:
    """Grows by an answer at a time. ``step`` is the gold step behind the call that was answered; None: the user spoke."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._asked: Json = None
        self._pieces: list[str] = []
        self._piece_lines: list[int] = []

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def add(self, step: Json, content: str, *, failed: bool) -> None:
        if step is None:
            self._lines.append(f"- user said {_quoted(content)}")
            return
        tool: str = step.get("tool", step["do"])
        values, kept = remembered(content), kept_in(content)
        if values is not None:
            self._lines.append(f"- {tool} brought {_json(values)}")
        elif tool == READ:
            self._lines.append(f"- {tool} answered {_quoted(content)}")
            self._read(content)
        elif kept is not None and step.get("save"):
            self._asked, self._pieces, self._piece_lines = step, [], []
            self._lines.append(f"- {tool} kept {_json([kept.output_id, kept.size])}")
        elif failed:
            self._lines.append(f"- {tool} answered {_quoted(content)}")
        elif not step.get("save") or content == DONE:
            self._lines.append(f"- {tool} did it")
        else:
            saved = _saved(step, content)
            self._lines.append(f"- {tool} {f'answered {_quoted(content)}' if saved is None else f'brought {saved}'}")

    def _read(self, content: str) -> None:
        """A piece of a result: once it is whole, what is saved of it is enough."""
        found = read_piece(content)
        if found is None:
            return
        self._pieces.append(found[0])
        self._piece_lines.append(len(self._lines) - 1)
        if found[1] is not None:
            return
        saved = _saved(self._asked, "".join(self._pieces))
        if saved is None:
            return
        for at in self._piece_lines[:-1]:
            self._lines[at] = f"- {READ} read {json.loads(self._lines[at].split(' ', 3)[3]).partition(']')[0]}]"
        self._lines[-1] = f"- {READ} brought {saved}"


def read_notes(text: str) -> list[str]:
    """The answers that notes tell of, in order, as the expert takes them."""
    return [_answer(found[2], found[3] or "") for line in text.split("\n") if (found := _LINE.fullmatch(line))]


def _answer(word: str, rest: str) -> str:
    if word in {"said", "answered"}:
        return json.loads(rest)
    if word == "brought":
        return DONE + rest
    if word == "kept":
        output_id, size = json.loads(rest)
        return preview(Kept(output_id, size), "", 0, 0)
    return rest if word == "read" else DONE


def _saved(step: Json, content: str) -> str | None:
    """The values that a step saves from a result, as JSON; None where they are not in it."""
    try:
        value = json.loads(content)
        return _json({name: extract(path, value) for name, path in step["save"].items()})
    except (LookupError, ValueError):
        return None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
