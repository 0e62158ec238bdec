"""Which of a user's topics a sentence is about, and whether it says what the user would tell.

A sentence is about a topic when it holds one of its words: the author's, the topic's own name (underscores are spaces), or
another usual name of the same thing. Where words of two topics overlap ("date of birth", "date"), the longer one counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from synth.types import Topic
from synth.users.phrases import EXAMPLES, HOW_MANY
from synth.users.wording import Token, fold, spans, stem, texts, tokens

_USUAL = (
    ("dob", "date of birth", "birth date", "birthdate", "birthday", "born", "year of birth"),
    ("email", "e-mail", "mail address", "email address"),
    ("phone", "telephone", "phone number", "mobile", "cell", "contact number"),
    ("zip", "zip code", "zipcode", "postcode", "postal code"),
    (
        *("reason", "cause", "why", "mistake", "what happened", "what went wrong", "what is wrong", "what was wrong"),
        *("what is the problem", "what was the problem", "what is the issue", "what was the issue"),
    ),
    ("reaction", "react", "side effect"),
    ("color", "colour"),
    ("quantity", "how many", "all of them", "only some", "some of them", "one or several", "one or more"),
    (
        "address",
        "where should",
        "where would",
        "where to",
        "where do",
        "deliver to",
        "delivered to",
        "ship to",
        "sent to",
    ),
    ("order number", "order no", "order id", "order nr"),
    ("opened", "unopened", "unsealed", "unpack", "still sealed"),
    ("who", "whose", "whom"),
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

_INTERROGATIVES = frozenset({"who", "whos", "whom", "which", "what", "when", "wher", "why", "how"})
"""As stems."""


def words_of(name: str, topic: Topic) -> Sequence[Sequence[str]]:
    """The word sequences that mean the topic."""
    return _words_of(name, tuple(topic.words))


@lru_cache(maxsize=1024)
def _words_of(name: str, words: tuple[str, ...]) -> Sequence[Sequence[str]]:
    folded = [_stems(each) for each in (name.replace("_", " "), *words)]
    usual = [row for row in _usual() if not set(row).isdisjoint(folded)]
    return tuple(each for each in [*folded, *(each for row in usual for each in row)] if each)


@lru_cache(maxsize=1)
def _usual() -> Sequence[Sequence[tuple[str, ...]]]:
    """The stems of :data:`_USUAL`."""
    return tuple(tuple(_stems(each) for each in row) for row in _USUAL)


def about(sentence: str, knows: Mapping[str, Topic], *, asked: bool = True) -> list[str]:
    """The topics that a sentence mentions, in the order of the role.

    A lone question word means a topic only where something is ``asked``: "I am who you think I am" asks for nobody.
    """
    heard = _stems(sentence)
    found = [
        (name, place)
        for name, topic in knows.items()
        for words in words_of(name, topic)
        for place in spans(words, heard)
        if asked or not _INTERROGATIVES.issuperset(heard[place[0] : place[1]])
    ]
    kept = {name for name, place in found if not any(_inside(place, other) for owner, other in found if owner != name)}
    return [name for name in knows if name in kept]


def restates(sentence: str, topic: Topic) -> bool:
    """The sentence holds every value of what the user would tell; of a text without values, all words that carry it.

    Beside another date, address or code of the kind it only offers a choice, and whoever asks how many has not said a number
    (nor by examples): that is a question.
    """
    sentence = EXAMPLES.sub("", fold(sentence))
    heard, facts = tokens(sentence), facts_of(topic)
    own = {each.text for each in facts}
    if not own <= set(texts(heard)) or (all(each.kind == "number" for each in facts) and HOW_MANY.search(sentence)):
        return False
    told = set(singulars(topic.says))
    forms = {form for form, _ in told}
    return all(each in told for each in singulars(sentence) if each[0] in forms)


def singulars(text: str) -> list[tuple[str, str]]:
    """Values that name one thing and no other, with their form: dates, e-mail addresses, codes such as LP-11410."""
    folded = fold(text)
    found = tokens(folded)
    out = [(each.kind, each.text) for each in found if each.kind in {"date", "email"}]
    for word, number in pairwise(found):
        if word.kind == "word" and number.kind == "number" and folded[word.end : number.start] in {"", "-"}:
            out.append((word.text, number.text))
    return out


def about_by_value(sentence: str, knows: Mapping[str, Topic], at_least: int = 1) -> list[str]:
    """The topics whose answer is a date, address or code, where the sentence holds (so many) values of that form."""
    held = Counter(form for form, _ in set(singulars(sentence)))
    return [name for name, topic in knows.items() if any(held[form] >= at_least for form, _ in singulars(topic.says))]


def compares(sentence: str, topic: Topic) -> bool:
    """The sentence names a value of the kind that the topic holds, be it the right one or another."""
    facts = facts_of(topic)
    kinds = {each.kind for each in facts} - {"word"}
    return restates(sentence, topic) or any(each.kind in kinds for each in tokens(sentence))


def facts_of(topic: Topic) -> Sequence[Token]:
    """What an answer is about: its values, or, of a text without values, the words that carry it."""
    told = tokens(topic.says)
    return [each for each in told if each.kind != "word"] or [each for each in told if each.text not in _SMALL]


def _stems(text: str) -> tuple[str, ...]:
    """Words without their endings: "orders" asks for "order", "ordered" too."""
    return tuple(stem(each) for each in texts(tokens(text)))


def _inside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= place[0] and place[1] <= other[1] and place != other
