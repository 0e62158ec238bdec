"""Wordings that are held out of the first split of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.core.types.json_form import JsonForm

JOIN = "+"
"""Stands between the families in a composed task's ``family``."""


def folded(family: str) -> str:
    """The family, or for a composed task its number of requests, such as ``2 requests``."""
    parts = family.count(JOIN) + 1
    return family if parts == 1 else f"{parts} requests"


HELD_OUT = "held_out_phrasings"
"""The key of the manifest about them."""

VOICE = "/"
"""Stands before the name of a voice in the name of a wording."""


@dataclass(frozen=True)
class HeldOutPhrasings(JsonForm):
    """The names of wordings by family, and the names of voices."""

    families: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    voices: Sequence[str] = ()

    def hold(self, family: str, phrasing: str | None) -> bool:
        """True for a wording, or one of a composed task's, that is held out."""
        words, _, voice = (phrasing or "").partition(VOICE)
        pairs = zip(family.split(JOIN), words.split(JOIN), strict=False)
        return voice in self.voices or any(
            name in self.families.get(one, ()) for one, name in pairs
        )

    @classmethod
    def of(cls, more: Mapping[str, Any]) -> HeldOutPhrasings | None:
        """Those of a run, by what its description says besides; None if it holds none out."""
        return None if (found := more.get(HELD_OUT)) is None else cls.from_json(found)
