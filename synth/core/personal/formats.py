"""Personal data that is known by its form: addresses, names, numbers of telephones and accounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from synth.plugins import resolve

CARD = "a card number"
_IN_TEXT = {
    "an e-mail address": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"),
    "a telephone number": re.compile(
        r"(?<![\w.-])\+\d{1,3}[ ./()-]{0,2}(?:\d[ ./()-]{0,2}){6,12}\d\b"
        r"|(?<![\w.+-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])"
    ),
    "a bank account (IBAN)": re.compile(
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
    ),
    CARD: re.compile(r"(?<![\w.-])(?<!\d[ -])(?:\d[ -]?){12,18}\d(?!\w|[.-]\d)"),
}
_RESERVED = re.compile(
    r"@(?:[\w.-]+\.)?(?:example(?:\.\w+)?|[\w-]+\.(?:test|invalid|example))$", re.IGNORECASE
)
"""Addresses that nobody has (RFC 2606)."""

_RESERVED_PHONE = re.compile(r"555\D*01\d\d$")
"""Telephone numbers that are kept for fiction: 555-0100 to 555-0199."""

_PHONE = re.compile(
    r"""^(?:tel\.?:?\s*)?(?:
      (?:\+|00)\s?\(?\d[\d\s()./-]{6,20}
    | \(?0\d{1,5}\)?[\s/-]\d[\d\s/-]{3,14}
    | 0[1-9]\d{7,9}
    | \(\d{2,4}\)\s?\d[\d\s-]{4,12}
    | (?:1[-.\s])?\d{3}[-.\s]\d{3}[-.\s]\d{4}
    | \d{3}-\d{4}
    )(?:\s*(?:x|ext\.?)\s*\d+)?$""",
    re.VERBOSE | re.IGNORECASE,
)
_DAY = re.compile(r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$")
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
_IBAN = re.compile(r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$")
_WORD = r"(?:[^\W\d_]+\.|[^\W\d_][^\W\d_'\u2019.-]*(?:[-'\u2019][^\W\d_]+)*)"
_PERSON = re.compile(rf"^{_WORD}(?:,? {_WORD}){{1,4}}$")
_PARTICLES = re.compile(
    r"al|ap|bin|das?|de|del|della|den|der|di|dos|du|el|la|le|ten|ter|van|von|y|zu", re.IGNORECASE
)
_TITLES = frozenset("mr mrs ms miss dr prof sir herr frau mx".split())  # noqa: SIM905

MOST_OF = 0.5
"""The share of a column's values above which they decide what it holds."""


def personal_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and value of personal data by its format; cards and accounts by their checksum."""
    for kind, start, end in personal_spans(text):
        yield kind, text[start:end]


def personal_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of what :func:`personal_values` yields."""
    for kind, pattern in _IN_TEXT.items():
        for match in pattern.finditer(text):
            if _counts_as(kind, match[0]):
                yield kind, match.start(), match.end()


def has_cards(values: Sequence[str]) -> bool:
    """True if most of what has the form of a card number has its checksum: of any other numbers a
    tenth has it by chance.
    """
    found = [match[0] for text in values for match in _IN_TEXT[CARD].finditer(text)]
    return 2 * sum(_counts_as(CARD, one) for one in found) > len(found)


def kind_of_content(values: Sequence[str]) -> str | None:
    """The kind of personal data that most of a column's values are; None if they are not.

    ``values`` are neither null nor empty.
    """
    for kind, fits in _KINDS:
        if values and sum(map(fits, values)) > MOST_OF * len(values):
            return kind
    return "name" if are_people(values) else None


def are_people(values: Sequence[str], known: float = MOST_OF) -> bool:
    """True if most values are names of people: two or more capitalised words, the first of which
    is a known first name in a share of them above ``known``. Single words count if nearly all are
    known, and there are several.
    """
    found = [first for value in values if (first := _first_word(value))]
    if len(found) > 0.7 * len(values):  # most have the form "Ida Nowak" or "NOWAK, Ida"
        return sum(first in _first_names() for first in found) > known * len(found)
    single = {value.strip().casefold() for value in values if value.isalpha() and value.istitle()}
    if len(single) < 5 or sum(v.isalpha() and v.istitle() for v in values) < 0.9 * len(values):
        return False
    return sum(value in _first_names() for value in single) >= 0.85 * len(single)


def _is_phone(value: str) -> bool:
    """True for a text of the form of a telephone number, which no day has."""
    digits = sum(map(str.isdigit, value))
    return bool(_PHONE.match(value)) and 7 <= digits <= 17 and not _DAY.match(value)


def _first_word(value: str) -> str:
    """The first name in a whole name, case folded; empty if the text has not that form."""
    if not _PERSON.match(value.strip()):
        return ""
    head, comma, tail = value.strip().partition(",")
    words = (f"{tail} {head}" if comma else head).split()
    if any(not w[0].isupper() for w in words if not _PARTICLES.fullmatch(w)):
        return ""
    words = [word.casefold() for word in words]
    while len(words) > 1 and words[0].rstrip(".") in _TITLES:
        words = words[1:]
    return words[0] if len(words) > 1 or comma else ""


@cache
def _first_names() -> frozenset[str]:
    names: frozenset[str] = resolve("synth.core.tasks.fake:first_names")()
    return names


def _is_iban(value: str) -> bool:
    plain = value.replace(" ", "").upper()
    return bool(_IBAN.match(plain)) and _mod_97(plain)


def _is_card(value: str) -> bool:
    plain = re.sub(r"[ -]", "", value)
    return plain.isdigit() and 13 <= len(plain) <= 19 and _luhn([int(digit) for digit in plain])


def _is_social_security(value: str) -> bool:
    return bool(re.fullmatch(r"\d{3}-\d{2}-\d{4}", value))


_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("email", lambda value: bool(_EMAIL.match(value))),
    ("identifier", _is_iban),
    ("identifier", _is_card),
    ("identifier", _is_social_security),
    ("phone", _is_phone),
)


def _counts_as(kind: str, value: str) -> bool:
    if kind == "an e-mail address":
        return _RESERVED.search(value) is None
    if kind == "a telephone number":
        return _RESERVED_PHONE.search(value) is None
    if kind == CARD:
        return _luhn([int(digit) for digit in value if digit.isdigit()])
    return _mod_97(value.replace(" ", ""))


def _mod_97(iban: str) -> bool:
    moved = "".join(str(int(letter, 36)) for letter in iban[4:] + iban[:4])
    return int(moved) % 97 == 1


def _luhn(digits: list[int]) -> bool:
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return any(digits) and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
