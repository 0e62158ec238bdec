"""JSONPaths that `save` takes values of results by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import jsonpath

from synth.core.tasks.yaml.template import fill

CompiledPath = str | Mapping[str, Sequence[object]]
"""A JSONPath: text, or ``{"$path": parts}`` where slots or saved names stand in it."""

MAX_CHARS = 10_000
"""Characters of a path. One of some hundred thousand crashes the interpreter that follows it."""


def joined_path(path: CompiledPath, names: Mapping[str, object], key: str) -> CompiledPath:
    """A compiled JSONPath with the values of its slots (``key`` is ``$slot``) or of saved names
    (``$``) put in as JSON literals; text once none is left.
    """
    if isinstance(path, str):
        return path
    parts: list[object] = [
        json.dumps(fill(part, key, names), ensure_ascii=False)
        if isinstance(part, Mapping) and key in cast("Mapping[str, object]", part)
        else part
        for part in path["$path"]
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else {"$path": parts}


@lru_cache(maxsize=4096)
def singular(path: str) -> tuple[jsonpath.JSONPath, bool]:
    """The compiled path, and whether it can match at most one value. Raises
    :class:`jsonpath.JSONPathError` for what is none.
    """
    if len(path) > MAX_CHARS:
        raise jsonpath.JSONPathError(f"it has more than {MAX_CHARS:,} characters")
    try:
        compiled = jsonpath.compile(path)
    except (ValueError, RecursionError) as error:  # of an index like 5E6, of a path too deep
        raise jsonpath.JSONPathError(f"it cannot be read: {error}") from error
    if not isinstance(compiled, jsonpath.JSONPath):
        raise jsonpath.JSONPathError("it is a compound path")
    return compiled, compiled.singular_query()


def extract(path: str, value: object) -> object:
    """The value of a singular path in a result, or the list of all values of another path.

    Raises LookupError if a singular path finds nothing, and for a path that is too deep to follow.
    """
    compiled, single = singular(path)
    try:
        found = (
            compiled.findall(cast("dict[str, object] | list[object]", value))
            if isinstance(value, (dict, list))
            else []
        )
    except RecursionError:
        raise LookupError(f"{path[:80]} is too deep") from None
    if not single:
        return found
    if not found:
        raise LookupError(f"{path} finds nothing in the result")
    return found[0]
