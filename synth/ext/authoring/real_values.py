"""Personal values in the texts of columns that are not masked themselves.

A value is replaced whole: where it is the whole text, or a phrase of a sentence. A single name is
replaced in sentences only, and never if it is a word of a public value, such as the country Jordan.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from synth.core.personal.formats import personal_spans
from synth.ext.authoring.made_up import same_form
from synth.ext.authoring.snapshot import Value

_WORD = re.compile(r"[^\W_]+")
_SAYS_WHO = frozenset({"name", "email", "phone", "address"})
"""Kinds whose values mean the same in any column."""


@dataclass
class RealValues:
    """Real values, with what takes their place; ``public`` are words that are never a name."""

    draw: random.Random
    public: set[str] = field(default_factory=set[str])
    _whole: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _phrases: dict[str, list[tuple[str, ...]]] = field(
        default_factory=dict[str, list[tuple[str, ...]]]
    )
    _made: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _seen: dict[str, str] = field(default_factory=dict[str, str])

    def learn(self, kind: str, values: Mapping[str, Value]) -> None:
        """Take the values of one kind, as real and made-up ones."""
        for real, made in values.items():
            words, new = words_of(real), str(made)
            self._seen[real] = new
            orders = [words]
            if kind == "name":
                self._learn_name(words, new)
                orders.append((*words[-1:], *words[:-1]))
            for order in orders if len(words) > 1 or any(map(str.isdigit, real)) else ():
                if order not in self._made:
                    self._phrases.setdefault(order[0], []).append(order)
                self._made.setdefault(order, _core(new))
                if kind in _SAYS_WHO:
                    self._whole.setdefault(order, _core(new))

    def _learn_name(self, words: tuple[str, ...], made: str) -> None:
        parts = made.split()
        for index, word in enumerate(words):
            if len(word) > 2:
                self._names.setdefault(word, parts[0] if index < len(words) - 1 else parts[-1])

    def replaced(self, text: str, *, prose: bool) -> str:
        """The text without the real values; ``prose`` tells that it is sentences."""
        if not prose and (made := self._whole.get(words_of(text))):
            return text.replace(_core(text), made)
        out, end = list[str](), 0
        found = sorted(self._found(text, prose), key=lambda one: (one[0], -one[1]))
        for start, stop, made in found:
            if start >= end:
                out += [text[end:start], made]
                end = stop
        return "".join([*out, text[end:]])

    def _found(self, text: str, prose: bool) -> Iterator[tuple[int, int, str]]:
        for _, start, stop in personal_spans(text):
            yield start, stop, self._by_form(text[start:stop])
        places = list(_WORD.finditer(text)) if prose else []
        folded = tuple(place[0].casefold() for place in places)
        for index, place in enumerate(places):
            for words in self._phrases.get(folded[index], ()):
                last = index + len(words)
                if folded[index:last] == words:
                    yield place.start(), places[last - 1].end(), self._made[words]
            name = self._names.get(folded[index], "")
            if name and place[0][0].isupper() and folded[index] not in self.public:
                yield place.start(), place.end(), name

    def _by_form(self, value: str) -> str:
        if value not in self._seen:
            name, at, _ = value.partition("@")
            made = same_form(name, self.draw)
            self._seen[value] = f"{made}@example.org" if at else made
        return self._seen[value]


def words_of(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _core(text: str) -> str:
    """A text from its first word to its last, as the marks around stay where they are."""
    places = list(_WORD.finditer(text))
    return text[places[0].start() : places[-1].end()] if places else text
