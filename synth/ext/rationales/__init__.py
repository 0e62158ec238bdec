"""Recorded rollouts into which a teacher writes reasoning and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, Strict

from synth.core.config.section import ConfigSection
from synth.core.config.types import Place, Text, one_or_many
from synth.plugins import RECORDED_PLANS, ROLLOUT_WRAPPERS, ExtensionPoint
from synth.task import NarratedPart


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrateConfig(ConfigSection):
    """The recorded run into whose rollouts a teacher writes texts, as `synth narrate` does it;
    without ``path`` the model plays the rollouts. The teacher is the section ``model``.

    ``where`` is an SQL condition over the columns of the recorded rows (None: all); only rows that
    succeeded are narrated. ``write`` lists the texts: ``reasoning``, ``words`` beside calls and the
    last ``reply``. A text is asked for ``tries`` times at most. ``tasks.count`` is the number of
    rows.
    """

    place: ClassVar[str] = "narrate"
    needs: ClassVar[Mapping[str, str]] = {"": "path"}
    not_data: ClassVar[Mapping[str, str]] = {
        "path": "a recording may be moved; the plan's digest says whether it is the same"
    }

    path: Place | None = None
    where: Text | None = None
    write: Annotated[list[NarratedPart], BeforeValidator(one_or_many), Field(min_length=1)] = field(
        default_factory=lambda: list[NarratedPart](("reasoning", "words"))
    )
    tries: Annotated[int, Strict(), Field(ge=1, le=10)] = 3

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        if self.path is not None:
            yield from ((RECORDED_PLANS, "narrate"), (ROLLOUT_WRAPPERS, "rationales"))
