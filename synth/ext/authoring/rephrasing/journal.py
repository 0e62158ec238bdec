"""The journal of a job of phrasings: every answer that was paid for, and how it was judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.core.tasks.phrasings import UserPhrasing
from synth.ext.authoring.asking.journal import Answer, AnswerJournal

Place = tuple[str, str, int]
"""A family, the digest of its texts, and the number of the question about them."""


@dataclass(frozen=True)
class Rejection:
    """A phrasing that is not kept: its cause, the reason for the model, and its request."""

    cause: str
    reason: str
    text: str


@dataclass(frozen=True)
class JudgedAnswer:
    """The phrasings of one answer."""

    kept: Sequence[UserPhrasing] = ()
    rejected: Sequence[Rejection] = ()


class RephraseJournal(AnswerJournal):
    """The journal at a path. ``added`` are the names of phrasings that stand in a world's file, or
    stood there.
    """

    def __init__(self, path: Path) -> None:
        self.answers: dict[Place, Answer] = {}
        self.judged: dict[Place, JudgedAnswer] = {}
        self.added: set[str] = set()
        super().__init__(path)

    def answered(self, place: Place, answer: Answer) -> None:
        """Keep an answer that has been paid for."""
        self.answers[place] = answer
        self.write({"place": list(place), "answer": asdict(answer)})

    def judge(self, place: Place, judged: JudgedAnswer) -> None:
        """Keep the judgement on an answer."""
        self.judged[place] = judged
        kept = [one.to_json() for one in judged.kept]
        rejected = [asdict(one) for one in judged.rejected]
        self.write({"place": list(place), "kept": kept, "rejected": rejected})

    def has_added(self, names: Iterable[str]) -> None:
        """Note that phrasings stand in the world's file."""
        new = sorted(set(names) - self.added)
        self.added.update(new)
        if new:
            self.write({"added": new})

    def take(self, entry: Mapping[str, Any]) -> None:
        if "added" in entry:
            self.added.update(map(str, entry["added"]))
            return
        family, of, number = entry["place"]
        place = str(family), str(of), int(number)
        if "answer" in entry:
            self.answers[place] = Answer(**entry["answer"])
        else:
            kept = tuple(UserPhrasing(**one) for one in entry["kept"])
            self.judged[place] = JudgedAnswer(
                kept, tuple(Rejection(**one) for one in entry["rejected"])
            )
