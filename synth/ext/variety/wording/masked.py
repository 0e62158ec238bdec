"""A text whose values are out of reach while its words are changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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

_ALWAYS = (
    r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`|(?<!\w)'[^'\n]+'(?!\w)"  # quoted text
    r"|(?<!\w)(?=[\w.@:/+-]*[\d@_])\w(?:[\w.@:/+-]*\w)?"  # numbers, dates, codes, addresses
    r"|(?<!\w)(?-i:[A-Z]{2,})(?!\w)"  # acronyms
)
_BESIDE = frozenset({"do", "tool", "save", "fails", "covers"})
"""Keys of steps and consents whose values nobody says."""


_LITERALS = re.compile(_ALWAYS, re.IGNORECASE)


def literals_in(text: str) -> list[str]:
    """Quoted text, numbers, codes and acronyms of a text, in order."""
    return [found.group() for found in _LITERALS.finditer(text)]


class Masked:
    """Replaces values, quoted text, numbers, codes and acronyms of a text by signs, and puts them
    back. It remembers one text, which is one of ``texts``.
    """

    def __init__(self, values: Iterable[str], texts: Iterable[str]) -> None:
        said = "\n".join(texts).lower()
        found = {value for value in values if value.lower() in said}
        found = sorted(found, key=lambda value: (-len(value), value))
        own = "|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in found)
        pattern = f"{own}|{_ALWAYS}" if own else _ALWAYS
        self._pattern = re.compile(pattern, re.IGNORECASE)
        self._kept = list[str]()

    def hide(self, text: str) -> str:
        """The text with a sign in the place of each value."""
        self._kept = []

        def sign(found: re.Match[str]) -> str:
            self._kept.append(found.group())
            return chr(FIRST + len(self._kept) - 1)

        return self._pattern.sub(sign, text)

    def finds(self, text: str) -> bool:
        """True if a text holds something that would be hidden."""
        return self._pattern.search(text) is not None

    def show(self, text: str) -> str:
        """The text with its values again."""
        return re.sub(SIGN, lambda sign: self._kept[ord(sign.group()) - FIRST], text)


def values_of(task: Task) -> set[str]:
    """All that a task's texts say which must stay as it is: slots, arguments of gold, and what
    consent depends on.
    """
    role = task.role
    consents = [[one.mentions, one.act, one.never] for one in role.every_consent]
    steps = [step.to_json() for step in task.gold]
    return texts_in([dict(task.slots), steps, consents])


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
