"""The names of a renaming: synonyms, abbreviations and styles of a world's own names.

A variant's names follow from its number and the world's names alone, so that variant 3 of a world
is the same in every run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import Any

import yaml

from envs.tools.tool import NAME
from synth.core.foundation.hashing import derive_seed
from synth.core.types.renaming import AddedTool

Style = Callable[[Sequence[str]], str]

MOST_KEPT = 0.25
"""Share of the words with a synonym that a renaming keeps all the same."""

_PLAIN_VALUE = re.compile(r"[a-z]{4,}(?:_[a-z]+)*|[a-z]+(?:_[a-z]+)+")
"""Words of enumerations that may be renamed: codes and units mean something as they are written."""


def _snake(words: Sequence[str]) -> str:
    return "_".join(words)


def _kebab(words: Sequence[str]) -> str:
    return "-".join(words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def _pascal(words: Sequence[str]) -> str:
    return "".join(word.capitalize() for word in words)


def _upper(words: Sequence[str]) -> str:
    return "_".join(words).upper()


TOOL_STYLES: Sequence[Style] = (_camel, _snake, _kebab, _pascal)
NAME_STYLES: Sequence[Style] = (_snake, _camel, _pascal)
VALUE_STYLES: Sequence[Style] = (_snake, _upper, _camel, _snake, _kebab)
ORDERS = ("prefixed", "noun_first", "plain")
"""Shapes of a tool's name: the domain first, the verb last, or as the world has it."""


@dataclass(frozen=True)
class _WordLists:
    """The lists of words.yaml."""

    verbs: Mapping[str, Sequence[str]]
    nouns: Mapping[str, Sequence[str]]
    abbreviations: Mapping[str, str]
    values: Mapping[str, Sequence[str]]
    openings: Mapping[str, Sequence[str]]
    phrases: Mapping[str, Sequence[str]]
    added: Sequence[AddedTool]


@cache
def word_lists() -> _WordLists:
    """The word lists that ship."""
    raw: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
    raw["added"] = tuple(AddedTool(**tool) for tool in raw["added"])
    return _WordLists(**raw)


class Naming:
    """The choices of one variant. Each is drawn by itself, so that none depends on another."""

    def __init__(self, number: int, domain: str) -> None:
        self.number = number
        self._domain = _words_of(domain)[:1]
        place = number - 1
        self._tool_style = TOOL_STYLES[place % len(TOOL_STYLES)]
        self._name_style = NAME_STYLES[(place + 1) % len(NAME_STYLES)]
        self._value_style = VALUE_STYLES[place % len(VALUE_STYLES)]
        self._order = ORDERS[(place + 2) % len(ORDERS)]
        self._abbreviates = number % 2 == 0

    def tools(self, own: Iterable[str], taken: Collection[str]) -> dict[str, str]:
        """Names of tools; none of ``taken`` is among them."""
        return _injective(own, taken, self._tool_forms)

    def names(self, own: Iterable[str], taken: Collection[str]) -> dict[str, str]:
        """Names of parameters and keys of results."""
        return _injective(own, taken, self._name_forms)

    def values(self, own: Collection[str], taken: Collection[str], text: str) -> dict[str, str]:
        """Words of enumerations; what looks like a code or a unit stays.

        A synonym that the world's ``text`` (flat) uses already is none that could be read back.
        """

        def forms(word: str) -> list[str]:
            return [form for form in self._value_forms(word) if not _occurs(form, word, text)]

        renamed = [word for word in own if _PLAIN_VALUE.fullmatch(word)]
        return _injective(renamed, {*taken, *(set(own) - set(renamed))}, forms)

    def wording(self, text: str) -> dict[str, str]:
        """The phrases of a text that are worded otherwise."""
        out: dict[str, str] = {}
        for phrase, others in word_lists().phrases.items():
            if phrase in text.lower():
                out[phrase] = self._draw("phrase", phrase).choice(list(others))
        return out

    def openings(self) -> dict[str, str]:
        """Other verbs for the beginnings of descriptions."""
        return {
            first: self._draw("opening", first).choice(list(others))
            for first, others in word_lists().openings.items()
        }

    def added(self) -> list[AddedTool]:
        """Two or three tools that are not part of the world."""
        known = word_lists().added
        dice = self._draw("added")
        chosen = dice.sample(range(len(known)), dice.randint(2, 3))
        return [known[index] for index in sorted(chosen)]

    def chosen(self, names: Sequence[str], most: int, *about: str) -> list[str]:
        """A draw of at most so many of these names, in their order."""
        some = set(self._draw(*about).sample(list(names), min(most, len(names))))
        return [name for name in names if name in some]

    def _draw(self, *about: str) -> Random:
        return Random(derive_seed("surface", self.number, *about))

    def _tool_forms(self, own: str) -> list[str]:
        verb, *rest = _words_of(own)
        return [
            self._tool_style(self._ordered(act, thing))
            for act, thing in (
                (self._verb(verb), self._nouns(rest)),
                ([verb], self._nouns(rest)),
                ([verb], rest),
            )
        ]

    def _ordered(self, act: list[str], thing: list[str]) -> list[str]:
        if self._order == "prefixed":
            return [*self._domain, *act, *thing]
        return [*thing, *act] if self._order == "noun_first" else [*act, *thing]

    def _name_forms(self, own: str) -> list[str]:
        words = _words_of(own)
        return [self._name_style(self._nouns(words)), self._name_style(words)]

    def _value_forms(self, own: str) -> list[str]:
        words = own.split("_")
        others = word_lists().values.get(own, [])
        synonyms = self._draw("value", own).sample(list(others), len(others))
        # Capitals and the like are a renaming of their own: then the words stay.
        if self._value_style is not _snake:
            synonyms = synonyms[:1] if self._draw("styled", own).random() < 0.5 else []
        return [self._value_style(form.split("_")) for form in (*synonyms, "_".join(words))]

    def _verb(self, verb: str) -> list[str]:
        others = word_lists().verbs.get(verb)
        if not others or self._draw("keep", verb).random() < MOST_KEPT:
            return [verb]
        return self._draw("verb", verb).choice(list(others)).split("_")

    def _nouns(self, words: Sequence[str]) -> list[str]:
        return [part for word in words for part in self._noun(word)]

    def _noun(self, word: str) -> list[str]:
        lists, singular = word_lists(), _singular(word)
        others: Sequence[str] = lists.nouns.get(word) or lists.nouns.get(singular) or ()
        short = lists.abbreviations.get(singular)
        dice = self._draw("noun", singular)
        if dice.random() < MOST_KEPT:
            return [word]
        if self._abbreviates and short is not None:
            chosen = [short]
        elif others:
            chosen = dice.choice(list(others)).split("_")
        else:
            return [word]
        plural = word != singular and word not in lists.nouns
        return [*chosen[:-1], _plural(chosen[-1])] if plural else chosen


def _injective(
    own: Iterable[str], taken: Collection[str], forms: Callable[[str], Sequence[str]]
) -> dict[str, str]:
    """The first form of each name that is valid and free; failing that, the name itself, with a
    number if it is ``taken``.
    """
    names = sorted(set(own))
    used = {name.lower() for name in taken}
    reserved, out = {name.lower() for name in names}, dict[str, str]()
    for name in names:
        valid = [form for form in forms(name) if NAME.fullmatch(form)]
        numbered = (f"{name}_{number}" for number in count(2))
        closed = used | (reserved - {name.lower()})
        candidates = chain(valid, [name], numbered)
        out[name] = next(form for form in candidates if form.lower() not in closed)
        used.add(out[name].lower())
    return out


def flat_words(text: str) -> str:
    """The words of a text in lower case, each between single spaces."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def _occurs(form: str, own: str, text: str) -> bool:
    """True if a flat text holds the form of a word, which is another word than the own one."""
    words = _words_of(form)
    return words != _words_of(own) and f" {' '.join(words)} " in text


def _words_of(name: str) -> list[str]:
    """The words of an identifier in any style, in lower case."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = [word.lower() for word in re.split(r"[\s_.-]+", spaced) if word]
    return words or [name]


def _singular(word: str) -> str:
    """The singular of a word of the lists; the word itself where they do not hold it."""
    lists = word_lists()
    for ending, instead in (("ies", "y"), ("ses", "sis"), ("es", ""), ("s", "")):
        base = word.removesuffix(ending) + instead
        if word.endswith(ending) and (base in lists.nouns or base in lists.abbreviations):
            return base
    return word


def _plural(word: str) -> str:
    if word.endswith("sis"):
        return f"{word[:-2]}es"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
