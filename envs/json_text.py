"""JSON as it is shown, sent and kept: compact, in the order of its keys, nothing escaped beyond need."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

compact: Final[Callable[[Any], str]] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode
"""The text of a JSON value. Raises TypeError for what is no JSON, ValueError for NaN and infinities, RecursionError.

One encoder for all: ``json.dumps`` builds one for each call with options, which takes longer than most texts do.
"""
