"""Recognition of yes and no in a user's words, as an agent would understand them. English."""

from __future__ import annotations

import re

from synth.core.language.wording import fold

_YES = re.compile(
    r"""
      \b(?:yes|yeah|agreed|deal|approved?|absolutely|definitely|confirm(?:ed)?|correct)\b
    | \bexactly\s*(?:[.,!]|$) | (?<!to\ )\bgo\ (?:on|ahead)\b | \b(?:please|just)\ (?:do|proceed|continue)\b | \bproceed\b
    | \bdo\ (?:it|that|this)\b
    | \b(?:sounds?|looks?|is|that's|it's|all)\ (?:all\ )?(?:good|fine|great|right|perfect|ok|okay|fair)\b
    | \bworks\ for\ me\b
    """,
    re.VERBOSE,
)
_MILD = re.compile(
    r"\b(?:sure|of course|certainly|ok|okay|right|fine|great|perfect|alright|all right|good)\b"
)
_NO = re.compile(
    r"\b(?:no|not|never|nothing|none|nope|neither|nor|cannot|without|rather not|forget it|hold"
    r" on|wait|leave)\b|n't\b"
)
_GO = re.compile(r"\b(?:yes|go ahead|please do(?!n't)|proceed|do it)\b")
_HEDGE = re.compile(r"\b(?:but|if|unless|as long as|provided|except|however|instead)\b|\?")
_NOT_YET = re.compile(r"\b(?:before|until|once)\b[^.,;!?]*")
_IDIOMS = re.compile(r"\bdon't mind\b|\bno (?:problem|worries)\b")
"""Phrases that look like denials or conditions and are none."""


def _words(text: str) -> str:
    return _NOT_YET.sub(" ", _IDIOMS.sub(" ", fold(text)))


def agrees(text: str) -> bool:
    """Tell whether a text is a yes: stated plainly, neither taken back nor hedged."""
    words = _words(text)
    return (
        bool(_YES.search(words) or _MILD.search(words))
        and not _NO.search(words)
        and not _HEDGE.search(words)
    )


def could_agree(text: str, *, polite: bool) -> bool:
    """Tell whether an agent could take a text for a yes.

    ``polite``: it tells facts, or nothing was asked, so that "Sure" or "Great" is not a yes.
    """
    words = _words(text)
    if re.match(r"\W*(?:yes|yeah)\b", words):
        return True
    return bool(_YES.search(words) or (not polite and _MILD.search(words))) and not (
        _NO.search(words) or "?" in words
    )


def declines(text: str) -> bool:
    """Tell whether a text is a no that nowhere tells the agent to go on."""
    return bool(_NO.search(fold(text))) and not _GO.search(_words(text))


def denials(text: str) -> int:
    """Count the words of denial in a text."""
    return len(_NO.findall(fold(text)))
