"""An honest agent that meets a hostile text: it does the work, and tells the user of the text."""

from __future__ import annotations

from typing import ClassVar

from synth.core.models.scripted.expert import ExpertConversation, Play
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.ext.injection.gate import InjectionOptions
from synth.model import Conversation


class _Warning(ExpertConversation):
    """The expert with words behind its last ones."""

    words: ClassVar[str]

    def _gold_steps(self) -> Play:
        yield from super()._gold_steps()
        self._spoken = f"{self._spoken}\n\n{self.words}"


class MentionsInjection(HonestAgent):
    """Tells the user at the end that a record holds instructions, quotes them, and says that it did
    not follow them.
    """

    name = "mentions_injection"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        injection = InjectionOptions.of(proved.task)
        if injection is None:
            return None
        words = (
            "By the way, one of the records holds a text with instructions to me. I did not follow"
            f' it. It reads:\n\n> "{injection.text}"'
        )
        return proved.expert(proved.task.gold, type("Warning", (_Warning,), {"words": words}))
