"""Words for what an agent does to records."""

from __future__ import annotations

import re
from collections.abc import Collection

from synth.core.language.wording import fold, stem, stems, texts, tokens

ACTS = stems(
    "cancel stop discontinue end delete remove drop close void refund return exchange swap"
    " replace start begin prescribe order book schedule charge credit escalate transfer pay"
    " double increase reduce raise lower hold reject decline"
)
"""Acts of which none is a way of doing another; entering, placing or sending may belong to any."""
DOING = stems(
    "add apply arrange assign block call change check complete correct create deliver do edit"
    " enter execute file give go goes grant implement insert issue keep lend log make mark"
    " message modify move notify open place process provide put reassign record redeem refer"
    " register release remind renew reopen repeat report request reserve reset restore resume"
    " save send set settle ship submit switch take transcribe undo update upgrade use write"
)
"""Verbs that say less of what is done."""
PROPOSES = re.compile(
    r"\b(?:shall|should|may|can|could) (?:i|we)\b|\b(?:want|like|prefer|need) (?:me|us) to\b"
    r"|\b(?:go(?:ing)? ahead|go-ahead|proceed|good to go|let me|i(?:'ll| will| would|'d))\b"
)
"""Phrases by which an agent proposes to do what was asked."""


def says_act(text: str, besides: Collection[str] = ()) -> bool:
    """Tell whether a text says that something is done, or proposes it. ``besides`` are stems of
    further words for acts.
    """
    said = {stem(word) for word in texts(tokens(text))}
    return not said.isdisjoint(ACTS | DOING | {*besides}) or bool(PROPOSES.search(fold(text)))
