"""Licences of the world, of the teacher's words and of the data."""

from __future__ import annotations

from dataclasses import dataclass

from synth.errors import OperatorError
from synth.ext.hub.facts import RunFacts

NO_TEACHER = "none needed: a script played, no model's words are in the data"


@dataclass(frozen=True, slots=True)
class Licences:
    """The three licences; None where one is not declared."""

    data: str | None
    world: str | None
    teacher: str | None

    def missing(self) -> list[str]:
        """Licences that are not declared, each with the key and the option that declare it."""
        lines: list[str] = []
        if self.data is None:
            lines.append("of the data: card.license, or --license")
        if self.world is None:
            lines.append("of the world: `license` in its world.yaml, or --world-license")
        if self.teacher is None:
            lines.append(
                "of the teacher's words (the terms of its provider, or the model's licence):"
                " card.teacher_license, or --teacher-license"
            )
        return lines

    def require(self) -> None:
        """Raise OperatorError if one is not declared."""
        if lines := self.missing():
            listed = "\n  ".join(lines)
            raise OperatorError(f"nothing is published without a licence; declare it\n  {listed}")


def licences(
    facts: RunFacts,
    data: str | None = None,
    world: str | None = None,
    teacher: str | None = None,
) -> Licences:
    """The licences of a run: those given, or else those that config and world declare."""
    card = facts.card
    scripted = NO_TEACHER if facts.scripted else None
    return Licences(
        data=data or card.license,
        world=world or facts.world_license or card.world_license,
        teacher=teacher or card.teacher_license or scripted,
    )
