"""JSON as it is shown, sent and kept: compact, keys in order, nothing escaped beyond need."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any


def _made_once(*, sort_keys: bool) -> Callable[[Any], str]:
    """``JSONEncoder.encode`` with its inner encoder built once, not for each call: that is slow."""
    plain = json.JSONEncoder(
        sort_keys=sort_keys, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # a Python without the C part of json
        return plain.encode
    escape: Any = json.encoder.encode_basestring  # type: ignore[attr-defined]
    pieces: Callable[[Any, int], tuple[str, ...]] = make(
        None, plain.default, escape, None, ":", ",", sort_keys, False, False
    )
    return lambda value: "".join(pieces(value, 0))


lenient: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Like :data:`compact`, but for values that may hold NaN or infinities: they are written as
``NaN``, ``Infinity`` and ``-Infinity``.
"""

canonical = _made_once(sort_keys=True)
"""Like :data:`compact`, with sorted keys: equal values give equal text."""

compact = _made_once(sort_keys=False)
"""The text of a JSON value. Raises TypeError for what is not JSON, ValueError for NaN and
infinities, and RecursionError for what is nested too deeply or holds itself (ValueError on a Python
without the C part of json).
"""
