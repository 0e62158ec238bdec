"""The journal of a job of drafts: every answer that was paid for, and what became of each draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.ext.authoring.asking.journal import Answer, AnswerJournal


@dataclass(frozen=True)
class DraftOutcome:
    """The end of one draft. ``cause`` and ``reason`` are empty for a family that was kept; ``body``
    is that family, ``capacity`` the number of its tasks.
    """

    draft: int
    family: str | None
    attempts: int
    cause: str = ""
    reason: str = ""
    capacity: int = 0
    body: Mapping[str, Any] | None = None

    @property
    def kept(self) -> bool:
        return self.body is not None


class DraftJournal(AnswerJournal):
    """The journal of drafts at a path."""

    def __init__(self, path: Path) -> None:
        self.answers: dict[tuple[int, int], Answer] = {}
        self.outcomes: dict[int, DraftOutcome] = {}
        self.added: set[int] = set()
        super().__init__(path)

    def answered(self, draft: int, attempt: int, answer: Answer) -> None:
        """Keep an answer that has been paid for."""
        self.answers[draft, attempt] = answer
        self.write({"draft": draft, "attempt": attempt, "answer": asdict(answer)})

    def ended(self, outcome: DraftOutcome) -> None:
        """Keep the end of a draft; a family that proved itself is kept before it is added."""
        self.outcomes[outcome.draft] = outcome
        self.write({"outcome": asdict(outcome)})

    def has_added(self, draft: int) -> None:
        """Note that the family of a draft stands in tasks.yaml."""
        self.added.add(draft)
        self.write({"added": draft})

    def take(self, entry: Mapping[str, Any]) -> None:
        if "answer" in entry:
            key = int(entry["draft"]), int(entry["attempt"])
            self.answers[key] = Answer(**entry["answer"])
        elif "outcome" in entry:
            outcome = DraftOutcome(**entry["outcome"])
            self.outcomes[outcome.draft] = outcome
        else:
            self.added.add(int(entry["added"]))
