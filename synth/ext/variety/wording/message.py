"""Several requests in the words of one message, by the connectives of connectives.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from random import Random
from typing import ClassVar

import yaml
from pydantic import ConfigDict, TypeAdapter

from synth.core.foundation.hashing import digest
from synth.ext.variety.wording.grammar import Grammar, grammar, source
from synth.task import Task

FORM = "Please {act}."
"""The request that several acts are put into."""

_END = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True, kw_only=True)
class _Connectives:
    """All of connectives.yaml, which says what its lists are for."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    acts: Sequence[str]
    sentences: Sequence[str]
    letters: Sequence[str]


@cache
def connectives() -> _Connectives:
    """The connectives that ship."""
    return TypeAdapter(_Connectives).validate_python(yaml.safe_load(source("connectives.yaml")))


@cache
def joints_digest() -> str:
    """Of the connectives' text: others make other messages."""
    return digest(source("connectives.yaml"))


def message_of(tasks: Sequence[Task], seed: int) -> str:
    """The requests of some tasks as one message. Their values stay letter by letter."""
    dice = Random(seed)
    return reduce(
        lambda text, task: _joined(text, _without_greeting(task.prompt.strip()), dice),
        tasks[1:],
        tasks[0].prompt.strip(),
    )


def _joined(first: str, following: str, dice: Random) -> str:
    words, known = grammar(), connectives()
    head, last = _last_sentence(first)
    act, other = _act(words, last), _act(words, following)
    if act and other and dice.random() < 0.75:
        both = dice.choice(known.acts).format(first=act, act=other)
        return f"{head}{FORM.format(act=both)}"
    letters = "\n" in first or "\n" in following
    joint = dice.choice(known.letters if letters else known.sentences)
    end = "" if letters or first[-1:] in {".", "?", "!"} else "."
    return joint.format(first=f"{first}{end}", next=following)


def _last_sentence(text: str) -> tuple[str, str]:
    """What comes before the last sentence of a text, and that sentence."""
    if "\n" in text:
        return "", text
    ends = [found.end() for found in _END.finditer(text)]
    start = ends[-1] if ends else 0
    return text[:start], text[start:]


def _act(words: Grammar, text: str) -> str | None:
    """What a text asks to be done, if it is one plain request in one sentence."""
    if "\n" in text or _END.search(text):
        return None
    for pattern in words.asks:
        if found := pattern.fullmatch(text):
            act = found["act"]
            plain = act[0].islower() and not words.bars.match(act) and not re.search("[,;:]", act)
            return act if plain else None
    return None


def _without_greeting(text: str) -> str:
    """A text without the greeting before its first sentence."""
    found = grammar().greets.match(text)
    rest = "" if found is None else text[found.end() :]
    if re.match(r"[,.!] \S", rest):
        return rest[2:3].upper() + rest[3:]
    return text
