"""The system prompt of a task: the world's rules, the date and time, and who is signed in."""

from __future__ import annotations

import datetime as dt


def system_prompt(policy: str, now: str, signed_in: str | None) -> str:
    """The system prompt. ``now`` is the task's time in ISO form."""
    parts = [policy, clock_line(now), *([] if signed_in is None else [signed_in])]
    return "\n\n".join(parts).strip()


def clock_line(now: str) -> str:
    """The sentence of a system prompt that says what time it is."""
    return f"It is {dt.datetime.fromisoformat(now):%A, %Y-%m-%d %H:%M}."
