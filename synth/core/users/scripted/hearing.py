"""The wants of the sentences of a turn: to know something, a yes, or nothing. English, over folded
text (:func:`synth.core.language.wording.fold`); in other languages question marks and topics are
understood.

What no pattern knows is safe: a sentence with a question mark asks, and a turn that asks nothing
and announces no work has settled its matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from synth.core.language.wording import fold

Statement = Literal["work", "report", "polite"]

_WH = r"\b(?:wh(?:at|ich|en|ere|om?|ose|y)|how)(?:'s)?\b"
_PLEASE = r"\b(?:please|kindly|(?:can|could|would|will) you(?! (?:like|want|prefer)))"
_TELL = r"(?:tell|provide|give(?! it\b)|share|specify|send(?! \w+(?: \w+){0,3} back\b)|clarify|describe|choose|explain|list|advise)\b"
_ASKS_LEAVE = (
    r"\b(?:shall|should|may|can|could) (?:i|we)\b(?! (?:\w+ )?(?:have|get|ask|know|help|assist|do)\b)"
    r"|\b(?:want|like|prefer|need|with|for) (?:me|us) to\b|\b(?:want|like|ready|okay|happy|comfortable) (?:to |with )?(?:proceed|go|continue|mov)|^(?:proceed|go ahead)\b"
    r"|\b(?:approv|authori[sz]|permission|consent|agree|object|go-ahead|green light|you accept)|\bconfirm\w* (?:that|if|by|the following)\b|\bunless you\b"
)

_MARK = re.compile(r"\?(?![\w/=&])")
_LED = re.compile(rf"(?:^|[,;:\u2013\u2014] |\s- )(?:\w+ )?{_WH}|{_WH}\s*\?$")
_OPEN = re.compile(r"\bhow\b.{0,30}\b(?:proceed|handle|like to|sound)|\bwhat\b.{0,20}\bto do\b")
_REQUEST = re.compile(
    rf"^(?:\w+ )?{_TELL}(?! (?:a|no)\b)|(?:{_PLEASE}|\bif you c).{{0,60}}?\b{_TELL}"
    rf"|\blet me know (?!if\b|when\b|and\b|so\b)|\bmay i (?:\w+ )?(?:have|ask|know)\b"
    r"|\bdo you (?:\w+ )?(?:know|have)\b|\bi(?:'ll|'d| will)? (?:\w+ )?(?:need|require)(?! to (?!know|ask))\b"
    r"|\b(?:i|we)\b.{0,20}\bask (?:you|for)\b"
)
_CONFIRM = re.compile(
    rf"(?:{_PLEASE}|\blet me|\b(?:need|want|like)(?: you)? to|\bneed your)\b.{{0,60}}?"
    r"\b(?:confirm|verify|(?:double-|re-)check|check(?! your)|confirmation)\b|^confirm\b|\bconfirm(?:ed)?\s*\?"
)
_CONFIRM_ACT = re.compile(
    r"\bconfirm\w*\s*(?:(?:that|whether|if|you|to|by|with|or|this|these|all|the (?:above|following))\b|[:?.!,(]|$)"
)
_LEAVE = re.compile(_ASKS_LEAVE)
_YES = re.compile(
    r"\b(?:reply|say|answer|respond|need|explicit|type|tell|wait\w*)\b.{0,16}\b(?:yes|ok)\b|\b(?:need|await\w*) (?:your|an?) (?:\w+ )?(?:approval|confirmation|permission)\b"
    r"|\bunless you\b|\b(?:once|until|if) you (?:confirm|approve|agree)|\bplease (?:approve|confirm|proceed)\b"
    r"|\bif (?:that|this|it)(?:'s| is) (?:ok|okay|fine|all right)\b"
    r"|^(?:just )?let me know (?:and|so)\b|\blet me know (?:if|whether|when)\b.{0,40}\b(?:proceed|go ahead|correct|right|works|me to)\b"
)
_CHECK = re.compile(
    r"\b(?:right|correct|ok|okay|fine|good|yes|sure|sounds?|looks?|works?|change|accept\w*|agree|happy|alright|do you want|would you like|what you want)\b"
)
_VERB = re.compile(r"^(?:is|are|was|do|does|did|has|have|can|could|would|will|any)\b")
_CLOSING = re.compile(
    r"(?<!or something )(?<!or anything )\belse\b(?! that)|\b(?:any|other|further|more) (?:\w+ )?(?:questions?|assistance|help)\b"
    r"|\b(?:help|assist) you\b(?! with (?:that|this|it|your)\b)|\b(?:feel free|hesitate|reach out)\b"
    r"|\bhave a \w+ \w+\W*$|\bif you (?:need|have any)\b(?!.*\?)|\bdoes that (?:help|answer)"
)
_NOT_CLOSING = re.compile(
    rf"\b(?:shall|should) (?:i|we)\b|\bto proceed\b|\b(?:suggest|offer)\b|\bi(?:'ll)? need\b|\bor would you\b|\belse (?:do you|i should)\b|{_PLEASE} {_TELL}"
)
_GENERIC = re.compile(
    r"\b(?:the|any|more|all|some) (?:details|information)\b(?! (?:about|on|of)\b)|\beverything (?:that )?you know\b"
    r"|\b(?:what|anything) else\b.{0,20}\b(?:need|know|tell)\b|\btell me more\b"
)
_LACKS = re.compile(
    r"\b(?:without|missing|required|needed|waiting|unclear|don't know|(?:until|once|as soon as) (?:i|we|you))\b|\b(?:please|pls)\W*$"
)
_LATER = re.compile(
    r"^(?:if|once|when(?:ever)?|should) (?:you(?! can| could)|it|there|that)\b|\b(?:if|when|once) you (?:have|find)\b"
)
_CHOICE = re.compile(r"\bwhich (?:one|of|option|would)\b|\beither\b|\bprefer\b")
_ONE_OF = re.compile(r"\bone of (?!the|your|our|\d)\w|\bof the following\b")
_OR = re.compile(r"\bor\b")
_OTHER = re.compile(
    r"\b(?:alternatives?|something (?:else|similar|different)|(?:an)?other (?:options?|ones?))\b"
)
_REFUSES = re.compile(
    r"\b(?:can't|cannot|unable|couldn't|won't|will not|unfortunately|refus\w+|declined|sold out"
    r"|not (?:possible|able|allowed|permitted|available|eligible))\b"
)
_WORK = re.compile(
    r"\b(?:i|we)(?:'ll| will| shall|(?:'m|'re| am| are) (?:going|about|ready) to|'d like to| (?:need|have) to)"
    r" (?!not\b|leave\b|keep\b|close\b|be\b|add\b|get back\b)|\b(?:i|we)(?:'m|'re| am) (?:now )?\w+ing\b"
    r"|\blet me (?!know|have)|\bmoment\b|^(?:now|next|first|step \d|on it)\b|^(?!nothing|anything|everything)\w+ing\b"
    r"|\bi(?:'ve| have)? (?:found|see|located|checked|looked)\b|\bmy plan\b"
)
_DONE = re.compile(
    r"\b(?:has|have|was|were|is|are|been|i|'ve) (?:(?:now|been|also|just|successfully) )*(?!found|located|checked|looked)\w{3,}ed\b"
    r"|^\w{4,}ed\b|\bdone\b|\btake care\b|\bbye\b"
)
_POLITE = re.compile(
    r"\b(?:hello|hi|welcome|thank you|thanks|understand|sorry (?:to|about|for)|(?:glad|happy|here) to|your request)\b"
    r"|^(?:sure|ok|okay|great|of course|certainly|understood)\W*$|\b(?:how|what) can i\b"
)
_OFFER = re.compile(r"\b(?:how|what) (?:can|may) i\b|\b(?:glad|happy|here) to\b")
_ITEM = re.compile("\\s*(?:[-\u2022+\u2013]|\\(?(?:\\d{1,2}|[a-z])[.)])\\s+")
_END = re.compile(r"(?<=[.?!])[\"')\]]*\s+")
_TITLE = re.compile(r"\b(dr|mr|mrs|ms|e\.g|i\.e|incl)\.")
_TWO = re.compile(
    rf",? (?:and|or) (?=(?P<two>{_WH}|(?:may|shall) i\b|let me know\b)|(?:is|are|do|can)\b)(?=.*\?)"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence of the agent in folded text, with the items of a list that belongs to it;
    ``lines`` are its lines as they were written.
    """

    parts: tuple[str, ...]
    lines: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        return "\n".join(self.parts)

    @cached_property
    def marked(self) -> bool:
        """It holds a question mark (not one inside an address)."""
        return bool(_MARK.search(self.text))

    @cached_property
    def led(self) -> bool:
        """A question word leads its question."""
        return any(_MARK.search(part) and _LED.search(part) for part in self.parts)

    @cached_property
    def open(self) -> bool:
        """It leaves to the user what to do: "How would you like to proceed?"."""
        return (self.marked or self.requests) and bool(_OPEN.search(self.text))

    @cached_property
    def requests(self) -> bool:
        """It requests something: "Let me know which one"."""
        return any(map(_REQUEST.search, self.parts))

    @cached_property
    def closing(self) -> bool:
        """Closing politeness: it asks for nothing."""
        return bool(_CLOSING.search(self.text)) and not _NOT_CLOSING.search(self.text)

    @cached_property
    def acts(self) -> bool:
        """It asks whether to do something, not only whether something is so."""
        return bool(_LEAVE.search(self.text) or _YES.search(self.text))

    @cached_property
    def for_confirmation(self) -> bool:
        """It asks to confirm something: a fact, or what is going to be done."""
        return bool(_CONFIRM.search(self.text))

    @cached_property
    def confirms_act(self) -> bool:
        return self.for_confirmation and bool(_CONFIRM_ACT.search(self.text))

    @cached_property
    def for_information(self) -> bool:
        """It asks to be told something."""
        asks = self.requests and not (self.acts or self.for_confirmation)
        return (self.led or asks) and not self.open

    @cached_property
    def for_agreement(self) -> bool:
        """It asks for a yes."""
        marked = self.marked and (self.acts or _CHECK.search(self.text))
        asks = marked or _YES.search(self.text) or self.confirms_act
        return bool(asks) and not self.led and not self.for_information and not self.open

    @cached_property
    def bare(self) -> bool:
        """A question without question word or verb in front: "Aspirin 5 mg for Ada?"."""
        return self.marked and not self.for_information and not _VERB.search(self.text)

    @cached_property
    def asks(self) -> bool:
        return self.marked or self.requests or self.for_confirmation or self.for_agreement

    @cached_property
    def generic(self) -> bool:
        """It asks for whatever the user can add, and names nothing."""
        return bool(_GENERIC.search(self.text))

    @cached_property
    def lacks(self) -> bool:
        """It says that something has not been told, and asks for it in so far."""
        return bool(_LACKS.search(self.text))

    @cached_property
    def put_off(self) -> bool:
        """A request for another time or place: "If you find it, let me know."."""
        return not self.marked and bool(_LATER.search(self.text))

    @cached_property
    def weighs(self) -> bool:
        """It asks for one or the other: "Shall I keep it or close it?"."""
        return self.asks and bool(_OR.search(self.text))

    @cached_property
    def offers_choice(self) -> bool:
        """It asks for one of several, and for no leave, so that no yes could be an answer."""
        chosen = self.asks and not (self.open or self.acts) and _CHOICE.search(self.text)
        return bool(chosen or _ONE_OF.search(self.text))


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a turn in order, closing words left out; items of a list belong to
    the sentence before them.
    """
    return [sentence for sentence in _sentences(text) if not sentence.closing]


def _sentences(text: str) -> list[Sentence]:
    out: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        folded = _TITLE.sub(r"\1", fold(line))
        found = [part for part in (part.strip(" >|") for part in _END.split(folded)) if part]
        if _ITEM.match(folded) and out:
            out[-1][0].extend(found)
            out[-1][1].append(line)
        else:
            out += [([part], [line]) for item in found for part in _questions(item)]
    return [Sentence(tuple(parts), tuple(lines)) for parts, lines in out]


def _questions(sentence: str) -> list[str]:
    """Return a sentence, or its two questions: "May I go ahead, and what is your name?"."""
    if found := _TWO.search(sentence):
        first, second = f"{sentence[: found.start()]}?", sentence[found.end() :]
        if not _CLOSING.search(first) and (found["two"] or _CLOSING.search(second)):
            return [first, second]
    return [sentence]


def statement(text: str, *, first: bool) -> Statement:
    """Classify a turn that asks nothing: it works on, reports, or is only polite.

    In the agent's ``first`` turn an offer of help is a greeting, later a leave.
    """
    kinds: list[Statement] = [_kind(sentence, first=first) for sentence in _sentences(text)]
    said: list[Statement] = [kind for kind in kinds if kind != "polite"]
    found = said or kinds
    return found[-1] if found else "report"


def _kind(sentence: Sentence, *, first: bool) -> Statement:
    text = re.sub(
        r"\b(?:if|once|when(?:ever)?|unless|until) (?:you|there|it)\b.*", " ", sentence.text
    )
    if _DONE.search(text):
        return "report"
    if _WORK.search(text):
        return "work"
    if sentence.closing:
        return "polite" if first and _OFFER.search(text) else "report"
    return "polite" if _POLITE.search(text) else "report"


def refuses(text: str) -> bool:
    """Tell whether a turn refuses something, in plain words or by an offer of something else."""
    return bool(_REFUSES.search(fold(text))) or offers_other(text)


def offers_other(text: str) -> bool:
    """Tell whether a turn offers something in the place of what the user wants."""
    found = (sentence for sentence in _sentences(text) if _OTHER.search(sentence.text))
    return any(sentence.asks and not sentence.closing for sentence in found)


def wants_other(text: str) -> bool:
    """Tell whether a request is for something in the place of another thing."""
    return bool(_OTHER.search(fold(text)))


def offers_help(text: str) -> bool:
    return bool(_OFFER.search(fold(text)))
