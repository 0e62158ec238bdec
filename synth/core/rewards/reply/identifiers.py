"""Identifiers that nothing gave: ids, links, e-mail addresses, phone numbers, streets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.core.rewards.reply.given import Material
from synth.core.rewards.reply.sentences import ReplyFinding

CHECK = "unknown identifier"

_LINK = re.compile(
    r"\b(?:https?://|www\.)[^\s<>()\"'\]]+"
    r"|\b[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,9}\.(?:com|org|net|io|co|example|app|info"
    r"|dev|shop)\b(?:/[^\s<>()\"'\]]*)?",
    re.IGNORECASE,
)
_SPELLED_LINK = re.compile(r"\b([\w-]{1,63})\s+(?:dot|\[dot\]|\(dot\))\s+(\w+)\b", re.IGNORECASE)
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]++(?:@|\s+(?:at|\(at\)|\[at\])\s+)"
    r"[a-zA-Z][\w-]*(?:(?:\.|\s+dot\s+)[\w-]+)+"
)
_PHONE = re.compile(r"(?<![\w$€£.,#-])(?:\+|\(|00)?\d(?:[\d ()./-]{5,16})\d(?![\w.,]*\d)")
_STREET = re.compile(
    r"\b\d{1,5} (?:[A-Z][\w'.-]+ ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Boulevard"
    r"|Blvd|Way|Court|Square)\b"
    r"|\b[A-Z]\w+(?: \w+){0,2} \d{1,4}[a-z]?(?=,? \d{4,5} [A-Z])"
)
_POSTCODE = re.compile(r"(?<=[A-Z]{2} )\d{5}(?!\w)|(?<![\w$€£.,#-])\d{5}(?= [A-ZÀ-Þ][a-zß-ÿ]{2})")
_TOKEN = re.compile(r"(?<![\w@./:$€£-])#?(?=[\w-]*\d)[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*(?![\w@])")
_NAMED = re.compile(
    r"(?i:\b(?:code|number|reference|ticket|case|tracking|confirmation|order|reservation|booking"
    r"|invoice|id)"
    r"(?: (?:code|number|no\.?|id|is)){0,4}\s*(?::|#|is)?\s*[\"'*`]*|\bending (?:in|with) )"
    r"([A-Z0-9][A-Z0-9-]{4,}|#?\d{4,})\b"
)
_MEASURED = re.compile(
    r"\d+(?:st|nd|rd|th|[a-z]{1,4})|\d+(?:-\d+)+|\d{1,4}-[a-z]+(?:-[a-z]+)*", re.IGNORECASE
)
_DAY = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})")


def unknown_identifiers(sentence: str, given: Material) -> Iterator[ReplyFinding]:
    """The identifiers in a sentence that nothing gave."""
    for words in _identifiers(sentence):
        plain = words.strip(" .,;:!?/#")
        digits = re.sub(r"\D", "", words)
        spelled = _SPELLED_LINK.sub(r"\1.\2", plain)
        same_phone = _is_phone(words) and given.holds_squeezed(digits[-7:])
        if not (same_phone or given.holds(plain) or given.holds(spelled)):
            yield ReplyFinding(CHECK, sentence[:200], f"nothing gave {plain!r}")


def _identifiers(sentence: str) -> Iterator[str]:
    """Everything in a sentence that is an identifier by its form."""
    rest = sentence
    for pattern in (_EMAIL, _LINK, _SPELLED_LINK, _STREET, _POSTCODE):
        yield from (found.group() for found in pattern.finditer(rest))
        rest = pattern.sub(" ", rest)
    yield from (found.group() for found in _PHONE.finditer(rest) if _is_phone(found.group()))
    yield from (found.group() for found in _TOKEN.finditer(rest) if _is_id(found.group()))
    yield from (found[1] for found in _NAMED.finditer(rest))


def _is_phone(text: str) -> bool:
    """True for digits in groups: not for a number, a range of numbers, or an id."""
    groups = re.findall(r"\d+", text)
    if " - " in text or _DAY.search(text) or not 7 <= sum(map(len, groups)) <= 15:
        return False
    return len(groups) >= 2 and not re.fullmatch(r"[\d.]+", text) and len(groups[-1]) >= 3


def _is_id(token: str) -> bool:
    """True for a word that is an id by its form: letters with digits, or many digits."""
    plain = token.lstrip("#")
    digits = sum(map(str.isdigit, plain))
    if digits == len(plain):
        return len(plain) >= (3 if token.startswith("#") else 7)
    if digits == 0 or _MEASURED.fullmatch(plain) or _DAY.fullmatch(plain):
        return False
    if "_" in plain:
        return True
    return digits >= 2 and len(plain) >= 5
