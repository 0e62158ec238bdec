"""Personal values in the texts of other columns: those that a masked column holds, and those that
are known by their form.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from synth.generation.made_up import same_form
from synth.generation.snapshot import Value
from synth.personal.formats import personal_spans

_WORD = re.compile(r"[^\W_]+")
_SHORT = 4
"""Characters that a value of one word needs, besides a name."""


@dataclass
class RealValues:
    """Real values, with what takes their place."""

    draw: random.Random
    _whole: dict[str, list[tuple[tuple[str, ...], str, bool]]] = field(
        default_factory=dict[str, list[tuple[tuple[str, ...], str, bool]]]
    )
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _seen: dict[str, str] = field(default_factory=dict[str, str])

    def learn(self, kind: str, values: Mapping[str, Value]) -> None:
        """Take the values of one kind, as real and made-up ones."""
        for real, made in values.items():
            words, new = _words(real), str(made)
            self._seen[real] = new
            if kind == "name":
                self._learn_name(words, new)
            long = len(words) > 1 or len(real) >= _SHORT
            if words and long and (kind != "name" or len(words) > 1):
                only_prose = kind in {"birth_date", "other"}
                self._add(words, new, only_prose)

    def _learn_name(self, words: list[str], made: str) -> None:
        parts = made.split()
        for index, word in enumerate(words):
            if len(word) > 2 and word[0].isupper():
                part = parts[0] if index < len(words) - 1 else parts[-1]
                self._names.setdefault(word, part)
        if len(words) > 1:
            self._add([words[-1], *words[:-1]], made, False)

    def _add(self, words: list[str], made: str, only_prose: bool) -> None:
        folded = tuple(word.casefold() for word in words)
        self._whole.setdefault(folded[0], []).append((folded, _core(made), only_prose))

    def replaced(self, text: str, *, prose: bool) -> str:
        """The text without the real values. Single names and days are replaced in ``prose`` only:
        elsewhere a word such as Florence is as often a city.
        """
        out, end = list[str](), 0
        for start, stop, made in sorted(
            self._found(text, prose), key=lambda one: (one[0], -one[1])
        ):
            if start >= end:
                out += [text[end:start], made]
                end = stop
        return "".join([*out, text[end:]])

    def _found(self, text: str, prose: bool) -> Iterator[tuple[int, int, str]]:
        for _, start, stop in personal_spans(text):
            yield start, stop, self._by_form(text[start:stop])
        places = list(_WORD.finditer(text))
        folded = [place[0].casefold() for place in places]
        for index, place in enumerate(places):
            for words, made, only_prose in self._whole.get(folded[index], ()):
                last = index + len(words)
                if (prose or not only_prose) and tuple(folded[index:last]) == words:
                    yield place.start(), places[last - 1].end(), made
            name = place[0].title() if place[0].isupper() else place[0]
            if prose and name in self._names:
                yield place.start(), place.end(), self._names[name]

    def _by_form(self, value: str) -> str:
        if value not in self._seen:
            name, at, _ = value.partition("@")
            made = same_form(name, self.draw)
            self._seen[value] = f"{made}@example.org" if at else made
        return self._seen[value]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _core(text: str) -> str:
    """A text from its first word to its last, as the marks around stay where they are."""
    places = list(_WORD.finditer(text))
    return text[places[0].start() : places[-1].end()] if places else text
