"""The cost of gates: the rollouts with the right end state that each gate refuses, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

STATE: Final = "state"
SHOWN: Final = 5
"""The most reasons of a gate that are given."""

Raw = Mapping[str, Any]


@dataclass(slots=True)
class _Refusals:
    """``reasons`` counts rollouts by check, ``examples`` has the first finding of each."""

    rows: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, Raw] = field(default_factory=dict[str, Raw])

    def add(self, findings: Sequence[Raw]) -> None:
        self.rows += 1
        self.reasons.update({finding["check"] for finding in findings})
        for finding in findings:
            self.examples.setdefault(finding["check"], finding)

    def to_json(self) -> dict[str, object]:
        common = self.reasons.most_common(SHOWN)
        reasons = [{**self.examples[check], "rows": count} for check, count in common]
        return {"refused": self.rows, "reasons": reasons}


@dataclass(slots=True)
class GateCosts:
    """The refusals of each gate among the rollouts that end in the right state.

    A kind of note has a row as well: the rollouts that ``reply: {forbid: [kind]}`` would refuse.
    """

    right_ends: int = 0
    gates: dict[tuple[str, str | None], _Refusals] = field(
        default_factory=dict[tuple[str, "str | None"], _Refusals]
    )

    def add(self, row: Raw) -> None:
        """Count a row by its ``verdicts``."""
        read = row["verdicts"]
        if not any(item["verifier"] == STATE and item["score"] == 1 for item in read):
            return
        self.right_ends += 1
        for item in read:
            if item.get("gate") and item["score"] == 0:
                self._of(item["verifier"], None).add(_findings(item))
            notes = notes_in(item.get("detail") or {})
            for kind in dict.fromkeys(note["check"] for note in notes):
                own = [note for note in notes if note["check"] == kind]
                self._of(item["verifier"], kind).add(own)

    def _of(self, gate: str, note: str | None) -> _Refusals:
        return self.gates.setdefault((gate, note), _Refusals())

    def to_json(self) -> list[dict[str, object]]:
        """One entry for each gate, then one for each kind of note; empty without any."""
        ordered = sorted(self.gates, key=lambda key: (key[1] is not None, *map(str, key)))
        return [
            {"gate": gate, "note": note, "right_ends": self.right_ends}
            | self.gates[gate, note].to_json()
            for gate, note in ordered
        ]


def notes_in(detail: Raw) -> Sequence[Raw]:
    """The notes in a verdict's detail, each with ``check``, ``words`` and ``evidence``. Earlier
    runs have the names of a question's notes alone.
    """
    return [
        {"check": note, "words": "", "evidence": ""} if isinstance(note, str) else note
        for note in detail.get("notes", ())
    ]


def _findings(verdict: Raw) -> Sequence[Raw]:
    """The findings of a verdict; its reason where it has none."""
    reason: Raw = {"check": verdict["reason"][:200], "words": "", "evidence": ""}
    detail: Raw = verdict.get("detail") or {}
    return detail.get("findings") or [reason]
