"""The journal of a job of drafts: every answer that was paid for, and what became of each draft.

One JSON object a line, made durable before the next step, so that a killed job pays for nothing
twice. A torn last line is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.dataset.store.atomic_files import disk
from synth.errors import OperatorError


@dataclass(frozen=True)
class Answer:
    """One answer of the model. ``problem`` says why there is no usable text. Tokens are None where
    the endpoint did not count them, ``cost_usd`` where the price is unknown.
    """

    text: str
    problem: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


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


class DraftJournal:
    """The journal at a path; what it holds is read when it is opened. Close it.

    Raises OperatorError for a file that cannot be read or written, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[tuple[int, int], Answer] = {}
        self.outcomes: dict[int, DraftOutcome] = {}
        self.added: set[int] = set()
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            self._take(path.read_bytes())
            self._file = path.open("ab")

    def answered(self, draft: int, attempt: int, answer: Answer) -> None:
        """Keep an answer that has been paid for."""
        self.answers[draft, attempt] = answer
        self._write({"draft": draft, "attempt": attempt, "answer": asdict(answer)})

    def ended(self, outcome: DraftOutcome) -> None:
        """Keep the end of a draft; a family that proved itself is kept before it is added."""
        self.outcomes[outcome.draft] = outcome
        self._write({"outcome": asdict(outcome)})

    def has_added(self, draft: int) -> None:
        """Note that the family of a draft stands in tasks.yaml."""
        self.added.add(draft)
        self._write({"added": draft})

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: Mapping[str, object]) -> None:
        line = json.dumps(entry, ensure_ascii=True).encode() + b"\n"
        with disk(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def _take(self, data: bytes) -> None:
        whole = data.rfind(b"\n") + 1
        for number, entry in self._entries(data[:whole]):
            try:
                if "answer" in entry:
                    key = int(entry["draft"]), int(entry["attempt"])
                    self.answers[key] = Answer(**entry["answer"])
                elif "outcome" in entry:
                    outcome = DraftOutcome(**entry["outcome"])
                    self.outcomes[outcome.draft] = outcome
                else:
                    self.added.add(int(entry["added"]))
            except (KeyError, TypeError, ValueError):
                raise self._damaged(number) from None
        if whole < len(data):
            os.truncate(self.path, whole)

    def _entries(self, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(data.splitlines(), 1):
            try:
                entry = json.loads(line)
            except ValueError:
                raise self._damaged(number) from None
            if not isinstance(entry, dict):
                raise self._damaged(number)
            yield number, entry

    def _damaged(self, number: int) -> OperatorError:
        return OperatorError(
            f"{self.path}:{number}: the journal is damaged; move it away to draft anew"
        )
