"""A journal of JSON objects, one a line, each made durable before the next step, so that a killed
job pays for nothing twice. A torn last line is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter

from synth.core.dataset.store.atomic_files import disk
from synth.errors import OperatorError

End = TypeVar("End")

Place = tuple[str | int, ...]
"""What a question is about, and its number."""


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


class AskingJournal(Generic[End]):
    """The journal at a path; what it holds is read when it is opened. Close it.

    ``answers`` are those that were paid for, by the place of their question; ``ends`` are what
    became of them, dataclasses of the ``kind``; ``added`` names what stands in the world.

    Raises OperatorError for a file that cannot be read or written, or is damaged.
    """

    def __init__(self, path: Path, kind: type[End]) -> None:
        self.path = path
        self.answers: dict[Place, Answer] = {}
        self.ends: dict[Place, End] = {}
        self.added: set[str] = set()
        self._read_end = TypeAdapter(kind).validate_python
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            self._take_all(path.read_bytes())
            self._file = path.open("ab")

    def answered(self, place: Place, answer: Answer) -> None:
        """Keep an answer that has been paid for."""
        self.answers[place] = answer
        self._write({"place": place, "answer": asdict(answer)})

    def ended(self, place: Place, end: End) -> None:
        """Keep what became of a question."""
        self.ends[place] = end
        self._write({"place": place, "end": asdict(cast("Any", end))})

    def has_added(self, names: Iterable[str]) -> None:
        """Note that these stand in the world, or stood there."""
        new = sorted(set(names) - self.added)
        self.added.update(new)
        if new:
            self._write({"added": new})

    def _take(self, entry: Mapping[str, Any]) -> None:
        """Take up an entry of an earlier session."""
        if "added" in entry:
            self.added.update(map(str, entry["added"]))
            return
        place: Place = tuple(entry["place"])
        if "answer" in entry:
            self.answers[place] = Answer(**entry["answer"])
        else:
            self.ends[place] = self._read_end(entry["end"])

    def _write(self, entry: Mapping[str, object]) -> None:
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
                self._take(entry)
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
