"""A model that plays the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from synth.core.config.section import ConfigSection


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidesConfig(ConfigSection):
    """``decides`` says who decides what a simulated user does: ``rules`` (the scripted user's; the
    model finds the words) or ``model`` (what it says is held against the rules). See
    :mod:`synth.ext.simulated_user.user`.
    """

    place: ClassVar[str] = "users"

    decides: Literal["rules", "model"] = "rules"
