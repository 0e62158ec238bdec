"""Statements that nothing supports.

An assistant can tell of three kinds of things: of what it was told or has read (request, turns of
the user, rules, tools, results), of what its calls did, and of the conversation itself. Words for
the first two are known from the rollout, words for the third are plain. A statement with other
words tells of something that nobody has mentioned: "I've put a courtesy car in the yard".

One new word alone proves little, since the language is wide: "that worked without a hitch". It
counts if it is what the statement is about ("A locksmith has been there", "your cousin's house"),
and in a statement that adds something ("I also fed the cat", a row of a list).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from synth.language.wording import Token, stem, tokens
from synth.rewards.reply.facts import COURTESY
from synth.rewards.reply.known import KnownValues
from synth.rewards.reply.plain_words import GRAMMAR, PLAIN, SYNONYMS
from synth.rewards.reply.sentences import AgentSentence, is_past, sentences

ENOUGH = 2
"""New words from which a statement tells of something new, if one of them is a thing."""
LENIENT = 3
"""The same of other statements and of what the assistant says of its own work, and of a denial, a
condition or a wish, where fewer are never enough.
"""
SHORTEST = 3
"""Letters of the shortest word that is looked at."""
FRAGMENT = 2
"""The most words of an exclamation or a signature."""
FOREIGN = 0.5
"""The share of unknown words from which a text is in another language than English."""
MOST = 10
"""The most statements that are named, and the most abbreviations that are looked up."""

_CODE = re.compile(
    r"```[a-z]*\s*(?:select|with)\b.*?(?:```|\Z)|`[^`\s]*`", re.DOTALL | re.IGNORECASE
)
_CAPITALS = re.compile(r"\b[A-Z]{3,4}\b")
_IDIOMS = re.compile(r"\bfeel free\b|\bfree to\b|\blook(?:ing)? forward\b", re.IGNORECASE)
"""Words that mean nothing of what they mean alone."""
_ENDINGS = re.compile(
    r"(?:ations?|itions?|ions?|ments?|ances?|ences?|ness|ables?|ibles?|ities|ity|ally|ly|ings?|als?"
    r"|es|ed|s|e)$"
)
"""Endings that make another kind of word of a word."""
_DESCRIBES = re.compile(r"(?:ly|ful|ous|able|ible|less|ish)$")
"""Endings of words that describe, and name no thing and no act."""

_OWNERS = frozenset({"my", "your", "his", "her", "our", "their"})
_ARTICLES = frozenset(
    {"a", "an", "the", "some", "another", "this", "that", "these", "those", "each"}
)
_JOINS = frozenset({"and", "but", "because", "since", "that", "as", "while", "so", "there's"})
_PASTS = "went came got became fell rose ran broke said says rang won knew drove stood sat met"
_VERBS = frozenset(_PASTS.split())
_NO_PHRASE = """
of to in on at by for from with about into onto over under and or but is are was were be been has
have had will would can could i we you he she it they me us him them not
"""
_BREAKS = frozenset(_NO_PHRASE.split())
"""Words that no phrase goes over."""

_ADDS = re.compile(
    r"\b(?:also|too|as well|additionally|in addition|besides|moreover|furthermore|on top|plus"
    r"|by the way|btw|meanwhile|while (?:i|we) (?:was|were|am|are) at it|p\.? ?s)\b"
)
_OWN_WORK = re.compile(r"^\W*(?:(?:so|well|now|okay|ok|then|first|next|here)\W+)?(?:i|we)\b")
_HANDS_OVER = re.compile(
    r"\b(?:i|we)\b[^.?!]{0,60}"
    r"\b(?:send|sending|sent|gave|put|placed|added|packed|included|reserved|threw|tossed)\b"
)
"""An act by which the user gets a thing."""
_ABOUT_USER = re.compile(
    r"(?:^|, )\W*you(?:'re|'ve| are| have| were| had| \w+ed| won| lost| owe)\b"
)
_ROW = re.compile(r"^\s*(?:[-*\u2022|]|\d+[.)])\s")
_THEIRS = re.compile(r"\b(?:our|his|her|their) ")
_REMINDS = re.compile(r"^\W*(?:please )?(?:do not|don't) (?:forget|worry|be surprised)\b")
_WISHES = re.compile(
    r"^\W*(?:(?:many|best|kind|warm|please|and|i'm|i am|we're|we are|so|very|really|once|again|with"
    r"|all|my)\s+)*"
    r"(?:thanks?|sorry|apolog\w*|hope|i hope|enjoy|have an?|wish\w*|best|all the best|good luck"
    r"|take care|happy|welcome|you're welcome|congratulations|cheers|greetings|regards|sincerely"
    r"|yours|dear|hi|hello|hey|safe|get well|rest assured)\b"
)
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|then|now|also|ok|okay|but|or|if so|in that case"
    r"|before (?:that|i (?:do|proceed)))\W+)*"
    r"(?:would|could|can|may|might|shall|should|do|does|is|are|will|what|which|when|where|who|how"
    r"|have you|any\w*|need|want|or)\b"
)
_PRESUPPOSES = re.compile(
    r"\bhow (?:did|was|were|has|have)\b"
    r"|\b(?:that|which|what) (?:i|we|he|she|they|(?:our|my|your|the|his|her) \w+)"
    r"(?:'ve|'d| have| had)? \w+"
)
_LABEL = re.compile(
    r"^[^\w]*(?P<label>[^\n|:,]{2,40}?)(?:\W*:\W|\s*\|)(?P<value>.*\w.*)$", re.DOTALL
)


def unsupported(text: str, known: KnownValues) -> Iterator[str]:
    """The statements in an assistant's words that tell of what nobody has mentioned, at most
    ``MOST``; none in a text that is not English.
    """
    if not known.texts:
        return
    text = _IDIOMS.sub(" ", _CODE.sub(" ", text))
    said = [token.text for token in tokens(text) if token.kind == "word"]
    vocabulary = Vocabulary(known, {word.lower() for word in _CAPITALS.findall(text)})
    new = [word for word in said if vocabulary.lacks(word)]
    if not new or len(new) > FOREIGN * len(said):
        return
    found = 0
    for sentence in sentences(text):
        if _tells_news(sentence, vocabulary):
            yield sentence.raw
            found += 1
            if found == MOST:
                return


@dataclass
class Vocabulary:
    """The words that an assistant may use: known ones, plain ones, and other forms of both.

    ``capitals`` are the words that it writes in capitals, folded.
    """

    known: KnownValues
    capitals: set[str]
    _decided: dict[str, bool] = field(default_factory=dict[str, bool])
    _abbreviations: int = 0

    def lacks(self, word: str) -> bool:
        """True for a word that is neither known nor plain, whatever its forms are."""
        word = word.partition("'")[0]
        if len(word) < SHORTEST or word in COURTESY or _DESCRIBES.search(word):
            return False
        root = stem(word)
        return root not in PLAIN and root not in self.known.words

    def is_new(self, word: str) -> bool:
        """True for a word that is neither known nor plain in any form."""
        if not self.lacks(word):
            return False
        word = word.partition("'")[0]
        if word not in self._decided:
            known = self._derives(word) or self._stands_for(word) or self._abbreviates(word)
            self._decided[word] = not known
        return self._decided[word]

    @cached_property
    def _roots(self) -> set[str]:
        return {_root(word) for word in self.known.words} | _plain_roots()

    def _derives(self, word: str) -> bool:
        """True for another form of a word: "cancellation" of "cancelled"."""
        return _root(word) in self._roots

    def _stands_for(self, word: str) -> bool:
        """True for another word for a known thing: "package" for "parcel"."""
        root = stem(word)
        return any(root in group and group & self.known.words for group in SYNONYMS)

    def _abbreviates(self, word: str) -> bool:
        """True for capitals that begin known words side by side: "DOB" of "date of birth"."""
        if word not in self.capitals or self._abbreviations == MOST:
            return False
        self._abbreviations += 1
        pattern = re.compile(r"[\W_]+".join(rf"\b{re.escape(letter)}\w*" for letter in word))
        return any(pattern.search(text) for text in self.known.texts)


@lru_cache(maxsize=50_000)
def _root(word: str) -> str:
    """A word without all endings that make another kind of word of it."""
    while (shorter := _ENDINGS.sub("", word)) != word and len(shorter) >= SHORTEST:
        word = shorter
    return word[:-1] if word[-1:] == word[-2:-1] else word


@lru_cache(maxsize=1)
def _plain_roots() -> frozenset[str]:
    return frozenset(map(_root, PLAIN))


def _tells_news(sentence: AgentSentence, vocabulary: Vocabulary) -> bool:
    """True for a statement with enough new words."""
    if _only_asks(sentence) or _is_fragment(sentence):
        return False
    words = _words(sentence)
    new = [index for index, token in enumerate(words) if vocabulary.is_new(token.text)]
    if not new or _is_label(sentence, vocabulary):
        return False
    if _is_lenient(sentence):
        return len(new) >= LENIENT
    if sentence.asks or _adds(sentence) or any(_is_topic(words, index) for index in new):
        return True
    if not any(_is_thing(words, index) for index in new):
        return len(new) >= LENIENT
    enough = LENIENT if _OWN_WORK.search(sentence.text) else ENOUGH
    return len(new) >= enough or _HANDS_OVER.search(sentence.text) is not None


def _only_asks(sentence: AgentSentence) -> bool:
    """True for a question that takes nothing for granted."""
    asks = sentence.asks and _ASKS.search(sentence.text) is not None
    return asks and _PRESUPPOSES.search(sentence.text) is None


def _is_fragment(sentence: AgentSentence) -> bool:
    """True for an exclamation or a line of a signature."""
    short = len(_words(sentence)) <= FRAGMENT
    return short and not _ROW.match(sentence.raw) and sentence.raw[-1:] != "."


def _adds(sentence: AgentSentence) -> bool:
    """True for a row of a list, and for what is added or said about the user."""
    return _ROW.match(sentence.raw) is not None or any(
        pattern.search(sentence.text) for pattern in (_ADDS, _ABOUT_USER)
    )


def _is_label(sentence: AgentSentence, vocabulary: Vocabulary) -> bool:
    """True for a known value under a name: "Outcome: cancelled"."""
    label = _LABEL.match(sentence.raw)
    return label is not None and _is_told(label["value"], vocabulary)


def _words(sentence: AgentSentence) -> list[Token]:
    """The words of a sentence, those that own something with their "'s"."""
    found = [token for token in tokens(sentence.raw) if token.kind == "word"]
    owns = [sentence.text[token.start : token.end].endswith("'s") for token in found]
    return [
        replace(token, text=token.text.removesuffix("'s") + "'s") if owner else token
        for token, owner in zip(found, owns, strict=True)
    ]


def _is_told(value: str, vocabulary: Vocabulary) -> bool:
    """True for the value of a label that is known, and not by plain words alone."""
    found = tokens(value)
    words = [token.text for token in found if token.kind == "word"]
    return not any(map(vocabulary.lacks, words)) and (
        len(words) < len(found) or any(stem(word) not in PLAIN for word in words)
    )


def _is_lenient(sentence: AgentSentence) -> bool:
    """True for a denial, a condition or a wish."""
    if _REMINDS.search(sentence.text):
        return False
    if sentence.conditional or _WISHES.search(sentence.text):
        return _THEIRS.search(sentence.text) is None
    return sentence.denies


def _is_topic(words: Sequence[Token], index: int) -> bool:
    """True for the last word of a phrase that is somebody's, or the subject of a clause: "your old
    car", "A spare key lies ...".
    """
    start = _phrase(words, index)
    if start is None:
        return False
    return words[start].text not in _ARTICLES or _begins_clause(words, start)


def _is_thing(words: Sequence[Token], index: int) -> bool:
    """True for the last word of a phrase such as "a spare key"."""
    return _phrase(words, index) is not None


def _phrase(words: Sequence[Token], index: int) -> int | None:
    """The index of the article or owner of the phrase that a word ends; None if there is none."""
    if not _ends_phrase(words, index):
        return None
    for start in range(index - 1, max(-1, index - 4), -1):
        word = words[start].text
        if words[start].clause != words[index].clause or word in _BREAKS:
            return None
        if word in _OWNERS or word in _ARTICLES or _owns(word):
            return start
    return None


def _ends_phrase(words: Sequence[Token], index: int) -> bool:
    """True for the last word of its phrase, and for an owner: "your brother's account"."""
    after = words[index + 1] if index + 1 < len(words) else None
    return (
        after is None
        or after.clause != words[index].clause
        or after.text in GRAMMAR
        or after.text in _VERBS
        or is_past(after.text)
        or after.text.endswith("s")
        or _owns(words[index].text)
    )


def _owns(word: str) -> bool:
    """True for "brother's", and not for "that's"."""
    return word.endswith("'s") and word.removesuffix("'s") not in GRAMMAR


def _begins_clause(words: Sequence[Token], index: int) -> bool:
    return (
        not index
        or words[index - 1].clause != words[index].clause
        or words[index - 1].text in _JOINS
        or (index > 1 and words[index - 2].text == "there")
    )
