"""Repair of arguments that are almost JSON, if they have a single reading. Off by default, and
recorded if applied.

Input that would need a guess stays broken: truncated text, duplicate keys, NaN.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from envs.tools.toolbox import parse_arguments
from envs.types import ToolResult

_LIMIT: Final = 100_000
_FENCE: Final = re.compile(r"\s*```[\w-]*\s*\n?([^`]*)```\s*")
_STRINGS_AND_COMMAS: Final = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])')


def repair(text: str) -> tuple[str, list[str]] | None:
    """Return the arguments as JSON and the names of the repairs; None if nothing can or need be
    repaired.
    """
    if len(text) > _LIMIT or _sound(text):
        return None
    done: list[str] = []
    for name, mend in _MENDS:
        mended = mend(text)
        if mended is not None and mended != text:
            text = mended
            done.append(name)
            if _sound(text):
                return text, done
    return None


def _sound(text: str) -> bool:
    return not isinstance(parse_arguments(text), ToolResult)


def _unfenced(text: str) -> str | None:
    found = _FENCE.fullmatch(text)
    return found.group(1).strip() if found else None


def _decoded_twice(text: str) -> str | None:
    """Return the object in a JSON string that holds one."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _without_commas(text: str) -> str:
    return _STRINGS_AND_COMMAS.sub(lambda found: found.group(1) or "", text)


def _escaped(text: str) -> str | None:
    """Escape line breaks and other control characters inside of strings. NUL is not accepted."""
    if "\x00" in text:
        return None
    try:
        return json.dumps(
            json.loads(text, strict=False, object_pairs_hook=_once),
            ensure_ascii=False,
            allow_nan=False,
        )
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _from_python(text: str) -> str | None:
    """Read a Python literal: single quotes, True, None. Adjacent strings, which Python would join,
    are refused.
    """
    try:
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
        if any(left == right == tokenize.STRING for left, right in pairwise(kinds)):
            return None
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text.strip(), mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict) and len(
                {ast.dump(key) for key in node.keys if key}
            ) < len(node.keys):
                return None
        return json.dumps(ast.literal_eval(tree), ensure_ascii=False, allow_nan=False)
    except (SyntaxError, tokenize.TokenError, ValueError, TypeError, RecursionError, MemoryError):
        return None


_MENDS: Final[tuple[tuple[str, Callable[[str], str | None]], ...]] = (
    ("fence", _unfenced),
    ("double_encoding", _decoded_twice),
    ("trailing_comma", _without_commas),
    ("control_characters", _escaped),
    ("python_literal", _from_python),
)
