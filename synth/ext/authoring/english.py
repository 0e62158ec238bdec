"""Forms of English words, and how often they occur. The import takes two seconds of CPU."""

from __future__ import annotations

import re
from typing import Any, cast

import inflect
import wordsegment  # pyright: ignore[reportMissingTypeStubs]

FORMS = cast("Any", inflect.engine())  # its annotations want its own word type

_WORDS = cast("Any", wordsegment)  # it has no annotations
_WORDS.load()

_COMMON = 1e6
"""How often a word occurs, in a trillion words of the web, that may be part of a glued name."""


_BOUND_OR_KEY = re.compile(r"(max|min)([a-z]{4,})|([a-z]{4,})(id)")
"""Names of a program that the words of the web do not tell apart: ``minvalue``, ``objectid``."""


def is_rare(word: str, beside: str = "") -> bool:
    """True for a word that hardly occurs, such as a shortened one: ``ele``, or no more often than
    another.
    """
    return _WORDS.UNIGRAMS.get(word, 0) <= _WORDS.UNIGRAMS.get(beside, _COMMON)


def is_written(form: str, word: str) -> bool:
    """True for a form of a word that is in use, or of a word that is made of common ones."""
    parts: list[str] = _WORDS.segment(word)
    made = parts[1:] and all(len(one) > 2 and not is_rare(one) for one in parts)
    return bool(made) or form in _WORDS.UNIGRAMS


def words_of(name: str) -> list[str]:
    """The words of a name in small letters without anything between them, such as
    ``borrowernumber``; the name alone where it is a word or they are not all common words.
    """
    found: list[str] = _WORDS.segment(FORMS.singular_noun(name) or name)
    if not found[1:] and is_rare(name) and (parts := _BOUND_OR_KEY.fullmatch(name)):
        found = [*filter(None, parts.groups())]
    head = "".join(found[:-1])
    known = all(len(one) > 1 and not is_rare(one) for one in found)
    return [*found[:-1], name.removeprefix(head)] if head and known else [name]
