"""A journal of JSON objects, one a line, each made durable before the next step, so that a killed
job pays for nothing twice. A torn last line is dropped.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.core.dataset.store.atomic_files import disk
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


class AnswerJournal(ABC):
    """The journal at a path; what it holds is read when it is opened. Close it.

    Raises OperatorError for a file that cannot be read or written, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            self._take_all(path.read_bytes())
            self._file = path.open("ab")

    @abstractmethod
    def take(self, entry: Mapping[str, Any]) -> None:
        """Take up an entry of an earlier session.

        Raises KeyError, TypeError or ValueError for one that is not of this journal.
        """

    def write(self, entry: Mapping[str, object]) -> None:
        """Append an entry, durably."""
        line = json.dumps(entry, ensure_ascii=True).encode() + b"\n"
        with disk(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def _take_all(self, data: bytes) -> None:
        whole = data.rfind(b"\n") + 1
        for number, entry in self._entries(data[:whole]):
            try:
                self.take(entry)
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
            f"{self.path}:{number}: the journal is damaged; move it away to begin anew"
        )
