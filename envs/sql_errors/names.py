"""The names that an error's words hold: which column or table is missing, in any language."""

from __future__ import annotations

import re

from envs.sql_errors.facts import Facts

_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`|»([^«]+)«|«([^»]+)»|[„“]([^“”]+)[“”]")
_COLUMN_WORDS = (
    re.compile(r"table (?P<table>\S+) has no column named (?P<column>\S+)"),
    re.compile(r"no such column: (?P<column>.+?)(?: - should this be.*)?$"),
    re.compile(r'column "?(?P<column>[^"]+?)"? of relation "(?P<table>[^"]+)" does not exist'),
    re.compile(r'column "?(?P<column>[^"]+?)"? does not exist'),
)
_TABLE_WORDS = (
    re.compile(r"no such (?:table|view): (?:main\.)?(?P<table>\S+)"),
    re.compile(r'(?:relation|table|view) "(?P<table>[^"]+)" does not exist'),
    re.compile(r'FROM-clause entry for table "(?P<table>[^"]+)"'),
)
_TARGET = re.compile(r"\b(?:into|update|table|from)\s+(?:only\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def quoted(words: str) -> list[str]:
    """The quoted parts of the words, with the quotation marks of any of the servers' languages."""
    return [
        next(part for part in found.groups() if part is not None).strip()
        for found in _QUOTED.finditer(words)
    ]


def target(statement: str) -> str | None:
    """The table that a statement writes to or reads first."""
    found = _TARGET.search(statement)
    return found[1] if found else None


def missing_column(facts: Facts) -> tuple[str | None, str] | None:
    """(table or alias, column) that the error says is unknown."""
    for pattern in _COLUMN_WORDS:
        if found := pattern.search(facts.words):
            return _split(found["column"], found.groupdict().get("table"))
    names = quoted(facts.words)
    if facts.number in {1054, 1072, 1091} and names:
        return _split(names[0], None)
    if facts.state == "42703":
        dotted = re.search(r"\w+\.\w+", facts.words, re.ASCII)
        if dotted and not names:
            return _split(dotted[0], None)
        table = target(facts.statement)
        if len(names) > 1 and table in names[:2]:
            return _split(next((name for name in names if name != table), names[0]), table)
        return _split(names[0], None) if names else None
    return None


def missing_table(facts: Facts) -> str | None:
    """The table, view, or name before a dot, that the error says is unknown."""
    for pattern in _TABLE_WORDS:
        if found := pattern.search(facts.words):
            return _last(found["table"])
    if facts.number in {1051, 1109, 1146, 4092} or facts.state == "42P01":
        names = quoted(facts.words)
        return _last(names[0]) if names else None
    return None


def is_missing_from(facts: Facts) -> bool:
    """True if the statement's FROM does not introduce the name."""
    return (
        facts.routine == "errorMissingRTE"
        or "FROM-clause entry" in facts.words
        or facts.number == 1109
    )


def required_column(facts: Facts) -> str | None:
    """The column that may not be NULL."""
    if facts.column:
        return facts.column
    found = re.search(r"(?:failed: |[Cc]olumn [\"'])([\w.]+)", facts.words)
    if found:
        return found[1]
    names = quoted(facts.words)
    return names[0] if names and (facts.number in {1048, 1364} or facts.state == "23502") else None


def _split(column: str, table: str | None) -> tuple[str | None, str]:
    qualifier, _, name = column.strip("\"'`").rpartition(".")
    owner = (table or qualifier.rpartition(".")[2]).strip("\"'`")
    return owner or None, name.strip("\"'`")


def _last(name: str) -> str:
    return name.rpartition(".")[2].strip("\"'`")
