"""A model that judges the statements of a reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field, Strict

from synth.core.config.section import ConfigSection
from synth.core.config.types import Text
from synth.plugins import ROLLOUT_WRAPPERS, ExtensionPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig(ConfigSection):
    """A model that judges the rollouts which pass all gates. ``model`` names one of ``models``;
    None: nobody judges.

    It decides about the notes of the gate ``reply``, one by one. ``votes`` answers decide by
    majority. ``rubric`` is one more statement, on the conversation as a whole, such as "the
    assistant is polite"; None: there is none.
    """

    place: ClassVar[str] = "rewards.judge"
    needs: ClassVar[Mapping[str, str]] = {"": "model"}
    asks: ClassVar[str] = "model"

    model: Text | None = None
    votes: Annotated[int, Strict(), Field(ge=1, le=25)] = 3
    rubric: Text | None = None

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return () if self.model is None else [(ROLLOUT_WRAPPERS, "judge")]
