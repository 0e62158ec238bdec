"""The learned form of a column of texts: codes, names of people, addresses, words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

from envs.world.row_generator import Blend, Choice, Email, Form, Maker, Texts, When
from synth.core.tasks.fake import fake_values
from synth.ext.authoring.made_up import LAST_NAMES, of_one_word

MOST = 120
"""The most texts of a column that are kept."""

LOCALES = ("en_US", "de_DE", "fr_FR", "it_IT", "es_ES", "nl_NL", "sv_SE", "pl_PL", "en_IE")
"""Where the first names come from by which people are known."""

FORMS = 12
"""The most forms of a column of codes."""

PROVIDERS = {"city": "city", "company": "company", "street": "street_name"}
"""Names of columns whose values are made up, with the provider."""

_STANDARDS = ("currency_code", "country_code")
"""Providers of codes that are known everywhere: no other code is made up."""

_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?")


def text_maker(
    name: str, kind: str | None, values: Sequence[Any], people: Sequence[str], longest: int | None
) -> Maker:
    """The maker of a column of texts of at most ``longest`` characters. ``kind`` is the kind
    of its personal data, ``people`` the columns of the row that hold names.
    """
    texts = [str(value) for value in values]
    if kind == "email" or "email" in name:
        return Email(people, () if people else made_texts("last_name"))
    if kind == "name" or holds_people(name, texts):
        return _name(name, texts)
    if (codes := _codes(kind, texts)) is not None:
        return codes
    provider = "street_address" if kind == "address" else PROVIDERS.get(name)
    if provider is not None:
        return Texts(made_texts(provider))
    unique = len(set(texts)) > 0.5 * len(texts)
    if not unique and kind is None:
        return Choice(dict(Counter(texts).most_common(MOST)))
    return _blend(texts, longest)


def clock(texts: Sequence[str]) -> When | None:
    """Times of the day; None if the texts are none."""
    if not all(_CLOCK.fullmatch(text) for text in texts):
        return None
    marks = [f"1970-01-01T{text}" for text in sorted(texts)[:: max(1, len(texts) // 20)]]
    return When([*marks, marks[-1]], "%H:%M:%S" if len(texts[0]) > 5 else "%H:%M", 60)


def holds_people(name: str, texts: Sequence[str]) -> bool:
    """True for a column called name whose values are the names of people: first names are known."""
    if not re.search(r"^(?:(?:full|contact|display)_)?name$|_person$|^author$", name) or len(
        set(texts)
    ) < 0.5 * len(texts):
        return False
    words = [text.split() for text in texts]
    plain = [w for w in words if 2 <= len(w) <= 3 and all(one[:1].isupper() for one in w)]
    known = [w for w in plain if w[0] in _first_names()]
    return len(plain) >= 0.8 * len(words) and len(known) >= 0.25 * len(words) > 0


@cache
def _first_names() -> frozenset[str]:
    return frozenset(str(n) for one in LOCALES for n in fake_values("first_name", 150, one, 11))


def _name(column: str, texts: Sequence[str]) -> Texts:
    first, last = made_texts("first_name"), made_texts("last_name")
    if column.startswith(LAST_NAMES):
        return Texts(last)
    return Texts(first) if of_one_word(texts) else Texts(first, last)


class Names(tuple[str, ...]):  # noqa: SLOT001 a tuple has no slots for more
    """Made-up texts of a provider, which stand under one name in seed.py."""

    name: str

    def __new__(cls, provider: str) -> Self:
        values = fake_values(provider, 100, "en_US", 11)
        out = super().__new__(cls, (str(value).replace("\n", ", ") for value in values))
        out.name = f"{provider.upper()}S"
        return out


@cache
def made_texts(provider: str) -> Names:
    """A hundred texts of a provider of Faker."""
    return Names(provider)


def forms(texts: Sequence[str]) -> Form | None:
    """The forms of codes; None if the texts are words."""
    if any(c in text for text in texts for c in "#@%"):
        return None
    by_form: dict[str, list[str]] = {}
    for text in texts:
        by_form.setdefault(_form(text), []).append(text)
    if len(by_form) > FORMS:
        return None
    out: Counter[str] = Counter()
    for form, same in by_form.items():
        code = _code(form, same)
        if code is None:
            return None
        out[code] += len(same)
    return Form(dict(out))


def with_room(made: Form, count: int, longest: int | None) -> Form:
    """The forms of codes that tell rows apart. A form with fewer than ``4 * count`` codes gets one
    digit more.

    >>> dict(with_room(Form({"!room#": 5}), 5, None).weights)
    {'!room##': 5}
    """
    narrow = [
        one
        for one in made.weights
        if len(one) < (longest or len(one) + 1) and 10 ** sum(map(one.count, "#@%")) < 4 * count
    ]
    weights = made.weights.items()
    return Form({one.replace("#", "##", one in narrow): weight for one, weight in weights})


def _codes(kind: str | None, texts: Sequence[str]) -> Maker | None:
    """Codes; of personal numbers and logins the usual forms, none of whose letters is kept."""
    codes = _standard(texts) or clock(texts) or forms(texts)
    if codes is None and kind in {"identifier", "phone"}:
        return Form(dict(Counter(map(_form, texts)).most_common(FORMS)))
    return codes


def _standard(texts: Sequence[str]) -> Maker | None:
    """Codes of the standard that a third of the texts belong to; None if there is none. Codes that
    repeat keep their own frequencies.
    """
    own = {*texts}
    found = (one for one in _STANDARDS if own and 3 * len(own & {*made_texts(one)}) >= len(own))
    provider = next(found, None)
    if provider is None or len(own) > 0.5 * len(texts):
        return Texts(made_texts(provider)) if provider else None
    return Choice(dict(Counter(texts)))


def _code(form: str, same: Sequence[str]) -> str | None:
    """The form of some codes, with what is the same in all of them; None for words."""
    if len(same) == 1:
        return None if "%" in form else form
    held = [len(set(letters)) == 1 for letters in zip(*same, strict=True)]
    shown = "".join(
        letter if fixed else mark for letter, mark, fixed in zip(same[0], form, held, strict=True)
    )
    loose = {mark for mark, fixed in zip(form, held, strict=True) if not fixed}
    words = "%" in loose or ("@" in loose and " " in form) or not loose
    return None if words else shown


def _form(text: str) -> str:
    return re.sub(r"[a-z]", "%", re.sub(r"[A-Z]", "@", re.sub(r"\d", "#", text)))


def _blend(texts: Sequence[str], longest: int | None) -> Blend:
    """Texts cut in two between words; inside words only where all are single words."""
    kept = list(dict.fromkeys(texts))
    kept = kept[:: max(1, len(kept) // MOST)][:MOST]
    single = not any(_BETWEEN.search(text) for text in kept)
    pairs = [_cut(text, single=single) for text in kept]
    return Blend([head for head, _ in pairs], [tail for _, tail in pairs], longest)


def _cut(text: str, *, single: bool) -> tuple[str, str]:
    """A text in two parts: before the blank or hyphen next to its middle; of one without any, its
    halves if it is ``single``, else the whole and nothing.
    """
    middle = len(text) // 2
    places = [found.start() for found in _BETWEEN.finditer(text)]
    whole = (len(text) + 1) // 2 if single else len(text)
    at = min(places, key=lambda i: abs(i - middle)) if places else whole
    return text[:at], text[at:]


_BETWEEN = re.compile(r"(?<=.)[ -](?=.)")
"""What stands between two words of a text."""
