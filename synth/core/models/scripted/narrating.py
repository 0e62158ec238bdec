"""The scripted expert in the style ``narrating``, and its words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from envs.types import ToolCall
from synth.core.foundation.json_leaves import named_values
from synth.core.models.scripted.styles import Parallel
from synth.core.tasks.shown_texts import named_in
from synth.core.tasks.yaml.template import text_of
from synth.model import Completion

LOOKING: Final = (
    "Let me look up {}.",
    "I'm looking up {} for you.",
    "Let me see what we have on {}.",
    "Just a second while I look up {}.",
    "I'll look up {} first.",
    "One second, let me look up {}.",
    "Give me a moment to look up {}.",
    "Let me check what we have on {}.",
    "One moment, please, I'm looking up {}.",
    "Let me pull up {}.",
)
CHANGING: Final = (
    "Let me deal with that for {} now.",
    "I'm working on that for {} now.",
    "I'll deal with that for {} right away.",
    "I'm dealing with that for {} now.",
    "Just a moment while I deal with that for {}.",
    "One moment while I work on that for {}.",
)
"""Words beside calls that read and calls that write, with the name of what they are about. They
claim and promise nothing: what is asked for may be refused.
"""
LAYOUT: Final = (
    "Let me look at {} first.",
    "I'll look at {} before I query.",
    "First I want to see {}.",
    "For that I need to look at {}.",
    "Let me check {} for that.",
    "I'll start with a look at {}.",
)
"""Words beside calls that look at the schema of a database, with the tables that they describe."""


class Narrating(Parallel):
    """Says what it is looking up or working on beside the first call after each message of the
    user, where the user has named that; not twice in the same words while there are others.
    """

    style = "narrating"
    _answered = 0
    _used: frozenset[str] = frozenset()
    _about: Sequence[tuple[str, object]] = ()

    def _turn(self, *calls: ToolCall) -> Completion:
        writes = self._gold_calls - 1 in self._writes
        values = [pair for call in calls for pair in named_values(json.loads(call.arguments))]
        asked = [one["content"] for one in self._messages if one["role"] == "user"]
        if not (writes and self._about):
            self._about = [*self._about, *values]
        begins = bool(calls) and self._answered < len(asked)
        tables = _tables(calls)
        about = tables or self._subject([] if writes else values, "".join(asked[-1:]))
        words = LAYOUT if tables else CHANGING if writes else LOOKING
        if begins and about:
            self._spoken = f"{self._spoken}\n\n{self._unused(words).format(about)}".strip()
        self._answered = len(asked) if calls else self._answered
        return super()._turn(*calls)

    def _unused(self, words: Sequence[str]) -> str:
        """One of the words, not the same twice while there are others."""
        chosen = self._dice.choice([one for one in words if one not in self._used] or words)
        self._used |= {chosen}
        return chosen

    def _subject(self, read: Sequence[tuple[str, object]], text: str) -> str:
        """The subject of what is read, or else of the calls before, as a text names it."""
        return self._named(read, text) or self._named(self._about, text)

    def _named(self, values: Sequence[tuple[str, object]], text: str) -> str:
        """Values of one parameter that a text names and the tools do not list."""
        about = [(name, value) for name, value in values if value not in self._listed]
        kinds = dict.fromkeys(name for name, _ in about)
        whole = [f"{one} {other}" for (_, one), (_, other) in pairwise(about)]  # a person's name
        found = (named_in((v for n, v in about if n == one), text) for one in kinds)
        return next(filter(None, (named_in(whole, text), *found)), "")


def _tables(calls: Sequence[ToolCall]) -> str:
    """The tables whose layout calls look at, in words; empty if they do not."""
    if not calls or calls[0].name not in {"list_tables", "describe_table"}:
        return ""
    tables = [str(json.loads(call.arguments).get("table", "")) for call in calls]
    names = f"{text_of(tables)} " if all(tables) else ""
    return f"the {names}table{'s' * (len(tables) > 1 or not names)}"
