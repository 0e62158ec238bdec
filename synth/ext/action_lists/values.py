"""The values that an agent knows at some point of a conversation, and the arguments that they can
be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from synth.core.foundation.json_leaves import parsed
from synth.core.language.values import values_in

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"\n]{1,80}"|'[^'\n]{2,80}'(?!\w))
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<date>\d{4}-\d{2}-\d{2})
    | (?P<id>\#?[A-Za-z0-9]*
        (?:[A-Za-z]+[-_]?\d|\d[-_]?[A-Za-z]|[A-Za-z]_[A-Za-z]|\#[A-Za-z0-9])[\w-]*
        |\d{3}(?:-\d{3,4})+)
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<name>[A-Z][\w'-]*(?:\ [A-Z][\w'-]*)*)
    | (?P<word>[a-z][\w'-]{2,})""",
    re.VERBOSE,
)
"""Values in a text, by their shape."""

_COMMON = re.compile("I|My|The|And|But|You|Your|If|It|Please|Also|Then|Me|Is|Are|Do|Yes|No")
_SHAPES = (
    (re.compile(r"e?mail"), ("email",)),
    (re.compile(r"date|day|since|until|dob"), ("date",)),
    (re.compile(r"zip|post|phone"), ("number", "id")),
    (re.compile(r"name|city|state|country"), ("name", "word", "quoted", "id")),
    (re.compile(r"(?:^|_)(?:ids?|number|no|code|key|sku|ref)$"), ("id", "number", "name")),
)
"""The shapes of values in texts that a parameter takes, by its name; the first one that fits."""

_ANY = ("quoted", "name", "id", "word", "email", "date", "number")
MOST = 20
"""Values that are tried for one parameter."""


@dataclass(frozen=True)
class KnownValue:
    """A scalar that somebody said or a tool returned. ``key`` is its name in a result, ``shape``
    its form in a text. ``source`` is the topic that it was told under, empty for the request;
    ``read`` is the number of the read that returned it, None for what was said.
    """

    value: Any
    key: str = ""
    shape: str = ""
    source: str = ""
    read: int | None = None


def said_values(text: str, source: str) -> Iterator[KnownValue]:
    """The values in a text of the user."""
    for found in _TOKEN.finditer(text):
        shape, words = str(found.lastgroup), found.group().strip("\"'")
        if shape == "name":
            parts = [part for part in words.split() if not _COMMON.fullmatch(part)]
            whole = " ".join(parts)
            yield from (KnownValue(part, "", shape, source) for part in parts)
            if len(parts) > 1:
                yield KnownValue(whole, "", shape, source)
        else:
            yield KnownValue(words, "", shape, source)


def said_days(text: str, years: Sequence[int], source: str) -> Iterator[KnownValue]:
    """The days in a text as ISO dates; May 20, which lacks its year, in each of ``years``."""
    for found in values_in(text):
        for (day,) in found.readings if found.kind == "date" else ():
            whole = [f"{year}{day[1:]}" for year in years] if day.startswith("--") else [day]
            yield from (KnownValue(one, "", "date", source) for one in whole)


def result_values(payload: Any) -> Iterator[KnownValue]:
    """The values in a tool's result: leaves, keys that are ids, and values in its texts."""
    for key, leaf in _named_leaves(payload, ""):
        if isinstance(leaf, str) and " " in leaf:
            yield KnownValue(leaf, key, "quoted")
            yield from said_values(leaf, "")
        elif leaf is not None and not isinstance(leaf, bool):
            yield KnownValue(leaf, key)


def _named_leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            if re.search(r"\d|_\w+_|^[A-Z]{2,5}$", name):
                yield key.removesuffix("s"), name
            yield from _named_leaves(inner, name)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _named_leaves(inner, key)
    elif isinstance(value, str) and value[:1] in {"{", "["}:
        inner = parsed(value)
        yield from [(key, value)] if isinstance(inner, str) else _named_leaves(inner, key)
    else:
        yield key, value


def same_value(one: Any, other: Any) -> bool:
    """Compare scalars; a number may be written as a text."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    return str(one).casefold() == str(other).casefold()


@dataclass
class ValuePool:
    """All values known so far, in the order in which they were learned."""

    values: list[KnownValue] = field(default_factory=list[KnownValue])

    def candidates(self, name: str, schema: Mapping[str, Any]) -> list[tuple[Any, KnownValue]]:
        """Arguments for a parameter, the likeliest first, each with the value that it comes
        from.
        """
        if enum := schema.get("enum"):
            return [(item, KnownValue(item)) for item in enum[:MOST]]
        kind = schema.get("type")
        if kind == "array":
            items = self.candidates(name.removesuffix("s"), schema.get("items") or {})
            return [([item], value) for item, value in items]
        if kind == "boolean":
            return [(item, KnownValue(item)) for item in (True, False)]
        if kind == "object":
            return []
        return self._ranked(name, kind)[:MOST]

    @property
    def _said(self) -> Collection[str]:
        """The words of the user, in the singular."""
        return {_singular(value.value) for value in self.values if value.shape}

    def _ranked(self, name: str, kind: Any) -> list[tuple[Any, KnownValue]]:
        """Known values as arguments of a parameter, the likeliest first. A value with the form of
        one that has the parameter's name comes early; among equals, one whose key the user has
        said comes first.
        """
        found = [(_rank(name, value), _as(kind, value.value), value) for value in self.values]
        forms = {_form(argument) for rank, argument, _ in found if rank == 0}
        ranked: dict[str, tuple[int, Any, KnownValue]] = {}
        for rank, argument, value in found:
            alike = _form(argument) in forms
            if argument is None or (rank is None and not alike):
                continue
            own = 1 if alike and rank != 0 else rank or 0
            held = ranked.get(str(argument))
            if held is None or own < held[0]:
                ranked[str(argument)] = (own, argument, value)
        best = sorted(
            ranked.values(), key=lambda item: (item[0], _singular(item[2].key) not in self._said)
        )
        return [(argument, value) for _, argument, value in best]


def _singular(value: object) -> str:
    return str(value).casefold().removesuffix("s")


def _form(value: Any) -> str:
    """The form of a value: JFK and SEA, or #W12 and #W34, have the same."""
    text = re.sub(r"[A-Z]", "A", re.sub(r"[a-z]+", "a", str(value)))
    return re.sub(r"\d+", "9", text)


def _rank(name: str, value: KnownValue) -> int | None:
    """The place of a value among the arguments of a parameter; None if it cannot be one."""
    if value.key:
        if value.key == name or value.key.removesuffix("s") == name.removesuffix("s"):
            return 0
        own, other = name.split("_"), value.key.removesuffix("s").split("_")
        if own[0] == other[0]:
            return 1
        if own[-1] == other[-1]:
            return 2 if own[-1] != "id" or len(own) == 1 or len(other) == 1 else 5
        return 3 if set(own) & set(other) else 6
    if not value.shape:
        return 4
    shapes = next((shapes for pattern, shapes in _SHAPES if pattern.search(name)), _ANY)
    return 1 + shapes.index(value.shape) if value.shape in shapes else None


def _as(kind: Any, value: Any) -> Any:
    """The value in the type of a parameter; None if it has no such form."""
    if kind in {"integer", "number"}:
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        if number.is_integer():
            return int(number)
        return number if kind == "number" else None
    return str(value) if isinstance(value, (str, int, float)) else None
