"""The reason why a file cannot be read, in words that say what to do."""

from __future__ import annotations

import json

import yaml

_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (FileNotFoundError, "file not found; check the path"),
    (PermissionError, "you may not read it; change its permissions"),
    (IsADirectoryError, "it is a folder; name a file"),
    (UnicodeError, "it is not UTF-8; save it as UTF-8"),
)


def unreadable(error: Exception, form: str) -> str:
    """Return the reason. ``form`` is what the file has to be: "a Parquet file"."""
    for kind, words in _ADVICE:
        if isinstance(error, kind):
            return words
    if isinstance(error, OSError) and error.strerror:
        return f"the system says {error.strerror!r}; check the disk, or bring a copy of the file"
    line = None
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        line = error.problem_mark.line + 1
    elif isinstance(error, json.JSONDecodeError):
        line = error.lineno
    where = "" if line is None else f", see line {line}"
    return f"it is not {form}{where}; mend it or bring a whole copy"
