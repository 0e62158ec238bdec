"""The evidence for an expected output: a value that tools returned, or one that follows from
such values.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from synth.action_lists.values import same_value
from synth.validation.argument_provenance import appears_in, flat, leaves

TOLERANCE = 0.005
"""Amounts that differ by less are the same."""


def supported(output: str, results: Sequence[Any], acted_on: Collection[Any]) -> bool:
    """True if an output is a value in the results, the number of items in a list or of those with
    an equal field, or an amount that adds up from a field of the items.

    ``acted_on`` are arguments of gold, which choose the items that an amount may be about.
    """
    shown = "\n".join(_text(result) for result in results)
    if appears_in(_number(output), flat(shown)) or appears_in(output, flat(shown)):
        return True
    number = _number(output)
    if not isinstance(number, (int, float)):
        return False
    if number == int(number) and number in set(_counts(results)):
        return True
    return any(abs(number - amount) < TOLERANCE for amount in _amounts(results, acted_on))


def _text(result: Any) -> str:
    strings = [str(leaf) for _, leaf in leaves(result) if isinstance(leaf, str)]
    return "\n".join([json.dumps(result, ensure_ascii=False), *strings])


def _number(output: str) -> Any:
    bare = re.sub(r"(?<=\d),(?=\d{3})", "", output.strip().lstrip("$€£").rstrip("%$€£ "))
    try:
        value = float(bare)
    except ValueError:
        return output
    return int(value) if value.is_integer() else value


def _groups(results: Sequence[Any]) -> Iterator[list[Any]]:
    """The lists in results; the values of an object whose values are objects are one too."""
    for result in results:
        yield from _lists(result)


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
        if value and all(isinstance(item, Mapping) for item in cast("list[Any]", value)):
            yield value
    elif isinstance(value, list):
        yield cast("list[Any]", value)
    else:
        return
    for inner in cast("list[Any]", value):
        yield from _lists(inner)


def _counts(results: Sequence[Any]) -> Iterator[int]:
    for group in _groups(results):
        yield len(group)
        fields: dict[tuple[str, str], int] = defaultdict(int)
        for item in group:
            if isinstance(item, Mapping):
                for name, value in cast("Mapping[str, Any]", item).items():
                    fields[name, str(value)] += 1
        yield from fields.values()


def _amounts(results: Sequence[Any], acted_on: Collection[Any]) -> Iterator[float]:
    """Sums of a numeric field over a list, and over the items that gold acts on; differences and
    sums of two values of such a field.
    """
    chosen: dict[str, list[float]] = defaultdict(list)
    for group in _groups(results):
        fields: dict[str, list[float]] = defaultdict(list)
        for item in group:
            if not isinstance(item, Mapping):
                continue
            own = cast("Mapping[str, Any]", item)
            meant = any(same_value(leaf, other) for leaf in own.values() for other in acted_on)
            for name, value in own.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    fields[name].append(value)
                    if meant:
                        chosen[name].append(value)
        yield from (sum(values) for values in fields.values())
    for values in chosen.values():
        yield sum(values)
        for one, other in itertools.combinations(values[:24], 2):
            yield one + other
            yield abs(one - other)
