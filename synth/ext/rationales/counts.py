"""Counts of the texts of a run of narrations, from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.ext.rationales.narrate import NOTE


@dataclass
class NarrationCounts:
    """Texts by part, refused texts by their fault, and turns: ``asked`` are those that the teacher
    was asked about, ``narrated`` those into which it wrote, ``short`` those that lack a text which
    was asked for.
    """

    asked: int = 0
    narrated: int = 0
    short: int = 0
    wrote: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> NarrationCounts:
        """The counts of rows, of which ``provider_fields`` is read."""
        counts = cls()
        for row in rows:
            for turn in row["provider_fields"]:
                if NOTE in turn:
                    counts.add(turn[NOTE])
        return counts

    def add(self, note: Mapping[str, Any]) -> None:
        """Count the note on one turn."""
        refused = [text["part"] for text in note["refused"]]
        self.asked += 1
        self.narrated += bool(note["wrote"])
        self.short += bool({*refused} - {*note["wrote"]})
        self.wrote.update(note["wrote"])
        self.refused.update(text["kind"] for text in note["refused"])

    def to_json(self) -> dict[str, Any]:
        return {
            "turns": self.asked,
            "narrated_turns": self.narrated,
            "turns_short_of_a_text": self.short,
            "wrote": dict(self.wrote),
            "refused": dict(self.refused.most_common()),
        }

    def lines(self) -> list[str]:
        """The counts for people."""
        wrote = ", ".join(f"{count:,} {part}" for part, count in sorted(self.wrote.items()))
        out = [f"narrated {self.narrated:,} of {self.asked:,} turns: {wrote or 'nothing'}"]
        if self.refused:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.refused.most_common())
            out.append(f"refused {self.refused.total():,} texts: {kinds}")
        if self.short:
            out.append(f"{self.short:,} turns lack a text: no attempt at it was good enough")
        return out
