"""Errors that pass by themselves: locks, lost races, lost connections."""

from __future__ import annotations

import json
import re
from typing import Any, cast

_WORDS = re.compile(
    r"""^the[ ]connection[ ]to[ ]the[ ]database[ ]failed
    |lock[ ]timeout|lock[ ]wait[ ]timeout|could[ ]not[ ]obtain[ ]lock
    |^database([ ]table)?[ ]is[ ]locked
    |deadlock|could[ ]not[ ]serialize|record[ ]has[ ]changed[ ]since[ ]last[ ]read""",
    re.IGNORECASE | re.VERBOSE,
)


def is_transient(message: str) -> bool:
    """True if a failed call's message reports a lock, a lost race or a lost connection."""
    return _WORDS.search(message) is not None


def tells_of_transient(content: str) -> bool:
    """The same of a tool message's text, in any error style; False if it tells of no failure."""
    if content.startswith("Error: "):
        return is_transient(content.removeprefix("Error: "))
    if not content.startswith('{"status":"error",'):
        return False
    try:
        result: Any = json.loads(content)
    except ValueError:
        return False
    return is_transient(str(cast("dict[str, Any]", result).get("message", "")))
