"""The scripted expert's notes of turns that are left out of its conversation, and their reader.

Each answer has a line with the values that gold saves from it, and nothing else of it. An answer
read back from notes leads the expert to the same next step as the answer itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from synth.core.models.recap import READ, Kept, kept_in, preview, read_piece
from synth.core.tasks.yaml.saves import saved_values
from synth.core.types.steps import Action

DONE = "\x1e"
"""Note of a result without saved values or failure: no tool's message is this text."""

_LINE = re.compile(r"- (\S+) (said|answered|brought|did it|kept|read)(?: (.*))?")


def remembered(content: str) -> Mapping[str, object] | None:
    """Return the saved values that stand for a result in notes; None for a result itself."""
    return json.loads(content[1:]) if content.startswith(DONE) and len(content) > 1 else None


class Notes:
    """Notes that grow by one answer at a time. ``step`` is the gold step behind the call that was
    answered; None: the user answered. ``read`` gives the value of a result's text.
    """

    def __init__(self, read: Callable[[str], object] = json.loads) -> None:
        self._value = read
        self._lines: list[str] = []
        self._asked: Action | None = None
        self._pieces: list[str] = []
        self._piece_lines: list[int] = []

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def add(self, step: Action | None, content: str, *, failed: bool) -> None:
        if step is None:
            self._lines.append(f"- user said {_quoted(content)}")
            return
        tool = step.tool
        values, kept = remembered(content), kept_in(content)
        if values is not None:
            self._lines.append(f"- {tool} brought {_json(values)}")
        elif tool == READ:
            self._lines.append(f"- {tool} answered {_quoted(content)}")
            self._read(content)
        elif kept is not None and step.save:
            self._asked, self._pieces, self._piece_lines = step, [], []
            self._lines.append(f"- {tool} kept {_json([kept.output_id, kept.size])}")
        elif failed:
            self._lines.append(f"- {tool} answered {_quoted(content)}")
        elif not step.save or content == DONE:
            self._lines.append(f"- {tool} did it")
        else:
            saved = self._saved(step, content)
            outcome = f"answered {_quoted(content)}" if saved is None else f"brought {saved}"
            self._lines.append(f"- {tool} {outcome}")

    def _read(self, content: str) -> None:
        """Add a piece of a result; once the result is complete, only its saved values are kept."""
        found = read_piece(content)
        if found is None:
            return
        self._pieces.append(found[0])
        self._piece_lines.append(len(self._lines) - 1)
        if found[1] is not None:
            return
        saved = None if self._asked is None else self._saved(self._asked, "".join(self._pieces))
        if saved is None:
            return
        for line in self._piece_lines[:-1]:
            self._lines[line] = (
                f"- {READ} read {json.loads(self._lines[line].split(' ', 3)[3]).partition(']')[0]}]"
            )
        self._lines[-1] = f"- {READ} brought {saved}"

    def _saved(self, step: Action, content: str) -> str | None:
        """Return the values that a step saves from a result, as JSON; None without them."""
        try:
            return _json(saved_values(step.save, self._value(content), {}))
        except (LookupError, ValueError):
            return None


def read_notes(text: str) -> list[str]:
    """Return the answers in notes, in order, in the form that the expert reads."""
    return [
        _answer(found[2], found[3] or "")
        for line in text.split("\n")
        if (found := _LINE.fullmatch(line))
    ]


def _answer(word: str, rest: str) -> str:
    if word in {"said", "answered"}:
        return json.loads(rest)
    if word == "brought":
        return DONE + rest
    if word == "kept":
        output_id, size = json.loads(rest)
        return preview(Kept(output_id, size), "", 0, 0)
    return rest if word == "read" else DONE


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
