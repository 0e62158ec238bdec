"""Acts that the assistant claims, against what its calls did.

A claim is a verb or noun of an act, in the past or as a result ("I've cancelled it", "has been
refunded", "the cancellation is complete"), which the clause neither denies nor makes conditional.
It is false if no call of this rollout did such a thing, or if it names another record, amount or
day than the calls did. The verbs come from the world's writing tools and a short list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from itertools import combinations
from typing import Any, cast

from synth.core.language.values import MEASURES, StatedValue, values_in
from synth.core.language.wording import MONEY, stem, stems, texts, tokens, words
from synth.core.rewards.reply.facts import Spoken
from synth.core.rewards.reply.given import Material
from synth.core.rewards.reply.outcome import FALSE_CLAIM as CHECK
from synth.core.rewards.reply.outcome import GENERAL, content
from synth.core.rewards.reply.sentences import (
    HOW_OFTEN,
    IRREGULAR,
    AgentSentence,
    ReplyFinding,
    base_form,
    is_negative,
    is_past,
    sentences,
)
from synth.evidence import CallRecord

_GROUPS = (
    (
        "cancel cancellation void stop discontinue terminate end close deactivate delete deletion"
        " erase remove removal"
    ),
    "book booking rebook reserve reservation appointment schedule order reorder create place",
    (
        "reschedule move postpone switch change swap exchange replace replacement update modify"
        " upgrade downgrade remove set"
    ),
    "refund reimburse reimbursement credit repay",
    "charge bill debit pay payment collect",
    "send mail email forward dispatch ship",
    "notify inform tell contact ring phone consult report",
    "escalate transfer refer",
    "prescribe prescription",
    "waive",
    "compensate compensation grant issue",
    "block suspend freeze lock",
    "extend extension renew renewal",
    "return",
    "subscribe subscription enroll enrol",
    "reverse revert undo",
)
_VERBS = {kin: stems(group) for group in _GROUPS for kin in stems(group)}
"""The stem of each word for an act, with the stems of the same kind."""

_MONEY_ACTS = stems(f"{_GROUPS[3]} {_GROUPS[4]}")
_OF_MONEY = stems(
    "price pay payment amount cost fee refund total balance charge paid cents credit money cash"
)
_LOOSE = stems(
    "change update modify move upgrade downgrade order return pay payment issue place"
    " create end close set request"
)
"""Acts that any call may be a way of doing."""

_NO_ACT = stems(
    "look check search find see read review understand say mention explain note notice verify"
    " confirm think believe hope apologize suggest offer try receive need want get do have make"
    " take keep locate retrieve pulled compare calculate list show provide give share describe"
    " discuss assume mean miss forget learn decide determine consider help know use type mix"
    " mistake wait leave run attempt identify gather compute misread establish realize discover"
    " access assist love happen passed confuse misspell mistype respond reply answer outline"
    " summarize state indicate promise appreciate ignore disregard spot encounter refuse decline"
    " complete process perform finish"
)
"""Verbs of looking, thinking and talking, and those that say nothing alone."""

_TELLS = stems("notify inform tell ask")
"""Talking that is an act towards anybody but the user."""

MOST = 400
"""Among more numbers than these, every amount is a sum of some."""

_ADVERB = r"(?:\s+(?:now|just|also|already|then|gone ahead and|[a-z]+ly))*"
_NOUN = "|".join(
    sorted({f"{one}(?:s|ing)?" for one in " ".join([*_GROUPS, "request"]).split()}, reverse=True)
)
_PAST = rf"(?:[\w-]+ed|{'|'.join(IRREGULAR)})\b"
_CLAIM = re.compile(
    rf"\b(?:i|we)(?:'ve|\s+have|\s+had)?{_ADVERB}(?:\s+had\s+(?:it|them|(?:the|your)\s+\w+))?"
    r"\s+(?!(?:it|them|the|your)\b)(?:[a-z]+-)?(?P<own>[a-z]+)\b"
    rf"|(?:\b(?:has|have|had)|'ve)(?:\s+now|\s+also|\s+already)?\s+been{_ADVERB}"
    r"\s+(?:[a-z]+-)?(?P<perfect>[a-z]+)\b"
    rf"|\b(?:was|were|got|(?:is|are)\s+now){_ADVERB}\s+(?:[a-z]+-)?(?P<past>[a-z]+)\b"
    rf"|(?:\b(?:is|are)|'re|'s){_ADVERB}\s+(?P<state>[a-z]+)\b"
    r"|(?:,|\band|\bthen)\s+(?:also\s+|then\s+)?(?P<more>[a-z]+)\s+(?:(?:the|your|it|them|that|this"
    r"|him|her|you)\b|[$\u20ac\u00a3]?\d)"
    r"|^\W*(?:\d+[.)]\s+)?(?:(?!(?:has|have|had|been|was|were|is|are|be|got|i|we)\b)"
    rf"[\w-]+[:,]?\s+){{0,4}}?(?P<item>{_PAST})(?=\W*(?:\(|$)"
    r"|\s+(?:for|by (?:phone|e-?mail|text))\b)"
    rf"|\b(?P<noun>{_NOUN})\s+(?:requests?\s+)?(?:(?:of|to|for|with)\s+[^.,;:!?]{{1,60}}?\s+)?"
    r"(?:has|have|was|were|is now|went|(?:is|are)(?= being| complete| done| booked| submitted"
    r"| on its way| in place))\s+(?:been\s+|being\s+|now\s+|already\s+|[a-z]+ly\s+)*"
    r"(?:complete\w*|process\w*"
    r"|done|made|through|issued|submitted|initiated|started|registered|booked|opened|placed|finali"
    r"|confirmed|sent|in place|on its way)\b"
)
_THE = r"(?:the|an?|your|our|my|his|her|their|another|this)\s+"
_HELPED = r"(?:(?:has|have|had|was|were|got|been|being|now|also|just|already|then|[a-z]+ly)\s+)*"
_DONE_TO = re.compile(
    rf"^\W*(?:[a-z]+ly,? |also |then )?(?!this){_THE}(?P<subject>[a-z][a-z' -]*?)\s+"
    rf"(?:{_HELPED}(?P<past>{_PAST})|(?:is|are){_ADVERB}\s+(?P<state>in|on|at|with|under)\b)"
    r"(?!.*\b(?:is|are|was|were|has|have)\b)"
    rf"|(?:\b(?:i|we)(?:'ve)?\s+{_HELPED}(?:gone ahead\s+)?(?P<own>{_PAST})"
    r"(?:\s+(?:up|off|out|in|on|down|back|over|to|with|at|into|for|about))*"
    rf"|^\W*{_HELPED}(?P<more>{_PAST}))\s+{_THE}(?P<object>[a-z][a-z' -]*)"
    r"|(?P<where>\bin) (?:your|the|her|his|their) (?P<place>inbox|mailbox|post|mail)\b"
)
"""What was done to a thing, or where it is: "a courier has picked it up", "I wrote to the bank"."""
_MORE_VERBS = re.compile(rf"(?:\s*(?:,|,?\s+(?:and|or|nor))\s+{_PAST})*")
_OBJECT = re.compile(
    r"\s+(?:up |off |out |aside )?(it|this|them|one|him|her|you|his|your|their|the|an?)\b"
)
_BULLET = re.compile(r"\W*[-*\u2022|]\s|\d+[.)]\s")
_TOKEN = re.compile(r"#?\b(?:(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])\w[\w-]{4,}|[A-Z]{5,}\b)")
_HINDERS = words(
    "before until unless if once when should would could can may might will be because since"
    " after whether any which you you've soon"
)
"""Words before a verb that make its clause no report of an act."""
_WOULD = re.compile(r"\bwould\b")
_DONE_TO_YOU = re.compile(r"^\W*you(?:'ve)?\b|\byou$")
_BY_OTHERS = re.compile(r"\W*(?:\w+ )?by (?!me\b|us\b|our\b)")
_CLAUSE = re.compile(r"[,;:\u2013\u2014(]|\bbut\b|\bhowever\b|\band\b")
_PART = re.compile(r"[,;\u2013\u2014(]|\bbut\b|\bhowever\b|\band (?=[a-z]+ed\b)")
_FURTHER = re.compile(r"\b(?:also|as well|too|besides|additionally)\b")


@dataclass(frozen=True)
class _Claim:
    """A claimed act: the verb's stem, the form of the claim, and its clause around the verb."""

    verb: str
    kind: str
    before: str
    behind: str

    @property
    def clause(self) -> str:
        return f"{self.before} {self.behind}"

    @property
    def reports(self) -> bool:
        """True for an act that is denied, conditional, done by others, or the telling itself."""
        by_me = self.kind not in {"state", "past", "perfect"}
        before = self.before if by_me else _DONE_TO_YOU.sub("", self.before)
        before = HOW_OFTEN.sub("", before).split()
        return (
            any(word in _HINDERS or is_negative(word) for word in before)
            or any(map(is_negative, texts(tokens(self.behind))[:1]))  # "I changed nothing"
            or (self.kind == "state" and self.behind.split()[:1] == ["as"])  # "is recorded as ..."
            or (self.verb in _TELLS and self.behind.split()[:1] == ["you"])
            or (self.kind in {"past", "perfect"} and _BY_OTHERS.match(self.behind) is not None)
        )

    @property
    def is_news(self) -> bool:
        """False for an act that may be older than the conversation: "it was completed"."""
        told = re.search(r"\b(?:has|have) been\b", self.behind) is not None
        return told if self.kind == "noun" else self.kind not in {"state", "past"}

    @property
    def content(self) -> set[str]:
        """The stems of what the clause is about, without the verb."""
        return {one for one in content(self.clause) if not one.isdigit()} - {self.verb}


@dataclass(frozen=True)
class ActClaims:
    """The acts of a rollout, with which claims are compared.

    ``calls`` are those that did something, ``every`` all of them; ``writers`` are the names of the
    tools that may write. ``given`` is all that the assistant was told, ``gold`` what gold says,
    ``describes`` the verb with which the description of a tool begins, ``states`` are the values of
    the enums of writing tools. ``left`` are gold's row changes that the rollout did not make,
    ``asked`` is the request where gold changes nothing.
    """

    calls: Sequence[CallRecord]
    every: Sequence[CallRecord]
    writers: frozenset[str]
    given: Material
    gold: Sequence[str] = ()
    describes: Mapping[str, str] = field(default_factory=dict[str, str])
    states: frozenset[str] = frozenset()
    left: Sequence[Any] = ()
    asked: Material = field(default_factory=Material)

    def false_in(self, sentence: AgentSentence) -> Iterator[ReplyFinding]:
        """The claims in a sentence that are not so."""
        if sentence.asks or not all(call.name for call in self.every):
            return  # also for a transcript that does not name its calls
        claims = list(self._claimed(sentence))
        undone = [*self._not_done(sentence, claims), *self._on_unknown_things(sentence)]
        yield from undone[:1]
        if not undone:
            if sentence.plain and "will" not in sentence.words:
                reports = self.calls or claims or _reports(sentence)
                yield from self._other_day(sentence) if reports else ()
            yield from self._other_than_called(sentence, claims) if self.calls else ()

    def false_amounts(self, said: Sequence[AgentSentence]) -> Iterator[ReplyFinding]:
        """Amounts of a report that nothing gave, and to which no amounts add up: neither given ones
        nor others of the report.
        """
        known, left = list[Decimal](), list[tuple[AgentSentence, StatedValue, set[Decimal]]]()
        for sentence in said:
            for value in values_in(sentence.text):
                read = value.numbers if value.unit in MONEY.values() else set[Decimal]()
                right = [item for item in read if self._is_known(item, known)]
                known += right
                left += [(sentence, value, read)] if read and not right and sentence.plain else []
        for sentence, value, read in left:
            if not any(self._is_known(item, known) for item in read):
                why = f"nothing gave {value.text} {value.unit}"
                yield ReplyFinding(CHECK, sentence.raw[:200], why)

    def _is_known(self, number: Decimal, others: Sequence[Decimal] = ()) -> bool:
        if self.given.holds_number(number) or len(self._stated) > MOST:
            return True
        distinct = frozenset(others)
        return number in {sum(others), sum(distinct)} or _follows(number, self._stated | distinct)

    @cached_property
    def _stated(self) -> frozenset[Decimal]:
        """The amounts in all that was given."""
        money = (one.numbers for one in self.given.stated if one.unit in MONEY.values())
        return self._seen.numbers_of(_OF_MONEY).union(*money)

    def _not_done(
        self, sentence: AgentSentence, claims: Sequence[_Claim]
    ) -> Iterator[ReplyFinding]:
        """The claims of what cannot have been done."""
        for claim in claims:
            stated = claim.kind == "state" and (self.calls or claim.verb not in self._of_tools)
            why = "" if stated else self._undone(claim, sentence)
            moves_money = claim.verb in _MONEY_ACTS | _VERBS["send"]
            if why and not (moves_money and self._names_amount(sentence)):
                yield ReplyFinding(CHECK, sentence.raw[:200], why)

    def _on_unknown_things(self, sentence: AgentSentence) -> Iterator[ReplyFinding]:
        """Acts on things of which neither the rollout nor the rules and tools speak. A clause with
        a number is judged by that.
        """
        known = _NO_ACT | self._called
        for clause in _PART.split(sentence.text):
            found = None if re.search(r"\d", clause) else _DONE_TO.search(clause)
            thing = [] if found is None else _thing_of(found, known)
            if thing and self.given.stems.isdisjoint(map(stem, thing)):
                why = f"nothing speaks of {' '.join(thing)}"
                yield ReplyFinding(CHECK, sentence.raw[:200], why)

    def _other_than_called(
        self, sentence: AgentSentence, claims: Sequence[_Claim]
    ) -> Iterator[ReplyFinding]:
        """Things, records and amounts other than the calls were about."""
        if acts := {claim.verb for claim in claims} & self.verbs:
            if any(claim.is_news for claim in claims):
                yield from self._other_record(sentence)
            moved = self.made.numbers_of(_OF_MONEY if acts & _MONEY_ACTS else frozenset())
            yield from self._unmoved(sentence, moved)

    def false_report(self, said: Sequence[AgentSentence]) -> Iterator[ReplyFinding]:
        """Things that are reported after the last write, and that only gold changed."""
        for sentence in said if self._left_out else ():
            if _reports(sentence) and sentence.plain and not sentence.sets_apart:
                for value in sorted(filter(Spoken(sentence.raw).names, self._left_out))[:1]:
                    yield ReplyFinding(CHECK, sentence.raw[:200], f"no call did that for {value}")

    @cached_property
    def _left_out(self) -> frozenset[str]:
        """Values of only the changes left to do, and of objects in results that have one."""
        if not self.left:
            return frozenset()
        left = {*filter(_tells, Material((), self.left).values())} - {*self.made.values()}
        rows = [{*filter(_tells, map(str, row.values()))} for row in self._seen.objects]
        named = left.union(*(row for row in rows if row & left))
        return frozenset(named.difference(*(row for row in rows if not row & left)))

    def _claimed(self, sentence: AgentSentence) -> Iterator[_Claim]:
        """The acts that a sentence claims."""
        text, last = sentence.text, 0
        clauses = [item.span() for item in _CLAUSE.finditer(text)]

        @cache
        def before_name(word: str) -> bool:
            pattern = rf"\b{word}\s+(?:off |up |out )?[A-Z#€$\d]"
            return re.search(pattern, sentence.raw) is not None

        for found in _CLAIM.finditer(text):
            kind = str(found.lastgroup)
            start, end = found.span(kind)
            at = bisect_left(clauses, (start, 0))
            first = clauses[at - 1][1] if at else 0
            if kind == "more" and _WOULD.search(text, last, start):
                continue  # "I would have cancelled it and refunded the amount"
            last = first
            end = cast("re.Match[str]", _MORE_VERBS.match(text, end)).end()
            past = bisect_left(clauses, (end, 0))
            claim = _Claim(
                stem(found[kind]) if kind == "noun" else base_form(found[kind]),
                kind,
                text[first:start],
                text[end : clauses[past][0] if past < len(clauses) else len(text)],
            )
            named = kind == "own" and bool(
                _OBJECT.search(text, found.start(), start)  # "I had it rerouted"
                or before_name(found[kind])
            )
            if self._is_act(claim, found[kind], named=named) and not claim.reports:
                yield claim

    def _is_act(self, claim: _Claim, word: str, *, named: bool) -> bool:
        """True for a verb of this world or a general one, in the past, and for any other by which
        something was done to a thing, besides looking, thinking and talking. "It" may be what the
        calls did.

        ``named`` tells that a name follows the word.
        """
        if claim.kind == "noun":
            return claim.verb in {*(self.verbs & _VERBS.keys()), "request"}
        if not is_past(word) or claim.verb in self.verbs:
            return is_past(word)
        if word in self.states and claim.kind in {"own", "perfect", "more"}:
            return True
        if claim.kind == "own":
            thing = _OBJECT.match(claim.behind)
            work = not claim.content or claim.content & self.given.stems
            work = work and self.calls and claim.verb not in _VERBS["tell"]
            clear = thing and not (work and thing[1] in {"it", "this", "them"})
            return claim.verb not in _NO_ACT and bool(named or clear)
        known = _NO_ACT | self.given.stems - _VERBS.keys()
        return claim.kind == "perfect" and claim.verb not in known

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The stems of the verbs that are acts in this world."""
        return self._of_tools | _VERBS.keys()

    @cached_property
    def _of_tools(self) -> frozenset[str]:
        return frozenset(base_form(name.lower().split("_")[0]) for name in self.writers)

    @cached_property
    def made(self) -> Material:
        return Material.of_calls(self.calls)

    @cached_property
    def _seen(self) -> Material:
        return Material.of_calls(self.every)

    @cached_property
    def _golds_stems(self) -> frozenset[str]:
        """The acts that gold claims as well, where it has done what this rollout did."""
        said = (one for text in self.gold if not self.left for one in sentences(text))
        return frozenset(claim.verb for one in said for claim in self._claimed(one))

    @cached_property
    def _work(self) -> frozenset[str]:
        """The stems of what the calls were about: names, arguments, values, and gold's words."""
        names = [part for call in self.calls for part in (call.name, *(call.arguments or ()))]
        names += [change.table for call in self.calls for change in call.changes]
        said = Material([*self.gold, " ".join(names).replace("_", " ")])
        return self.made.told | said.stems

    @cached_property
    def _called(self) -> frozenset[str]:
        """The stems in the names of the tools that did something, and the verbs of all others."""
        done = (part for call in self.calls for part in call.name.lower().split("_"))
        return self._acts_called.union(map(base_form, done))

    @cached_property
    def _acts_called(self) -> frozenset[str]:
        """The verbs of the tools that succeeded: the first words of names and descriptions."""
        names = (call.name.lower().partition("_")[0] for call in self.every if call.ok)
        described = (self.describes.get(call.name, "") for call in self.calls)
        return frozenset(map(base_form, [*names, *described]))

    def _undone(self, claim: _Claim, sentence: AgentSentence) -> str:
        """The reason for which an act cannot have been done; empty if it may have been."""
        act = claim.verb
        kin = _kin(act)
        if kin & (self.made.told | self._acts_called | self._golds_stems):
            return self._another_thing(claim, sentence)
        if self._is_older(claim, kin):
            return ""
        if not self.calls:
            reports = "we" in claim.before.split() and claim.content & self.asked.stems
            return "" if reports else "no call changed anything"  # "we issued 26 refunds in May"
        if act in _LOOSE or act not in self.verbs:  # other words for the work, if they are about it
            of_work = content(sentence.text) & self._work or claim.content <= {"proces", "complet"}
            if of_work and act not in map(base_form, self.states):
                return ""
            return f"no call was about {', '.join(sorted(claim.content))}"
        if act in _MONEY_ACTS and self.made.stems & _OF_MONEY:
            return ""
        if act not in _VERBS:
            return self._another_thing(claim, sentence)
        names = ", ".join(dict.fromkeys(call.name for call in self.calls))
        return f"no call did that: {names:.120} were made"

    def _is_older(self, claim: _Claim, kin: frozenset[str]) -> bool:
        """True if a result tells that it is so, perhaps since before the conversation."""
        seen = self._seen.stems
        if claim.kind == "perfect" or (claim.kind == "noun" and claim.is_news):
            return bool(kin & self._seen.told) and claim.content <= seen
        return claim.kind in {"past", "noun", "item", "state"} and bool(kin & seen)

    def _another_thing(self, claim: _Claim, sentence: AgentSentence) -> str:
        """The reason where the claim is about what a tool acts on that no call used, or comes on
        top and shares too little with the calls.
        """
        about = claim.content & self._work
        if self.calls and 2 * len(about) <= len(claim.content) and _FURTHER.search(claim.clause):
            return f"no call was about {', '.join(sorted(claim.content - about))}"
        if not self.calls and self._is_older(claim, _kin(claim.verb)):
            return ""
        for name in sorted(self.writers - {call.name for call in self.calls}):
            verb, *nouns = name.lower().split("_")
            things = {stem(noun) for noun in nouns if len(noun) > 3} - self._called
            if claim.verb in _kin(base_form(verb)) and things and things <= sentence.stems:
                return f"no call of {name} was made"
        return ""

    def _other_record(self, sentence: AgentSentence) -> Iterator[ReplyFinding]:
        """Ids that the sentence names, and that the calls were not about."""
        named = [found.group().lower() for found in _TOKEN.finditer(sentence.raw)]
        named = [item for item in named if item.lstrip("#") in self._keys]
        for other in [item for item in named if not self.made.holds(item)][:1]:
            yield ReplyFinding(CHECK, sentence.raw[:200], f"no call was about {other}")

    @cached_property
    def _keys(self) -> frozenset[str]:
        """The ids that some result or argument holds as a whole value."""
        return frozenset(
            value.lower().lstrip("#") for value in self._seen.values() if len(value) < 40
        )

    def _unmoved(self, said: AgentSentence, moved: frozenset[Decimal]) -> Iterator[ReplyFinding]:
        """Amounts and measured values that nothing gave, or amounts other than those ``moved``."""
        for value in (one for one in Spoken(said.text).values if one.kind == "number"):
            readings = value.numbers
            money = value.unit in MONEY.values()
            known = filter(self._is_known if money else self.given.holds_number, readings)
            right = any(not (money and moved) or one % 1 or _follows(one, moved) for one in known)
            measured = value.unit in MEASURES or said.text[: value.start].endswith(" to ")
            if readings and measured and not right:
                why = f"no call has {value.text} {value.unit}"
                yield ReplyFinding(CHECK, said.raw[:200], why)

    def _names_amount(self, sentence: AgentSentence) -> bool:
        """True if a sentence names an amount that a call has moved: "sent the full 79 euros"."""
        moved = self.made.numbers_of(_OF_MONEY)
        money = (one for one in values_in(sentence.text) if one.unit in MONEY.values())
        return any({one, one * 100} & moved for value in money for one in value.numbers)

    def _other_day(self, sentence: AgentSentence) -> Iterator[ReplyFinding]:
        """Days that no call, result or text of the rollout has."""
        for value in values_in(sentence.text):
            if value.kind == "date" and not self.given.has_day(value):
                yield ReplyFinding(CHECK, sentence.raw[:200], f"no call has the day {value.text}")


def _kin(verb: str) -> frozenset[str]:
    return _VERBS.get(verb, frozenset({verb}))


def _thing_of(found: re.Match[str], known: frozenset[str]) -> list[str]:
    """The words for the thing of an act, unless its verb is ``known`` or the act is no report."""
    kind = next(one for one in ("past", "state", "own", "more", "where") if found[one])
    before = found.string[: found.start("subject" if kind == "state" else kind)].split()
    if base_form(found[kind].rpartition("-")[2]) in known:
        return []
    if any(one in _HINDERS or is_negative(one) or one in {"is", "are"} for one in before):
        return []
    words = (found["subject"] or found["object"] or found["place"]).replace("'s", "").split()[:3]
    return [one for one in words if len(one) > 2 and stem(one) not in GENERAL]


def _follows(number: Decimal, known: frozenset[Decimal]) -> bool:
    """True for a known amount, its hundredfold, and a sum or difference of two or three."""
    if number in known or number * 100 in known or number == 0:
        return True
    large = [item for item in known if item >= 1 and item < 10**9]
    wanted = {number, number * 100}
    pairs = {one + sign * other for one, other in combinations(large, 2) for sign in (1, -1)}
    pairs |= {abs(item) for item in pairs} | {
        item * times for item in large for times in range(2, 7)
    }
    return bool(wanted & pairs) or any(item - part in known for item in wanted for part in pairs)


def _tells(cell: str) -> bool:
    """True for a cell that is long enough to tell one row from another, and no list of others."""
    return len(cell) > 3 and cell[0] not in "[{"


def _reports(sentence: AgentSentence) -> bool:
    """True for an item of a list, and a sentence with a verb in the past or with "now"."""
    past = any(word == "now" or is_past(word) for word in sentence.words)
    return past or _BULLET.match(sentence.raw) is not None
