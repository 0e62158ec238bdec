"""JSON in the answer of a model that was asked for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast


def json_object(content: str) -> Mapping[str, object] | None:
    """The first JSON object of an answer: some models fence it, or think before it. None without
    one.
    """
    for text in (content.rpartition("</think>")[2], content):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, max(0, text.find("{")))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return cast("Mapping[str, object]", value)
    return None
