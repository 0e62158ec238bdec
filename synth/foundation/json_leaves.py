"""The parts of a JSON value, from the outside in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


def leaves(value: Any) -> Iterator[Any]:
    """The scalars in a JSON value, and the keys of its objects, in order.

    >>> list(leaves({"a": [1, "b"]}))
    ['a', 1, 'b']
    """
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from leaves(inner)
    else:
        yield value


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys included, in order."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))
