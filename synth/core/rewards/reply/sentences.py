"""The sentences of an assistant's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache

from synth.core.language.wording import fold, stem, stems, texts, tokens, words


@dataclass(frozen=True, slots=True)
class ReplyFinding:
    """A sentence that must not be said, or something that is not said.

    ``check`` is the rule's name, ``words`` are the sentence, ``evidence`` is what contradicts it.
    """

    check: str
    words: str
    evidence: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    def __str__(self) -> str:
        parts = self.words, self.evidence and f"({self.evidence})"
        return " ".join((f"{self.check}:", *filter(None, parts)))


_HIDDEN = re.compile(
    r"<(think|thinking|reasoning|tool_call|function_call)>.*?(?:</\1>|\Z)|\A.*?</think(?:ing)?>",
    re.DOTALL | re.IGNORECASE,
)
_CALL = re.compile(r"\{\s*\"name\"\s*:[^{}]*\"(?:arguments|parameters)\"\s*:\s*\{[^{}]*\}\s*\}")
"""A call that is written into the text."""
_END = re.compile(r"(?<=[.?!])[\"')\]*_]*\s+|\n+")
_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|e\.g|i\.e|vs|approx|incl|excl|No|St)\.(?=\s)")
_NEGATIVE = words("no not never nothing none nobody neither nor cannot without")
_REFUSES = stems(
    "fail refuse decline reject cannot can't couldn't wasn't unable impossible unfortunately"
)
_APART = words(
    "else other others further besides only more apart except beyond extra excluding rather instead"
)
"""Words that tell some things from the others."""
_CONDITION = words("if once when whenever unless until case soon should would could may let")
"""Words of a sentence that states nothing as it is."""
HOW_OFTEN = re.compile(r"\bonce (?=(?:an?|per|every|daily|weekly)\b)")
"""The "once" of "once a day", which sets no condition."""

IRREGULAR = dict(
    re.findall(
        r"(\w+)=(\w+)",
        "lent=lend sent=send paid=pay made=make kept=keep wrote=write written=write told=tell"
        " gave=give given=give took=take taken=take sold=sell bought=buy began=begin"
        " begun=begin held=hold found=find did=do done=do put=put set=set"
        " gone=go went=go spoke=speak rang=ring struck=strike reset=reset"
        " left=leave ran=run let=inform",
    )
)
"""Past forms of verbs that do not end in -ed."""


@dataclass(frozen=True)
class AgentSentence:
    """One sentence; ``text`` is folded, ``raw`` is as it was written."""

    raw: str

    @cached_property
    def text(self) -> str:
        return fold(self.raw)

    @cached_property
    def words(self) -> list[str]:
        return texts(tokens(self.raw))

    @cached_property
    def stems(self) -> set[str]:
        return {stem(word) for word in self.words}

    @property
    def asks(self) -> bool:
        return "?" in self.raw

    @cached_property
    def denies(self) -> bool:
        return self.refuses or any(map(is_negative, self.words))

    @property
    def refuses(self) -> bool:
        return not _REFUSES.isdisjoint(self.stems)

    @property
    def sets_apart(self) -> bool:
        return not _APART.isdisjoint(self.words)

    @cached_property
    def conditional(self) -> bool:
        if _CONDITION.isdisjoint(self.words):
            return False
        return not _CONDITION.isdisjoint(texts(tokens(HOW_OFTEN.sub("", self.raw))))

    @cached_property
    def plain(self) -> bool:
        """It states something: it asks for nothing, denies nothing and sets no condition."""
        return not (self.asks or self.denies or self.conditional)


def visible(text: str) -> str:
    """A text without a model's reasoning and without calls that it wrote into the text."""
    marked = "<" in text or "{" in text
    return _CALL.sub(" ", _HIDDEN.sub(" ", text)) if marked else text


@lru_cache(maxsize=256)
def sentences(text: str) -> Sequence[AgentSentence]:
    """The sentences of a text, in order."""
    whole = _TITLE.sub(r"\1", visible(text))
    return tuple(AgentSentence(part.strip()) for part in _END.split(whole) if part.strip())


def is_negative(word: str) -> bool:
    """True for a word that denies."""
    return word in _NEGATIVE or word.endswith("n't")


def base_form(verb: str) -> str:
    """The stem of a verb, of its past forms too."""
    verb = IRREGULAR.get(verb, verb)
    return stem(verb.removesuffix("ied") + "y" if verb.endswith("ied") else verb)


def is_past(verb: str) -> bool:
    """Tell whether a verb has a past form."""
    return verb.endswith("ed") or verb in IRREGULAR
