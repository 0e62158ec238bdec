"""Forms of English words, and how often they occur. The import takes half a second of CPU."""

from __future__ import annotations

import re
import sys
from bisect import bisect
from collections.abc import Iterable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, Literal, cast, no_type_check

import wordsegment  # pyright: ignore[reportMissingTypeStubs]

from envs.plugins import resolve
from synth.ext.authoring.standards import standard_values


def _forms() -> Any:
    """The engine of inflect without its checks of types: to compile them takes two seconds."""
    modules = cast("dict[str, Any]", sys.modules)
    checks = modules.get("typeguard")
    modules["typeguard"] = SimpleNamespace(typechecked=no_type_check)
    try:
        return resolve("inflect:engine")()
    finally:
        del modules["typeguard"]
        if checks is not None:
            modules["typeguard"] = checks


FORMS = _forms()

_WORDS = cast("Any", wordsegment)  # it has no annotations
_WORDS.load()

_COMMON = 1e6
"""How often a word occurs, in a trillion words of the web, that may be part of a glued name."""


_BOUND_OR_KEY = re.compile(r"(max|min)([a-z]{4,})|([a-z]{4,})(id)")
"""Names of a program that the words of the web do not tell apart: ``minvalue``, ``objectid``."""


_ENDINGS = frozenset({"er", "or", "ed", "ly", "al"})
"""Ends of words that are no words: one who grants is a ``granter``."""

_AFTER_NOUN = ("of", "is", "was", "has", "are", "were", "will")
_BEFORE_NAME = ("the", "a", "an", "this", "your", "our", "his", "its", "each", "of", "new", "no")
_BEFORE_STATE = ("is", "are", "be", "was", "not", "been", "were", "very")
_PAIRS_SHOW = 3e7
"""How often a word occurs, of whose pairs with others all that count are among the known ones."""


@cache
def _shares(word: str) -> tuple[float, float, float]:
    """The shares of a word's use before a verb or `of`, after an article, and after `is`."""
    total = _WORDS.UNIGRAMS.get(word, 0) if len(word) > 1 else 0  # a letter is no word

    def share(pairs: Iterable[str]) -> float:
        return sum(_WORDS.BIGRAMS.get(pair, 0) for pair in pairs) / total if total else 0.0

    return (
        share(f"{word} {one}" for one in _AFTER_NOUN),
        share(f"{one} {word}" for one in _BEFORE_NAME),
        share(f"{one} {word}" for one in _BEFORE_STATE),
    )


@cache
def kind_of(word: str) -> Literal["noun", "state", "other", ""]:
    """The kind of a word by its neighbours on the web, which tell "the status of" from "is active":
    a noun, also in the plural or of another language, a state, or another word; empty for none,
    such as an abbreviation or pieces that are glued.

    >>> [kind_of(one) for one in ("status", "umsatz", "superuser", "active", "commented", "src")]
    ['noun', 'noun', 'noun', 'state', '', '']
    >>> kind_of("histo")
    ''
    """
    one = FORMS.singular_noun(word) if word.isalpha() else False
    if _is_noun(word) or (one and any(_shares(one)) and _is_noun(one)):
        return "noun"
    stated = _shares(word)[2] and f"is {word}" in _WORDS.BIGRAMS
    done_on = _WORDS.BIGRAMS.get(f"{word} on", 0) > 0.2 * _WORDS.UNIGRAMS.get(word, _COMMON)
    if stated or (_OF_STATES.search(word) and not is_rare(word) and not done_on):  # commented on
        return "state"
    return "other" if _is_known(word) else ""


def _is_known(word: str) -> bool:
    after, named, _ = _shares(word)
    common = len(word) > 3 and _WORDS.UNIGRAMS.get(word, 0) > _PAIRS_SHOW
    return word in _ACRONYMS or common or max(after, named) > 0.01 or _is_pronounced(word)


def _is_noun(word: str) -> bool:
    after, named, stated = _shares(word)
    if len(word) < 3 and word not in _ACRONYMS:  # tx
        return False
    if after:
        return stated < (0.12 if after > 0.01 else 2 * after)
    if named or stated:
        return not stated and 0.012 < named < 0.12 and _WORDS.UNIGRAMS[word] < _PAIRS_SHOW
    return _is_pronounced(word) and not (word.endswith("id") or _OF_STATES.search(word))


_ACRONYMS = frozenset(
    """api cd crm css csv dag db dns dvd ean erp faq gps gpu html http https iban id ip isbn iso
    os pc pdf rss sim sku sla sms ssl tv url usb uuid vat vip vm vpn""".split()  # noqa: SIM905
)
"""Short forms that people write in capitals."""

_OF_STATES = re.compile(r"(?:ed|[ai]ble)$")
_SYLLABLE = re.compile(r"[aeiou][^aeiou]?$")
_PREFIX = re.compile(r"^(?:re|un|pre|sub|non|over|under|inter|multi|super)(?=[a-z]{4})")
_UNPRONOUNCED = re.compile(r"(?!sch)[^aeiouy]{4}|^hw|^[^aeiouy]+$|[a-z]{3}(?:max|min)$")


def _is_pronounced(word: str) -> bool:
    """True for a word without known pairs that is no shortened one: the web has it, or it does not
    begin or end with a word that is another's half, as ``volstatus`` does.
    """
    short = len(word) < 5 and (is_rare(word) or not _SYLLABLE.search(word))
    frequent = _WORDS.UNIGRAMS.get(word, 0) > 3 * _COMMON  # it has pairs if it is said
    if len(word) < 3 or short or frequent or _UNPRONOUNCED.search(word) or _is_cut(word):
        return False
    word = _PREFIX.sub("", word)
    halves = {word[:cut] for cut in range(4, len(word))}
    halves |= {word[cut:] for cut in range(1, len(word) - 3)}
    return not (
        is_rare(word) and any(_shares(one)[0] and not is_rare(one) for one in halves - {word})
    )


_FREQUENT = sorted(word for word, count in _WORDS.UNIGRAMS.items() if count > _PAIRS_SHOW)


def _is_cut(word: str) -> bool:
    """True for the beginning of a frequent word, without its ending: ``histo`` for the history."""
    whole = next(iter(_FREQUENT[bisect(_FREQUENT, word) :]), "")
    return is_rare(word) and whole.startswith(word) and len(whole) > len(word) + 1


def is_rare(word: str, beside: str = "") -> bool:
    """True for a word that hardly occurs, such as a shortened one: ``ele``, or no more often than
    another.
    """
    return _WORDS.UNIGRAMS.get(word, 0) <= _WORDS.UNIGRAMS.get(beside, _COMMON)


def is_written(form: str, word: str, beside: str = "") -> bool:
    """True for a form of a word that is in use, or of a word that is made of common ones; not where
    it has no neighbours and the word ``beside`` it has: no ``tran`` beside `trans`.
    """
    parts: list[str] = _WORDS.segment(word)
    made = parts[1:] and all(len(one) > 2 and not is_rare(one) for one in parts)
    known = any(_shares(form)) or not any(_shares(beside))
    return known and (bool(made) or form in _WORDS.UNIGRAMS)


def is_verb(word: str) -> bool:
    """True for a word that stands behind `to` as a verb does, also with an s: ``includes``."""
    return any(
        _WORDS.BIGRAMS.get(f"to {one}", 0) > 0.07 * _WORDS.UNIGRAMS.get(one, _COMMON)
        for one in {word, word.removesuffix("s")}
    )


def is_only_verb(word: str) -> bool:
    """True for a rare verb that nobody uses as a noun: ``enrol``."""
    return is_rare(word) and is_verb(word) and not any(_shares(word))


def is_mass(word: str, many: str) -> bool:
    """True for a common noun that hardly has an article or a plural."""
    total = _WORDS.UNIGRAMS.get(word, 0)
    with_article = sum(_WORDS.BIGRAMS.get(f"{one} {word}", 0) for one in ("a", "an"))
    rare = 0 < _WORDS.UNIGRAMS.get(many, 0) < 0.025 * total
    common = total > _COMMON and not word.endswith(("s", "ity"))  # a severity
    return common and rare and with_article < 0.01 * total and kind_of(word) == "noun"


def words_of(name: str) -> list[str]:
    """The words of a name in small letters without anything between them, such as
    ``borrowernumber``; the name alone where it is a word or they are not all common words.
    """
    found: list[str] = _WORDS.segment(FORMS.singular_noun(name) or name)
    if not found[1:] and is_rare(name) and (parts := _BOUND_OR_KEY.fullmatch(name)):
        found = [*filter(None, parts.groups())]
    if not found[1:] and not any(_shares(name)):
        pairs = [[name[:cut], name[cut:]] for cut in range(3, len(name) - 2)]
        best = max(pairs, key=lambda pair: _WORDS.BIGRAMS.get(" ".join(pair), 0))
        together = _WORDS.UNIGRAMS.get(name, 0)  # as a downtime is written
        apart = _WORDS.BIGRAMS.get(" ".join(best), 0) > max(together, _COMMON / 5)
        found = best if apart else found
    head = "".join(found[:-1])
    known = all(len(one) > 1 and not is_rare(one) for one in found) and found[-1] not in _ENDINGS
    return [*found[:-1], name.removeprefix(head)] if head and known else [name]


@cache
def _capitals() -> Mapping[str, str]:
    """Words in small letters with the form that people write."""
    known = {one: one.upper() for one in _ACRONYMS}
    return known | {one.lower(): one for one in standard_values("language_name")}


def proper(text: str) -> str:
    """A sentence with the capitals of short forms and languages outside of its slots.

    >>> proper("the english name and the urls of {ip} are “id”")
    'the English name and the URLs of {ip} are “id”'
    """
    known = _capitals()
    return re.sub(
        r"\{[^}]*\}|“[^”]*”|\b([a-z]+?)(s?|v?\d+)\b",
        lambda m: known[m[1]] + m[2] if m[1] in known else known.get(m[0], m[0]),
        text,
    )
