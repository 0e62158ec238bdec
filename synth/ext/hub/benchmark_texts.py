"""Texts of a benchmark as its user downloaded it: JSON, JSON Lines, Parquet or plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from synth.core.dataset.texts import parquet_rows
from synth.core.foundation.json_leaves import named_values
from synth.errors import DatasetError, OperatorError

PARQUET = ".parquet"
READ = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".csv", ".tsv", ".sql", PARQUET)
"""The endings of the files of a folder that are read; a file that is named itself may have any."""


@dataclass(frozen=True, slots=True)
class BenchmarkText:
    """A text of a benchmark, and the file that it is from."""

    text: str
    file: Path


def read_texts(path: Path) -> Iterator[BenchmarkText]:
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
                yield BenchmarkText(text, file)
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
        value = _json(file.read_text("utf-8-sig"))
        if value is not None:
            yield from _texts_in(value)
            return
    with file.open(encoding="utf-8-sig") as lines:
        for line in lines:
            yield from _texts_in(line.strip())


def _texts_in(value: object) -> Iterator[str]:
    """The strings in a value; of a string that is a JSON object or array, the strings in that."""
    for _, leaf in named_values(value):
        inner = _json(leaf) if isinstance(leaf, str) and leaf[:1] in {"{", "["} else None
        if inner is not None:
            yield from _texts_in(inner)
        elif isinstance(leaf, str):
            yield leaf


def _json(text: str) -> object:
    """The value of a JSON text; None for anything else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
