"""Rollouts that begin with the first turns of a recorded one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import PlainValidator

from synth.core.config.section import ConfigSection
from synth.core.config.types import Place, Text
from synth.plugins import RECORDED_PLANS, ROLLOUT_WRAPPERS, ExtensionPoint


def branch_at(value: object) -> str:
    """``first_wrong``, ``each_write``, ``each_turn`` or the number of a turn. Raises ValueError for
    anything else.
    """
    text = str(value)
    words = {"first_wrong", "each_write", "each_turn"}
    known = text in words or (text.isascii() and text.isdecimal())
    if isinstance(value, bool) or not known or len(text) > 12:
        raise ValueError(
            "must be first_wrong, each_write, each_turn or the number of a turn, from 0"
        )
    return text


BranchAt = Annotated[str, PlainValidator(branch_at)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchConfig(ConfigSection):
    """The recorded run whose rollouts are branched, as `synth branch` does it; ``path`` None: the
    rollouts begin at their beginning.

    ``at`` is ``first_wrong``, ``each_write``, ``each_turn`` or the number of a turn, from 0.
    ``where`` is an SQL condition over the columns of the recorded rows (None: all). The tasks and
    the world are the recorded run's; ``tasks.samples`` counts the branches at each turn.
    """

    place: ClassVar[str] = "branch"
    needs: ClassVar[Mapping[str, str]] = {"": "path"}
    not_data: ClassVar[Mapping[str, str]] = {
        "path": "a recording may be moved; the plan's digest says whether it is the same"
    }

    path: Place | None = None
    at: BranchAt = "first_wrong"
    where: Text | None = None

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        if self.path is not None:
            yield from ((RECORDED_PLANS, "branch"), (ROLLOUT_WRAPPERS, "branching"))
