"""Which of a user's topics a sentence is about, and whether it says what the user would tell.

A sentence is about a topic when it holds one of its words: the author's, the topic's own name (underscores are spaces), or
another usual name of the same thing. Where words of two topics overlap ("date of birth", "date"), the longer one counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from synth.types import Topic
from synth.users.wording import Token, spans, texts, tokens

_USUAL = (
    ("dob", "date of birth", "birth date", "birthdate", "birthday", "born", "year of birth"),
    ("email", "e-mail", "mail address", "email address"),
    ("phone", "telephone", "phone number", "mobile", "cell", "contact number"),
    ("zip", "zip code", "zipcode", "postcode", "postal code"),
    ("reason", "why", "what happened", "what is wrong", "what's wrong"),
    ("color", "colour"),
    ("quantity", "how many"),
    ("budget", "how much", "price limit", "price range"),
    ("name", "full name", "who am i speaking", "who is this"),
    ("payment method", "payment", "pay", "refunded to", "refund go"),
)
"""Names of common things that people ask for; the first of a row or any other stands for all."""

_SMALL = frozenset(
    re.findall(
        r"\S+",
        "the a an on of is was are were at for to in by from with and or my your her his their our it its i i'm it's "
        "he she they we this that one please born about",
    )
)
"""Words of an answer that carry nothing."""


def words_of(name: str, topic: Topic) -> list[list[str]]:
    """The word sequences that mean the topic."""
    own = [name.replace("_", " "), *topic.words]
    folded = [_stems(each) for each in own]
    usual = [each for row in _USUAL if any(_stems(each) in folded for each in row) for each in row]
    return [each for each in [*folded, *(_stems(each) for each in usual)] if each]


def about(sentence: str, knows: Mapping[str, Topic]) -> list[str]:
    """The topics that a sentence mentions, in the order of the role."""
    heard = _stems(sentence)
    found = [
        (name, place)
        for name, topic in knows.items()
        for words in words_of(name, topic)
        for place in spans(words, heard)
    ]
    kept = {name for name, place in found if not any(_inside(place, other) for owner, other in found if owner != name)}
    return [name for name in knows if name in kept]


def restates(sentence: str, topic: Topic) -> bool:
    """The sentence holds every value of what the user would tell; of a text without values, all words that carry it.

    Beside another date or address it only offers a choice, and that is a question.
    """
    heard, facts = tokens(sentence), _facts(topic)
    own = {each.text for each in facts}
    singular = {each.kind for each in facts} & {"date", "email"}
    return bool(own) and own <= set(texts(heard)) and all(each.text in own for each in heard if each.kind in singular)


def compares(sentence: str, topic: Topic) -> bool:
    """The sentence names a value of the kind that the topic holds, be it the right one or another."""
    facts = _facts(topic)
    kinds = {each.kind for each in facts} - {"word"}
    return restates(sentence, topic) or any(each.kind in kinds for each in tokens(sentence))


def _facts(topic: Topic) -> Sequence[Token]:
    told = tokens(topic.says)
    return [each for each in told if each.kind != "word"] or [each for each in told if each.text not in _SMALL]


def _stems(text: str) -> list[str]:
    """Words without the plural's s: "orders" asks for "order"."""
    return [
        each[:-1] if len(each) > 3 and each[-1] == "s" and each[-2] != "s" else each for each in texts(tokens(text))
    ]


def _inside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= place[0] and place[1] <= other[1] and place != other
