"""The scripted expert in the style ``narrating``, and its words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from envs.types import ToolCall
from synth.core.foundation.json_leaves import named_values
from synth.core.models.scripted.styles import Parallel
from synth.core.tasks.shown_texts import named_in
from synth.model import Completion

LOOKING: Final = (
    "Let me look that up.",
    "One moment, please.",
    "I'll check that.",
    "Checking the records now.",
    "Just a second while I look.",
    "I'll have a look.",
    "Let me check the details.",
    "I'm looking into it.",
    "Give me a moment to check.",
    "Let me see.",
    "Let me look up {}.",
    "I'm looking up {} for you.",
    "Let me see what we have on {}.",
    "Just a second while I look up {}.",
    "I'll look up {} first.",
    "Let me start with {}.",
    "Give me a moment to look up {}.",
    "Let me see what I find on {}.",
    "One moment, please, I'm looking up {}.",
    "Let me pull up {}.",
)
CHANGING: Final = (
    "Let me deal with that{} now.",
    "I'm working on that{} now.",
    "I'll deal with that{} right away.",
    "I'm dealing with that{} now.",
    "Just a moment while I deal with that{}.",
    "One moment while I work on that{}.",
)
"""Words beside calls that read and calls that write, with the name of what they are about where the
user called it by one. They claim and promise nothing: what is asked for may be refused.
"""


class Narrating(Parallel):
    """Says what it is doing beside the first call that reads, and beside the first that writes,
    after each message of the user; not twice in the same words while there are others.
    """

    style = "narrating"
    _begun: frozenset[tuple[int, Sequence[str]]] = frozenset()
    _used: frozenset[str] = frozenset()
    _about: Sequence[tuple[str, object]] = ()

    def _turn(self, *calls: ToolCall) -> Completion:
        writes = self._gold_calls - 1 in self._writes
        words = CHANGING if writes else LOOKING
        values = [pair for call in calls for pair in named_values(json.loads(call.arguments))]
        asked = [one["content"] for one in self._messages if one["role"] == "user"]
        if not (writes and self._about):
            self._about = [*self._about, *values]
        if calls and (begins := (len(asked), words)) not in self._begun:
            self._begun |= {begins}
            about = self._subject(*asked[-1:])
            named = about and f" for {about}" if writes else about
            fit = [one.format(named) for one in words if writes or bool(about) == ("{}" in one)]
            said = self._dice.choice([one for one in fit if one not in self._used] or fit)
            self._used |= {said}
            self._spoken = f"{self._spoken}\n\n{said}".strip()
        return super()._turn(*calls)

    def _subject(self, text: str = "") -> str:
        """The subject of the reads, as a text names it: values of one parameter, which the tools do
        not list.
        """
        about = [(name, value) for name, value in self._about if value not in self._listed]
        kinds = dict.fromkeys(name for name, _ in about)
        found = (named_in((v for n, v in about if n == one), text) for one in kinds)
        return next(filter(None, found), "")
