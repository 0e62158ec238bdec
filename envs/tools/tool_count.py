"""The number of tools that an endpoint takes."""

from __future__ import annotations

MOST = 128
"""The most tools of a request that OpenAI takes; other endpoints and clients take 40 or 60."""


def tool_count(count: int) -> str:
    """The number of tools in words, with the way out where endpoints refuse so many.

    >>> tool_count(3)
    '3 tools'
    """
    if count <= MOST:
        return f"{count} tools"
    return (
        f"{count} tools, and some endpoints take {MOST} at most: make a world of fewer tables"
        " (synth new --tables A,B)"
    )
