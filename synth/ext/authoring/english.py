"""Forms of English words, and how often they occur. The import takes two seconds of CPU."""

from __future__ import annotations

from typing import Any, cast

import inflect
import wordsegment  # pyright: ignore[reportMissingTypeStubs]

FORMS = cast("Any", inflect.engine())  # its annotations want its own word type

_WORDS = cast("Any", wordsegment)  # it has no annotations
_WORDS.load()

_COMMON = 1e6
"""How often a word occurs, in a trillion words of the web, that may be part of a glued name."""


def words_of(name: str) -> list[str]:
    """The words of a name in small letters without anything between them, such as
    ``borrowernumber``; the name alone where it is a word or they are not all common words.
    """
    found: list[str] = _WORDS.segment(FORMS.singular_noun(name) or name)
    head = "".join(found[:-1])
    known = all(len(one) > 1 and _WORDS.UNIGRAMS.get(one, 0) > _COMMON for one in found)
    return [*found[:-1], name.removeprefix(head)] if head and known else [name]
