"""Classification of turns that ask nothing: the agent announces work, has settled the matter, or
is only polite.

English is understood. What is not understood counts as a claim, which settles the matter.
"""

from __future__ import annotations

import re
from typing import Literal

from synth.language.wording import fold
from synth.users.scripted import phrases

Idle = Literal["announces", "settles", "polite"]

_TO_COME = r"""(?:'ll|\ will|\ shall|(?:'m|\ am|'re|\ are)\ (?:going|about|ready)\ to|\ (?:plan|intend|want|need|have|like)\ to|(?:'d|\ would)\ like\ to|\ must|\ should)"""
_WORK = r"(?:look|check|search|work|review|verif|process|retriev|pull|fetch|gather|read|open|call|prepar|start|proceed|updat|set|mak|tak|find|get|dig|compar|book|order|record|writ|handl|cancel|exchang|return|refund|schedul|prescrib|chang|fil|submit|creat|enter|not|ask|us|identif|confirm|calculat|comput|count|list|go|put|do|mov|send|apply|add)"

ANNOUNCES = re.compile(
    rf"""
      \b(?:i|we){_TO_COME}
        \ (?:(?:now|then|next|also|just|first|quickly)\ |(?:start|begin)\ by\ |go\ ahead\ and\ |have\ to\ )*
        (?!not\b|never\b|leave\b|keep\b|close\b|be\b|stop\b|say\b|add\b|point\b|apologi[sz]e\b|inform\b|hear\b|refuse\b|decline\b)
    | \b(?:i'm|i\ am|we're|we\ are|now|currently)\ (?:(?:now|just|currently|still)\ )*(?!unable)\w+ing\b
    | \blet\ me\ (?!know\b|have\b|be\b|add\b|say\b|apologi[sz]e\b) | \blet's\b | ^allow\ me\b
    | \b(?:next|first|after\ that|afterwards),?\ (?:step\b|to\b|up\b|the\ \w+\.?$|i\b|we\b|{_WORK}\w*)
    | \b(?:now|then),?\ (?:i|we)\ {_WORK}\w*
    | \b(?:my\ (?:plan|next\ step)|step\ \d|the\ (?:next\ step|plan)\ is|plan:|going\ to|about\ to)
    | \b(?:is|comes)\ next\b
    | \b(?:one|a|just\ a)\ (?:moment|second|minute|sec)\b | \bbear\ with\ me\b | \bh(?:old|ang)\ on\b | \bon\ it\b | \bright\ away\b | \bstand\ by\b
    | ^(?:(?:ok(?:ay)?|sure|thanks|great|alright|now|certainly|of\ course)[,.!:]?\ )*(?!nothing\b)(?:{_WORK}|beginn|try|hav)\w*ing\b
    """,
    re.VERBOSE,
)  # fmt: skip
"""Words about work that is still to come, in one sentence."""

PROGRESS = re.compile(
    r"""
      \b(?:i|we)(?:'ve|\ have|\ did)?(?:\ (?:now|just|already|also))*
        \ (?:found|find|located|checked|verified|looked|reviewed|retrieved|pulled|identified|see|saw|read|got|gathered|noticed)\b
    | \b(?:was|were|is|are|has\ been|have\ been)\ (?:now\ )?(?:found|located|identified|verified|retrieved|checked)\b
    | \bi(?:'ve|\ have)(?:\ now)?\ (?:the|your|her|his|their|all|everything|what)\b
    """,
    re.VERBOSE,
)
"""Words about what was looked up, which settles nothing yet."""

SETTLES = re.compile(
    r"""
      \b(?:done|completed?|finish(?:ed)?|all\ set|settled|resolved|taken\ care|in\ (?:place|order)|over)\b
    | \b(?:has|have|was|were|is|are|been|'s|'re|'ve|i|we|not|be|all|it)\ (?:(?:now|all|also|just|successfully|already|been|not|no)\ )*
        (?!(?:need|want|ask|request|suppos|interest|concern|confus|delight|please|excit|reli)\w*ed\b)\w{2,}ed\b
    | \b(?:made|put|sent|set|paid|given|written|taken|begun|kept|withdrawn|undone|gone)\b
    | \b(?:can't|cannot|can\ not|unable|couldn't|could\ not|won't|will\ not|isn't|aren't|not\ (?:possible|able|allowed|permitted))\b
    | \b(?:unfortunately|afraid|regret|refus\w+|declin\w+|against\ (?:our|the))\b
    | ^(?:yes|no|nothing|none|nobody|neither|nor)\b | \bon\ (?:its|the|their)\ way\b
    """,
    re.VERBOSE,
)
"""Words by which a matter is reported as done, refused or answered, in one sentence."""

REFUSES = re.compile(
    r"\b(?:can't|cannot|can not|unable|couldn't|could not|won't|will not|impossible"
    r"|not (?:possible|able|allowed|permitted|available|eligible|offered|in stock))\b"
    r"|\b(?:unfortunately|afraid|refus\w+|declined|denied|against (?:our|the)|out of stock"
    r"|sold out|no longer (?:available|possible))\b"
)
"""Words by which something is refused, in folded text."""

LEAVING = re.compile(
    r"\b(?:bye|goodbye|farewell|take care|so long|have a|you're welcome|you are welcome|my pleasure"
    r"|see you|enjoy|thank you for (?:contacting|calling|choosing))\b"
)
_POLITE = re.compile(
    r"""
      \b(?:hello|hi|hey|welcome|good\ (?:morning|day|afternoon|evening)|greetings|dear)\b | \b(?:glad|happy|here|pleased|delighted)\ to\b
    | \bthank(?:s|\ you)\b | \bi\ understand\b
    | \bsorry\ (?:to\ hear|about|for)\b | \byou(?:'d|\ would|'re|\ are)?\ (?:like|want|need|asked|ask|asking|wish|wrote|said|mentioned)\b
    | \b(?:your|the)\ (?:request|question|task|message)\b | ^(?:so|to\ sum\ up|in\ short|summary|to\ summari[sz]e|in\ summary)[,:]
    """,
    re.VERBOSE,
)
OFFER = re.compile(
    r"\b(?:(?:how|what) (?:can|may|could) i|(?:glad|happy|here|pleased) to|i(?:'d| would) be"
    r" (?:glad|happy))\b"
)
_HELPS = re.compile(r"\b(?:help|assist) you with (?:that|this|it|your)\b")
_LEAD = re.compile(
    r"^(?:(?:understood|got it|noted|of course|certainly|sure|absolutely|okay|ok|alright|all right"
    r"|great|perfect|no problem|so|well|and)[,.!:;]*(?:\s+|$))+"
)
"""Polite words before a sentence."""
_IF = re.compile(r"\b(?:if|once|when(?:ever)?|unless|until|as soon as) (?:you|there|it)\b[^.!?\n]*")
"""Conditions, in which nothing is announced."""

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")


def idle(text: str, *, first: bool) -> Idle:
    """Classify a turn that asks nothing.

    What it says last of work to come or of work done counts. One that only says what was looked up
    announces more. In the agent's ``first`` turn an offer of help is a greeting, later a leave.
    """
    folded = _IF.sub(" ", fold(text))
    parts = [part.strip(" -*>|") for part in _SENTENCE.split(folded) if part.strip(" -*>|")]
    kinds = [_kind(part, first=first) for part in parts]
    if strong := [kind for kind in kinds if kind in {"announces", "settles"}]:
        return "announces" if strong[-1] == "announces" else "settles"
    if "progress" in kinds:
        return "announces"
    return "polite" if kinds and "claims" not in kinds else "settles"


def _kind(
    part: str, *, first: bool
) -> Literal["announces", "settles", "progress", "polite", "claims"]:
    if LEAVING.search(part):
        return "settles"
    if ANNOUNCES.search(part):
        return "announces"
    progress = PROGRESS.search(part)
    if SETTLES.search(PROGRESS.sub(" ", part)):
        return "settles"
    if progress:
        return "progress"
    if _HELPS.search(part):
        return "polite"
    if phrases.CLOSING.search(part):
        return "polite" if first and OFFER.search(part) else "settles"
    return "polite" if _POLITE.search(part) or not _LEAD.sub("", part) else "claims"
