"""Values in the notation of the command line, written without Hydra."""

from __future__ import annotations

import re

_NO_TEXTS = frozenset({"null", "true", "false", "nan", "inf"})


def quoted_value(value: str) -> str:
    """The value of an override as text, quoted if Hydra's grammar would read more into it."""
    if re.fullmatch(r"[\w/.+ -]*", value) and value.lower() not in _NO_TEXTS:
        return value
    escaped = re.sub(r'(\\*)("|\Z)', lambda found: found[1] * 2 + (found[2] and '\\"'), value)
    return f'"{escaped}"'
