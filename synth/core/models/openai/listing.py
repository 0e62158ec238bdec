"""Comparison of an endpoint's list of models with the configured model."""

from __future__ import annotations

import difflib
from typing import cast

from synth.core.models.openai.exchange import Reply
from synth.core.models.openai.reply import NotACompletionError, load_body


def listing_warnings(url: str, endpoint: str, name: str, reply: Reply) -> list[str]:
    """Return the warnings that follow from an answer to ``GET /models``; gateways without such a
    list are common.
    """
    if reply.status == 429:
        return [f"{url} answered HTTP 429: the endpoint is limiting requests already"]
    if reply.status >= 400:
        return []  # no such list; the first completion will tell
    try:
        listed = load_body(reply.body).get("data")
    except NotACompletionError as problem:
        return [f"{url} answered with {problem}: is {endpoint} the right base URL?"]
    if not isinstance(listed, list):
        return []
    entries = [
        cast("dict[str, object]", entry)
        for entry in cast("list[object]", listed)
        if isinstance(entry, dict)
    ]
    names = [str(entry["id"]) for entry in entries if "id" in entry]
    if not names or name in names or f"{name}:latest" in names:
        return []
    near = ", ".join(difflib.get_close_matches(name, names, 3, 0.5) or sorted(names)[:3])
    return [f"{url} lists {len(names)} models, but not {name!r} (it has {near})"]
