"""The outcome, which every conversation owes: what was done, or why not, or the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from synth.core.language.wording import stem, stems, texts, tokens
from synth.core.rewards.reply.facts import Spoken
from synth.core.rewards.reply.given import Material, made_calls
from synth.core.rewards.reply.sentences import (
    AgentSentence,
    ReplyFinding,
    base_form,
    is_negative,
    is_past,
    sentences,
    visible,
)
from synth.core.types.reply import GoldReply
from synth.core.types.steps import AskStep, ConfirmStep, every_step
from synth.evidence import CallRecord, Evidence, Utterance

CHECK = "outcome not said"
FALSE_CLAIM = "false claim of an act"

MOST = 400
"""The most values of results that a report is searched for."""

_DONE = stems("done complete completed completion processed success successful set saved")
"""Stems that say of any work that it is done."""
_DENIES_WORK = re.compile(
    r"\b(?:nothing|none of \w+|no (?:changes?|actions?)) (?:(?:was|were|has been|have been|got)"
    r" (?:changed|done|made|updated|processed|saved|recorded)\b(?! (?:until|before))|went through)"
    r"|\b(?:refused|declined|rejected|did(?: not|n't) (?:do|make|process)) (?:it|this|that|your)\b"
    r"|\bleft (?:everything\b|the \w+ (?:untouched|unchanged))|\bexact opposite\b"
    r"|\b(?:i|we)(?:'ve| have)? (?:changed nothing|made no changes?)\b|n't change anything\b"
)
GENERAL = stems(
    "a i that this your you the for are was were been have has not can cannot could will would"
    " please with and but from sorry unfortunately possible able unable request requested today now"
    " done okay yes thank thanks help anything already else there here let know welcome happy more"
    " further any all just also because since what which they them their day nice have its did"
    " does out our about into than then when how may must should only been being is it no i've i'm"
    " i'll we've former latter"
)
"""Stems that every outcome may be said with, and that say of none what it is."""
_OF_ANY = GENERAL | _DONE
_LONGER = re.compile("..", re.DOTALL)


Values = Callable[[], Iterable[str]]


def untold(evidence: Evidence, gold: GoldReply) -> Iterator[ReplyFinding]:
    """Findings on what is due and not said."""
    shown = ((words, visible(words.text)) for words in evidence.spoken)
    spoken = [replace(words, text=text) for words, text in shown if text.strip()]
    closing = _closing(evidence, spoken)
    if not closing:
        yield ReplyFinding(CHECK, "", "the user is told nothing about the work")
        return
    if made_calls([evidence]) and (evidence.changes or evidence.task.end is None or not gold.said):
        yield from _untold_work(evidence, gold, spoken)
    elif not evidence.changes and _writes(evidence):
        yield from _undone_work(closing)
    elif gold.said:
        denied = _denied(evidence, closing)
        if denied or not _names_acts_of_user(evidence, gold, closing):
            yield from denied or _untold_answer(evidence, gold, closing)


def _writes(evidence: Evidence) -> bool:
    return evidence.task.end is not None and bool(evidence.task.end.writes)


def _undone_work(closing: Sequence[Utterance]) -> Iterator[ReplyFinding]:
    """Last words that neither deny nor ask anything, where gold writes and nothing was done."""
    said = [one for words in closing for one in sentences(words.text)]
    if not any(one.denies or one.asks for one in said):
        yield ReplyFinding(FALSE_CLAIM, said[0].raw[:200], "no call changed anything")


def _denied(evidence: Evidence, spoken: Sequence[Utterance]) -> list[ReplyFinding]:
    """Findings on words that deny what the user has done when it was asked to."""
    used = [call.name for turn in evidence.turns for call in turn.calls if call.changes]
    denied = (one for said in spoken for one in sentences(said.text) if used and denies_work(one))
    why = f"the user used {', '.join(used)}"
    return [ReplyFinding(FALSE_CLAIM, one.raw[:200], why) for one in denied][:1]


def _untold_work(
    evidence: Evidence, gold: GoldReply, spoken: Sequence[Utterance]
) -> Iterator[ReplyFinding]:
    """After the last write, the work is told of; somewhere a value of it is named."""
    done = made_calls([evidence])
    last = max(index for index, call in enumerate(evidence.calls) if call is done[-1])
    closing = _sentences_after(evidence, spoken, last)
    denied = next(filter(denies_work, closing), None)
    if denied is not None:
        why = f"{done[-1].name} was called and succeeded"
        yield ReplyFinding(FALSE_CLAIM, denied.raw[:200], why)
        return
    named = _words_of(done)
    values = partial(_values_of, evidence, gold, done)
    said = content(gold.said[-1]) if gold.said else set[str]()
    told = [one for one in closing if len(said & one.stems) > 1 or _tells(one, named, values)]
    if not told:
        words = closing[-1].raw[:200] if closing else ""
        yield ReplyFinding(CHECK, words, f"nothing says what {done[-1].name} did")
    elif not _names("\n".join(words.text for words in spoken), values()) and (
        not gold.said or _names("\n".join(gold.said), values())
    ):
        words = f"names nothing that {done[-1].name} was about"
        yield ReplyFinding(CHECK, told[0].raw[:200], words)


def _words_of(done: Sequence[CallRecord]) -> set[str]:
    """The words of the names of tools and of the tables that they changed, as base forms."""
    tables = [change.table for call in done for change in call.changes]
    words = "_".join([*(call.name for call in done), *tables]).lower().split("_")
    return {base_form(form) for word in words for form in (word, stem(word))}


def _sentences_after(
    evidence: Evidence, spoken: Sequence[Utterance], last: int
) -> list[AgentSentence]:
    """The sentences that are said after a call, without what the user is asked to do."""
    asked = {index for index, turn in enumerate(evidence.turns) if turn.calls}
    after = [words for words in spoken if words.after > last and words.turns not in asked]
    return [one for words in after for one in sentences(words.text)]


def _values_of(evidence: Evidence, gold: GoldReply, done: Sequence[CallRecord]) -> Iterator[str]:
    """What a report of some calls may name; "done" says it of any work, and "day" any courtesy."""
    forms = [fact.forms for fact in (*gold.must, *gold.facts)]
    others = Material((), [forms, evidence.task.slots, *results_of(evidence)]).values()
    every = chain(Material.of_calls(done).values(), islice(others, MOST))
    return (value for value in every if stem(value.lower()) not in _OF_ANY)


def denies_work(sentence: AgentSentence) -> bool:
    """True for a sentence that says that nothing was done."""
    return (
        not sentence.asks
        and _DENIES_WORK.search(sentence.text) is not None
        and not sentence.sets_apart
    )


def _tells(sentence: AgentSentence, named: set[str], values: Values) -> bool:
    """True for a sentence that says that something is done: by the tool's words, or by a value."""
    if sentence.asks or sentence.refuses:
        return False
    if any(map(is_past, sentence.words)) or not _DONE.isdisjoint(sentence.stems):
        return True
    forms = {base_form(word) for word in sentence.words if not is_negative(word)}  # no "note"
    return bool(forms & named) or _names(sentence.raw, values())


def _names(text: str, values: Iterable[str]) -> bool:
    """True if a text names one of some values."""
    spoken = Spoken(text)
    return any(value.strip() and len(value) < 200 and spoken.holds(value) for value in values)


def _untold_answer(
    evidence: Evidence, gold: GoldReply, spoken: Sequence[Utterance]
) -> Iterator[ReplyFinding]:
    """What a reply owes where gold only answers: some content that gold has beyond courtesy, or a
    refusal that names what. A value that was read is no content where gold refuses.
    """
    refused = any(one.refuses for one in sentences(gold.said[-1]))
    seen = [evidence.task.slots, *(results_of(evidence) if refused else ())]
    values = list(islice(Material((), seen).values(), MOST))
    request = _stems(evidence.task.prompt)
    due = content(gold.said[-1])
    text = "\n".join(words.text for words in spoken)
    wanted = due - request or due
    if refused:
        wanted -= _stems(" ".join(values))
    amounts = filter(re.compile(r"\d").match, wanted)
    if wanted & _stems(text) or _names(text, amounts) or not (wanted or refused):
        return
    denies = any(sentence.denies for sentence in sentences(text))
    if denies and _names(text, filter(_LONGER.match, values)):
        return
    shown = ", ".join(sorted(wanted)[:6]) or "a refusal"
    yield ReplyFinding(CHECK, spoken[-1].text.strip()[:200], f"says nothing of: {shown}")


def _names_acts_of_user(evidence: Evidence, gold: GoldReply, spoken: Sequence[Utterance]) -> bool:
    """True if gold tells of nothing but what the user has changed by its own tools, and some words
    have one of that or of the request.
    """
    used = [(turn, call) for turn in evidence.turns for call in turn.calls if call.changes]
    acts = content(" ".join(f"{call.name.replace('_', ' ')} {turn.text}" for turn, call in used))
    known = (acts | content(evidence.task.prompt)) - _DONE
    told = chain.from_iterable(sentences(words.text) for words in spoken)
    named = (one for one in told if known & one.stems and not one.refuses)
    return bool(used) and content(gold.said[-1]) <= acts and any(named)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in texts(tokens(text))}


def results_of(evidence: Evidence) -> list[Any]:
    """The results of the calls."""
    return [call.result.payload() for call in evidence.calls if call.result is not None]


def content(text: str) -> set[str]:
    """The stems of a text that say what it is about."""
    said = _stems(text) - GENERAL
    return {word for word in said if len(word) > 2 or word.isdigit()}


def _closing(evidence: Evidence, spoken: Sequence[Utterance]) -> list[Utterance]:
    """The words after the last write and the last answer of the user that counts."""
    writes = [index for index, call in enumerate(evidence.calls) if call.changes]
    answers = _answers(evidence)
    calls = writes[-1] + 1 if writes else 0
    turns = answers[-1] + 1 if answers else 0
    return [words for words in spoken if words.after >= calls and words.turns >= turns]


def _answers(evidence: Evidence) -> list[int]:
    """The turns in which the user first tells what gold asks for or answers a proposal, or acts."""
    if not evidence.turns:
        return []
    steps = list(every_step(evidence.task.gold))
    wanted = {topic for step in steps if isinstance(step, AskStep) for topic in step.topics}
    confirms = any(isinstance(step, ConfirmStep) for step in steps)
    out: list[int] = []
    for index, turn in enumerate(evidence.turns):
        decides = confirms and (turn.consents or turn.declines)
        if decides or turn.calls or wanted & {*turn.told}:
            out.append(index)
        wanted -= {*turn.told}
        confirms = confirms and not decides
    return out
