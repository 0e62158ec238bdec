"""The grammar of words.yaml: voices, and what they say around and in the place of parts of a
request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from random import Random
from typing import ClassVar

import yaml
from pydantic import ConfigDict, TypeAdapter

from synth.core.foundation.hashing import derive_seed, digest

ACT = "{act}"
"""Stands in a form of request for what is to be done."""

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class Greetings:
    """Greetings of any hour, and of a part of the day."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    always: Sequence[str]
    morning: Sequence[str] = ()
    afternoon: Sequence[str] = ()

    def at(self, hour: int) -> Sequence[str]:
        """The greetings that fit an hour of the day."""
        return [*self.always, *(self.morning if hour < 12 else self.afternoon)]


@dataclass(frozen=True, kw_only=True)
class Voice:
    """A manner of writing. ``frames`` put the parts of an opening in an order, ``requests`` are the
    forms that it asks in; ``shortened`` and ``misspelt`` are shares of the words that can be. One
    of ``whole_sentences`` never writes a note.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    weight: float
    persona: str
    frames: Sequence[str]
    greetings: Greetings
    contexts: Sequence[str]
    questions: Sequence[str]
    closings: Sequence[str]
    requests: Sequence[str]
    whole_sentences: bool = False
    small_letters: bool = False
    bare_end: bool = False
    shortened: float = 0.0
    misspelt: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """All of words.yaml, which says what its lists are for."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    greeted: Sequence[str]
    thanked: Sequence[str]
    spoken: Sequence[str]
    abbreviated: Sequence[str]
    requests: Sequence[str]
    unfit: Sequence[str]
    agreements: Sequence[str]
    shortened: Mapping[str, Sequence[str]]
    voices: Sequence[Voice] = field(default_factory=list[Voice])

    def voice(self, seed: int, barred: Collection[str] = (), *, notes: bool = False) -> Voice:
        """The voice that a seed draws, by the voices' weights, among those that are not barred; one
        that writes ``notes``, if there is any.
        """
        voices = [voice for voice in self.voices if voice.name not in barred]
        voices = [one for one in voices if not (notes and one.whole_sentences)] or voices
        return Random(seed).choices(voices, [voice.weight for voice in voices])[0]

    def is_note(self, text: str) -> bool:
        """True for a text that speaks to nobody, as notes do ("LP-1: new address. Today."), or is
        scribbled.
        """
        head = text.partition("\n")[0].strip()
        return self.is_scribbled(head) or self._speaks.search(head) is None

    @staticmethod
    def is_scribbled(text: str) -> bool:
        """True for a text that ends without a sign, or has a sentence with a small letter first."""
        return text[-1:] not in {*".?!"} or re.search(r"(?:^|\w{2}[.?!] )[a-z]", text) is not None

    @cached_property
    def _speaks(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!thank )\b(?:{_any(self.spoken)})\b", re.IGNORECASE)

    @cached_property
    def whole(self) -> Mapping[str, str]:
        """Words by their shorter forms."""
        return {short: word for word, forms in self.shortened.items() for short in forms}

    @cached_property
    def greets(self) -> re.Pattern[str]:
        """Matches a text that begins with a greeting."""
        return re.compile(rf"\W*(?:{_any(self.greeted)})\b", re.IGNORECASE)

    def without_greeting(self, text: str) -> str:
        """A text without the greeting before its first sentence."""
        found = re.match(rf"(?:{self.greets.pattern})[,.!:]\s+(?=\S)", text, re.IGNORECASE)
        rest = text[found.end() :] if found else text
        return rest[0].upper() + rest[1:] if found else text

    @cached_property
    def thanks(self) -> re.Pattern[str]:
        """Matches words of thanks anywhere."""
        return re.compile(rf"\b(?:{_any(self.thanked)})\b", re.IGNORECASE)

    @cached_property
    def asks(self) -> Sequence[re.Pattern[str]]:
        """Match a sentence that is a request, with its act as the group ``act``."""
        return [
            re.compile(re.escape(form).replace(re.escape(ACT), r"(?P<act>.+)"), re.DOTALL)
            for form in self.requests
        ]

    @cached_property
    def bars(self) -> re.Pattern[str]:
        """Matches an act that is left in its own form."""
        return re.compile(rf"(?:{_any(self.unfit)})\b", re.IGNORECASE)


def _any(words: Sequence[str]) -> str:
    """A pattern of any of these words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _source(name: str) -> str:
    """The text of a file of this folder."""
    return files("synth.ext.variety.wording").joinpath(name).read_text("utf-8")


@cache
def grammar() -> Grammar:
    """The grammar that ships."""
    return TypeAdapter(Grammar).validate_python(yaml.safe_load(_source("words.yaml")))


@cache
def grammar_digest() -> str:
    """Of the grammar's text: another grammar makes other requests."""
    return digest(_source("words.yaml"))


def voice_names() -> list[str]:
    """The names of the voices of the grammar that ships."""
    return [voice.name for voice in grammar().voices]


def held_out_voices(share: float) -> list[str]:
    """The voices that are held out of the first split."""
    return held_out_of(voice_names(), share, "voice")


def held_out_of(names: Sequence[str], share: float, purpose: str) -> list[str]:
    """A share of names: none of a single one, at least one of several, never all."""
    count = min(max(1, round(share * len(names))), len(names) - 1)
    ordered = sorted(names, key=lambda name: derive_seed("held out", purpose, name))
    return sorted(ordered[:count])
