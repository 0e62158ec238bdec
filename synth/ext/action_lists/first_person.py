"""Scenario texts, which tell an actor who "you" are, as words that the user says."""

from __future__ import annotations

import re

_I = re.compile(r"\b(?:I|I'm|I'd|I've|I'll|my|mine|myself)\b")
_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)

_PHRASES = (
    (r"you are", "I am"),
    (r"you're", "I'm"),
    (r"you were", "I was"),
    (r"are you", "am I"),
    (r"were you", "was I"),
    (r"you've", "I've"),
    (r"you'd", "I'd"),
    (r"you'll", "I'll"),
    (r"yourself", "myself"),
    (r"yours", "mine"),
    (r"your", "my"),
)
"""Words of the second person, and what the person says of themselves; longer ones first."""

_OBJECT = re.compile(
    r"\b(?P<before>to|for|with|from|by|of|about|at|on|upon|give|gives|gave|tell|tells|told|let|lets"
    r"|help|helps|ask|asks|asked|send|sends|sent|offer|offers|offered|charge|charges|charged"
    r"|call|calls|called|refund|refunds|inform|informs|provide|provides|make|makes|show|shows"
    r"|allow|allows|suits?|bothers?|between) you\b"
    r"(?! (?:want|need|have|can|will|would|wish|do|did))",
    re.IGNORECASE,
)
_AGENT = re.compile(r"\bthe (?:agent|representative|assistant)(?P<own>'s)?(?: (?P<verb>[a-z]+))?\b")


def first_person(text: str) -> str:
    """The text as its user would say it: "You want your money back" is "I want my money back".

    A text that is in the first person already is returned as it is.
    """
    if _I.search(text) or not _YOU.search(text):
        return text
    text = _OBJECT.sub(lambda found: f"{found['before']} me", text)
    for words, own in _PHRASES:
        text = re.sub(rf"\b{words}\b", own, text, flags=re.IGNORECASE)
    text = re.sub(r"\byou\b", "I", text, flags=re.IGNORECASE)
    text = _AGENT.sub(_addressed, text)
    return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda found: found.group().upper(), text)


def _addressed(found: re.Match[str]) -> str:
    """The agent, as somebody who is spoken to."""
    if found["own"]:
        return f"your {found['verb']}" if found["verb"] else "your"
    verb = found["verb"] or ""
    if verb in {"is", "has", "does"}:
        verb = {"is": "are", "has": "have", "does": "do"}[verb]
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = f"{verb[:-3]}y" if verb.endswith("ies") else verb[:-1]
    return f"you {verb}".strip()
