"""Recognition of yes and no in a user's words, as an agent would understand them. English."""

from __future__ import annotations

import re

from synth.core.language.wording import fold

_YES = re.compile(
    r"""
      \b(?:yes|yep|yeah|yup|agreed|deal|approved?|absolutely|definitely|by\ all\ means|confirm(?:ed)?|correct)\b
    | \bexactly\s*(?:[.,!]|$) | (?<!to\ )\bgo\ (?:on|ahead|for\ it)\b | \b(?:please|just)\ (?:do|proceed|continue)\b | \bproceed\b
    | \bgreen\ light\b | \bdo\ (?:it|that|so|this)\b | \b(?:i|we)\ (?:agree|accept|consent|approve)\b | \bi\ can\ live\ with\b
    | \b(?:sounds?|looks?|works?|is|that's|it's|all)\ (?:all\ )?(?:good|fine|great|right|perfect|ok|okay|fair|manageable)\b
    | \bworks\ for\ me\b | \bfine\ (?:with|by)\ me\b | \b(?:that|this)\ is\ what\ (?:i|we|the)\b
    """,
    re.VERBOSE,
)
_MILD = re.compile(
    r"\b(?:sure|of course|certainly|ok|okay|right|fine|great|perfect|alright|all right|good|that's"
    r" it)\b"
)
_NO = re.compile(
    r"\b(?:no|not|never|nothing|none|nope|neither|nor|cannot|without|rather not|forget it|hold"
    r" on|wait|leave)\b|n't\b"
)
_GO = re.compile(r"\b(?:yes|go ahead|please do(?!n't)|proceed|do it)\b")
_HEDGE = re.compile(r"\b(?:but|if|unless|as long as|provided|except|however|instead)\b|\?")
_NOT_YET = re.compile(r"\b(?:before|until|once)\b[^.,;!?]*")
_IDIOMS = re.compile(
    r"\bif (?:it|that) (?:can't be helped|has to be|must be|suits you)\b|\bwhy not\b|\bnot"
    r" bad\b|\bdon't mind\b"
    r"|\bno (?:problem|worries|objections?|doubt)\b"
)
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

    ``polite``: it tells facts, or nothing was asked, so that "Sure" or "Great" is no yes.
    """
    words = _words(text)
    if re.match(r"\W*(?:yes|yep|yeah|yup)\b", words):
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
