"""The scripted expert in the style ``narrating``, and its words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from envs.types import ToolCall
from synth.core.foundation.json_leaves import named_values
from synth.core.models.scripted.styles import Parallel
from synth.core.tasks.shown_texts import act_of, named_in
from synth.model import Completion
from synth.task import Task

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
    "I'll take care of that{} now.",
    "Let me take care of that{}.",
    "I'm seeing to that{} now.",
    "I'll see to that{} right away.",
    "Let me deal with that{} now.",
    "I'm taking care of that{}.",
)
"""Words beside calls that read and calls that write, with the name of what they are about where the
user called it by one. They claim and promise nothing that may not be so.
"""
ACTING: Final = ("I'll {} now.", "Let me {}.", "Next, I'll {}.", "I'm going to {} now.")
"""Words beside a single call that writes, with the act that its tool's description names."""


class Narrating(Parallel):
    """Says what it is doing beside the first call that reads, and beside the first that writes,
    after each message of the user; not twice in the same words while there are others.
    """

    style = "narrating"
    _begun: frozenset[tuple[int, Sequence[str]]] = frozenset()
    _used: frozenset[str] = frozenset()
    _about: Sequence[tuple[str, object]] = ()

    def __init__(
        self, task: Task, retries: int | None, seed: int, tools: Sequence[object] = ()
    ) -> None:
        self._tools = [cast("Mapping[str, Any]", one) for one in tools if isinstance(one, Mapping)]
        super().__init__(task, retries, seed, tools)

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
            if writes and len(calls) == 1:
                fit += self._acting(calls[0].name)
            said = self._dice.choice([one for one in fit if one not in self._used] or fit)
            self._used |= {said}
            self._spoken = f"{self._spoken}\n\n{said}".strip()
        return super()._turn(*calls)

    def _acting(self, tool: str) -> list[str]:
        """Words for what a tool does, where its definition is known."""
        shown = (one["function"] for one in self._tools)
        told = next((one["description"] for one in shown if one["name"] == tool), "")
        act = re.sub(r"\ban? ", "the ", act_of(told, read_only=False))
        return [one.format(act) for one in ACTING] if act else []

    def _subject(self, text: str = "") -> str:
        """The subject of the reads, as a text names it: values of one parameter, which the tools do
        not list.
        """
        about = [(name, value) for name, value in self._about if value not in self._listed]
        kinds = dict.fromkeys(name for name, _ in about)
        found = (named_in((v for n, v in about if n == one), text) for one in kinds)
        return next(filter(None, found), "")
