"""Made-up values in the place of personal ones: one for one, and never the same for two."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from synth.core.personal.guess import is_login
from synth.core.tasks.fake import fake_values
from synth.ext.authoring.names import snake
from synth.ext.authoring.snapshot import Value

SHIFT = 900
"""The most days by which a day of birth is moved."""

NONE = frozenset({None, ""})
"""What stands in a column for no value."""

_TRIES = 200


LAST_NAMES = ("last", "family", "sur", "maiden", "lname")
"""How names of columns begin that hold last names."""

_ONE_WORD = re.compile(r"[A-Za-z\u00c0-\u024f'.-]+")


def of_one_word(names: Sequence[str]) -> bool:
    """True where most names of people are one word in Latin letters, in a column of any name."""
    return 2 * sum(_ONE_WORD.fullmatch(name) is not None for name in names) > len(names)


@dataclass
class MadeUp:
    """The made-up values of one kind of personal data, by the real ones as text."""

    kind: str
    draw: random.Random
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    _used: set[str] = field(default_factory=set[str])

    def learn(self, column: str, real: Sequence[Value], *, distinct: bool) -> None:
        """Make up values for the column's values that have none yet; an empty text stays empty.

        ``distinct`` tells that two values of the column are never the same. A number stays one, a
        JSON object its keys, and no day is moved beyond the last one of the column.
        """
        leaves = list[Value]()
        for value in real:
            _mapped(_tree(value), leaves.append)
        latest = max(filter(_is_day, map(str, leaves)), default="")
        fresh = [v for v in dict.fromkeys(real) if v not in NONE and str(v) not in self.values]
        taken = self._used | {str(value).casefold() for value in [*real, *leaves]}
        numbers = any(not isinstance(value, str) for value in fresh)
        provider = None if numbers else self._provider(snake(column), [*map(str, fresh)])
        pool = self._pool(provider, len(fresh), taken)
        for index, value in enumerate(fresh):
            made: Value
            if isinstance(tree := _tree(value), dict | list):
                tree = _mapped(tree, lambda leaf: self._leaf(leaf, taken, latest))
                made = json.dumps(tree, ensure_ascii=False)
            elif index < len(pool):
                made = pool[index]
            elif pool and not distinct:
                made = pool[index % len(pool)]
            else:
                made = self._like(value, taken, latest)
            taken.add(str(made).casefold())
            self._used.add(str(made).casefold())
            self.values[str(value)] = made

    def _pool(self, provider: str | None, count: int, taken: set[str]) -> list[str]:
        if provider is None:
            return []
        found = _several(provider, 2 * count + 20, self.draw.randrange(1 << 30))
        return [value for value in dict.fromkeys(found) if value.casefold() not in taken][:count]

    def _provider(self, column: str, texts: Sequence[str]) -> str | None:
        if self.kind == "name":
            if column.startswith(LAST_NAMES):
                return "last_name"
            return "first_name" if of_one_word(texts) else "name"
        if self.kind == "identifier" and is_login(column):
            return "user_name"
        return {"email": "ascii_safe_email", "address": "street_address"}.get(self.kind)

    def _leaf(self, value: Value, taken: set[str], latest: str) -> Value:
        """A made-up leaf of JSON; what looks like the line of an address is known by itself."""
        if isinstance(value, bool) or value in NONE:
            return value
        made = self.values.get(str(value)) or self._like(value, taken, latest)
        if isinstance(value, str) and re.search(r"\d.* |\w .*\d", value):
            self.values[value] = made
        return made

    def _like(self, value: Value, taken: set[str], latest: str) -> Value:
        """A value of the same form, unlike all that are taken."""
        text = str(value)
        if isinstance(value, float) and "e" in text:  # an exponent has no digits to draw
            text = f"{math.fmod(value, 1e6):f}"
        for _ in range(_TRIES):
            made = _moved(text, self.draw, latest) if _is_day(text) else same_form(text, self.draw)
            if self.kind == "birth_date" or made.casefold() not in taken:
                return _typed(made, value)
        for number in range(1, len(taken) + 2):  # so short a form has no value left
            made = f"{same_form(text, self.draw)}{number}"
            if made.casefold() not in taken:
                return _typed(made, value)
        raise AssertionError("more numbers were tried than values are taken")


def _tree(value: Value) -> Any:
    """The content of a JSON text; any other value as it is."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in {"{", "["} else value
    except ValueError:
        return value


def _mapped(tree: Any, change: Callable[[Value], object]) -> Any:
    """JSON of the same keys, with other leaves."""
    if isinstance(tree, dict):
        return {key: _mapped(inner, change) for key, inner in cast("dict[str, Any]", tree).items()}
    if isinstance(tree, list):
        return [_mapped(inner, change) for inner in cast("list[Any]", tree)]
    return change(tree)


def _several(provider: str, count: int, seed: int) -> list[str]:
    """As many different values of a provider as it has, at most so many."""
    size = count
    while size:
        try:
            return [str(one) for one in fake_values(provider, size, "en_US", seed)]
        except ValueError:
            size //= 2
    return []


def _typed(made: str, real: Value) -> Value:
    if isinstance(real, int):
        return int(made)
    return float(made) if isinstance(real, float) else made


def _is_day(text: str) -> bool:
    return bool(re.match(r"\d{4}-\d\d-\d\d(?:\D|$)|(?:19|20)\d\d$", text))


def _moved(text: str, draw: random.Random, latest: str) -> str:
    """A day, or a year, that is moved; backwards where it would come after the latest one."""
    if len(text) == 4:
        years = draw.choice((-2, -1, 1, 2))
        return str(int(text) + (years if int(text) + years <= int(latest[:4]) else -abs(years)))
    try:
        day = dt.date.fromisoformat(text[:10])
    except ValueError:
        return same_form(text, draw)
    days = draw.choice((-1, 1)) * draw.randint(1, SHIFT)
    moved = (day + dt.timedelta(days)).isoformat() + text[10:]
    return moved if moved <= latest else (day - dt.timedelta(abs(days))).isoformat() + text[10:]


def same_form(value: str, draw: random.Random) -> str:
    """A text of the same form: a digit for a digit, a letter for a letter, and no new first 0."""
    out = ""
    for index, letter in enumerate(value):
        if letter.isdigit():
            first = index == 0 and letter != "0"
            out += draw.choice(string.digits[1:] if first else string.digits)
        elif letter.isalpha():
            out += draw.choice(
                string.ascii_uppercase if letter.isupper() else string.ascii_lowercase
            )
        else:
            out += letter
    return out
