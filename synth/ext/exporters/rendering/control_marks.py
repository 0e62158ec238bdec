"""Control marks: the texts by which chat templates write the special tokens of a model.

A row of a database may hold such a text. A tokenizer that reads it in a rendered conversation makes
a special token of it: a forged turn. So each mark in a text is broken by a code point that Unicode
keeps out of texts, before the template renders it, and is whole again afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from synth.core.foundation.json_leaves import texts_in
from synth.ext.exporters.rendering.presets import PRESETS, Preset, RenderError, find_preset

_SHAPE: Final = re.compile(r"<[^<>\s'\"{}]{1,60}>|\[/?[A-Z][A-Z_]+\]")
"""The shape of a mark in the source of a template."""
_BARRED: Final = r"<[|\uff5c][^|\uff5c<>\n]{1,60}[|\uff5c]>"
"""The shape of marks that no text holds by chance, for models whose template is not known."""

GUARD: Final = "\ufdd2"
_RESERVED: Final = re.compile("[\ufdd0-\ufdd3]")
_THOUGHT: Final = re.compile(r"\A\s*<think>(.*?)</think>", re.DOTALL)
"""A thought that begins the words of a model: its marks are the model's own."""


def marks_of(preset: Preset) -> frozenset[str]:
    """Return the marks that a template writes."""
    named = {mark for mark in (preset.bos, preset.eos) if mark}
    return frozenset({*_SHAPE.findall(preset.source), *named})


@cache
def _known_marks() -> frozenset[str]:
    return frozenset(mark for name in PRESETS for mark in marks_of(find_preset(name)))


def is_mark(text: str) -> bool:
    """Tell whether a text is a mark of a preset, or looks like ``<|name|>``."""
    return text in _known_marks() or re.fullmatch(_BARRED, text) is not None


class ControlMarks:
    """The marks that must not be read in a text, by default all presets' and all that look like
    ``<|name|>``.
    """

    def __init__(self, marks: Iterable[str] | None = None) -> None:
        ordered = sorted(_known_marks() if marks is None else marks, key=len, reverse=True)
        parts = [*map(re.escape, ordered), *([_BARRED] if marks is None else [])]
        self._pattern = re.compile("|".join(parts) or r"(?!)")
        self._beginnings = tuple({mark[:end] for mark in ordered for end in range(1, len(mark))})

    def first(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> str:
        """Return the first mark in the texts of a conversation; empty if there is none."""
        texts = (text for value in (*map(_foreign, messages), tools) for text in texts_in(value))
        return next((found[0] for found in map(self._pattern.search, texts) if found), "")

    def inert(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return a conversation in whose texts no mark can be read.

        Raises :class:`RenderError` for a text that holds a code point which breaks marks.
        """
        return [self._inert_message(message) for message in messages]

    def inert_value(self, value: Any) -> Any:
        """Return a JSON value in whose texts no mark can be read. Raises :class:`RenderError`."""
        if isinstance(value, str):
            return self._broken(value)
        if isinstance(value, Mapping):
            pairs = cast("Mapping[str, Any]", value).items()
            return {self._broken(key): self.inert_value(item) for key, item in pairs}
        if isinstance(value, list | tuple):
            return [self.inert_value(item) for item in cast("Sequence[Any]", value)]
        return value

    def replaced(self, text: str, names: Mapping[str, str]) -> str:
        """Return a rendered text with the template's own marks under other names, and with the
        marks of its texts whole.
        """
        return whole(self._pattern.sub(lambda found: names[found[0]], text))

    def _inert_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        inert: dict[str, Any] = self.inert_value(message)
        if (foreign := _foreign(message)) is not message:
            thought, words = foreign["content"]
            inert["content"] = f"<think>{self._broken(thought)}</think>{self._broken(words)}"
        return inert

    def _broken(self, text: str) -> str:
        if found := _RESERVED.search(text):
            raise RenderError(f"a text holds U+{ord(found[0]):04X}, which is not a character")
        broken = self._pattern.sub(lambda mark: f"{mark[0][0]}{GUARD}{mark[0][1:]}", text)
        end = len(broken.rstrip())
        if broken[:end].endswith(self._beginnings):  # what follows must not complete a mark
            return f"{broken[:end]}{GUARD}{broken[end:]}"
        return broken


def whole(text: str) -> str:
    """Return a rendered text with the marks of its texts whole again."""
    return text.replace(GUARD, "").replace("\\ufdd2", "")


def _foreign(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message without the marks of a thought that begins the words of the assistant."""
    words = message.get("content")
    found = _THOUGHT.match(words) if message["role"] == "assistant" and words else None
    if found is None:
        return message
    return {**message, "content": [found[1], found.string[found.end() :]]}
