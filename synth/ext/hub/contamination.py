"""Overlap of rows with texts that a model will be judged by.

Two texts overlap if they share 13 words in a row, if one of them has 8 to 12 words and stands whole
in the other, or if they are near-duplicates from 5 words on. 13 words, and 8 at least, are the
bounds of GPT-3's check (Brown et al., "Language Models are Few-Shot Learners", 2020, appendix C):
shorter runs occur by chance. Near-duplicates find what was changed in a word or two, and short
texts that are the same. Case and punctuation do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.core.dataset.texts import parquet_rows
from synth.core.foundation.json_leaves import named_values, parsed
from synth.core.foundation.near_duplicates import (
    NearDuplicates,
    number_of,
    run_numbers,
    shingles,
    words,
)
from synth.errors import DatasetError, OperatorError
from synth.ext.hub.facts import said_in

PARQUET = ".parquet"
READ = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".csv", ".tsv", ".sql", PARQUET)
"""The endings of the files of a folder that are read; a file that is named itself may have any."""


@dataclass(frozen=True, slots=True)
class _BenchmarkText:
    """A text of a benchmark, and the file that it is from."""

    text: str
    file: Path


def _read_texts(path: Path) -> Iterator[_BenchmarkText]:
    """Yield every string of a file, or of the files of a folder and the folders in it: of JSON and
    Parquet all strings at any depth, of plain text each line.

    Raises OperatorError for what is not there, cannot be read, or holds no file of a known kind.
    """
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _is_read(file.relative_to(path), file)]
        if not files:
            raise OperatorError(
                f"--against {path}: it holds no file that ends in {', '.join(READ)}"
            )
    for file in files:
        try:
            for text in _strings_of(file):
                yield _BenchmarkText(text, file)
        except (OSError, UnicodeDecodeError, DatasetError) as error:
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise OperatorError(f"--against {file}: {reason}") from None


def _is_read(name: Path, file: Path) -> bool:
    hidden = any(part.startswith(".") for part in name.parts)
    return not hidden and file.suffix.lower() in READ and file.is_file()


def _strings_of(file: Path) -> Iterator[str]:
    if file.suffix.lower() == PARQUET:
        for row in parquet_rows(file):
            yield from _texts_in(row)
        return
    if file.suffix.lower() == ".json":
        # Some benchmarks call JSON Lines .json: what is no document is read line by line.
        value = parsed(file.read_text("utf-8-sig"))
        if not isinstance(value, str):
            yield from _texts_in(value)
            return
    with file.open(encoding="utf-8-sig") as lines:
        for line in lines:
            yield from _texts_in(line.strip())


def _texts_in(value: object) -> Iterator[str]:
    """The strings in a value; of a string that is a JSON object or array, the strings in that."""
    for _, leaf in named_values(value):
        if isinstance(leaf, str):
            inner = parsed(leaf) if leaf[:1] in {"{", "["} else leaf
            yield from [leaf] if isinstance(inner, str) else _texts_in(inner)


WORDS = 13
"""Words in a row that count as the same text."""

SHORTEST_RUN = 8
"""Words that a text needs to be looked for inside another one."""

SHORTEST = 5
"""Words that a text needs to be looked for at all."""

COLUMNS = ("messages", "submitted")
"""The columns that :func:`overlaps` reads."""

IN_A_ROW = f"{WORDS} words in a row"
WHOLE = "a short text as a whole"
NEAR = "near-duplicate"

_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Overlap:
    """The text that a row shares with a benchmark.

    ``place`` is the part of the row, such as ``user turn 1``, ``how`` the kind of the overlap,
    ``shared`` the words in common (of a near-duplicate, the row's text), ``text`` the beginning of
    the benchmark's text and ``file`` its file.
    """

    benchmark: str
    place: str
    how: str
    shared: str
    text: str
    file: str


class Benchmark:
    """Texts of one file or folder; ``found`` are the numbers of those that overlapped.

    Raises OperatorError for what cannot be read or holds no text that can be looked for.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name or str(path)
        self.found: set[int] = set()
        self._texts: list[tuple[str, Path]] = []
        self._texts_by_run: dict[int, list[int]] = {}
        self._lengths: set[int] = set()
        self._beginnings: set[int] = set()
        self._near = NearDuplicates()
        self._known: set[int] = set()
        for text in _read_texts(path):
            self._add(text)
        if not self._texts:
            raise OperatorError(f"--against {path}: it holds no text of {SHORTEST} words or more")

    @property
    def texts(self) -> int:
        """The number of different texts."""
        return len(self._texts)

    def _add(self, entry: _BenchmarkText) -> None:
        found = words(entry.text)
        if len(found) < SHORTEST or (text := number_of(found)) in self._known:
            return
        self._known.add(text)
        if len(found) >= SHORTEST_RUN:
            length = min(WORDS, len(found))
            self._lengths.add(length)
            for start, run in enumerate(run_numbers(found, length)):
                self._texts_by_run.setdefault(run, []).append(self.texts)
                self._beginnings.add(number_of(found[start : start + SHORTEST_RUN]))
        self._near.add(shingles(found))
        self._texts.append((" ".join(entry.text.split())[:_SHOWN], entry.file))

    def overlap(self, text: str, place: str = "") -> Overlap | None:
        """The first overlap of a text with one of the benchmark's; ``found`` keeps all."""
        found = words(text)
        first: tuple[int, str, str] | None = None
        for length, start, numbers in self._shared_runs(found):
            self.found.update(numbers)
            if first is None:
                how = IN_A_ROW if length == WORDS else WHOLE
                first = numbers[0], how, " ".join(found[start : start + length])
        if first is None and len(found) >= SHORTEST:
            number = self._near.find(shingles(found))
            if number is not None:
                self.found.add(number)
                first = number, NEAR, " ".join(text.split())[:_SHOWN]
        if first is None:
            return None
        number, how, shared = first
        theirs, file = self._texts[number]
        return Overlap(self.name, place, how, shared, theirs, str(file))

    def line(self, rows: int) -> str:
        """The sentence of the card on so many rows that overlap."""
        return (
            f"`{self.name}`: {rows} rows overlap with {len(self.found)} of its {self.texts} texts"
            f" ({IN_A_ROW}, a text of {SHORTEST_RUN} to {WORDS - 1} words as a whole, or a"
            " near-duplicate)."
        )

    def _shared_runs(self, found: Sequence[str]) -> Iterator[tuple[int, int, list[int]]]:
        """Length and start of each run of words that texts of the benchmark have, and those."""
        if len(found) < SHORTEST_RUN:
            return
        for start, beginning in enumerate(run_numbers(found, SHORTEST_RUN)):
            if beginning not in self._beginnings:
                continue
            for length in sorted(self._lengths, reverse=True):
                if start + length <= len(found):
                    run = number_of(found[start : start + length])
                    if numbers := self._texts_by_run.get(run):
                        yield length, start, numbers


def overlaps(row: Mapping[str, Any], held: Sequence[Benchmark]) -> list[Overlap]:
    """The overlaps of a row's texts with benchmarks, at most one for a text and a benchmark."""
    return [
        found
        for place, text in said_in(row)
        for benchmark in held
        if (found := benchmark.overlap(text, place)) is not None
    ]


class BenchmarkCheck:
    """A check of rows for an export: those that overlap with a benchmark are left out."""

    columns = COLUMNS

    def __init__(self, held: Sequence[Benchmark]) -> None:
        self._benchmarks = held

    def reason(self, row: Mapping[str, Any]) -> str:
        """Return why a row is left out; empty if it overlaps with none."""
        found = overlaps(row, self._benchmarks)
        return f"shares text with {found[0].benchmark} (--against)" if found else ""


def benchmarks(paths: Iterable[Path]) -> list[Benchmark]:
    """Read the files and folders that rows are held against."""
    return [Benchmark(path) for path in paths]
