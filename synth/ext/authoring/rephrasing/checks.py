"""Checks of a phrasing by its words alone: it says what the author's text says, and nothing more.

Each check raises a refusal whose reason goes back to the model. What the words do to a task is
proved afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import category

from synth.core.dataset.sanitize import sanitize
from synth.core.foundation.near_duplicates import shingles, words
from synth.core.tasks.phrasings import REQUEST, UserPhrasing
from synth.core.users.scripted.yes_no_words import agrees
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.variety.wording.masked import literals_in

LONGEST_PERSONA = 200
"""Characters of a persona."""

_SLOT = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.]*)\}")
_PLAIN = "slot"
"""Stands for a slot while the words around it are looked at."""

_NUMBERS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    "|hundred|thousand|dozen|twice|half"
)
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIMES = "today|tonight|tomorrow|yesterday|week|weeks|month|months|year|years|hour|hours"
_FIXED = re.compile(rf"\b(?:{_NUMBERS}|{_DAYS}|{_TIMES})\b", re.IGNORECASE)
_MONTHS = re.compile(
    r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
    r"|(?:\b(?:in|of|until|till|by|since|from|last|next|this)|\d\.?)\s+May\b|\bMay(?=\s+\d)"
)
"""Names of months; the word "may" is one only where a month can stand."""
_LIMITS = re.compile(r"\b(?:except|unless|only|instead|without|otherwise)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
_IDIOMS = re.compile(
    r"\b(?:no (?:rush|hurry|problem|worries|pressure)|(?:don['\u2019]t|not) mind|why not"
    r"|can['\u2019]t wait|if not too much trouble)\b",
    re.IGNORECASE,
)
_ITS_TASK = re.compile(
    r"\b(?:rephras\w*|paraphras\w*|placeholders?|as an ai|language model|tool calls?)\b",
    re.IGNORECASE,
)
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
"""Categories of characters without a sign of their own, behind which words could hide."""
_MARKUP = re.compile(r"```|<[/|]?\w|\*\*|^\s*[#{\[]", re.MULTILINE)


@dataclass(frozen=True)
class GoldSample:
    """A proved task of a family: its slots as text, all that its author's texts say, and the values
    that gold calls tools with or hands in.
    """

    slots: Mapping[str, str]
    said: str
    values: frozenset[str]


@dataclass(frozen=True)
class FamilyWords:
    """The words of a family: the author's texts by their places, with slots in braces, as they are
    written. ``of`` is their digest, ``tools`` are the names of all tools of the world.
    """

    family: str
    of: str
    texts: Mapping[str, Sequence[str]]
    samples: Sequence[GoldSample]
    tools: Collection[str]
    existing: Sequence[str] = ()


def check_words(phrasing: UserPhrasing, own: FamilyWords, kept: Sequence[str]) -> None:
    """Raise :class:`Refusal` for a phrasing that says another thing than the family's author, or
    that repeats a request of ``kept``.
    """
    if REQUEST not in phrasing.texts:
        raise Refusal("form", (f"a phrasing needs the key {REQUEST!r}, the request",))
    for place, text in phrasing.texts.items():
        if place not in own.texts:
            texts = ", ".join(own.texts)
            raise Refusal("form", (f"unknown text {place!r}; known are {texts}",))
        _check_form(place, text, own.texts[place])
        _check_leaks(place, text, own)
        _check_meaning(place, text, own.texts[place])
    _check_persona(phrasing.persona, own)
    known = [*own.texts[REQUEST], *own.existing, *kept]
    if (same := repeated(phrasing.texts[REQUEST], known)) is not None:
        message = f"{REQUEST}: nearly repeats {same!r}: write it in words of its own"
        raise Refusal("near-duplicate", (message,))


def _check_form(place: str, text: str, originals: Sequence[str]) -> None:
    longest = 2 * max(map(len, originals)) + 160
    if len(text) > longest:
        raise Refusal("form", (f"{place}: {len(text)} characters, and {longest} are allowed",))
    if sanitize(text)[1] or (set(map(category, text.replace("\n", " "))) & _UNSEEN):
        raise Refusal("form", (f"{place}: holds characters that nobody sees",))
    if "\n" in text and not any("\n" in original for original in originals):
        raise Refusal("form", (f"{place}: is one paragraph, without line breaks",))
    bare = _bare(text)
    if _MARKUP.search(bare) and not any(_MARKUP.search(_bare(one)) for one in originals):
        raise Refusal("form", (f"{place}: holds markup, and has to be plain words",))
    if _ITS_TASK.search(bare) and not any(_ITS_TASK.search(_bare(one)) for one in originals):
        raise Refusal("form", (f"{place}: speaks of the work of writing, which no user does",))


def _check_meaning(place: str, text: str, originals: Sequence[str]) -> None:
    """Refuse a text that has other slots, numbers, times, limits or denials than each of the
    author's texts.
    """
    problems = [problem for one in originals if (problem := _difference(text, one)) is not None]
    if len(problems) == len(originals):
        cause, message = problems[0]
        raise Refusal(cause, (f"{place}: {message}",))
    if "agrees" in place.split(".") and not agrees(_bare(text)):
        raise Refusal("meaning", (f"{place}: must be a plain yes, because the user agrees here",))


def _difference(text: str, original: str) -> tuple[str, str] | None:
    """The cause and the reason for which a text does not say what another one says."""
    mine, theirs = _slots_named(text), _slots_named(original)
    if lost := sorted(theirs - mine):
        return "lost value", f"lacks {{{lost[0]}}}: every placeholder stays, in its braces"
    if added := sorted(mine - theirs):
        return "leak", f"names {{{added[0]}}}, which the text that it stands for does not"
    own, given = _bare(text), _bare(original)
    for pattern_of in (_literals, _fixed_words):
        mine, theirs = pattern_of(own), pattern_of(given)
        if lost := sorted(theirs - mine):
            return "lost value", f"lacks {lost[0]!r}, which has to stay letter by letter"
        mine = {value for value in mine if not value.isalpha() or pattern_of is _fixed_words}
        if added := sorted(mine - theirs):
            return "new value", f"says {added[0]!r}, which the text that it stands for does not"
    if _limits(own) != _limits(given):
        found = sorted(_limits(own) ^ _limits(given))
        return "meaning", f"differs in {found[0]!r}: keep conditions and denials as they are"
    return None


def _slots_named(text: str) -> frozenset[str]:
    """The slots of a text, without braces."""
    return frozenset(found.group(1) for found in _SLOT.finditer(text) if found.group(1))


def _bare(text: str) -> str:
    """A text with a plain word in the place of each slot."""
    return _SLOT.sub(lambda found: _PLAIN if found.group(1) else found.group()[0], text)


def _literals(text: str) -> set[str]:
    found = {value.strip("\"'`\u201c\u201d").casefold() for value in literals_in(text)}
    return found - {_PLAIN, ""}


def _fixed_words(text: str) -> set[str]:
    months = {found.group().casefold().split()[-1] for found in _MONTHS.finditer(text)}
    return {found.group().casefold() for found in _FIXED.finditer(text)} | months


def _limits(text: str) -> set[str]:
    plain = _IDIOMS.sub(" ", text)
    denials = {"not"} if _DENIAL.search(plain) else set[str]()
    return {found.group().casefold() for found in _LIMITS.finditer(plain)} | denials


def _check_leaks(place: str, text: str, own: FamilyWords) -> None:
    """Refuse names of tools, values of single tasks, and what only gold knows."""
    bare = _bare(text)
    given = " ".join(_bare(one) for texts in own.texts.values() for one in texts)
    for tool in own.tools:
        if _holds(bare, tool) and not _holds(given, tool):
            raise Refusal("leak", (f"{place}: names the tool {tool!r}, which no user knows",))
    for sample in own.samples:
        for name, value in sample.slots.items():
            if _tells(value) and _holds(bare, value) and not _holds(given, value):
                message = f"{place}: says {value!r} where {{{name}}} stands for it"
                raise Refusal("leak", (message,))
        for value in sample.values:
            if _tells(value) and _holds(bare, value) and not _holds(sample.said, value):
                message = f"{place}: says {value!r}, which the user does not say here"
                raise Refusal("leak", (message,))


def _tells(value: str) -> bool:
    """True for a value that can be recognized in a text."""
    return len(value) >= 3 or any(sign.isdigit() for sign in value)


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _check_persona(persona: str, own: FamilyWords) -> None:
    if len(persona) > LONGEST_PERSONA:
        message = f"persona: {len(persona)} characters, and {LONGEST_PERSONA} are allowed"
        raise Refusal("persona", (message,))
    signs = any(sign in "{}" or sign.isdigit() for sign in persona)
    if signs or set(map(category, persona)) & _UNSEEN:
        raise Refusal("persona", ("persona: has no braces, digits and line breaks",))
    known = {value for sample in own.samples for value in (*sample.slots.values(), *sample.values)}
    for value in sorted({*own.tools, *known}):
        if _tells(value) and _holds(persona, value):
            raise Refusal("persona", (f"persona: says {value!r}, which belongs to one task",))


def repeated(request: str, known: Sequence[str]) -> str | None:
    """The request among ``known`` that another one nearly repeats; None if it repeats none. Slots
    count as words.
    """
    mine = shingles(words(request))
    for other in known:
        theirs = shingles(words(other))
        if 9 * len(mine & theirs) >= 4 * (len(mine) + len(theirs)):
            return other
    return None
