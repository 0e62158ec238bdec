"""The parts of a JSON value, from the outside in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


def parsed(text: Any) -> Any:
    """The value of a JSON text; any other text or value as it is."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def strict_json(text: str | bytes) -> Any:
    """Parse JSON without Python's extras: NaN and infinities raise ValueError."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a JSON value")

    return json.loads(text, parse_constant=refuse)


def leaves(value: Any) -> Iterator[Any]:
    """The scalars in a JSON value, and the keys of its objects, in order.

    >>> list(leaves({"a": [1, "b"]}))
    ['a', 1, 'b']
    """
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, (list, tuple)):
            open_values.extend(reversed(cast("Sequence[Any]", one)))
        elif isinstance(one, Mapping):
            for item in reversed(list(cast("Mapping[str, Any]", one).items())):
                open_values.extend(reversed(item))
        else:
            yield one


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys included, in order."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))


def named_values(value: Any) -> Iterator[tuple[str, Any]]:
    """The scalars in a JSON value, each with the key of the object that it stands in.

    >>> list(named_values({"a": [1, {"b": 2}]}))
    [('a', 1), ('b', 2)]
    """
    open_values: list[tuple[str, Any]] = [("", value)]
    while open_values:
        key, one = open_values.pop()
        if isinstance(one, (str, int, float)) or one is None:
            yield key, one
        elif isinstance(one, (list, tuple)):
            items = reversed(cast("Sequence[Any]", one))
            open_values.extend((key, inner) for inner in items)
        elif isinstance(one, Mapping):
            open_values.extend(reversed(list(cast("Mapping[str, Any]", one).items())))
        else:
            yield key, one
