"""Overlap of test and training rows, and of rows with texts that a model will be judged by.

Two texts overlap if they share 13 words in a row (a usual bound for benchmarks), or if one of them
is shorter than that and stands whole in the other. Case and punctuation do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from synth.errors import OperatorError

WORDS = 13
"""Words in a row that count as the same text."""

SHORTEST = 5
"""Words that a text needs to be looked for at all."""

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.casefold())


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Each run of 13 words; the whole text if it has fewer."""
    found = words(text)
    for start in range(max(1, len(found) - WORDS + 1)):
        yield tuple(found[start : start + WORDS])


class Benchmark:
    """Texts of one file: one on each line, plain or as JSON, of which every string counts.

    Raises OperatorError for a file that cannot be read or holds no text that can be looked for.
    """

    def __init__(self, file: Path) -> None:
        self.name = file.name
        self.found: set[int] = set()
        self._texts_by_run: dict[tuple[str, ...], set[int]] = {}
        self._lengths: set[int] = set()
        self.texts = 0
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise OperatorError(f"--against {file}: {error}") from None
        for line in lines:
            for text in _strings(line):
                self._add(text)
        if not self.texts:
            raise OperatorError(f"--against {file}: it holds no text of {SHORTEST} words or more")

    def _add(self, text: str) -> None:
        if len(words(text)) < SHORTEST:
            return
        for run in runs(text):
            self._lengths.add(len(run))
            self._texts_by_run.setdefault(run, set()).add(self.texts)
        self.texts += 1

    def holds(self, text: str) -> bool:
        """True if the text overlaps with one of the file's; ``found`` keeps which."""
        found = words(text)
        hits: set[int] = set()
        for length in self._lengths:
            for start in range(len(found) - length + 1):
                hits |= self._texts_by_run.get(tuple(found[start : start + length]), set())
        self.found |= hits
        return bool(hits)


def _strings(line: str) -> Iterator[str]:
    try:
        value = json.loads(line)
    except ValueError:
        value = line
    yield from _texts_in(value)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts_in(item)


@dataclass(slots=True)
class Contamination:
    """What rows share with each other across splits, and with benchmarks.

    ``requests`` and ``tasks`` map a split to its opening requests and task ids; ``rows_in`` counts,
    by benchmark, rows in which one of its texts was said.
    """

    benchmarks: Sequence[Benchmark] = ()
    requests: dict[str, set[tuple[str, ...]]] = field(
        default_factory=dict[str, set[tuple[str, ...]]]
    )
    tasks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    universes: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    rows_in: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, row: Mapping[str, Any]) -> None:
        """Look at a row."""
        split = str(row["split"])
        said = [
            message["content"]
            for message in row["messages"]
            if message["role"] in {"user", "assistant"} and message.get("content")
        ]
        self.tasks.setdefault(split, set()).add(row["task_id"])
        self.universes.setdefault(split, set()).add(row["universe"])
        if said:
            self.requests.setdefault(split, set()).add(tuple(words(said[0])))
        for benchmark in self.benchmarks:
            hits = [benchmark.holds(text) for text in said]
            if any(hits):
                self.rows_in[benchmark.name] = self.rows_in.get(benchmark.name, 0) + 1

    def lines(self) -> list[str]:
        """Sentences for the card."""
        splits = sorted(self.tasks, key=lambda split: (split != "train", split))
        out = [self._between(splits[0], other) for other in splits[1:]] or [
            "All rows are of one split, so no test rows can overlap with training rows."
        ]
        out += [
            f"`{benchmark.name}`: {self.rows_in.get(benchmark.name, 0)} rows share {WORDS}"
            f" words in a row with {len(benchmark.found)} of its {benchmark.texts} texts."
            for benchmark in self.benchmarks
        ]
        if not self.benchmarks:
            out.append(
                "It was not held against texts of benchmarks (`synth card DIR --against FILE`)."
            )
        return out

    def _between(self, one: str, other: str) -> str:
        tasks = len(self.tasks[one] & self.tasks[other])
        asked = self.requests.get(other, set())
        same = len(self.requests.get(one, set()) & asked)
        apart = self.universes[one].isdisjoint(self.universes[other])
        where = "of other universes" if apart else "of the same universes"
        return (
            f"`{other}` against `{one}`: {tasks} tasks in both, {same} of {len(asked)} opening"
            f" requests in the same words, rows {where}."
        )


def benchmarks(files: Iterable[Path]) -> list[Benchmark]:
    """Read the files that rows are held against."""
    return [Benchmark(file) for file in files]
