"""Files of entries as they are published: JSON with a list in it, JSON Lines, or CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, cast

from synth.core.foundation.json_leaves import strict_json
from synth.errors import OperatorError

SEPARATED = {".csv": ",", ".tsv": "\t"}
"""The separators of files of rows, by suffix."""

LISTS = ("tasks", "data", "questions", "examples")
"""The fields under which an object holds the list."""


def raw_entries(
    path: Path, option: str, form: str, *, lenient: bool = False
) -> list[tuple[int, Any]]:
    """The entries of a file, each with its line in JSON Lines and CSV, otherwise 1. An object holds
    the list under one of ``LISTS``; any other is an entry itself.

    ``option`` named the file and ``form`` tells the fields of an entry, for messages. ``lenient``
    reads a byte that is not UTF-8 as a surrogate, and NaN as null. Raises :class:`OperatorError`
    for any other file.
    """
    if path.is_dir():
        raise OperatorError(f"{option}: {path} is a folder; name the file in it")
    if not path.is_file():
        raise OperatorError(f"{option}: file not found: {path}")
    try:
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape" if lenient else "strict")
    except UnicodeDecodeError as error:
        raise OperatorError(f"{option}: {path} is not UTF-8 at byte {error.start}") from None
    if separator := SEPARATED.get(path.suffix.lower()):
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
        return [(rows.line_num, row) for row in rows]
    try:
        document = _parsed(text, lenient)
    except ValueError as error:
        return list(_lines(path, text, str(error), option, lenient))
    if isinstance(document, dict):
        inner = cast("dict[str, Any]", document)
        document = next((inner[name] for name in LISTS if name in inner), [inner])
    if not isinstance(document, list):
        raise OperatorError(f"{option}: {path} must hold a list of entries; {form}")
    return [(1, item) for item in cast("list[Any]", document)]


def _lines(
    path: Path, text: str, problem: str, option: str, lenient: bool
) -> list[tuple[int, Any]]:
    """The values of JSON Lines. Raises :class:`OperatorError` with the line that is not JSON."""
    out: list[tuple[int, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            out.append((number, _parsed(line, lenient)))
        except ValueError as error:
            where = f"{path}:{number}" if out else str(path)
            what = f"not JSON: {error}" if out else f"neither JSON ({problem}) nor JSON Lines"
            raise OperatorError(f"{option}: {where} is {what}") from None
    return out


def _parsed(text: str, lenient: bool = False) -> Any:
    """The value of a JSON text. Raises :class:`ValueError`, for NaN too unless ``lenient``."""
    try:
        return json.loads(text, parse_constant=lambda _: None) if lenient else strict_json(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
