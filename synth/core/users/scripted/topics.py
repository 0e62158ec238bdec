"""Assignment of sentences to a user's topics, and detection of restated answers.

A sentence is about a topic if it holds one of its words: the author's, the topic's own name
(underscores are spaces), or another usual name of the same thing. If words of two topics overlap
("date of birth", "date"), the longer one counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from synth.core.language.wording import Token, fold, spans, stem, texts, tokens
from synth.core.language.wording import words as words_in
from synth.user import Topic

_USUAL = """\
dob, date of birth, birth date, birthdate, birthday, born, year of birth
email, e-mail, mail address, email address
phone, telephone, phone number, mobile, cell, contact number
zip, zip code, zipcode, postcode, postal code
reason, cause, why, mistake, what happened, what went wrong, what is wrong, what was wrong, \
what is the problem, what was the problem, what is the issue, what was the issue
reaction, react, side effect
color, colour
quantity, how many, all of them, only some, some of them, one or several, one or more
address, where should, where would, where to, where do, deliver to, delivered to, ship to, \
sent to
order number, order no, order id, order nr
opened, unopened, unsealed, unpack, still sealed
who, whose, whom
budget, how much, price limit, price range
name, full name, who am i speaking, who is this
payment method, payment, pay, refunded to, refund go
"""
"""Names of common things that people ask for; any name of a line stands for all."""

_EXAMPLES = re.compile(r"\b(?:e\.g\b|eg\b|for (?:example|instance)\b|such as\b|like:)[^)?!\n]*")
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|long|soon)\b")
_SMALL = words_in(
    "the a an on of is was are were at for to in by from with and or my your her his their our"
    " it its i i'm it's he she they we this that one please born about"
)
"""Words of an answer that carry no information."""

_INTERROGATIVES = words_in("who whos whom which what when wher why how")
"""Stems of question words."""


def plain_name(name: str) -> str:
    """Return the name of a topic in words; a later request's topic ends in ``@`` and a number."""
    return name.partition("@")[0].replace("_", " ")


@lru_cache(maxsize=1024)
def _words_of(name: str, words: tuple[str, ...]) -> Sequence[Sequence[str]]:
    """Return the word sequences that mean the topic."""
    folded = [_stems(word) for word in (plain_name(name), *words)]
    usual = [row for row in _usual() if not set(row).isdisjoint(folded)]
    return tuple(word for word in [*folded, *(word for row in usual for word in row)] if word)


@lru_cache(maxsize=1)
def _usual() -> Sequence[Sequence[tuple[str, ...]]]:
    """Return the stems of :data:`_USUAL`."""
    return tuple(tuple(map(_stems, row.split(", "))) for row in _USUAL.splitlines())


def about(sentence: str, knows: Mapping[str, Topic], *, asked: bool = True) -> list[str]:
    """Return the topics that a sentence mentions, in the order of the role.

    A lone question word means a topic only if the sentence is ``asked``: "I am who you think I am"
    asks for nobody.
    """
    heard = _stems(sentence)
    found = [
        (name, place)
        for name, topic in knows.items()
        for words in _words_of(name, tuple(topic.words))
        for place in spans(words, heard)
        if asked or not _INTERROGATIVES.issuperset(heard[place[0] : place[1]])
    ]
    kept = {
        name
        for name, place in found
        if not any(_inside(place, other) for owner, other in found if owner != name)
    }
    return [name for name in knows if name in kept]


def restates(sentence: str, topic: Topic) -> bool:
    """Tell whether a sentence holds every value of the topic's answer, or every informative word of
    one without values.

    Beside another date, address or code of the kind it only offers a choice, and a question for a
    number does not state one (nor by examples): that is a question.
    """
    sentence = _EXAMPLES.sub("", fold(sentence))
    heard, facts = tokens(sentence), facts_of(topic)
    own = {fact.text for fact in facts}
    if not own <= set(texts(heard)) or (
        all(fact.kind == "number" for fact in facts) and _HOW_MANY.search(sentence)
    ):
        return False
    words = set(_singulars(topic.says))
    forms = {form for form, _ in words}
    return all(word in words for word in _singulars(sentence) if word[0] in forms)


def _singulars(text: str) -> list[tuple[str, str]]:
    """Return values that name a single thing, with their form: dates, e-mail addresses, codes such
    as LP-11410.
    """
    folded = fold(text)
    found = tokens(folded)
    out = [(item.kind, item.text) for item in found if item.kind in {"date", "email"}]
    for word, number in pairwise(found):
        joined = folded[word.end : number.start] in {"", "-"}
        if joined and (word.kind, number.kind) == ("word", "number"):
            out.append((word.text, number.text))
    return out


def about_by_value(sentence: str, knows: Mapping[str, Topic], at_least: int = 1) -> list[str]:
    """Return the topics whose answer is a date, address or code, if the sentence holds (so many)
    values of that form.
    """
    held = Counter(form for form, _ in set(_singulars(sentence)))
    return [
        name
        for name, topic in knows.items()
        if any(held[form] >= at_least for form, _ in _singulars(topic.says))
    ]


def compares(sentence: str, topic: Topic) -> bool:
    """Tell whether a sentence names a value of the topic's kind, the right one or another."""
    facts = facts_of(topic)
    kinds = {fact.kind for fact in facts} - {"word"}
    return restates(sentence, topic) or any(token.kind in kinds for token in tokens(sentence))


def facts_of(topic: Topic) -> Sequence[Token]:
    """Return the values of an answer or, without values, the words that carry it."""
    facts = tokens(topic.says)
    return [event for event in facts if event.kind != "word"] or [
        event for event in facts if event.text not in _SMALL
    ]


def _stems(text: str) -> tuple[str, ...]:
    """Return words without their endings: "orders" and "ordered" ask for "order"."""
    return tuple(stem(word) for word in texts(tokens(text)))


def _inside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= place[0] and place[1] <= other[1] and place != other
