"""The evidence for an expected output: a value that tools returned, or one that follows from
such values.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from envs.types import RowChange
from synth.core.foundation.json_leaves import parsed
from synth.core.validation.argument_provenance import appears_in, flat, leaves
from synth.ext.action_lists.values import same_value

TOLERANCE = 0.005
"""Amounts that differ by less are the same."""


def supported(
    output: str,
    results: Sequence[Any],
    acted_on: Collection[Any],
    changes: Sequence[RowChange] = (),
) -> bool:
    """True if an output is a value in the results, the number of items in a list or of those with
    an equal field, or an amount that adds up from a field of the items or a column of the
    ``changes``.

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
    amounts = itertools.chain(_amounts(results, acted_on), _changed_amounts(changes))
    return any(abs(number - amount) < TOLERANCE for amount in amounts)


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
        value = parsed(value)
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
        items = [cast("Mapping[str, Any]", item) for item in group if isinstance(item, Mapping)]
        fields = Counter((name, str(value)) for item in items for name, value in item.items())
        yield from fields.values()


def _amounts(results: Sequence[Any], acted_on: Collection[Any]) -> Iterator[float]:
    """Sums of a numeric field over a list, over its items that gold acts on, and over all items
    that gold acts on; differences and sums of two values of such a field.
    """
    chosen: dict[str, list[float]] = defaultdict(list)
    for group in _groups(results):
        items = [cast("Mapping[str, Any]", item) for item in group if isinstance(item, Mapping)]
        meant = [item for item in items if _acts_on(item, acted_on)]
        yield from map(sum, _columns(items).values())
        for name, values in _columns(meant).items():
            yield sum(values)
            chosen[name] += values
    for values in chosen.values():
        yield sum(values)
        for one, other in itertools.combinations(values[:24], 2):
            yield one + other
            yield abs(one - other)


def _acts_on(item: Mapping[str, Any], acted_on: Collection[Any]) -> bool:
    return any(same_value(leaf, other) for leaf in item.values() for other in acted_on)


def _columns(items: Sequence[Mapping[str, Any]]) -> Mapping[str, list[float]]:
    """The numbers of the items by field."""
    columns: dict[str, list[float]] = defaultdict(list)
    for item in items:
        for name, value in item.items():
            amount = _amount(value)
            if amount is not None:
                columns[name].append(amount)
    return columns


def _changed_amounts(changes: Sequence[RowChange]) -> Iterator[float]:
    """Sums of what gold adds to a column, by its updates and its new rows, and by those new rows
    that have an equal value in another column.
    """
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for change in changes:
        for column, added in _added(change):
            sums[change.table, column] += added
            for name, same in (change.after or {}).items():
                if change.op == "insert" and isinstance(same, str):
                    sums[change.table, column, name, same] += added
    yield from map(abs, sums.values())


def _added(change: RowChange) -> Iterator[tuple[str, float]]:
    """The columns of a change to which it adds a number, keys left out."""
    before, after = change.before or {}, change.after or {}
    for name, value in after.items():
        amount = _amount(value)
        if amount is not None and name not in change.key:
            yield name, amount - (_amount(before.get(name)) or 0)


def _amount(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
