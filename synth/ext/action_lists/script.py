"""The division of a scenario: what its user says at first, tells when asked, and wants later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from synth.ext.action_lists.entries import Scenario

IDENTITY, WISHES = "identity", "wishes"
"""The topics that a user of a list tells when asked."""

_END = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?<=[.!?])\s+(?=[A-Z\"'#(])|\n+"
)
_NAMED = re.compile(
    r"^(?:you are|you're|i am|i'm) (?:called )?(?-i:[A-Z]|[a-z]\S*\d)|^(?:your|my) (?:\w+ )?"
    r"(?:name|user ?id|username|e-?mail|zip|postcode|phone|account|member|id)\b|^(?:you|i) live\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:want|wish|would like|'d like|need|received|ordered|bought|booked|ask(?:ing)? (?:to|for)"
    r"|request|looking|calling|contacting)\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"^(?:you are|you're|be|you (?:do not|don't) (?:want to|like to) (?:reveal|talk|say)|your"
    r" (?:personality|tone|style)|you (?:speak|talk|sound|act|write|tend))\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"^(?:you|i) (?:do not|don't|cannot|can't|no longer) (?:remember|recall|know|have)\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"^(?:if|unless|otherwise|in case|should|when|whenever|when asked|for)\b", re.IGNORECASE
)
_LATER = re.compile(
    r"^(?:after(?:wards?| that| this|\b)|then|next|finally|lastly|once|also|in addition"
    r"|additionally|later|at the end|as a last|besides)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Script:
    """The words of a user: the ``opening``, the ``topics`` that are told when asked, by name, and
    ``later`` sentences, which may be requests of their own. ``manner`` describes the person.
    """

    opening: str
    topics: dict[str, str]
    later: Sequence[str] = ()
    manner: str = ""

    @property
    def wants(self) -> str:
        """All that the user says but who it is, which no proposal has to repeat."""
        told = [text for name, text in self.topics.items() if name != IDENTITY]
        return "\n".join([self.opening, *told, *self.later])


def script_of(scenario: Scenario) -> Script:
    """Divide a scenario. All words but the ``manner`` are in the first person."""
    scenario = replace(scenario, request=_flowing(scenario.request), known=_flowing(scenario.known))
    if scenario.divided:
        rest = _Sorted(scenario.instructions)
        known = scenario.known
        wanted = [text for text in rest.requests if _WANTS.search(text)]
        opening = " ".join([scenario.request, *wanted])
        stated = [text for text in rest.requests if text not in wanted]
        wishes = [*rest.identity, *stated, *rest.conditions]
    else:
        rest = _Sorted(scenario.request)
        opening = " ".join(rest.requests)
        if not opening:
            opening = scenario.request
            return Script(first_person(opening), {})
        known, wishes = " ".join(rest.identity), rest.conditions
    topics = {IDENTITY: first_person(known), WISHES: first_person(" ".join(wishes))}
    return Script(
        first_person(opening),
        {name: text for name, text in topics.items() if text},
        [first_person(text) for text in rest.later],
        " ".join(filter(None, [scenario.persona, *rest.manner, scenario.unknown])),
    )


def _flowing(text: str) -> str:
    """The paragraphs of a text as one, each ended like a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(line if line[-1] in ".!?:;," else f"{line}." for line in lines)


class _Sorted:
    """The sentences of a text by their purpose."""

    def __init__(self, text: str) -> None:
        self.identity: list[str] = []
        self.manner: list[str] = []
        self.later: list[str] = []
        self.conditions: list[str] = []
        self.requests: list[str] = []
        for sentence in sentences(text):
            self._home(sentence).append(sentence)

    def _home(self, sentence: str) -> list[str]:
        if _UNKNOWN.search(sentence) and not _WANTS.search(sentence):
            return self.manner
        if _NAMED.search(sentence) and not _WANTS.search(sentence):
            return self.identity
        if _MANNER.search(sentence) and not _WANTS.search(sentence):
            return self.manner
        if _LATER.search(sentence):
            return self.later
        return self.conditions if _IF.search(sentence) else self.requests


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part.strip() for part in _END.split(text) if part.strip()]


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
