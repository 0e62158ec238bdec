"""A text whose values are out of reach while its words are changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import cast

from synth.core.tasks.yaml.template import text_of
from synth.task import Task

FIRST = 0xE000
"""The first of the signs that stand for values: Unicode's private area, which no text uses."""

MOST = 0x1900
"""The size of that area."""

SIGN = f"[{chr(FIRST)}-{chr(FIRST + MOST - 1)}]"

LONGEST = 200
"""The most characters of a value that is looked for."""

_LITERALS = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`|(?<!\w)'[^'\n]+'(?!\w)"  # quoted text
    r"|(?<!\w)(?=[\w.@:/+-]*[\d@_])\w(?:[\w.@:/+-]*\w)?"  # numbers, dates, codes, addresses
    r"|(?<!\w)(?-i:[A-Z]{2,})(?!\w)",  # acronyms
    re.IGNORECASE,
)
_BESIDE = frozenset({"do", "tool", "save", "fails", "covers"})
"""Keys of steps and consents whose values nobody says."""


def literals_in(text: str) -> list[str]:
    """Quoted text, numbers, codes and acronyms of a text, in order."""
    return [found.group() for found in _LITERALS.finditer(text)]


class Masked:
    """Replaces values, quoted text, numbers, codes and acronyms of a text by signs, and puts them
    back. It remembers one text, which is one of ``texts``.
    """

    def __init__(self, values: Iterable[str], texts: Iterable[str]) -> None:
        said = _small("\n".join(texts))
        found = {small for value in values if (small := _small(value)) in said}
        self._values = sorted(found, key=len, reverse=True)
        self._kept = list[str]()

    def hide(self, text: str) -> str:
        """The text with a sign in the place of each value."""
        self._kept, shown, done = list[str](), "", 0
        for start, end in self._places(text):
            shown += text[done:start] + chr(FIRST + len(self._kept))
            self._kept.append(text[start:end])
            done = end
        return shown + text[done:]

    def finds(self, text: str) -> bool:
        """True if a text holds something that would be hidden."""
        return next(self._places(text), None) is not None

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of what is hidden, from left to right; values go first, the longest of
        them. A regex of all values would have to be compiled for each task.
        """
        small, end = _small(text), 0
        values = [value for value in self._values if value in small]
        while True:
            found = [(at, at + len(v)) for v in values if (at := _word_at(small, v, end)) >= 0]
            if (literal := _LITERALS.search(text, end)) is not None:
                found.append(literal.span())
            if not found:
                return
            start, end = min(found, key=itemgetter(0))
            yield start, end

    def show(self, text: str) -> str:
        """The text with its values again."""
        return re.sub(SIGN, lambda sign: self._kept[ord(sign.group()) - FIRST], text)


def _small(text: str) -> str:
    """A text in lower case, of the same length."""
    return text.replace("\u0130", "i").lower()


def _word_at(text: str, value: str, start: int) -> int:
    """The next place of a value in a text, not within a longer word; -1: there is none."""
    while (at := text.find(value, start)) >= 0:
        around = text[max(at - 1, 0) : at] + text[at + len(value) :][:1]
        if not any(sign == "_" or sign.isalnum() for sign in around):
            return at
        start = at + 1
    return at


def values_of(task: Task) -> set[str]:
    """All that a task's texts say which must stay as it is: slots, arguments of gold, and what
    consent depends on.
    """
    consents = [[one.mentions, one.act, one.never] for one in task.role.every_consent]
    return texts_in([dict(task.slots), [step.to_json() for step in task.gold], consents])


def texts_in(value: object) -> set[str]:
    """The strings and numbers in JSON at any depth, as they stand in texts; long ones are left
    out.
    """
    return {text for text in _leaves(value) if _is_value(text)}


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            if key not in _BESIDE:
                yield from _leaves(inner)
    elif isinstance(value, (list, tuple)):
        items = [*cast("Iterable[object]", value)]
        yield text_of(items) if all(isinstance(item, str) for item in items) else ""
        for item in items:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield text_of(value).strip()


def _is_value(text: str) -> bool:
    return len(text) <= LONGEST and any(sign.isalnum() for sign in text)
