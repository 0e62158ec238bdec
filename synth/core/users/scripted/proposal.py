"""The statements of a turn of the agent: facts, values in another's place, acts.

A fact is stated if its words stand in the turn, undenied, and no other value is beside it: "5 mg or
10 mg", "5 to 10 mg", "born 1980-05-03 ... born 1975-01-01". Values that the user said or that
belong to another fact are not rivals. Where a fact's own value is absent and another of its form is
there (another id, sum or card), the turn is wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from synth.core.language.wording import MONEY, Token, fold, spans, stem, stems, texts, tokens, words
from synth.core.rewards.reply.sentences import base_form
from synth.user import Consent

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


Named = tuple[str, str]
"""A form of values (a unit, a date, an id's prefix and length) and the value."""

_DENIALS = words(
    "not never cannot without refuse decline unable instead rather can't won't don't"
    " couldn't isn't wouldn't"
)
_PUT_OFF = words("until unless before")
_SMALL = words("the a an on of is was are at for to in by my your it be as and or")
_AUXILIARY = words(
    "would do does should shall is are did if not can could cancel leave have want"
    " may just something anything keep"
)
"""Words after an "or" that offers another act, and no other value."""
_SIGNS = frozenset(MONEY.values())
_LOOSE = _SIGNS | words("date time day week month year")
"""Forms of values of which a proposal may name others than the user did."""
_STRONG = stems("cancel exchange return transfer book stop discontinue delete")
"""Acts of which none is a way of doing another, and which the nouns of a world seldom are."""
_NO_NOUN = words("reserv place order")
_NOUNS = re.compile(
    r"\bno [a-z]+|\breturn (?:flight|trip|date|leg)s?|(?:this|that|the|your|my|current) booking"
    r"|stop-?overs?|\breturn(?= ?[:(])|(?:non|one|a)[ -]?stop"
)
_ARROW = re.compile("\\s*(?:\u2192|\u27a1|[-=]{1,2}>)\ufe0f?\\s*")
_ID = re.compile(r"(?<![\w$.,-])#?(?:(?=[A-Za-z_]*\d)[A-Za-z0-9_]{5,}|[A-Z]{5,})(?![\w-])")
_NUMBERED = re.compile(r"([a-z_]*?)_?(\d+)")
_ENDING = re.compile(r"\bending(?: in)? ?\D{0,3}(\d{4})\b")
_BESIDE = re.compile(r"[ ,;/&|(-]*(?:\b(?:and|or|to)\b)?[ ,;/&|(-]*")
_TERMS = re.compile(
    r"\b(?:half (?:of )?(?:the |its )?price|discount(?:ed)?|guaranteed?"
    r"|(?:checked|approved|reviewed|verified|recommended|cleared) by (?!you\b))"
)
_FREE = re.compile(r"\b(?:free of charge|for free|(?:no|without|any) (?:\w+ )?(?:cost|charge))\b")
"""Terms and assurances that decide whether somebody agrees."""
_NOTHING_NOW = re.compile(
    r"\b(?:i|we)\b[^.?!;:\n]{0,30}(?: not| never|n't)\b(?! (?:yet )?(?:have|been))(?:(?!until|unless|before|without)"
    r"[^.?!;:\n])*\b(?:anything|yet|now|any)\b(?![^.?!;:\n]*\b(?:until|unless|before)\b)"
    r"|\b(?:change|do|make|cancel|touch)s? nothing\b|\bonly read\b"
)
"""Sentences by which a turn says that it proposes nothing."""

_INTENDS = re.compile(
    r"\b(?:(?:shall|should|may|can|could) (?:i|we)|(?:i|we)(?: will|'ll|'d| would like to| am going to)"
    r"|let me|all right if (?:i|we)|what (?:i|we) would do(?: now)? is(?: to)?)(?: now| then| also)? (?P<act>[a-z]{3,})"
)
_ANY_WORK = stems(
    "proceed continue process handle take make finalize complete submit confirm apply set have get"
    " read repeat recap summarize ask tell say note verify help assist put carry move start begin"
    " use book place need know check see look"
)
"""Verbs that say of no work what it is."""


@lru_cache(maxsize=1024)
def named_in(text: str) -> frozenset[Named]:
    """Return the values of a text that name single things: ids, last digits of cards, sums."""
    ids = {_id(found.group()) for found in _ID.finditer(text)}
    endings = {("ending", found[1]) for found in _ENDING.finditer(fold(text))}
    return frozenset(ids | endings | {one for one in measured_in(text) if one[0] in _SIGNS})


def _id(raw: str) -> Named:
    value = raw.removeprefix("#").casefold()
    numbered = _NUMBERED.fullmatch(value)
    return f"{numbered[1]} {len(numbered[2])}" if numbered else str(len(value)), value


def measured_in(text: str) -> frozenset[Named]:
    """Return the dates, times and numbers with a unit of a text."""
    return frozenset((form, value) for form, value, _ in _measured(tokens(text)))


def _measured(found: Sequence[Token]) -> Iterator[tuple[str, str, int]]:
    """Yield dates, times, and numbers that have a unit: form, value, place of the token.

    The unit of a number of times a day ("2 x daily", "2 doses/day") is "daily".
    """
    for index, token in enumerate(found):
        after = [other.text for other in found[index + 1 : index + 5]]
        if token.kind in {"date", "time"}:
            yield token.kind, token.text, index
        elif token.text in _TIMES or (token.kind == "number" and after):
            often = not {"day", "daily"}.isdisjoint(after) and stem(after[0]) in _TIMES_UNITS
            unit = next(iter(found[index + 1 : index + 2]), token)
            has_unit = (token.kind, unit.kind, unit.clause) == ("number", "word", token.clause)
            if often:
                yield "daily", _TIMES.get(token.text, token.text), index
            elif has_unit and unit.text not in _SMALL:
                yield unit.text, token.text, index


_TIMES = {"once": "1", "twice": "2"}
_TIMES_UNITS = words("x tim dos per a day daily")


def strangers(text: str, consents: Sequence[Consent], known: Collection[Named]) -> frozenset[Named]:
    """Return the values of a text that nobody has named, of a form of which one of the conditions
    has one value: "cancel A" beside another id; any other last digits of a card.
    """
    held = [Counter(form for form, _ in values_of(consent)) for consent in consents]
    single = {
        form for forms in held for form, count in forms.items() if count == 1 or form == "ending"
    }
    return frozenset(
        item for item in named_in(text).difference(known) if item[0] in single - _LOOSE
    )


def strays(text: str, consent: Consent, others: Collection[Named] = ()) -> list[str]:
    """Return the facts of a condition in whose place a text names other values, which are not the
    ``others`` that belong to another matter.
    """
    held = named_in(text)
    named = {value for _, value in held}
    foreign = {form for form, _ in held.difference(values_of(consent), others)}
    return [
        fact
        for fact in (*consent.mentions, *consent.if_named)
        for form, value in _named_by(fact, consent)
        if value not in named and form in foreign
    ]


def values_of(consent: Consent) -> frozenset[Named]:
    """Return the values of all facts of a condition."""
    facts = (*consent.mentions, *consent.if_named)
    return frozenset[Named]().union(*(_named_by(fact, consent) for fact in facts))


def _named_by(fact: str, consent: Consent) -> frozenset[Named]:
    forms: Sequence[str] = (fact, *consent.forms.get(fact, ()))
    return frozenset[Named]().union(*map(named_in, forms))


def _known(said: Sequence[str]) -> frozenset[Named]:
    """Return the values of texts that are no rivals of one another, bare numbers without a form."""
    bare = {("", one.text) for text in said for one in tokens(text) if one.kind == "number"}
    return frozenset(bare).union(*map(measured_in, said))


def contradicted(text: str, said: str, forms: Collection[str] = ()) -> list[str]:
    """Return the values with a unit that a text replaces by another one of the same unit, as they
    were said: "80 bpm" where "72 bpm" was said. ``forms`` limits the units.
    """
    given = dict.fromkeys((form, value) for form, value, _ in _measured(tokens(said)))
    named = measured_in(text)
    wrong = {form for form, _ in named} - {form for form, _ in named & given.keys()} - _LOOSE
    wrong &= {*forms} if forms else wrong
    return [f"{value} {form}" for form, value in given if form in wrong]


class Turn:
    """One turn of the agent, to be searched for facts. ``earlier`` holds all of the user's words
    so far.
    """

    def __init__(self, text: str, earlier: str = "") -> None:
        self.text = _ARROW.sub(" to ", text)
        self._folded = fold(self.text)
        self._tokens = tokens(self.text)
        self._words = texts(self._tokens)
        self._earlier = earlier

    def holds(self, fact: str) -> bool:
        """Tell whether the fact's words appear in the turn, next to each other."""
        return bool(self._places(fact))

    def holds_any(self, fact: str, consent: Consent) -> bool:
        """Tell whether the turn holds a fact in one of its forms."""
        return any(self.holds(form) for form in (fact, *consent.forms.get(fact, ())))

    def lacking(self, consent: Consent) -> list[str]:
        """Return the facts of a condition that the turn does not hold; also each that it must not
        hold, and does.
        """
        return [
            *(fact for fact in consent.mentions if not self.holds_any(fact, consent)),
            *(fact for fact in consent.never if self.affirms(fact)),
        ]

    def affirms(self, fact: str) -> bool:
        """Tell whether the fact's words appear in the turn, and not only denied."""
        return any(not self._denied(first) for first, _ in self._places(fact))

    def touches(self, facts: Sequence[str]) -> bool:
        """Tell whether the turn holds a word of one of the facts: it concerns the matter, rightly
        or not.
        """
        own = {word for fact in facts for word in texts(tokens(fact))} - _SMALL
        return not own.isdisjoint(self._words)

    def names_act(self, words: Sequence[str], *, denied: bool = False) -> bool:
        """Tell whether the turn holds a form of one of the words for an act, and not only denied
        unless ``denied`` counts too.
        """
        stems = [base_form(word) for word in self._words]
        return any(
            denied or not self._denied(first)
            for item in words
            for first in _forms_at([stem(word) for word in texts(tokens(item))], stems)
        )

    def another_act(
        self, words: Sequence[str], own: Sequence[str] = (), facts: Sequence[str] = ()
    ) -> bool:
        """Tell whether the turn names an act of which no other is a way, and that is none of these
        words, more often than its ``own``. A denied act does not count. Neither do words in the
        name of a thing, which ``facts`` hold: "noise-cancelling headphones".
        """
        acts = Turn(_NOUNS.sub(" ", self._folded))
        stems = [
            "" if acts._denied(index) else stem(word) for index, word in enumerate(acts._words)
        ]
        for first, end in (place for fact in facts for place in acts._places(fact)):
            stems[first:end] = [""] * (end - first)

        def named(acts: Collection[str]) -> int:
            return sum(len(_forms_at([act], stems)) for act in acts)

        mine = set(map(stem, own))
        often = named(mine & _STRONG or mine)
        return any(named([act]) > often for act in _STRONG - set(map(stem, words)))

    def names_another(self, words: Sequence[str]) -> bool:
        """Tell whether the turn names acts, and none of these words for one. Beside a value any act
        counts, without one an act of which no other is a way.
        """
        own = (ACTS | DOING) - _NO_NOUN if named_in(self.text) else _STRONG
        return (
            bool(words)
            and not own.isdisjoint(map(base_form, self._words))
            and not self.names_act(words, denied=True)
        )

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem, self._words))

    @property
    def intended(self) -> frozenset[str]:
        """The verbs that say what the agent would do, as stems: "Let me donate it"."""
        return (
            frozenset(stem(found["act"]) for found in _INTENDS.finditer(self._folded)) - _ANY_WORK
        )

    def says_act(self, facts: Sequence[str]) -> bool:
        """Tell whether the turn says what would be done, and does not only string facts
        together.
        """
        rest = list(self._words)
        for fact in facts:
            for first, end in reversed(spans(texts(tokens(fact)), rest)):
                del rest[first:end]
        said = Turn(" ".join(rest))
        return not said.stems.isdisjoint(ACTS | DOING) or bool(PROPOSES.search(said._folded))

    @property
    def proposes_nothing(self) -> bool:
        """True if the turn says that nothing will be done."""
        return _NOTHING_NOW.search(self._folded) is not None

    def assures(self, mentions: Sequence[str]) -> bool:
        """Tell whether the turn promises terms that neither the user nor a mention holds: "at half
        the price", "checked by a doctor"; "free of charge" where a mention is a sum.
        """
        known = fold("\n".join([self._earlier, *mentions]))
        sums = (
            not _SIGNS.isdisjoint(texts(tokens(fact))) or re.search(r"\d\.\d", fact)
            for fact in mentions
        )
        patterns = [_TERMS, _FREE] if any(sums) else [_TERMS]
        found = (match.group() for pattern in patterns for match in pattern.finditer(self._folded))
        return any(words not in known for words in found)

    def unclear(
        self,
        facts: Sequence[str],
        forms: Mapping[str, Sequence[str]] | None = None,
        beside: Sequence[str] = (),
    ) -> list[str]:
        """Return the facts that the turn does not state cleanly; each fact may rely on the others'
        values, and on facts ``beside`` them. The user's times a day are added if the turn states
        others.
        """
        known = _known([self._earlier, *facts, *beside])
        wrong = [
            fact
            for fact in facts
            if not any(self._clean(form, known) for form in (fact, *(forms or {}).get(fact, ())))
        ]
        return wrong + contradicted(self.text, self._earlier, {"daily"})

    def rivalled(self, consent: Consent, known: Sequence[str]) -> list[str]:
        """Return the facts of a condition beside which another value of their form is stated, one
        that no ``known`` text holds: "born 1980-05-03 or 1900-01-01".
        """
        values = _known(known)
        return [
            fact
            for fact in consent.mentions
            for form in (fact, *consent.forms.get(fact, ()))
            if any(self._rivalled(*place, values) for place in self._places(form))
        ]

    def _places(self, fact: str) -> list[tuple[int, int]]:
        return spans(texts(tokens(fact)), self._words)

    def _clean(self, fact: str, known: Collection[Named]) -> bool:
        places = [place for place in self._places(fact) if not self._denied(place[0])]
        return bool(places) and not any(
            self._alternative(*place) or self._rivalled(*place, known) for place in places
        )

    def _denied(self, index: int) -> bool:
        clause = self._tokens[index].clause
        near = self._tokens[max(index - 40, 0) : index]
        before = (token.text for token in near if token.clause == clause)
        after = self._words[index : index + 20]
        return _PUT_OFF.isdisjoint(after) and not _DENIALS.isdisjoint(before)

    def _alternative(self, start: int, end: int) -> bool:
        """Tell whether an "or" is beside the value or its unit without beginning another clause
        ("..., or would you like to wait?").
        """
        if self._tokens[end - 1].kind == "number" and self._words[end : end + 1] != ["or"]:
            end += 1
        after = self._words[end : end + 2]
        return (start > 0 and self._words[start - 1] == "or") or (
            len(after) == 2 and after[0] == "or" and after[1] not in _AUXILIARY
        )

    def _rivalled(self, start: int, end: int, known: Collection[Named]) -> bool:
        """Tell whether another value of a fact's form is beside it, or behind the same word."""
        forms = {index: form for form, _, index in _measured(self._tokens)}
        values = [index for index, token in enumerate(self._tokens) if token.kind in _VALUES]
        others = [
            index
            for index in values
            if not start <= index < end and (forms.get(index, ""), self._words[index]) not in known
        ]
        return any(
            self._rivals(mine, other, forms.get(mine, ""), forms.get(other, ""))
            for mine in values
            if start <= mine < end
            for other in others
            if self._words[mine] != self._words[other]
        )

    def _rivals(self, mine: int, other: int, form: str, other_form: str) -> bool:
        """Tell whether two values have the same role, or no word between them but a unit, "or",
        "and", "to".
        """
        bare = not (form and other_form)
        if not bare and form != other_form:
            return False
        role = None if bare else self._role(mine)
        if role is not None and role == self._role(other):
            return True
        first, second = sorted((mine, other))
        last = first if bare or self._tokens[first].kind != "number" else first + 1
        gap = self._folded[self._tokens[last].end : self._tokens[second].start]
        if bare:
            return gap.strip() in {"-", "/", "to", "or"}
        return last < second and _BESIDE.fullmatch(gap.strip(" $\u20ac\u00a3")) is not None

    def _role(self, index: int) -> str | None:
        """Return the word before a value, which names its role; none behind another value."""
        while index and self._words[index - 1] in _SMALL:
            index -= 1
        measured = _measured(self._tokens)
        units = {place + 1 for form, _, place in measured if form not in {"date", "time"}}
        return self._words[index - 1] if index and index - 1 not in units else None


_VALUES = frozenset({"number", "date", "time"})


def _forms_at(act: Sequence[str], stems: Sequence[str]) -> list[int]:
    """The places of an act's words, of a verb's noun too: "cancel" in "cancellation"."""
    if len(act) == 1 and len(act[0]) > 4 and act[0] not in _NO_NOUN:
        start = act[0].removesuffix("y")
        return [index for index, word in enumerate(stems) if word.startswith(start)]
    return [first for first, _ in spans(act, stems)]
