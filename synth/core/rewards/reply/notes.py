"""Notes on a reply: statements that rules can select and not decide.

A note costs no reward. A judge that is a model decides about the statements, and an author may
forbid a kind by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from synth.core.language.values import MEASURES, StatedValue, values_in
from synth.core.language.wording import stem, stems
from synth.core.rewards.reply.finding import ReplyFinding
from synth.core.rewards.reply.given import Material
from synth.core.rewards.reply.outcome import GENERAL
from synth.core.rewards.reply.sentences import AgentSentence

PROMISE = "promise"
AMOUNT = "unknown number"
RULE = "stated rule"
WORDS = "unsupported words"
KINDS = (PROMISE, AMOUNT, RULE, WORDS)

_PROMISE = re.compile(
    r"\b(?:i|we)(?:'ll| will| shall| am going to| are going to)\b|\byou(?:'ll| will) (?:receive"
    r"|get|hear|find)\b"
)
_RULE = stems(
    "entitled eligible allowed permitted policy policies rule required qualify qualified within"
    " complimentary waive guarantee maximum minimum"
)
_NEAR = 12
"""Numbers up to this one need no source."""


def notes_on(
    sentence: AgentSentence, given: Material, *, by_gold: bool = False
) -> Iterator[ReplyFinding]:
    """The notes on one sentence; a question has only words without support. What gold says too
    has support.
    """
    words = sentence.raw[:200]
    if not by_gold and (new := _new_words(sentence, given)):
        yield ReplyFinding(WORDS, words, f"nothing gave {', '.join(new[:4])}")
    if sentence.asks:
        return
    if not sentence.conditional and _PROMISE.search(sentence.text):
        yield ReplyFinding(PROMISE, words)
    if not _RULE.isdisjoint(sentence.stems):
        yield ReplyFinding(RULE, words)
    for value in () if by_gold else values_in(sentence.text):
        if _is_unknown(value, given):
            yield ReplyFinding(AMOUNT, words, f"nothing gave {value.text}")


def _is_unknown(value: StatedValue, given: Material) -> bool:
    """True for a large or measured number that nothing gave."""
    if value.kind != "number" or not (value.unit in MEASURES or len(value.text) > 2):
        return False
    numbers = [one[0] for one in value.readings if len(one) == 1]
    known = any(Decimal(one) <= _NEAR or given.holds_number(one) for one in numbers)
    return bool(numbers) and not known


def _new_words(sentence: AgentSentence, given: Material) -> list[str]:
    """Words of more than three letters that nothing gave, if there are several."""
    words = {stem(word): word for word in sentence.words if len(word) > 3 and word.isalpha()}
    new = sorted(words[one] for one in words.keys() - GENERAL if not given.has_stem(one))
    return new if len(new) > 1 else []
